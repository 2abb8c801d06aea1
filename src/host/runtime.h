/*
 * runtime.h: the application's side as a whole: one object that holds settings, connection, devices
 * and everything that waits. There is no other global mutable state.
 *
 *   runtime.c    start, end, the lock
 *   progress.c   results coming in, queues going on, waiting
 *   peer.c       one worker: messages, signs of life
 *   device.c     one of its devices: memory, control queue
 *   operation.c  the one object for whatever a queue holds
 *   queue.c, queue_list.c, order.c   queues: what goes on when, ends, fails
 *   submit.c     submit, retrieve, launch: choose a way and append
 *   exchange.c   the same for device to device
 *   event.c      events: marks in queues
 *   image.c      images on devices
 *   measure.c, measure_exchange.c   start-up measurement and the choice of paths
 *   stats.c, trace.c, describe.c   what happened, for users
 *
 * Thread: all of it with runtime->lock held (runtime_lock()) unless said otherwise. The lock is
 * also what makes MPI calls one at a time. Each device's allocator has a lock of its own, so that
 * alloc and free never wait for a transfer; it is never held while taking runtime->lock.
 */
#ifndef OMPRMA_HOST_RUNTIME_H
#define OMPRMA_HOST_RUNTIME_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <omprma/omprma.h>

#include "base/config.h"
#include "base/yield.h"
#include "control/channel.h"
#include "control/datapath.h"
#include "control/world.h"
#include "host/completion.h"
#include "host/operation.h"
#include "host/paths.h"
#include "host/wakes.h"

struct device;
struct peer;
struct relay;
struct trace;

struct runtime {
    pthread_mutex_t lock;
    _Atomic int contenders;         /* threads that wait for the lock */
    bool driven;                    /* some waiting thread makes progress for all */
    bool heir_comes;                /* one of them has been woken to drive, and has not run yet */
    struct waiter *waiters;         /* the others that wait */
    struct wakes wakes;             /* when the lock is released, */
    struct completions completions; /* and these */
    struct yield_history yields;    /* of the thread that drives */

    struct config config;
    struct world world;
    struct channel *channel;
    struct datapath *one_sided; /* NULL: no window */
    struct guard *guard;        /* of its calls; NULL: none of them waits for a worker */
    struct datapath *two_sided;
    struct doorbell *bell, **bells;

    struct exchange_paths exchange[2]; /* between devices of one host; of different hosts */
    int relays; /* exchanges through the application that have memory, see relay.h */
    struct relay *relay_first, *relay_last; /* those that wait for it */

    struct peer **peers;     /* by rank; NULL: this process */
    struct device **devices; /* device number -> device */
    int device_count;
    bool has_devices; /* all are made */

    struct omprma_queue *busy_first, *busy_last; /* queues with something to issue or test */
    uint32_t busy_count;
    struct operation_pool operations;
    int64_t parted_ns; /* when a waiting thread last moved away from a worker */
    uint32_t next_tag; /* of two-sided transfers */

    pthread_t progress_thread;
    bool progress_running;
    _Atomic bool progress_stop;
    struct trace *trace; /* NULL: not recording */
    char choice[512];    /* the data path chosen, and why */
    bool adopted;        /* made by runtime_adopt(): there is no MPI to leave */
    bool unresponsive;   /* some worker does not answer: do not wait for it at the end */
};

/* The one runtime; NULL before omprma_init() and after the last omprma_finalize(). */
struct runtime *runtime_get(void);

/* Same, but fails with CLOSED. */
omprma_status_t runtime_require(struct runtime **runtime);

void runtime_lock(struct runtime *runtime);
void runtime_unlock(struct runtime *runtime);

/* Builds a runtime over a channel and paths that exist (tests). peers[1] to peers[workers] describe
 * the workers of these ranks. Makes it the one runtime. Takes over channel and paths.
 * Errors: HOST_MEMORY, what measuring fails with. */
omprma_status_t runtime_adopt(const struct config *config, struct channel *channel,
                              struct datapath *one_sided, struct datapath *two_sided,
                              const struct world_peer *peers, int workers);

/* ---- progress.c */

/* Takes what has come in and moves every busy queue on. True if anything happened. */
bool progress_once(struct runtime *runtime);

/* The same for who asks and does not wait: also learns of workers that have died. */
void progress_look(struct runtime *runtime);

/* Waits, making progress for all, until `done(data)` is true. Called with the lock held; it is
 * released now and then. */
void progress_wait(struct runtime *runtime, bool (*done)(const void *), const void *data);

/* Wakes threads in progress_wait() to look again. */
void progress_signal(struct runtime *runtime);

omprma_status_t progress_thread_start(struct runtime *runtime);
void progress_thread_stop(struct runtime *runtime);

#endif
