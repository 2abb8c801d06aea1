/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * site.h: the worker that serves a device: omprma's number of it, what it has of the program's
 * images, and the queues that small works share there. What the program sees as a device, its table
 * of mappings for one, knows nothing of that; a work has both.
 *
 * Thread: see the fields. Blocks: no.
 */
#ifndef OMPRMA_OPENMP_SITE_SITE_H
#define OMPRMA_OPENMP_SITE_SITE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <omprma/omprma.h>

#include "openmp/site/load.h"

enum { SHARED_MOST = 16 };

/* The standard streams of C. */
enum { STREAM_IN, STREAM_OUT, STREAM_ERR, STREAMS };

struct flight_line;

struct site {
    int number;           /* of the device that it serves, as the program counts */
    int index;            /* among all sites */
    int remote;           /* omprma's: there may be devices of other kinds between them */
    char host[64];        /* where it runs */
    _Atomic bool lost;    /* and the run goes on, see loss.h: */
    _Atomic bool refused; /* that functions of the program cannot use it has been said, */
    bool settled;         /* and what was lost with it; under the device's lock */
    bool shares;          /* its space, with others: when it is lost, they go on */

    /* Of the images that are there, under the lock. */
    pthread_mutex_t load_lock;      /* taken before the device's */
    atomic_ulong generation;        /* of the registry; read by all */
    omprma_addr_t streams[STREAMS]; /* its stdin, stdout and stderr; 0: it has no image yet */
    omprma_addr_t variables; /* the kernel for these, with placement; see place/variables.h */

    /* Queues of small works in flight, as many as it runs kernels at once; under the device's
     * lock. */
    omprma_queue_t *shared[SHARED_MOST];
    int shared_count;
    struct load load;          /* under the lock of the space that it serves */
    struct flight_line *lines; /* of works in flight in these; flight.c's. NULL: none yet */
};

/* Of a device of omprma's. */
void site_init(struct site *site, int number, int remote);

/* Nothing is asked of it any more. */
static inline bool site_is_lost(const struct site *site)
{
    return atomic_load_explicit(&site->lost, memory_order_acquire);
}

#endif
