/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * backend.h: what a kind of device can do. The core of the worker keeps order, answers the program
 * and moves data over the network; the rest it asks a backend for, through one table of functions.
 * It does not assume that it can touch a device's memory, nor that anything completes at once.
 *
 * A job is one thing that a device was asked for. A function that takes one starts it, and returns
 * BACKEND_OVER when it has ended already, else BACKEND_PENDING. A pending job ends when poll()
 * finds that it has or, where the backend has no poll(), by backend_end(), from any thread. It ends
 * once; job->status is how, and if that is an error, error_text() and error_code() of the thread
 * that learns of it say why. The caller keeps the job's buffers, its backend_launch, backend_load
 * and backend_ask alive until the job ends. A backend_copy and a backend_fill are only read during
 * the call.
 *
 * Thread: with the server's lock held, also backend_end(). launch() may release the lock meanwhile.
 * Blocks: only launch() and serve(), while they run a kernel.
 */
#ifndef OMPRMA_WORKER_BACKEND_H
#define OMPRMA_WORKER_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <omprma/omprma.h>

#include "base/range.h"
#include "control/shm/memory.h"
#include "control/wire.h"

struct worker_device;

enum backend_step { BACKEND_OVER, BACKEND_PENDING };

struct backend_job {
    struct worker_device *device;
    omprma_status_t status;
    uint64_t value; /* of grow(): the arena's address; of load(): the module */
    /* Of a backend that keeps order: the job of the same queue that this one has to follow. NULL:
     * all of them have ended. */
    struct backend_job *behind;
    /* Set when the next job of the queue begins. The caller will not look at this job before that
     * short one ends, so no event is needed between them. */
    bool ends_with_next;
    void (*ended)(struct backend_job *job); /* called by backend_end(); NULL: the caller looks */
    bool over;                              /* set by backend_end() */
    int64_t began_ns, ended_ns; /* of a launch, by clock_ns(), where the backend knows; else 0 */

    /* The backend's, while it is pending. */
    struct backend_job *next;
    void *handle;
};

/* A copy between devices of one backend, or between a device and memory of this process. Ranges of
 * one device may overlap. */
struct backend_copy {
    const char *what; /* for errors: "submit", "retrieve", "exchange" */
    struct worker_device *to_device, *from_device; /* one may be NULL: memory of this process */
    uint64_t to, from, bytes;
};

static inline bool backend_copy_overlaps(const struct backend_copy *copy)
{
    return copy->to_device == copy->from_device &&
           ranges_meet(copy->to, copy->bytes, copy->from, copy->bytes);
}

/* `count` times a pattern of 1, 2, 4 or 8 bytes, at a multiple of that. */
struct backend_fill {
    uint64_t to, pattern, count;
    uint32_t pattern_bytes;
};

/* An image, in memory of this process, and names in it. A size of 0 asks for a kernel. */
struct backend_load {
    const void *image;
    size_t bytes;
    bool own; /* as a module of its own, which job->value is then */
    uint32_t count;
    const struct backend_symbol {
        const char *name;
        uint64_t bytes;
    } * symbols;
    uint64_t *addresses; /* out */
};

struct backend_launch {
    uint64_t kernel;
    struct wire_launch with; /* geometry and arguments, which stay until the launch has ended */
};

/* A question that only this kind of device understands. Both texts stay until the job has ended;
 * `answered` bytes of the answer are sent back. */
struct backend_ask {
    uint32_t what;
    const void *question;
    size_t bytes;
    void *answer;
    size_t room, answered;
};

struct backend {
    const char *name; /* at most 15 characters */

    /* It keeps the order of a queue by itself. Copies of ranges that do not overlap, fills,
     * launches and regions are begun though the job before them, job->behind, has not ended; they
     * are polled in their order. If one fails, some behind it may have run all the same: for
     * devices where a failure while something runs is a fault. Only without touch(). */
    bool keeps_order;

    /* It says of launches when they ran, in job->began_ns and job->ended_ns. */
    bool times_launches;

    /* Returns where this process, and so a data path, reaches memory of the device, outside arenas
     * too; NULL, and the first bad address in *bad, if that is no memory. The caller uses it only
     * until its command ends. The function is NULL where device memory cannot be touched: then it
     * is only copied, and data stops in staging memory on its way. Devices that have it attach
     * their arenas to the one-sided path. */
    void *(*touch)(struct worker_device *device, uint64_t address, uint64_t bytes, bool write,
                   uint64_t *bad);

    /* Another arena of `bytes`, a multiple of 4096, which begins at `wish`, a multiple of 2 MiB; 0:
     * anywhere. Errors: ADDRESS (it cannot begin there), DEVICE_MEMORY, MPI. */
    enum backend_step (*grow)(struct worker_device *device, struct backend_job *job, uint64_t bytes,
                              uint64_t wish);
    /* What opens the file behind the arena that begins there, which the program may map. pid 0, or
     * NULL as the function: there is none. */
    struct shm_address (*file)(const struct worker_device *device, uint64_t address);
    enum backend_step (*release)(struct worker_device *device, struct backend_job *job,
                                 uint64_t address);

    /* Without touch(), all data of the device goes through some memory of this process. pin() tells
     * which, also before start(), and may page-lock it, for other devices of its kind, too; unpin()
     * takes that back, after stop(), but not after a fault. Copies work all the same if locking
     * fails. Either may be NULL. */
    void (*pin)(struct worker_device *device, void *memory, uint64_t bytes);
    void (*unpin)(struct worker_device *device, void *memory);

    /* Called on the device that is not NULL. Errors: ADDRESS. */
    enum backend_step (*copy)(struct worker_device *device, struct backend_job *job,
                              const struct backend_copy *copy);

    /* Errors: ADDRESS. */
    enum backend_step (*fill)(struct worker_device *device, struct backend_job *job,
                              const struct backend_fill *fill);

    /* Loads an image, once if it is not to be a module of its own, and looks symbols up. Errors:
     * IMAGE, SYMBOL, HOST_MEMORY, UNSUPPORTED (there are no modules). */
    enum backend_step (*load)(struct worker_device *device, struct backend_job *job,
                              const struct backend_load *load);

    /* Errors: ADDRESS (that is no kernel), ARGUMENT, HOST_MEMORY, UNSUPPORTED. */
    enum backend_step (*launch)(struct worker_device *device, struct backend_job *job,
                                const struct backend_launch *launch);

    /* A small copy to the device, a launch and a small copy from it, one behind the other, as one
     * job. Either copy may be NULL. If a later part fails to start, the job stays pending with that
     * error set, and the caller starts nothing behind it. NULL: there is no such thing. Errors:
     * those of copy() and launch(). */
    enum backend_step (*region)(struct worker_device *device, struct backend_job *job,
                                const struct backend_copy *write,
                                const struct backend_launch *launch,
                                const struct backend_copy *read);

    /* NULL: it answers none. Errors: UNSUPPORTED, its own. */
    enum backend_step (*ask)(struct worker_device *device, struct backend_job *job,
                             struct backend_ask *ask);

    /* The worker is number `index` of `count` that divide the host's cores from now on; see
     * WIRE_TURN. NULL: it has none of them. */
    void (*turn)(struct worker_device *device, int index, int count);

    /* True once a pending job has ended. NULL: backend_end() says so. */
    bool (*poll)(struct worker_device *device, struct backend_job *job);

    /* Called on the main thread of a server that has no other device. Runs what has to run there;
     * true if there was anything. NULL: nothing ever has to. */
    bool (*serve)(struct worker_device *device);

    /* A thread of the core begins that may call these functions beside the main one. May be NULL.
     */
    void (*adopt_thread)(struct worker_device *device);

    /* What has gone wrong so that the device runs nothing any more, in a line; NULL: nothing. The
     * driver's own code for it is device->fault_code then. */
    const char *(*fault)(struct worker_device *device);

    /* start() is called when the session is open; stop() ends what runs, but keeps the memory;
     * close() frees all. After a fault the latter two leave what may still be in use. Called
     * without the lock. */
    omprma_status_t (*start)(struct worker_device *device);
    void (*stop)(struct worker_device *device);
    void (*close)(struct worker_device *device);
};

/* Ends a pending job. */
static inline void backend_end(struct backend_job *job, omprma_status_t status)
{
    job->status = status;
    job->over = true;
    if (job->ended)
        job->ended(job);
}

#endif
