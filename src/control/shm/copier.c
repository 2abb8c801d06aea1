/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* copier.c: the first copy of the list is moved on, a piece at a time, without the list's lock. */
#define _GNU_SOURCE
#include "control/shm/copier.h"

#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum {
    RESTS_MOST = 64 /* copies; twice as many each time that it is late again */
};

void copier_begin(struct copier *copier, void (*tell)(void *data), void *data)
{
    cpu_set_t allowed;

    *copier = (struct copier){.tell = tell, .data = data};
    pthread_attr_init(&copier->attributes);
    if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
        pthread_attr_setaffinity_np(&copier->attributes, sizeof(allowed), &allowed);
        copier->processors = (unsigned)CPU_COUNT(&allowed);
    }
    pthread_mutex_init(&copier->lock, NULL);
    pthread_cond_init(&copier->wake, NULL);
    pthread_cond_init(&copier->turned, NULL);
    STAILQ_INIT(&copier->copies);
}

bool copier_may_help(struct copier *copier)
{
    return copier->processors > 1 && copier->passed++ >= copier->rests;
}

void copier_has_helped(struct copier *copier, bool late)
{
    unsigned twice = copier->rests ? 2 * copier->rests : 1;

    copier->passed = 0;
    copier->rests = !late ? 0 : twice < RESTS_MOST ? twice : RESTS_MOST;
}

/* Moves a piece. *stays: there is more to move. */
static omprma_status_t move_on(struct copying *copy, bool *stays)
{
    uint64_t before = copy->transfer.completed;
    bool done = false;
    omprma_status_t status = datapath_test(copy->path, &copy->transfer, &done);

    atomic_store_explicit(&copy->moved, copy->transfer.completed, memory_order_relaxed);
    *stays = status == OMPRMA_OK && !done && copy->transfer.completed > before;
    return status;
}

/* One whose peer has died does not move, and is never over: whoever loses the peer leaves it. */
static void finish(struct copying *copy, omprma_status_t status)
{
    if (status == OMPRMA_OK && copy->transfer.completed < copy->transfer.bytes)
        return;
    copy->status = status;
    copy->text = status == OMPRMA_OK ? NULL : strdup(error_text());
    atomic_store_explicit(&copy->over, true, memory_order_release);
}

/* With the lock held, which is released meanwhile. One that was left is taken off the list, and not
 * touched from then on: who has left it frees it. */
static void turn(struct copier *copier, struct copying *copy)
{
    omprma_status_t status;
    bool stays;

    copier->moving = copy;
    pthread_mutex_unlock(&copier->lock);
    status = move_on(copy, &stays);
    pthread_mutex_lock(&copier->lock);
    copier->moving = NULL;
    pthread_cond_broadcast(&copier->turned);
    if (stays && !copy->left)
        return;
    STAILQ_REMOVE(&copier->copies, copy, copying, next);
    if (copy->left)
        return;
    finish(copy, status);
    if (copier->tell)
        copier->tell(copier->data);
}

static void *copy_all(void *data)
{
    struct copier *copier = data;

    pthread_mutex_lock(&copier->lock);
    while (!copier->ends) {
        struct copying *copy = STAILQ_FIRST(&copier->copies);

        if (copy)
            turn(copier, copy);
        else
            pthread_cond_wait(&copier->wake, &copier->lock);
    }
    pthread_mutex_unlock(&copier->lock);
    return NULL;
}

/* With the lock held. Signals are the program's. */
static bool make(struct copier *copier)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    copier->made = pthread_create(&copier->thread, &copier->attributes, copy_all, copier) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return copier->made;
}

static bool give(struct copier *copier, struct copying *copy)
{
    bool right;

    pthread_mutex_lock(&copier->lock);
    right = copier->made || make(copier);
    if (right)
        STAILQ_INSERT_TAIL(&copier->copies, copy, next);
    pthread_cond_signal(&copier->wake);
    pthread_mutex_unlock(&copier->lock);
    return right;
}

omprma_status_t copier_copy(struct copier *copier, struct datapath *path,
                            const struct transfer *transfer, struct copying **copy)
{
    struct copying *made = calloc(1, sizeof(*made));

    if (made) {
        made->path = path;
        made->transfer = *transfer;
        made->transfer.issued = made->transfer.completed = 0;
    }
    if (!made || !give(copier, made)) {
        free(made);
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a thread that copies");
    }
    *copy = made;
    return OMPRMA_OK;
}

static void discard(struct copying *copy)
{
    free(copy->text);
    free(copy);
}

omprma_status_t copying_end(struct copying *copy)
{
    omprma_status_t status = copy->status;

    if (status != OMPRMA_OK)
        error_set(status, "%s", copy->text ? copy->text : "a copy has failed");
    discard(copy);
    return status;
}

void copier_leave(struct copier *copier, struct copying *copy)
{
    struct copying *each;

    pthread_mutex_lock(&copier->lock);
    copy->left = true; /* or the next piece begins before this thread has got the lock */
    while (copier->moving == copy)
        pthread_cond_wait(&copier->turned, &copier->lock);
    each = STAILQ_FIRST(&copier->copies);
    while (each && each != copy)
        each = STAILQ_NEXT(each, next);
    if (each) /* it was not its turn, and it is not over */
        STAILQ_REMOVE(&copier->copies, copy, copying, next);
    pthread_mutex_unlock(&copier->lock);
    discard(copy);
}

void copier_end(struct copier *copier)
{
    pthread_mutex_lock(&copier->lock);
    copier->ends = true;
    pthread_cond_signal(&copier->wake);
    pthread_mutex_unlock(&copier->lock);
    if (copier->made)
        pthread_join(copier->thread, NULL);
    while (!STAILQ_EMPTY(&copier->copies)) {
        struct copying *copy = STAILQ_FIRST(&copier->copies);

        STAILQ_REMOVE_HEAD(&copier->copies, next);
        discard(copy);
    }
    pthread_attr_destroy(&copier->attributes);
    pthread_cond_destroy(&copier->turned);
    pthread_cond_destroy(&copier->wake);
    pthread_mutex_destroy(&copier->lock);
}
