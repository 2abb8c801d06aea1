/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * copier.h: a thread that makes copies between this process and workers of the host, one after the
 * other, beside whatever the program does. It needs no lock of the runtime and no MPI: the kernel
 * copies (rma/local.h). It is made for the first copy, and sleeps while there is none.
 *
 * Thread: any, but one at a time for a copy. Blocks: copier_leave(), copier_end(), for about as
 * long as a piece of a copy takes.
 */
#ifndef OMPRMA_HOST_CORE_COPIER_H
#define OMPRMA_HOST_CORE_COPIER_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "control/datapath.h"

/* A copy under way. Who begins it keeps the memory until it is over, or was left. */
struct copy {
    STAILQ_ENTRY(copy) next;
    struct datapath *path;
    struct transfer *transfer;
    omprma_status_t status; /* when it is over */
    char *text; /* why it has failed, to be freed; NULL: no memory for that, or it has not */
    atomic_bool over;
};
_Static_assert(sizeof(struct copy) <= TRANSFER_STATE_BYTES, "state of a transfer");

struct copier {
    pthread_mutex_t lock;
    pthread_cond_t wake;   /* the thread: there is a copy */
    pthread_cond_t turned; /* who leaves a copy: a piece is over */
    STAILQ_HEAD(copy_list, copy) copies;
    const struct copy *moving; /* its piece is under way */
    pthread_t thread;
    bool made, ends;
    void (*tell)(void *data); /* a copy is over; any thread may be in it */
    void *data;
};

void copier_begin(struct copier *copier, void (*tell)(void *data), void *data);

/* Ends the thread; copies that are left are dropped where they are. */
void copier_end(struct copier *copier);

/* Errors: HOST_MEMORY (no thread can be made). */
omprma_status_t copier_copy(struct copier *copier, struct copy *copy);

/* False: not yet; nor ever where its peer has died. */
static inline bool copy_is_over(struct copy *copy)
{
    return atomic_load_explicit(&copy->over, memory_order_acquire);
}

/* It is not wanted any more: its memory is not used from now on. */
void copier_leave(struct copier *copier, struct copy *copy);

#endif
