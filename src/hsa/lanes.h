/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * lanes.h: what a GPU does in which order. A lane is a queue of omprma: one for each queue of the
 * program, and two of each GPU for copies that nothing else orders.
 *
 * The fence. A copy to a GPU lets its signal go as soon as its source may be overwritten, so what
 * the program puts behind it is not told to wait for it. Therefore whatever is put into a lane of
 * that GPU is ordered behind the last such copy: the lane waits for the fence, the place of that
 * copy. A copy like that is itself behind the fence before, so one place is enough.
 *
 * Thread: any. Blocks: as the functions of omprma that put something into a queue; the lock of a
 * GPU's lanes is held for that. omprma's callbacks take no such lock.
 */
#ifndef OMPRMA_HSA_LANES_H
#define OMPRMA_HSA_LANES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <omprma/omprma.h>

#include "hsa/signal.h"

struct gpu;

struct lane {
    LIST_ENTRY(lane) link;
    atomic_int references; /* the list's, and one for each operation */
    struct lanes *lanes;
    omprma_queue_t *queue;
    atomic_bool failed;            /* its error has not been looked at */
    uint64_t fence;                /* of the GPU, that it is behind */
    _Atomic uint64_t issued, over; /* kernels and reads, and what is known to be over of them */
};

/* Of one GPU. */
struct lanes {
    struct gpu *gpu;
    pthread_mutex_t lock; /* held while something is put into lanes */
    LIST_HEAD(lane_list, lane) all;
    struct lane *in, *out;   /* for copies to the GPU and from it; NULL: not used yet */
    struct lane *recent;     /* the last one that a kernel was put into, or NULL */
    uint64_t fence;          /* number of copies that were let go early */
    struct mark *fence_mark; /* changed with the lock below, too */
    pthread_mutex_t fence_lock;
    struct watch look; /* has the attendant look at lanes that have failed */
    atomic_flag looks;
};

/* Of that GPU. */
struct lanes *lanes_of(struct gpu *gpu);

/* Errors: as omprma_queue_create(), HOST_MEMORY. */
omprma_status_t lane_open(struct lanes *lanes, struct lane **lane);

/* Waits for what it holds. Blocks. */
void lane_close(struct lane *lane);

void lanes_lock(struct lanes *lanes);
void lanes_unlock(struct lanes *lanes);

/* ---- with the lock held --------------------------------------------------------------------- */

/* Where a copy goes: behind what it needs, if that is in one lane of the GPU; else where the last
 * kernel went, if that is over: what the program does next there joins its message; else into the
 * lane for its direction. NULL: no memory, with omprma's error in *status. */
struct lane *lane_for_copy(struct lanes *lanes, const struct needs *needs, bool to_gpu,
                           omprma_status_t *status);

/* Orders what comes next in the lane behind the fence of its GPU, and behind `needs`. */
omprma_status_t lane_join(struct lane *lane, const struct needs *needs);

/* What was put into the lane last is let go early: it becomes the fence. */
omprma_status_t lane_fence(struct lane *lane);

/* Is all that was put into it over, but for copies that were let go early? */
bool lane_is_idle(const struct lane *lane);

/* What was put into the lane last is no such copy. */
void lane_issued(struct lane *lane);

/* Something whose end somebody waits for. */
struct operation {
    struct arrival arrival;
    struct lane *lane;
    uint64_t number; /* of `issued` */
    /* Called when it is over, before the signal moves on, on whatever thread makes progress; must
     * not wait. May be NULL. */
    void (*over)(struct operation *operation, omprma_status_t status);
    void *data;
};

/* Has the end of all that the lane holds now be told: `over` is called, then the signal (NULL:
 * none) counted down. Where that cannot be asked for, it is waited for. */
void lane_tell(struct lane *lane, struct signal *signal,
               void (*over)(struct operation *operation, omprma_status_t status), void *data);

/* ---- without it ----------------------------------------------------------------------------- */

/* A reference to the place of the fence, or NULL. The lock of other lanes may be held. */
struct mark *lanes_fence_mark(struct lanes *lanes);

/* Takes the errors of lanes that have failed: the GPU is lost with the first. Blocks. */
void lanes_look(struct lanes *lanes);

/* Waits for all that the GPU does. Blocks. */
void lanes_settle(struct lanes *lanes);
/* For all GPUs. */
void lanes_settle_all(void);

#endif
