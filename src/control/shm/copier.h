/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * copier.h: a thread that makes copies between this process and workers of the host, one after the
 * other, beside whatever the program does; or helps with one that the program makes itself. It
 * needs no lock of the runtime and no MPI: the kernel copies (control/shm/local.h), or it does
 * (control/shm/split.h). It is made for the first copy, and sleeps while there is none.
 *
 * Thread: any, but one at a time for a copy, and for copier_may_help(), copier_has_helped().
 * Blocks: copier_leave(), copier_end(), for about as
 * long as a piece of a copy takes.
 */
#ifndef OMPRMA_CONTROL_SHM_COPIER_H
#define OMPRMA_CONTROL_SHM_COPIER_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "control/datapath.h"

/* A copy under way. */
struct copying {
    STAILQ_ENTRY(copying) next;
    struct datapath *path;
    struct transfer transfer; /* the thread's, until it is over */
    bool left;                /* nobody wants it any more; with the lock held */
    _Atomic uint64_t moved;   /* bytes of it */
    atomic_bool over;
    omprma_status_t status; /* then, */
    char *text;             /* and why it has failed; NULL: no memory for that, or it has not */
};

struct copier {
    pthread_mutex_t lock;
    pthread_cond_t wake;   /* the thread: there is a copy */
    pthread_cond_t turned; /* who leaves a copy: a piece is over */
    STAILQ_HEAD(copying_list, copying) copies;
    const struct copying *moving; /* its piece is under way */
    pthread_t thread;
    pthread_attr_t attributes; /* of it: the processors that the process has had at first */
    bool made, ends;
    unsigned processors;      /* that it may use, */
    unsigned rests, passed;   /* copies that it does not help with, because it came late; so far */
    void (*tell)(void *data); /* a copy is over; any thread may be in it. NULL: nobody waits */
    void *data;
};

/* The thread may use the processors that the calling thread has now: later ones may have bound
 * themselves to one each. */
void copier_begin(struct copier *copier, void (*tell)(void *data), void *data);

/* Whether it is to help with a copy that the program waits for. Not where there is one processor,
 * nor for a while after it has kept the program waiting: somebody else has the others. */
bool copier_may_help(struct copier *copier);
void copier_has_helped(struct copier *copier, bool late);

/* Ends the thread; copies that are left are dropped where they are. */
void copier_end(struct copier *copier);

/* Makes a copy of what the transfer describes. Errors: HOST_MEMORY. */
omprma_status_t copier_copy(struct copier *copier, struct datapath *path,
                            const struct transfer *transfer, struct copying **copy);

/* False: not yet; nor ever where its peer has died, or others have moved a part of it. */
static inline bool copying_is_over(struct copying *copy)
{
    return atomic_load_explicit(&copy->over, memory_order_acquire);
}

static inline uint64_t copying_moved(struct copying *copy)
{
    return atomic_load_explicit(&copy->moved, memory_order_relaxed);
}

/* Frees one that is over. Errors: those of its path. */
omprma_status_t copying_end(struct copying *copy);

/* Frees one that is not wanted any more: its memory is not used from now on. */
void copier_leave(struct copier *copier, struct copying *copy);

#endif
