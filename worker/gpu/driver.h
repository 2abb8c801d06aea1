/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * driver.h: what makes a GPU one of its kind, in one table. worker/gpu does all that backend.h asks
 * for with the functions in here. So a further kind of GPU is a further table, and what is behind
 * its load(), ask() and close().
 *
 * Calls return 0 or the driver's code for what went wrong. They act on the GPU that is current on
 * the calling thread, make_current() sees to that, and none waits for the GPU, but where it says
 * so.
 *
 * Thread: with the server's lock held, or on the GPU's helper thread.
 */
#ifndef OMPRMA_WORKER_GPU_DRIVER_H
#define OMPRMA_WORKER_GPU_DRIVER_H

#include "worker/backend.h"

struct gpu;

/* The driver's. */
typedef struct gpu_stream_s *gpu_stream;
typedef struct gpu_event_s *gpu_event;

enum { GPU_NAME_BYTES = 128 /* of a kernel, for messages: the rest is left out */ };

/* A kernel of an image or module. */
struct gpu_kernel {
    struct gpu_kernel *next; /* see kernel.c */
    const void *module;      /* that it goes with */
    uint64_t address;        /* for the program; the driver's handle */
    int32_t parameters;      /* how many it has; less than 0: the driver does not say */
    bool words;              /* none of them is larger than 8 bytes */
    bool prints;             /* it may print, which shows once its stream or event was waited for */
    /* What a launch has to give it, where the driver does not by itself; else 0. */
    uint32_t argument_bytes, group_bytes, private_bytes;
    char name[GPU_NAME_BYTES];
};

struct gpu_driver {
    struct backend backend; /* GPU_BACKEND() of its name */

    /* ---- codes */

    int not_ready; /* a stream or event is not over */
    int invalid;   /* an argument is wrong; of copies and fills: an address is no memory */
    int no_memory; /* the GPU, or the driver, has none left */
    bool (*is_fatal)(int code); /* the GPU runs nothing any more, and no call on it succeeds */

    /* What a kernel used that is no memory, once the GPU is lost; 0: unknown. May be NULL. */
    uint64_t (*fault_address)(const struct gpu *gpu);

    /* Sets the error "WHAT: text of the code", with the code. Returns the status that fits. */
    omprma_status_t (*error)(const struct gpu *gpu, int code, const char *what);

    /* ---- the GPU and memory */

    int (*make_current)(const struct gpu *gpu);

    /* From now on copies between the two go directly, where they can. */
    void (*reach)(const struct gpu *gpu, const struct gpu *other);

    /* Freeing waits for what runs. */
    int (*memory_alloc)(const struct gpu *gpu, uint64_t *address, uint64_t bytes);
    int (*memory_free)(const struct gpu *gpu, uint64_t address);

    /* Locks pages of this process, for all GPUs of the kind. Copies from and to others may wait. */
    int (*host_lock)(const struct gpu *gpu, void *memory, size_t bytes);
    int (*host_unlock)(const struct gpu *gpu, void *memory);

    /* ---- streams, which do one thing behind the other, and events in them */

    int (*stream_create)(const struct gpu *gpu, gpu_stream *stream);
    int (*stream_destroy)(const struct gpu *gpu, gpu_stream stream);
    int (*stream_query)(const struct gpu *gpu, gpu_stream stream);
    int (*stream_wait)(const struct gpu *gpu, gpu_stream stream); /* waits for the GPU */
    /* What is in it and copies to a GPU that is lost counts as over, for that may never end. NULL:
     * it ends by itself. */
    void (*stream_let_go)(const struct gpu *gpu, gpu_stream stream);
    int (*event_destroy)(const struct gpu *gpu, gpu_event event);
    int (*event_record)(const struct gpu *gpu, gpu_event *event, gpu_stream stream); /* NULL: new */
    int (*event_query)(const struct gpu *gpu, gpu_event event);
    int (*event_wait)(const struct gpu *gpu, gpu_event event); /* waits for the GPU */

    /* ---- what is put into streams */

    int (*copy)(const struct gpu *gpu, const struct backend_copy *copy, gpu_stream stream);
    int (*fill)(const struct gpu *gpu, const struct backend_fill *fill, gpu_stream stream);

    /* `size`: teams, then threads, three of each. */
    int (*launch)(const struct gpu *gpu, const struct gpu_kernel *kernel,
                  const struct wire_launch *with, const unsigned size[6], gpu_stream stream);

    /* ---- what differs in more than a call; these set the error themselves */

    /* On the helper thread; they may wait. *module is what backend_job.value will be. Kernels are
     * made known by gpu_kernel_add(). */
    omprma_status_t (*load)(struct gpu *gpu, const struct backend_load *load, uint64_t *module);
    omprma_status_t (*ask)(struct gpu *gpu, struct backend_ask *ask);

    /* Gives back all that load() has made, and `gpu`. */
    void (*close)(struct gpu *gpu);
};

#endif
