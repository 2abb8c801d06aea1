/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * omprma.h: the C interface of omprma, usable without OpenMP.
 *
 * A process that was started beside one or more omprma-worker processes (see omprma-run) calls
 * omprma_init() and then sees every worker as a device: memory, images (shared objects whose
 * functions are kernels), ordered queues of asynchronous operations, and events between them.
 *
 * Vocabulary of the comments
 *   Thread: every function may be called from any thread at any time between omprma_init() and
 *     omprma_finalize(), unless its comment says otherwise. Calls on one queue from several threads
 *     are serialised in the order in which they arrive.
 *   Blocks: "no" means that the call returns without waiting for a worker. "yes" means that it may
 *     wait for messages from a worker; while it waits it makes progress for all queues. "when full"
 *     means no, unless the queue is full: then it waits until there is room, see omprma_queue_t.
 *   Errors: functions return OMPRMA_OK (0) or an error; outputs are written only on success. The
 *     sentence that belongs to the calling thread's last error is omprma_error().
 *   Sizes are in bytes. Device addresses are addresses in the worker's address space.
 */
#ifndef OMPRMA_OMPRMA_H
#define OMPRMA_OMPRMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OMPRMA_API __attribute__((visibility("default")))

#define OMPRMA_VERSION_MAJOR 0
#define OMPRMA_VERSION_MINOR 1
#define OMPRMA_VERSION_PATCH 0
#define OMPRMA_VERSION_STRING "0.1.0"

/* ---- status ------------------------------------------------------------------------------- */

/* How a call ended. */
typedef enum omprma_status {
    OMPRMA_OK = 0,
    OMPRMA_ERR_ARGUMENT,      /* an argument is out of range or NULL where it must not be */
    OMPRMA_ERR_CONFIG,        /* an OMPRMA_* environment variable has a value that cannot be used */
    OMPRMA_ERR_NO_WORKERS,    /* the process was not started beside any worker */
    OMPRMA_ERR_VERSION,       /* application and worker come from different versions of omprma */
    OMPRMA_ERR_MPI,           /* MPI returned an error; the text holds its own words */
    OMPRMA_ERR_DEVICE_MEMORY, /* the worker has no memory left for the request */
    OMPRMA_ERR_HOST_MEMORY,   /* malloc failed in the application's process */
    OMPRMA_ERR_ADDRESS,       /* a device range is foreign, freed, or runs past its block */
    OMPRMA_ERR_IMAGE,         /* an image is truncated, damaged or made for another machine */
    OMPRMA_ERR_SYMBOL,        /* an image lacks a symbol, or a library that it needs is missing */
    OMPRMA_ERR_KERNEL,        /* a kernel crashed, aborted or called exit; its device is lost */
    OMPRMA_ERR_DEVICE_LOST,   /* the worker died, stopped answering, or a kernel crashed before */
    OMPRMA_ERR_UNSUPPORTED,   /* the operation cannot work on a remote device */
    OMPRMA_ERR_PROTOCOL,      /* a control message is damaged or of another version */
    OMPRMA_ERR_CLOSED,        /* omprma_init() was not called, or omprma_finalize() was */
    OMPRMA_ERR_STUCK,         /* nothing moves any more: a defect of omprma or of MPI */
    OMPRMA_STATUS_COUNT
} omprma_status_t;

/* A few words for a status, for example "no workers". Never NULL; static storage. Blocks: no. */
OMPRMA_API const char *omprma_status_string(omprma_status_t status);

/*
 * One line about the calling thread's last failed call: what, where (device, host, queue, kernel,
 * address) and what to do. Never NULL; empty before the first error. Valid until the thread's next
 * failing call. Blocks: no.
 */
OMPRMA_API const char *omprma_error(void);

/*
 * The code that the device's own driver has for that error, for example 700 of a CUDA device whose
 * kernel touched memory that is not there; 0: it has none, or the error is omprma's. It stays with
 * a queue's error wherever that is returned. Blocks: no.
 */
OMPRMA_API int omprma_error_code(void);

/* ---- start and end ------------------------------------------------------------------------ */

/*
 * Starts MPI if the run is connected by it and the program has not, shakes hands with all workers,
 * measures them, and returns when every device can be used. Calling it again adds a reference; each
 * call needs its own omprma_finalize(). It cannot be called again after the last finalize (MPI
 * cannot restart). Blocks: yes; OMPRMA_TIMEOUT bounds each step: until all processes have met (at
 * least 60 s), connecting, measuring. MPI cannot be called off, so what takes longer ends the
 * process with a line on stderr and status 1. Errors: CONFIG, NO_WORKERS, VERSION, MPI,
 * HOST_MEMORY, CLOSED (after the last finalize). A process that is forked after it has no devices:
 * what uses one gives CLOSED there, and its end does not touch its parent.
 */
OMPRMA_API omprma_status_t omprma_init(void);

/*
 * Drops one reference. The last one waits for running kernels, tells the workers to exit, prints
 * statistics and writes the trace if asked for, and ends MPI if omprma_init() started it.
 * No other thread may be inside a function of this header, and no handle may be used after. When a
 * device was lost because its worker or the connection to it is, all processes end, with status 1.
 * Blocks: yes; OMPRMA_TIMEOUT bounds the end of MPI as it does the start.
 */
OMPRMA_API void omprma_finalize(void);

/* ---- devices ------------------------------------------------------------------------------ */

typedef uint64_t omprma_addr_t; /* an address in a worker's address space; 0 is no address */

/* What is known of a device. */
typedef struct omprma_device_info {
    char host[64];                  /* the worker's host name */
    int pid;                        /* its process id there */
    int worker;                     /* number of the worker, from 0 */
    int index;                      /* of the device among those of its worker, from 0 */
    char backend[16];               /* what kind of device it is: "native", "cuda", "hsa" */
    int cores;                      /* processing units that its kernels may use */
    int numa_node;                  /* node of its memory, -1: spread over several */
    int lanes;                      /* kernels of different queues that may run at once */
    uint64_t memory_bytes;          /* device memory that it may hand out */
    uint64_t arena_bytes;           /* of that, attached now */
    uint64_t used_bytes;            /* of that, in live blocks now */
    uint64_t peak_bytes;            /* the highest used_bytes so far */
    uint32_t inline_submit_bytes;   /* submits up to this size travel in a control message, */
    uint32_t inline_retrieve_bytes; /* and retrieves */
    const char *osc; /* one-sided component in use, "none" without a window; static */
    char model[96];  /* of the processor, or of the GPU */
    bool native;     /* its kernels are code for the processors of its worker; else it is a GPU */
} omprma_device_info_t;

/* Number of devices of all workers; 0 before omprma_init(). Blocks: no. */
OMPRMA_API int omprma_device_count(void);

/* Describes device 0 <= device < count. Blocks: no. Errors: ARGUMENT, CLOSED. */
OMPRMA_API omprma_status_t omprma_device_info(int device, omprma_device_info_t *info);

/*
 * Asks something that only devices of one kind understand: what may be asked, and how the answer
 * reads, is agreed between the caller and the device's backend. Up to OMPRMA_QUESTION bytes go
 * there, up to `room` come back; *answered is their number, also when more than `room` came.
 * Blocks: yes. Errors: ARGUMENT, UNSUPPORTED (devices of this kind answer no questions, or not this
 * one), DEVICE_LOST, CLOSED, the backend's.
 */
OMPRMA_API omprma_status_t omprma_device_ask(int device, uint32_t what, const void *question,
                                             size_t bytes, void *answer, size_t room,
                                             size_t *answered);
#define OMPRMA_QUESTION 16384

/* ---- memory ------------------------------------------------------------------------------- */

/*
 * Allocates `bytes` of device memory, aligned to 64 bytes (4 KiB for blocks of 64 KiB and more).
 * The content is undefined. Size 0 gives address 0. The caller owns the block.
 * Blocks: no while the device's arenas have room, yes when one must grow.
 * Errors: ARGUMENT, DEVICE_MEMORY, DEVICE_LOST, HOST_MEMORY, CLOSED.
 */
OMPRMA_API omprma_status_t omprma_alloc(int device, size_t bytes, omprma_addr_t *address);

/*
 * Allocates `bytes` of device memory for a copy of what `host` points to: the two addresses are the
 * same modulo 64, for blocks of 4 KiB and more modulo 4 KiB, so that what is aligned on the host is
 * aligned on the device. `host` is not read. Otherwise as omprma_alloc().
 * Blocks: as omprma_alloc(). Errors: the same.
 */
OMPRMA_API omprma_status_t omprma_alloc_like(int device, size_t bytes, const void *host,
                                             omprma_addr_t *address);

/*
 * Frees a block by the address that omprma_alloc() or omprma_alloc_like() gave. Address 0 is
 * allowed and does nothing. Operations on the block should be complete: no later one may name it.
 * While queues of the device are busy, or others copy to it, it is kept from being handed out
 * again, until what they hold now is over. Blocks: no. A device that was exchanging with one that
 * was lost reuses no memory from then on, because what had begun there may still go on. Errors:
 * ARGUMENT, ADDRESS (not the start of a live block: never allocated, or freed before).
 */
OMPRMA_API omprma_status_t omprma_free(int device, omprma_addr_t address);

/*
 * Tells whether [address, address + bytes) lies inside one live block of omprma_alloc(). Other
 * addresses may still be valid on the device (globals of images, its own malloc); only the worker
 * can tell. Blocks: no. Errors: ARGUMENT, CLOSED.
 */
OMPRMA_API omprma_status_t omprma_address_inside(int device, omprma_addr_t address, size_t bytes,
                                                 bool *inside);

/*
 * The address that a kernel of the device used when it crashed, which was no memory there; 0: no
 * kernel has crashed, or not with an address that is known. It may be one of the program: a host
 * pointer. Blocks: no. Errors: ARGUMENT, CLOSED.
 */
OMPRMA_API omprma_status_t omprma_fault_address(int device, omprma_addr_t *address);

/* ---- images ------------------------------------------------------------------------------- */

/* A kernel or a global variable of an image. */
typedef struct omprma_symbol {
    const char *name;      /* in: symbol name; owned by the caller, copied where kept */
    uint64_t bytes;        /* in: 0 for a kernel, else the size of a global variable */
    omprma_addr_t address; /* out: its address on the device */
} omprma_symbol_t;

/*
 * Checks, without loading it, that [image, image + bytes) is a complete shared object for this
 * machine. Blocks: no; may be called before omprma_init(). Errors: ARGUMENT, IMAGE.
 */
OMPRMA_API omprma_status_t omprma_image_check(const void *image, size_t bytes);

/*
 * Loads an image on a device and looks up `count` symbols in it: a shared object on native devices,
 * a cubin, a fat binary or PTX on CUDA devices, a code object on HSA devices. An image that the
 * device already holds (same content) is not sent again. The image may be freed after the call. It
 * stays loaded until omprma_finalize().
 * Blocks: yes. Errors: ARGUMENT, IMAGE, SYMBOL, DEVICE_MEMORY, DEVICE_LOST, CLOSED.
 */
OMPRMA_API omprma_status_t omprma_image_load(int device, const void *image, size_t bytes,
                                             omprma_symbol_t *symbols, size_t count);

/* The name of a kernel that native devices add to each image. Launched with three words, the device
 * address of a result of 64 bits, an address and a device function, it lets kernels call the
 * function by that address, until the worker ends. The result is 0, or the worker's errno: EEXIST
 * when something else is at the address, for instance the function of another device of the same
 * worker. */
#define OMPRMA_SYMBOL_STAND_IN "__omprma_stand_in"

/* Names of data that native devices add to each image: what `stdin`, `stdout` and `stderr` point to
 * in a kernel, for pointers of the program to its own streams. Their size is that of FILE. */
#define OMPRMA_SYMBOL_STDIN "__omprma_stdin"
#define OMPRMA_SYMBOL_STDOUT "__omprma_stdout"
#define OMPRMA_SYMBOL_STDERR "__omprma_stderr"

/*
 * Loads an image as a module of its own, with globals of its own, though the device may hold the
 * same image already. Names in it are looked up, and it is unloaded, by omprma_device_ask(). The
 * image may be freed after the call.
 * Blocks: yes. Errors: ARGUMENT, IMAGE, DEVICE_MEMORY, DEVICE_LOST, CLOSED, UNSUPPORTED (native
 * devices).
 */
OMPRMA_API omprma_status_t omprma_module_load(int device, const void *image, size_t bytes,
                                              uint64_t *module);

/* ---- queues ------------------------------------------------------------------------------- */

/*
 * A queue is an ordered stream of operations on one device. Operations are issued without waiting;
 * each starts after all earlier ones of its queue are complete as far as it can tell. Different
 * queues are not ordered among each other except through events and synchronize.
 *
 * A queue is not endless. It holds 256 messages and transfers that are not done, many small
 * operations to a message of 64 KiB, and its worker holds 128 more messages. When it is full, a
 * call that adds to it flushes it and waits until there is room; other threads and queues go on
 * meanwhile. If the queue fails in the meantime, the call returns that error. So a kernel must not
 * wait for something that the program does only after further calls on the kernel's queue.
 *
 * While omprma tries which path is the faster (OMPRMA_ADAPT), a submit or a retrieve of more than
 * 8 KiB may block until it is complete, if its queue was empty. Few of them do.
 *
 * When an operation fails, the queue fails: later operations are not run and return the same error,
 * omprma_queue_synchronize() returns it once, and the queue is clean again after that.
 */
typedef struct omprma_queue omprma_queue_t;

/* Creates a queue; cheap. Blocks: no. Errors: ARGUMENT, HOST_MEMORY, CLOSED. */
OMPRMA_API omprma_status_t omprma_queue_create(int device, omprma_queue_t **queue);

/* Waits for the queue's operations, then frees it; its error, if any, is returned. NULL is
 * allowed. Blocks: yes. */
OMPRMA_API omprma_status_t omprma_queue_destroy(omprma_queue_t *queue);

/*
 * Copies host memory to the device. Up to OMPRMA_COPIED_SUBMIT bytes the source may be reused when
 * the call returns; a larger source must stay as it is until the queue is synchronized, a later
 * event of the queue is complete, or omprma_queue_query() says done. Size 0 does nothing. A source
 * that is not memory ends the program with SIGSEGV, as a copy by itself would.
 * Blocks: when full. Errors: ARGUMENT, ADDRESS, DEVICE_LOST, HOST_MEMORY, the queue's error.
 */
OMPRMA_API omprma_status_t omprma_submit(omprma_queue_t *queue, omprma_addr_t to, const void *from,
                                         size_t bytes);
#define OMPRMA_COPIED_SUBMIT 8192

/* Copies device memory to the host. `to` holds the data when the queue is synchronized.
 * Blocks: when full. Errors: as omprma_submit(). */
OMPRMA_API omprma_status_t omprma_retrieve(omprma_queue_t *queue, void *to, omprma_addr_t from,
                                           size_t bytes);

/* One of the parts that omprma_retrieve_parts() copies: `bytes` from `offset` on. */
typedef struct omprma_part {
    void *to;
    size_t offset, bytes;
} omprma_part_t;

/*
 * Copies `count` parts of the range of `bytes` at `from` to the host, each to a place of its own:
 * as omprma_retrieve() of each, in this order. A small range travels at once, with what lies
 * between its parts. The list is copied.
 * Blocks: when full. Errors: as omprma_retrieve(); ARGUMENT, and nothing is copied, when a part is
 * not inside of the range.
 */
OMPRMA_API omprma_status_t omprma_retrieve_parts(omprma_queue_t *queue, omprma_addr_t from,
                                                 size_t bytes, const omprma_part_t *parts,
                                                 size_t count);

/*
 * Runs of memory that do not follow each other: a block of an array, a column, a face. Both ends of
 * a copy have the same runs, in the same order, each with strides of its own. Counts and strides
 * are those of up to three dimensions, the innermost first; strides are in bytes. Where there is no
 * dimension the count is 1.
 */
#define OMPRMA_SHAPE_RANK 3
typedef struct omprma_shape {
    size_t bytes; /* of a run */
    size_t count[OMPRMA_SHAPE_RANK];
    size_t to_stride[OMPRMA_SHAPE_RANK], from_stride[OMPRMA_SHAPE_RANK];
} omprma_shape_t;

/*
 * As omprma_submit() of each run, the first one from `from` to `to`; small runs are packed, move as
 * one, and are unpacked by the worker. On the device all lie in one block of omprma_alloc(), or all
 * in memory that only the worker knows; they do not overlap there. Up to OMPRMA_COPIED_SUBMIT bytes
 * in all the source may be reused when the call returns. Without bytes, or with a count of 0,
 * nothing is done. Blocks: when full, and as omprma_alloc() where memory for packed runs is made,
 * which then stays. Errors: as omprma_submit(); ARGUMENT when the shape is NULL or reaches over
 * more than 2^47 bytes.
 */
OMPRMA_API omprma_status_t omprma_submit_strided(omprma_queue_t *queue, omprma_addr_t to,
                                                 const void *from, const omprma_shape_t *shape);

/* As omprma_retrieve() of each run, the first one from `from` to `to`, where they do not
 * overlap either; otherwise as omprma_submit_strided(). Errors: the same. */
OMPRMA_API omprma_status_t omprma_retrieve_strided(omprma_queue_t *queue, void *to,
                                                   omprma_addr_t from, const omprma_shape_t *shape);

/* As omprma_exchange() of each run, the first one from `from` to `to`, but memory at both ends must
 * not overlap; otherwise as omprma_submit_strided(). Errors: the same. */
OMPRMA_API omprma_status_t omprma_exchange_strided(omprma_queue_t *queue, omprma_addr_t from,
                                                   int to_device, omprma_addr_t to,
                                                   const omprma_shape_t *shape);

/*
 * Writes `count` copies of a pattern of 1, 2, 4 or 8 bytes to the device, the first one at `to`,
 * which is a multiple of the pattern's size. Blocks: when full. Errors: as omprma_submit().
 */
OMPRMA_API omprma_status_t omprma_fill(omprma_queue_t *queue, omprma_addr_t to, const void *pattern,
                                       size_t pattern_bytes, size_t count);

/*
 * Copies from the queue's device to `to_device`, worker to worker. Complete, at the destination,
 * in the order of this queue. Overlapping ranges on one device are allowed.
 * Blocks: when full. Errors: as omprma_submit(); the text names both devices. Workers that can no
 * longer reach each other are lost one and a half OMPRMA_TIMEOUT after data has last moved, or
 * somewhat later.
 */
OMPRMA_API omprma_status_t omprma_exchange(omprma_queue_t *queue, omprma_addr_t from, int to_device,
                                           omprma_addr_t to, size_t bytes);

/*
 * Copies the same host memory to several devices: to[i] on the device of queues[i], for i < count,
 * in the order of each queue. Large data leaves the application once and is passed on from worker
 * to worker. The rules of omprma_submit() for the source hold until all queues are synchronized.
 * Addresses are checked before anything is sent.
 * Blocks: when one is full. Errors: as omprma_submit(), and ARGUMENT when two queues have the same
 * device.
 */
OMPRMA_API omprma_status_t omprma_broadcast(omprma_queue_t *const *queues, const omprma_addr_t *to,
                                            size_t count, const void *from, size_t bytes);

/*
 * How many threads run a kernel: teams of threads, in up to three dimensions each, and memory that
 * the threads of a team share. 0 leaves a number to the device. Native devices call the kernel
 * once, on one thread, whatever the geometry: the code of a host kernel asks its own OpenMP runtime
 * for teams and threads. threads[0], unless it is 0, limits how many threads that gives to a
 * parallel region.
 */
typedef struct omprma_geometry {
    uint32_t teams[3], threads[3];
    uint64_t shared_bytes;  /* per team, beside what the kernel has of its own; HSA devices take it
                             * as all there is in omprma_launch_packed() */
    uint64_t private_bytes; /* per thread, where an AMD kernel leaves that to its caller; else 0 */
} omprma_geometry_t;

/*
 * Calls the kernel at device address `kernel` (from omprma_image_load()) with `count` arguments of
 * 64 bits each: device addresses, or scalars by value, of which a CUDA kernel takes as many bytes
 * as its parameter has. The words and the geometry are copied.
 * `geometry` NULL leaves all of it to the device.
 * Blocks: when full. Errors: ARGUMENT (more than OMPRMA_LAUNCH_ARGUMENTS), DEVICE_LOST, the queue's
 * error.
 */
OMPRMA_API omprma_status_t omprma_launch(omprma_queue_t *queue, omprma_addr_t kernel,
                                         const omprma_geometry_t *geometry,
                                         const uint64_t *arguments, size_t count);
#define OMPRMA_LAUNCH_ARGUMENTS 4096

/*
 * Calls a kernel as omprma_launch() does, but one with one parameter, `void **context`: context[i]
 * points to a copy of argument i, which is the kernel's own. Kernels of clang 23 for native devices
 * have this form.
 * Blocks: when full. Errors: as omprma_launch(); the queue fails with UNSUPPORTED on GPUs.
 */
OMPRMA_API omprma_status_t omprma_launch_context(omprma_queue_t *queue, omprma_addr_t kernel,
                                                 const omprma_geometry_t *geometry,
                                                 const uint64_t *arguments, size_t count);

/*
 * Calls a kernel as omprma_launch() does, with its parameters as it has them in memory, with the
 * gaps between them.
 * Blocks: when full. Errors: as omprma_launch(); ARGUMENT for more than 8 OMPRMA_LAUNCH_ARGUMENTS
 * bytes; the queue fails with UNSUPPORTED on native devices.
 */
OMPRMA_API omprma_status_t omprma_launch_packed(omprma_queue_t *queue, omprma_addr_t kernel,
                                                const omprma_geometry_t *geometry,
                                                const void *parameters, size_t bytes);

/* A region: what is copied to the device, the call of a kernel, and what comes back. A size of 0
 * leaves a copy out. */
typedef struct omprma_region {
    omprma_addr_t to; /* `bytes` are copied from `from` to here, */
    const void *from;
    size_t bytes;
    omprma_addr_t kernel; /* then this is called with `count` arguments, */
    const omprma_geometry_t *geometry;
    const uint64_t *arguments;
    size_t count;
    omprma_addr_t back; /* then `part_count` parts of `back_bytes` are copied from here. */
    size_t back_bytes;
    const omprma_part_t *parts;
    size_t part_count;
    bool context; /* the kernel is called as by omprma_launch_context() */
} omprma_region_t;

/*
 * As omprma_submit(), omprma_launch() and omprma_retrieve_parts() one after another. One with
 * little data is one command for the worker, with one answer. All but what is submitted is copied,
 * and that as omprma_submit() says. Blocks: when full. Errors: ARGUMENT (region is NULL); those of
 * the three. What stands before the one with the error is done.
 */
OMPRMA_API omprma_status_t omprma_region(omprma_queue_t *queue, const omprma_region_t *region);

/*
 * As omprma_region() and omprma_queue_synchronize(), in one. `issued`, unless NULL, is called once,
 * when the region is in the queue or could not be put there, and before the call waits: a caller
 * that holds locks of its own can give them up there, and others that take them find the region in
 * the queue. It must call no function of this header. Blocks: yes. Errors: of both; that of
 * omprma_queue_synchronize() comes first.
 */
OMPRMA_API omprma_status_t omprma_region_wait(omprma_queue_t *queue, const omprma_region_t *region,
                                              void (*issued)(void *data), void *data);

/* Sends what the queue has gathered so far, so that the worker starts on it. Without it, small
 * operations may wait for company until the queue is queried or synchronized. Blocks: no. */
OMPRMA_API omprma_status_t omprma_queue_flush(omprma_queue_t *queue);

/* Flushes, makes some progress, and tells whether all operations are complete. On an error it
 * says done, and synchronize returns the error. Blocks: no. Errors: ARGUMENT, CLOSED. */
OMPRMA_API omprma_status_t omprma_queue_query(omprma_queue_t *queue, bool *done);

/* Waits until all operations are complete. Returns the first error of the queue and clears it.
 * Blocks: yes. */
OMPRMA_API omprma_status_t omprma_queue_synchronize(omprma_queue_t *queue);

/*
 * Has `callback` called once when all that the queue holds now is complete, with OMPRMA_OK, or with
 * the first error among it; so a caller can go on without a thread that waits. It is asked for at
 * once: nothing needs to be flushed. The queue's error stays for omprma_queue_synchronize().
 *
 * The callback runs on whatever thread makes progress: inside any function of this header, also
 * this one, before that returns, or on the progress thread. Without that thread somebody has to
 * call omprma_progress(), or a function that waits or queries, now and then. It may call every
 * function whose comment says "Blocks: no" or "when full", the latter on queues that are not full;
 * it must not wait. Callbacks run one at a time, those of one queue in the order of the calls. All
 * have run when omprma_finalize() returns. Blocks: no. Errors: ARGUMENT, HOST_MEMORY, CLOSED; the
 * callback is not called then.
 */
OMPRMA_API omprma_status_t omprma_queue_notify(omprma_queue_t *queue,
                                               void (*callback)(void *data, omprma_status_t status),
                                               void *data);

/* Makes some progress for all queues: takes what has come in, and calls the callbacks that are due.
 * For who waits for something of its own, and has operations under way. Blocks: no. Errors: CLOSED.
 */
OMPRMA_API omprma_status_t omprma_progress(void);

/*
 * Asks for the progress thread (`change` is 1), or no longer (-1). As long as it is asked for, by
 * whomever, what is under way goes on while no thread of the program is inside a function of this
 * header: this thread of omprma's makes progress, calls callbacks, and flushes queues within two
 * milliseconds after something was put into them that nobody has flushed, queried or waited for. It
 * leaves that to threads that wait, and sleeps while nothing is under way. It is made at the first
 * such call and ends in omprma_finalize(); it takes no signals. OMPRMA_PROGRESS_THREAD=1 asks for
 * it once, from omprma_init() on. Each 1 needs a -1 when what it was for is over, or none. Blocks:
 * no. Errors: ARGUMENT (another number, or nobody asks for it), HOST_MEMORY (no thread can be made;
 * it is not asked for then), CLOSED.
 */
OMPRMA_API omprma_status_t omprma_progress_thread(int change);

/* A place in a queue where the program holds it. */
typedef struct omprma_hold omprma_hold_t;

/*
 * Holds the queue for something that the program does itself: `reached` is called once, when all
 * that the queue held by now is complete, with OMPRMA_OK, or with the first error among it, and
 * nothing that is put into the queue later begins before omprma_hold_end(). The call itself waits
 * for none of that. `reached` runs as callbacks of omprma_queue_notify() do, and so must not wait;
 * it may have another thread go on. Nobody takes a queue that is held for stuck, however long that
 * takes. omprma_finalize() drops all that is held, and calls nothing for it. Blocks: when full.
 * Errors: ARGUMENT, HOST_MEMORY, CLOSED, the queue's; `reached` is not called then.
 */
OMPRMA_API omprma_status_t omprma_queue_hold(omprma_queue_t *queue,
                                             void (*reached)(omprma_hold_t *hold, void *data,
                                                             omprma_status_t status),
                                             void *data);

/* The queue goes on. Once for each hold that was reached, also after an error; the hold is gone
 * then. Not while another thread is in omprma_finalize(). Blocks: no. */
OMPRMA_API void omprma_hold_end(omprma_hold_t *hold);

/* ---- events ------------------------------------------------------------------------------- */

/*
 * An event marks a place in a queue. It is complete when all operations before that place are. Then
 * its result stays as it is. If all of these operations succeeded, it has no error, also when a
 * later operation of the queue fails. If one of them failed, be it a wait for another event that
 * failed, it has that error, also when the queue is synchronized later. (What had failed before the
 * queue was last synchronized is past.) An event that was never recorded is complete. Recording
 * again moves it; waits that were issued before keep the old place. Destroying an event does not
 * disturb waits that were issued before.
 */
typedef struct omprma_event omprma_event_t;

/* Creates an event, never recorded. Blocks: no. Errors: HOST_MEMORY, CLOSED. */
OMPRMA_API omprma_status_t omprma_event_create(omprma_event_t **event);

/* Marks the present end of the queue. Sends nothing. Blocks: no. Errors: ARGUMENT, HOST_MEMORY,
 * CLOSED. */
OMPRMA_API omprma_status_t omprma_event_record(omprma_event_t *event, omprma_queue_t *queue);

/* Later operations of `queue` (of any device) start after the event is complete. If it completes
 * with an error, `queue` fails too; where that is known already, the call returns the error.
 * Blocks: when full. Errors: ARGUMENT, HOST_MEMORY, the queue's error. */
OMPRMA_API omprma_status_t omprma_event_wait(omprma_event_t *event, omprma_queue_t *queue);

/* Tells whether the event is complete; makes some progress. Blocks: no. Errors: ARGUMENT. */
OMPRMA_API omprma_status_t omprma_event_query(omprma_event_t *event, bool *done);

/* Waits until the event is complete. Blocks: yes. Errors: ARGUMENT, the error of its queue. */
OMPRMA_API omprma_status_t omprma_event_synchronize(omprma_event_t *event);

/* Frees the event. NULL is allowed. Blocks: no. */
OMPRMA_API void omprma_event_destroy(omprma_event_t *event);

#ifdef __cplusplus
}
#endif
#endif
