/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * gate.c: an entry guard without locks. Each thread counts itself in a structure of its own.
 * Entering and leaving happen about ten times in a small region, so they are plain stores; the one
 * thread that ends the process pays for the order, by making the kernel run a barrier on all
 * others.
 */
#include "face/gate.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { HOLD_BACK_SECONDS = 5, NAP_NS = 100000, PATIENCE_SECONDS = 60 };

/* A thread that has ever been inside. Never freed: the end may look at it at any time. */
struct visitor {
    struct visitor *next;
    _Atomic int depth; /* between enter and leave; more than 0 in the closing thread means that a
                        * signal handler called exit() */
    atomic_bool taken; /* by a thread that lives */
};

static struct gate {
    struct visitor *_Atomic visitors;
    bool fences;       /* without membarrier() each entry needs a fence */
    pthread_key_t key; /* its destructor gives a visitor back */
    atomic_bool closed;
    pthread_t closing; /* the thread that ends the process; valid when closed is true */
    int status;        /* with which the process ends; valid when exits is true */
    pthread_t exiting; /* the thread that does; valid when exits is true */
    atomic_bool exits;
    atomic_bool listens; /* for that */
} gate;

/* Eight bytes: they fit the room that the loader keeps for libraries opened late. */
static _Thread_local struct visitor *visitor __attribute__((tls_model("initial-exec")));

static void visitor_give(void *data)
{
    atomic_store(&((struct visitor *)data)->taken, false);
}

/* Exit handlers run in reverse order; one of before main(), of a library's constructor, runs after
 * all destructors. */
static void remember_status(int status, void *data)
{
    (void)data;
    gate.status = status;
    gate.exiting = pthread_self();
    atomic_store(&gate.exits, true);
}

static struct visitor *visitor_take(void)
{
    struct visitor *found;

    for (found = atomic_load(&gate.visitors); found; found = found->next)
        if (!atomic_exchange(&found->taken, true))
            break;
    if (!found) {
        found = calloc(1, sizeof(*found));
        if (!found)
            return NULL;
        atomic_store(&found->taken, true);
        found->next = atomic_load(&gate.visitors);
        while (!atomic_compare_exchange_weak(&gate.visitors, &found->next, found))
            ;
    }
    if (!atomic_exchange(&gate.listens, true))
        on_exit(remember_status, NULL);
    pthread_setspecific(gate.key, found);
    visitor = found;
    return found;
}

bool gate_open(void)
{
    if (pthread_key_create(&gate.key, visitor_give) != 0)
        return false;
    gate.fences = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0;
    return true;
}

bool gate_closed(void)
{
    return atomic_load(&gate.closed);
}

bool gate_is_inside(void)
{
    return visitor && atomic_load(&visitor->depth) > 0;
}

/* A thread that is still offloading while another one has called exit() must not go on in what is
 * being taken down: it waits for the end of the process instead; not for ever, because a destructor
 * may be waiting for it. */
static void hold_back(void)
{
    struct timespec left = {.tv_sec = HOLD_BACK_SECONDS};
    int interrupted;
    do
        interrupted = nanosleep(&left, &left) != 0 && errno == EINTR;
    while (interrupted);
}

bool gate_ends_elsewhere(void)
{
    pthread_t self = pthread_self();
    return gate_closed() ? !pthread_equal(gate.closing, self)
                         : atomic_load(&gate.exits) && !pthread_equal(gate.exiting, self);
}

/* The end waits for those that are inside. */
void gate_hold(void)
{
    if (gate_ends_elsewhere() && !gate_is_inside())
        hold_back();
}

bool gate_enter(void)
{
    struct visitor *self = visitor ? visitor : visitor_take();
    if (!self)
        return false;
    int depth = atomic_load_explicit(&self->depth, memory_order_relaxed);
    atomic_store_explicit(&self->depth, depth + 1, memory_order_relaxed);
    if (gate.fences)
        atomic_thread_fence(memory_order_seq_cst);
    else
        atomic_signal_fence(memory_order_seq_cst);
    if (!gate_closed() || (depth > 0 && gate_ends_elsewhere()))
        return true;
    gate_leave();
    return false;
}

void gate_leave(void)
{
    int depth = atomic_load_explicit(&visitor->depth, memory_order_relaxed);
    atomic_store_explicit(&visitor->depth, depth - 1, memory_order_release);
    if (gate_closed())
        gate_hold();
}

static bool anybody_inside(void)
{
    for (struct visitor *each = atomic_load(&gate.visitors); each; each = each->next)
        if (atomic_load(&each->depth) > 0)
            return true;
    return false;
}

static void *flush_files(void *done)
{
    fflush(NULL);
    atomic_store((atomic_bool *)done, true);
    return NULL;
}

/* Some thread may hold a file's lock, in a read that waits for input. */
static void flush_for_a_while(void)
{
    static atomic_bool done;
    pthread_t thread;
    if (pthread_create(&thread, NULL, flush_files, &done) != 0)
        return;
    for (time_t end = time(NULL) + 2; !atomic_load(&done) && time(NULL) < end;)
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
}

/* Whoever is inside may wait for a kernel without end. omprma cannot be ended then, nor anything
 * that it uses. */
static void leave_without_them(void)
{
    static const char line[] =
        "omprma: warning: the program ends while a thread of it is still in a target "
        "region, which is not waited for any longer\n";
    flush_for_a_while();
    ssize_t written = write(STDERR_FILENO, line, strlen(line));
    (void)written;
    _exit(gate.status);
}

/* When the process goes without those that are inside; 0: never. */
static time_t patience_end(void)
{
    const char *text = getenv("OMPRMA_TIMEOUT");
    int seconds = text && *text ? atoi(text) : PATIENCE_SECONDS;
    return seconds > 0 ? time(NULL) + seconds : 0;
}

bool gate_close(void)
{
    time_t end = patience_end();

    gate.closing = pthread_self();
    atomic_store(&gate.closed, true);
    if (gate_is_inside())
        return false;
    if (!gate.fences)
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    while (anybody_inside()) {
        if (end && atomic_load(&gate.exits) && time(NULL) > end)
            leave_without_them();
        nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    }
    return true;
}
