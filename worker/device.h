/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * device.h: a device of this worker, as the core sees it: an index and a backend.
 *
 * Thread: with the server's lock held.
 */
#ifndef OMPRMA_WORKER_DEVICE_H
#define OMPRMA_WORKER_DEVICE_H

#include "control/shm/memory.h"
#include "control/world.h"
#include "worker/backend.h"

struct server;
struct shared;

struct worker_device {
    const struct backend *backend;
    void *state; /* the backend's */
    struct server *server;
    uint16_t index;
    int number;                  /* for the program; told before the first image */
    uint64_t arena, arena_bytes; /* the first one, which the program gets at once */
    /* Memory of this process, attached to the window, through which the data of a device goes that
     * cannot be touched. Which part of it is used for what the application decides. NULL: none. */
    void *staging;
    uint64_t staging_bytes;
    bool shares;                        /* the program may map staging memory, */
    struct shm_address staging_address; /* which this opens then; pid 0: it has no file */
    int staging_file;
    struct shared *shared;  /* memory of the program that is open here, where runs lie packed */
    bool lost;              /* a kernel has crashed: it runs nothing any more */
    int fault_code;         /* of its driver for that, 0: none */
    uint64_t fault_address; /* that the kernel used and that is no memory there, 0: unknown */
    /* Small submits that have begun and not ended. Nobody is told of their end, so what comes after
     * them in other queues of the device has to wait for it. */
    uint32_t writes;
};

/* Makes the first arena, and staging memory where it takes that, and fills in what the core knows
 * of the description. Blocks until the arena is there, polling; a backend that is not polled makes
 * it at once. Before start(), without the lock. Errors: DEVICE_MEMORY, MPI. */
omprma_status_t worker_device_begin(struct worker_device *device, uint64_t arena_bytes,
                                    struct world_device *description);

/* Gives shared and staging memory back, but the latter not of a device that is lost: it may still
 * use it. After stop(). */
void worker_device_end(struct worker_device *device);

/* [address, address + bytes) of the staging memory, or NULL if it is not in there. */
void *worker_device_staging(const struct worker_device *device, uint64_t address, uint64_t bytes);

/* Opens memory of the program for the device; *at: where it is here. Errors: HOST_MEMORY. */
omprma_status_t worker_device_share(struct worker_device *device, const struct shm_address *address,
                                    uint64_t bytes, uint64_t *at);

/* As worker_device_staging(), for that memory. */
void *worker_device_shared(const struct worker_device *device, uint64_t address, uint64_t bytes);

/* ADDRESS: `bad`, in [address, address + bytes), is no memory of the device. `what` is done there.
 */
omprma_status_t worker_device_refuse_range(const char *what, uint64_t address, uint64_t bytes,
                                           uint64_t bad);

/* True when a job has ended, polling it if that is the backend's way. */
static inline bool worker_device_ended(struct backend_job *job)
{
    struct worker_device *device = job->device;

    if (!job->over && device->backend->poll)
        job->over = device->backend->poll(device, job);
    return job->over;
}

/* The device can be reached by one-sided transfers, and moves data without a copy on its side. */
static inline bool worker_device_is_touchable(const struct worker_device *device)
{
    return device->backend->touch != NULL;
}

/* backend.file(). */
static inline struct shm_address worker_device_file(const struct worker_device *device,
                                                    uint64_t arena)
{
    return device->backend->file ? device->backend->file(device, arena) : (struct shm_address){0};
}

#endif
