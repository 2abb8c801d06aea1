/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * runtime.h: the one object that holds settings, connection, devices and everything that waits, and
 * its lock. There is no other global mutable state. Each folder of src/host knows those before it
 * in this list:
 *
 * - memory: who owns which range of the arenas; nothing of devices
 * - core: this object, its lock, waiting; peers, devices, operations, and who observes them
 * - queue: operations come into queues, are issued in order, end or fail
 * - path: the ways that data goes
 * - choice: which path a transfer takes
 * - device: devices with their queues, blocks of their memory
 * - check: OMPRMA_CHECK
 * - calls: the public functions
 * - report: what happened and what waits, for users
 * - start: start and end
 *
 * Thread: all of it with runtime->lock held (runtime_lock()) unless said otherwise. The lock is
 * also what makes MPI calls one at a time. Each device's allocator has a lock of its own, so that
 * alloc and free never wait for a transfer; it is never held while taking runtime->lock.
 */
#ifndef OMPRMA_HOST_CORE_RUNTIME_H
#define OMPRMA_HOST_CORE_RUNTIME_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <omprma/omprma.h>

#include "base/config.h"
#include "base/deadline.h"
#include "base/waiting.h"
#include "control/channel.h"
#include "control/datapath.h"
#include "control/shm/copier.h"
#include "control/world.h"
#include "host/core/completion.h"
#include "host/core/limits.h"
#include "host/core/observer.h"
#include "host/core/operation.h"
#include "host/core/paths.h"
#include "host/core/slots.h"
#include "host/core/wakeups.h"

struct adapt_kind;
struct device;
struct device_memory;
struct peer;
struct runtime;
struct recorder;
struct times;

/* What those below need of those above. Set by start.c before anything is sent. */
struct runtime_hooks {
    /* Takes what has come in and moves every busy queue on. True if anything happened. */
    bool (*look)(struct runtime *runtime);
    /* For who sleeps at descriptors: where to hear that something happens to busy queues, if all
     * that they have to test is transfers that show there; else -1. */
    int (*descriptor)(const struct runtime *runtime);
    /* Looks now and then, while somebody waits or asks, whether the workers live, and whether
     * anything moves at all. */
    void (*watch)(struct runtime *runtime, int64_t now_ns);
    /* A peer was given up: its devices are lost. */
    void (*lost)(struct peer *peer, const char *text);
    /* Tells omprma-run so, which then does not wait for it. */
    void (*tell_lost)(void);
};

/* Whether anything moves; see watchdog.h. */
struct watchdog {
    int64_t looked_ns; /* the last look; 0: none yet */
    uint64_t seen;     /* runtime->moves by then */
    uint64_t moved;    /* bytes of data at the first step */
    int64_t quiet_ns;  /* time spent waiting since anything has moved */
    int steps;         /* closer looks since then */
    int rounds;        /* of questions since then that all workers have answered: they do nothing */
    bool asked;        /* such a round has begun */
    bool said_end;     /* what the end of the program waits for */
};

/* When each step of start-up began, by clock_ns(); 0: not known, or not reached. */
struct start_times {
    int64_t launch, program; /* omprma-run, and the program that it started */
    int64_t join, connect, measure, ready;
};

/* The one transfer that is timed, see adapt.h. */
struct adapt_watch {
    struct observer observer;    /* registered while there is an operation */
    struct operation *operation; /* a reference; NULL: none */
    bool one_sided;
    bool waited;      /* for its end, from its beginning */
    int64_t asked_ns; /* when its way was chosen */
    int64_t begun_ns; /* 0: not yet */
    uint64_t begun;   /* runtime->moved by then, less `own` */
    uint64_t own;     /* transfers of the same queue since the watch began */
};

/* The thread that makes progress while nobody waits, see background.h. */
struct background {
    _Atomic int wanted; /* by so many */
    atomic_bool asleep; /* there is none, or it sleeps until it is needed; set with the lock only */
    atomic_bool ends;   /* for good */
    atomic_bool made;
    pthread_t thread;
    sem_t wake;
};

struct runtime {
    struct runtime_hooks hooks;
    struct waiting_lock lock;
    bool driven;            /* some waiting thread makes progress for all: */
    pthread_t driver;       /* this one */
    bool rests;             /* a thread sleeps until something comes in, see progress_rest() */
    bool heir_comes;        /* one of them has been woken to drive, and has not run yet */
    struct waiter *waiters; /* the others that wait */
    struct wakeups wakeups; /* when the lock is released, */
    struct completions completions; /* and these */
    struct yield_history yields;    /* of the thread that drives */
    int64_t spin_ns; /* a waiting thread polls so long without yielding, but leaves the processor of
                      * a worker at once; 0: as config says */

    struct config config;
    struct world world;
    struct limits limits;
    struct channel *channel;
    struct datapath *one_sided; /* NULL: no window */
    struct deadline deadline;   /* of its calls, where one may wait for a worker */
    struct datapath *two_sided;
    struct datapath *local; /* the kernel's copies, for peers that say so; NULL: there are none */
    struct doorbell *bell, **bells;

    struct exchange_paths exchange[2]; /* between devices of one host; of different hosts */
    struct slot_pool memory;           /* for exchanges through the application, see staged.c */
    struct slot_turns turns;           /* who waits for slots, here or of devices */

    struct peer **peers;          /* by rank; NULL: this process */
    struct peer *first_lost;      /* others may be lost because of it; NULL: none is */
    struct device **devices;      /* device number -> device */
    struct device_memory *common; /* memory of several of them; NULL: each has its own */
    int device_count;
    bool has_devices; /* all are made */

    struct omprma_queue *busy_first, *busy_last; /* queues with something to issue or test */
    uint32_t busy_count;
    struct operation_pool operations;
    struct observer *observers; /* of the operations' lives; NULL: nobody */
    uint64_t moves;             /* operations issued and ended so far */
    struct watchdog watchdog;
    uint32_t held_by_program; /* holds of queues that were reached and have not ended */
    bool ending;              /* the program has called omprma_finalize(), and ends none any more */
    uint32_t moving;          /* transfers of data by this side that are under way, */
    uint64_t moved;           /* and that were ever begun */
    struct adapt_watch watch;
    struct adapt_kind *kinds;
    _Atomic uint64_t repeated; /* regions that were done again after losses */
    struct {                   /* what was placed, see omprma_note_graph() */
        _Atomic uint64_t regions, longest, least_bytes;
    } graph;
    int64_t parted_ns; /* when a waiting thread last moved away from a worker */
    uint32_t next_tag; /* of two-sided transfers */

    struct background background;
    struct copier copier;
    uint32_t copying;          /* of `moving` those that it makes, */
    uint32_t copying_queues;   /* and queues that have some */
    _Atomic uint64_t looks;    /* for what has come in, so far; written with the lock only */
    struct recorder *recorder; /* NULL: nobody wants to know what is done */
    struct times *noted;       /* NULL: no face wants to know when */
    char control[96];          /* by what control messages go */
    char choice[640];          /* the data path chosen, and why */
    struct start_times times;
    bool adopted;      /* made by runtime_adopt(): there is no MPI to leave */
    bool unresponsive; /* some worker does not answer, or something is stuck: do not wait at the end
                        */
};

/* The one runtime; NULL before omprma_init(), after the last omprma_finalize(), and in a process
 * that was forked in between. */
struct runtime *runtime_get(void);

/* Was this process forked by one that had a runtime? */
bool runtime_is_parents(void);

/* CLOSED, and why there is no runtime. */
omprma_status_t runtime_absent(void);

void runtime_set(struct runtime *runtime);

/* Same as runtime_get(), but fails with CLOSED. */
omprma_status_t runtime_require(struct runtime **runtime);

void runtime_lock(struct runtime *runtime);
void runtime_unlock(struct runtime *runtime);

#endif
