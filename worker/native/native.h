/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * native.h: devices that are a part of this machine. Their memory is memory of the worker, their
 * images are shared objects, and their kernels are functions that threads of the worker call.
 *
 * - native.c: the backend: copies, images, launches
 * - lane.c: threads that run kernels; team.c: their OpenMP threads
 * - kernel.c: the call itself
 * - memory.c: arenas; place.c: cores and nodes
 * - image.c: loading images; stand_in.c: functions at the program's addresses
 * - crash.c, misaligned.c: faults in kernels; fault.c: where in the source they were
 *
 * The only device of a worker, when it has one lane, runs its kernels on the main thread, see
 * server.h; so a short kernel costs no hand-off.
 *
 * Thread: with the server's lock held.
 */
#ifndef OMPRMA_WORKER_NATIVE_NATIVE_H
#define OMPRMA_WORKER_NATIVE_NATIVE_H

#include <pthread.h>
#include <semaphore.h>

#include "worker/backend.h"
#include "worker/native/crash.h"
#include "worker/native/fault.h"
#include "worker/native/memory.h"
#include "worker/native/place.h"

struct native_options {
    const struct place *place; /* of its memory; NULL: anywhere (tests) */
    bool bind;                 /* kernels run on its cores only */
    bool lends; /* and these change, see place_now(); on_main, and `place` is its worker's */
    struct datapath *path; /* that arenas are attached to; NULL: none */
    uint64_t memory_bytes; /* what it may hand out */
    struct quota *quota;   /* and its worker's together with those of other programs; NULL: alone */
    uint64_t quota_bytes;
    int lanes;
    bool on_main; /* the main thread runs its kernels; lanes is 1 */
    bool huge_pages;
    bool shared;      /* the program may map its first arena */
    bool any_address; /* kernels need not be of an image (tests) */
};

struct native {
    struct worker_device *device;
    struct native_options options;
    struct memory memory;
    struct crash crash;
    struct fault fault;
    struct backend_job *first, *last; /* launches that wait for a lane */
    sem_t ready;                      /* posted for each of them, unless on_main */
    pthread_t *threads;
    bool stopping;
    struct place *next; /* what it may use from its next kernel on; NULL: as before */
};

/* Makes `device`, whose server and index are set, a native one. Errors: HOST_MEMORY. */
omprma_status_t native_open(struct worker_device *device, const struct native_options *options);

/* ---- lane.c */

omprma_status_t lane_start(struct native *native);
void lane_stop(struct native *native);

/* True if the calling thread may run kernels of this device. After a crash nobody may: what the
 * kernel has left behind is not to be used, although the device is lost only when the crash is
 * described. Kernels that run meanwhile on other lanes come to their end. */
bool lane_is_own(const struct native *native);

/* Runs the kernel of a launch on the calling thread, releasing the lock meanwhile. */
omprma_status_t lane_call(struct native *native, struct backend_job *job,
                          const struct backend_launch *launch);

/* Leaves a launch to a lane. */
void lane_append(struct native *native, struct backend_job *job);

/* Runs the next launch that waits for a lane. False if there is none, or after a crash. */
bool lane_run_next(struct native *native);

#endif
