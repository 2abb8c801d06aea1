/*
 * gate.c: see gate.h. Entering and leaving happen about ten times in a small region, so they are
 * plain stores; the one thread that ends the process pays for the order, by making the kernel run a
 * barrier on all others.
 */
#include "face/gate.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { HOLD_BACK_SECONDS = 5, NAP_NS = 100000, PATIENCE_NAPS = 20000 };

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
    bool exits;        /* the process ends, with this status */
    int status;
} gate;

/* Eight bytes: they fit the room that the loader keeps for libraries opened late. */
static _Thread_local struct visitor *visitor __attribute__((tls_model("initial-exec")));

static void visitor_give(void *data)
{
    atomic_store(&((struct visitor *)data)->taken, false);
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
    pthread_setspecific(gate.key, found);
    visitor = found;
    return found;
}

static void remember_status(int status, void *data)
{
    (void)data;
    gate.exits = true;
    gate.status = status;
}

bool gate_open(void)
{
    on_exit(remember_status, NULL);
    if (pthread_key_create(&gate.key, visitor_give) != 0)
        return false;
    gate.fences = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0;
    return true;
}

bool gate_closed(void)
{
    return atomic_load(&gate.closed);
}

/* A thread that is still offloading while another one has called exit() must not go on in what is
 * being taken down: it waits for the end of the process instead; not for ever, because a destructor
 * may be waiting for it. */
static void hold_back(void)
{
    if (pthread_equal(gate.closing, pthread_self()))
        return;
    struct timespec left = {.tv_sec = HOLD_BACK_SECONDS};
    int interrupted;
    do
        interrupted = nanosleep(&left, &left) != 0 && errno == EINTR;
    while (interrupted);
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
    if (!gate_closed())
        return true;
    gate_leave();
    return false;
}

void gate_leave(void)
{
    int depth = atomic_load_explicit(&visitor->depth, memory_order_relaxed);
    atomic_store_explicit(&visitor->depth, depth - 1, memory_order_release);
    if (gate_closed())
        hold_back();
}

static bool anybody_inside(void)
{
    for (struct visitor *each = atomic_load(&gate.visitors); each; each = each->next)
        if (atomic_load(&each->depth) > 0)
            return true;
    return false;
}

/* Whoever is inside may wait for a kernel without end. omprma cannot be ended then, nor anything
 * that it uses. */
static void leave_without_them(void)
{
    fflush(NULL);
    _exit(gate.status);
}

bool gate_close(void)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};

    gate.closing = pthread_self();
    atomic_store(&gate.closed, true);
    if (visitor && atomic_load(&visitor->depth) > 0)
        return false;
    if (!gate.fences)
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
    for (int naps = 0; anybody_inside(); naps++) {
        if (gate.exits && naps >= PATIENCE_NAPS)
            leave_without_them();
        nanosleep(&nap, NULL);
    }
    return true;
}
