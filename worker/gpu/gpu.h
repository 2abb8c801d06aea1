/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * gpu.h: devices that are GPUs of this machine, whatever their kind: all of a backend that is not
 * the driver's.
 *
 * - driver.h: what a kind of GPU adds
 * - gpu.c: opening, closing, errors, faults, locked memory
 * - stream.c: copies, fills, launches and regions, and their ends
 * - arena.c: arenas, and copies within one that overlap
 * - kernel.c: the kernels that may be launched
 * - helper_thread.c: a thread per GPU for what may wait for the GPU or compile
 *
 * It keeps the order of a queue by itself. Memory cannot be touched. When a kernel faults the
 * driver accepts nothing more: that GPU is lost, the others go on.
 *
 * Thread: with the server's lock held, but for what runs on the helper thread.
 */
#ifndef OMPRMA_WORKER_GPU_GPU_H
#define OMPRMA_WORKER_GPU_GPU_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/error.h"
#include "worker/gpu/driver.h"

struct gpu_task;

/* What the helper thread is to do, and with what. */
struct gpu_work {
    omprma_status_t (*run)(struct gpu *gpu, struct gpu_task *task);
    union {
        uint64_t bytes, address;
        struct backend_copy copy;
        const struct backend_load *load;
        struct backend_ask *ask;
    };
};

/* One job that is under way: in a stream, or with the helper thread. */
struct gpu_task {
    struct gpu_task *next; /* of the GPU's tasks, or of those that are spare */
    struct backend_job *job;
    gpu_stream stream;       /* NULL: it is the helper thread's */
    struct gpu_task *behind; /* the one behind it in the stream, or NULL */
    bool recorded;           /* `event` stands behind it, because another task does, too */
    bool over;               /* it is known to have ended */
    bool prints;             /* its kernel may print */
    const struct gpu *other; /* to whose memory it copies, if that is another one; or NULL */
    bool astray;             /* that one was lost meanwhile */
    gpu_event event;         /* stays with the task when that is spare; NULL: never needed so far */
    char kernel[GPU_NAME_BYTES]; /* of a launch; else empty */

    /* The helper thread's. */
    struct gpu_task *next_work;
    struct gpu_work work;
    uint64_t value;
    omprma_status_t status;
    int code;
    char text[ERROR_TEXT_BYTES];
    _Atomic bool done; /* the four above are written */
};

struct gpu_helper_thread {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct gpu_task *first, *last;
    bool running, stop;
};

struct gpu_arena {
    uint64_t base, bytes;
};

enum { GPU_KERNEL_SLOTS = 256 };

/* The first member of what a kind of GPU keeps. */
struct gpu {
    const struct gpu_driver *driver;
    struct worker_device *device;
    char name[96];
    uint64_t memory_bytes;              /* what it may hand out */
    struct gpu_task *tasks, *last_task; /* in the order in which they began */
    struct gpu_task *spare_tasks;
    gpu_stream *streams; /* that are idle; room for all that were made */
    uint32_t idle_count, stream_count;
    struct gpu_helper_thread helper;
    char fault[640]; /* empty: it is well */

    struct gpu_arena arenas[WIRE_ARENAS_MOST]; /* the helper thread's */
    int arena_count;
    uint64_t used_bytes;

    pthread_mutex_t kernel_lock; /* around the table of kernels */
    struct gpu_kernel *kernels[GPU_KERNEL_SLOTS];
};

/* ---- gpu.c */

/* Makes `device`, whose server and index are set, a GPU; only then may it become current. `gpu` is
 * zero, but for name and memory_bytes, which may also be set later. gpu_close() ends it. */
void gpu_open(struct gpu *gpu, struct worker_device *device, const struct gpu_driver *driver);

/* Has the driver's calls of this thread act on the GPU. Not on its helper thread. */
void gpu_enter(const struct gpu *gpu);

/* The GPU of the same kind that a device is. NULL: it is none. */
struct gpu *gpu_sibling(const struct gpu *gpu, const struct worker_device *device);

/* Sets the error "WHAT: text of the code", with the code. Returns the status that fits. */
omprma_status_t gpu_error(const struct gpu *gpu, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The error of a copy or fill that the driver has refused: of a range if that is why. */
omprma_status_t gpu_range_error(const struct gpu *gpu, int code, const char *what, uint64_t address,
                                uint64_t bytes);

/* Nothing that is under way ends any more; the core is told by fault(). */
void gpu_note_fault(struct gpu *gpu, int code);

/* The node of memory that a place on the PCI bus hangs on, "0000:C1:00.0"; -1: not known. */
int gpu_bus_node(const char *bus);

/* ---- helper_thread.c */

omprma_status_t gpu_helper_start(struct gpu *gpu);

/* What it was given before is done first. */
void gpu_helper_stop(struct gpu *gpu);

/* Has it do a job. */
enum backend_step gpu_hand_over(struct worker_device *device, struct backend_job *job,
                                const struct gpu_work *work);

/* True once it has done it: then the task is gone. */
bool gpu_helper_has_ended(struct gpu *gpu, struct gpu_task *task);

/* ---- kernel.c; only the helper thread adds and forgets */

/* Copies the kernel. Errors: HOST_MEMORY. */
omprma_status_t gpu_kernel_add(struct gpu *gpu, const struct gpu_kernel *kernel);
void gpu_kernel_forget(struct gpu *gpu, const void *module);

/* Copies the kernel at an address. False: there is none. */
bool gpu_kernel_find(struct gpu *gpu, uint64_t address, struct gpu_kernel *kernel);

/* ---- stream.c */

/* A task for a job. NULL: there is no memory, which job->status says. */
struct gpu_task *gpu_task_take(struct gpu *gpu, struct backend_job *job);
void gpu_task_give(struct gpu *gpu, struct gpu_task *task);

/* Waits for all streams. */
void gpu_tasks_wait(const struct gpu *gpu);
void gpu_tasks_free(struct gpu *gpu);

/* ---- arena.c */

void gpu_arenas_free(struct gpu *gpu);

/* Copies within the GPU where the ranges overlap. */
enum backend_step gpu_copy_overlap(struct worker_device *device, struct backend_job *job,
                                   const struct backend_copy *copy);

/* ---- the backend, see backend.h */

enum backend_step gpu_grow(struct worker_device *device, struct backend_job *job, uint64_t bytes,
                           uint64_t wish);
enum backend_step gpu_release(struct worker_device *device, struct backend_job *job,
                              uint64_t address);
void gpu_pin(struct worker_device *device, void *memory, uint64_t bytes);
void gpu_unpin(struct worker_device *device, void *memory);
enum backend_step gpu_copy(struct worker_device *device, struct backend_job *job,
                           const struct backend_copy *copy);
enum backend_step gpu_fill(struct worker_device *device, struct backend_job *job,
                           const struct backend_fill *fill);
enum backend_step gpu_load(struct worker_device *device, struct backend_job *job,
                           const struct backend_load *load);
enum backend_step gpu_launch(struct worker_device *device, struct backend_job *job,
                             const struct backend_launch *launch);
enum backend_step gpu_region(struct worker_device *device, struct backend_job *job,
                             const struct backend_copy *write, const struct backend_launch *launch,
                             const struct backend_copy *read);
enum backend_step gpu_ask(struct worker_device *device, struct backend_job *job,
                          struct backend_ask *ask);
bool gpu_poll(struct worker_device *device, struct backend_job *job);
const char *gpu_fault(struct worker_device *device);
omprma_status_t gpu_start(struct worker_device *device);
void gpu_stop(struct worker_device *device);
void gpu_close(struct worker_device *device);

#define GPU_BACKEND(NAME)                                                                          \
    {                                                                                              \
        .name = (NAME), .keeps_order = true, .grow = gpu_grow, .release = gpu_release,             \
        .pin = gpu_pin, .unpin = gpu_unpin, .copy = gpu_copy, .fill = gpu_fill, .load = gpu_load,  \
        .launch = gpu_launch, .region = gpu_region, .ask = gpu_ask, .poll = gpu_poll,              \
        .fault = gpu_fault, .start = gpu_start, .stop = gpu_stop, .close = gpu_close,              \
    }

#endif
