/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * reduction.c: A list of reductions with the newest first. Each counts the taskgroups that its
 * task has begun since, so that the end of one that is not the reduction's is told from the end of
 * the reduction. What a thread has asked libomp for since its last region is kept in a ring of its
 * own: a region that asked takes part.
 */
#include "openmp/task/reduction.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "openmp/site/report.h"

struct reduction {
    LIST_ENTRY(reduction) link;
    uint64_t task;
    int inner; /* taskgroups that the task has begun since, and not ended */
};

static struct reductions {
    pthread_mutex_t lock;
    LIST_HEAD(reduction_list, reduction) list; /* the newest first */
    atomic_int count;
    pthread_mutex_t turn;
} reductions = {.lock = PTHREAD_MUTEX_INITIALIZER, .turn = PTHREAD_MUTEX_INITIALIZER};

enum { ASKED = 16 }; /* kept, of those that a thread has asked for */

/* What the thread has asked for since it last forgot, the newest in place of the oldest. */
static _Thread_local struct asked {
    const void *group, *data;
    void *copy;
} asked[ASKED];
static _Thread_local unsigned asked_count;

bool reduction_any(void)
{
    return atomic_load_explicit(&reductions.count, memory_order_acquire) > 0;
}

/* The task's newest; NULL: it has none. The caller holds the lock. */
static struct reduction *newest(uint64_t task)
{
    struct reduction *each;
    LIST_FOREACH(each, &reductions.list, link)
    if (each->task == task)
        return each;
    return NULL;
}

void reduction_begin(uint64_t task, bool seen)
{
    struct reduction *own = malloc(sizeof(*own));
    if (!own) {
        report(NULL, NULL, "no host memory for a reduction over tasks");
        report_fatal(NULL);
    }
    *own = (struct reduction){.task = task};
    pthread_mutex_lock(&reductions.lock);
    struct reduction *outer = newest(task);
    if (outer && seen)
        outer->inner--;
    LIST_INSERT_HEAD(&reductions.list, own, link);
    atomic_fetch_add_explicit(&reductions.count, 1, memory_order_release);
    pthread_mutex_unlock(&reductions.lock);
}

void reduction_taskgroup_begin(uint64_t task)
{
    pthread_mutex_lock(&reductions.lock);
    struct reduction *outer = newest(task);
    if (outer)
        outer->inner++;
    pthread_mutex_unlock(&reductions.lock);
}

void reduction_taskgroup_end(uint64_t task)
{
    pthread_mutex_lock(&reductions.lock);
    struct reduction *last = newest(task);
    bool over = last && last->inner-- == 0;
    if (over) {
        LIST_REMOVE(last, link);
        atomic_fetch_sub_explicit(&reductions.count, 1, memory_order_release);
    }
    pthread_mutex_unlock(&reductions.lock);
    if (over)
        free(last);
}

void reduction_ask(const void *group, const void *data, void *copy)
{
    asked[asked_count++ % ASKED] = (struct asked){group, data, copy};
}

void reduction_forget(void)
{
    asked_count = 0;
}

bool reduction_takes_part(void)
{
    return asked_count > 0 && reduction_any();
}

void *reduction_copy(void *data)
{
    for (unsigned i = 0; i < asked_count && i < ASKED; i++)
        if (asked[i].data == data)
            return asked[i].copy;
    return data;
}

bool reduction_shares(const void *begin, size_t bytes)
{
    for (unsigned i = 0; i < asked_count && i < ASKED; i++)
        if (!asked[i].group || begin == asked[i].group ||
            (uintptr_t)asked[i].data - (uintptr_t)begin < bytes)
            return true;
    return false;
}

void reduction_enter(void)
{
    pthread_mutex_lock(&reductions.turn);
}

void reduction_leave(void)
{
    pthread_mutex_unlock(&reductions.turn);
}
