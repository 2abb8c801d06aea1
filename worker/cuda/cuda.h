/*
 * cuda.h: devices that are NVIDIA GPUs of this machine, by the CUDA driver interface.
 *
 *   driver.c    the driver: opened at run time, errors in words
 *   cuda.c      the backend: copies, fills, launches, faults; opening and closing
 *   clerk.c     a thread per GPU for calls of the driver that may wait for the GPU or compile
 *   memory.c    arenas
 *   module.c    images, modules, and the kernels in them
 *   question.c  what omprma_device_ask() asks, see base/cuda_questions.h
 *
 * Copies, fills and launches of a queue that begin before the one in front has ended are put behind
 * it into its stream, which keeps them in order; an event behind each but the last tells when it
 * has ended, of the last that the stream is idle. A launch with a small read directly behind it has
 * none and ends with that: a region costs two calls of the driver less. A region that comes as one
 * command is one job, whose parts go into the stream at once: no event at all. What finds nothing
 * in front takes an idle stream. Memory cannot be touched. The context is the GPU's primary one.
 * When a kernel faults the driver accepts nothing more in that context: the GPU is lost, the others
 * go on.
 *
 * Thread: with the server's lock held, but for what runs on the clerk.
 */
#ifndef OMPRMA_WORKER_CUDA_CUDA_H
#define OMPRMA_WORKER_CUDA_CUDA_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/error.h"
#include "worker/backend.h"
#include "worker/cuda/driver.h"

struct cuda;
struct cuda_module;

struct cuda_options {
    const struct driver *driver; /* stays open until the device is closed */
    int ordinal;                 /* of the GPU, of the driver's */
    uint64_t memory_bytes;       /* what it may hand out; 0: 90 % of what is free */
};

enum { CUDA_NAME_BYTES = 128 }; /* of a kernel, for messages: the rest is left out */

/* One job that is under way: in a stream, or with the clerk. */
struct cuda_task {
    struct cuda_task *next; /* of the GPU's tasks, or of those that are spare */
    struct backend_job *job;
    driver_stream stream;     /* NULL: it is the clerk's */
    struct cuda_task *behind; /* the one behind it in the stream, or NULL */
    bool marked;              /* `end` was recorded behind it, because another task stands there */
    bool over;                /* it is known to have ended */
    bool prints;              /* its kernel may print */
    driver_event end;         /* stays with the task when that is spare; NULL: was not needed yet */
    char kernel[CUDA_NAME_BYTES]; /* of a launch; else empty */

    /* The clerk's. */
    struct cuda_task *next_work;
    omprma_status_t (*work)(struct cuda *cuda, struct cuda_task *task);
    union {
        uint64_t bytes, address;
        struct backend_copy copy;
        const struct backend_load *load;
        struct backend_ask *ask;
    };
    uint64_t value;
    omprma_status_t status;
    int code;
    char text[ERROR_TEXT_BYTES];
    _Atomic bool done; /* the four above are written */
};

struct cuda_clerk {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct cuda_task *first, *last;
    bool running, stop;
};

struct cuda_arena {
    uint64_t base, bytes;
};

/* A kernel; its address is the driver's handle. */
struct cuda_kernel {
    struct cuda_kernel *next; /* in its slot of the table */
    const struct cuda_module *module;
    driver_function function;
    int32_t parameters; /* how many it has, or CUDA_PARAMETERS_UNKNOWN */
    bool words;         /* none of them is larger than 8 bytes */
    bool prints;        /* it may print */
    char name[];
};

enum { CUDA_KERNEL_SLOTS = 256 };

struct cuda {
    struct worker_device *device;
    struct cuda_options options;
    const struct driver *driver;
    int handle; /* the driver's, of the GPU */
    driver_context context;
    char name[96];
    struct cuda_task *tasks, *last_task; /* in the order in which they began */
    struct cuda_task *spare_tasks;
    driver_stream *streams; /* that are idle; room for all that were made */
    uint32_t idle_count, stream_count;
    struct cuda_clerk clerk;
    char fault[640]; /* empty: it is well */

    struct cuda_arena arenas[WIRE_ARENAS_MOST]; /* the clerk's */
    int arena_count;
    uint64_t used_bytes;

    pthread_mutex_t kernel_lock; /* around the table of kernels */
    struct cuda_kernel *kernels[CUDA_KERNEL_SLOTS];
    struct cuda_module *modules; /* the clerk's */
};

/* ---- cuda.c */

/* Makes `device`, whose server and index are set, the GPU. Errors: HOST_MEMORY, those of the
 * driver. */
omprma_status_t cuda_open(struct worker_device *device, const struct cuda_options *options);

/* What is to be said of it at start-up, after cuda_open(). */
struct world_device;
void cuda_describe(const struct worker_device *device, struct world_device *description);

/* NULL: it is a device of another kind. */
struct cuda *cuda_of(const struct worker_device *device);

/* ---- clerk.c */

omprma_status_t clerk_start(struct cuda *cuda);
void clerk_stop(struct cuda *cuda);
void clerk_give(struct cuda *cuda, struct cuda_task *task);

/* ---- memory.c, on the clerk */

omprma_status_t memory_work_grow(struct cuda *cuda, struct cuda_task *task);
omprma_status_t memory_work_release(struct cuda *cuda, struct cuda_task *task);
omprma_status_t memory_work_overlap(struct cuda *cuda, struct cuda_task *task);
void memory_free_all(struct cuda *cuda);

/* ---- module.c, on the clerk but for module_find_kernel() */

omprma_status_t module_work_load(struct cuda *cuda, struct cuda_task *task);

/* Looks a name up in a module, or, 0, in the images. Errors: ARGUMENT (no such module), SYMBOL. */
omprma_status_t module_find_function(struct cuda *cuda, uint64_t module, const char *name,
                                     driver_function *function);
omprma_status_t module_find_global(struct cuda *cuda, uint64_t module, const char *name,
                                   uint64_t *address, size_t *bytes);
omprma_status_t module_unload(struct cuda *cuda, uint64_t module);
void module_unload_all(struct cuda *cuda);

/* The kernel that has this address, copied; `name` has room for CUDA_NAME_BYTES.
 * False: there is none. */
bool module_find_kernel(struct cuda *cuda, uint64_t address, struct cuda_kernel *kernel,
                        char *name);

/* ---- question.c, on the clerk */

omprma_status_t question_work(struct cuda *cuda, struct cuda_task *task);

#endif
