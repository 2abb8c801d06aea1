/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * standin.h: a stand-in for the CUDA driver, for tests of the worker where no GPU is: libcuda.so.1
 * by name, with devices whose memory is memory of the process and whose kernels are functions of
 * the host. It shows that calls, their order and the data are right; it executes no GPU code.
 *
 * - settings.c: what it is told by the environment; what is left over at the end
 * - device.c: devices, contexts, memory
 * - stream.c: streams: a thread each, which does what it is given later than it is asked for
 * - image.c: what PTX, cubins and fat binaries say: kernels with their parameters, variables
 * - module.c: modules, functions, launches
 * - tests/standin: failing calls, and the host functions behind kernels
 *
 * Environment, read by cuInit():
 * - STANDIN_DEVICES: how many (1); 0: cuInit says that there is none
 * - STANDIN_MEMORY: MiB of each (1024)
 * - STANDIN_PLACE: where memory of GPUs is, see tests/standin/place.h
 * - STANDIN_VERSION: of the driver interface (12040)
 * - STANDIN_CAPABILITY: of the devices (90)
 * - STANDIN_DELAY: most microseconds by which a stream does something too late (200)
 * - STANDIN_TAKES: microseconds that each small copy, fill and launch takes in its stream (0)
 * - STANDIN_SPEED: GB/s of two engines, in and out; then copies from 32 KiB on, after the first 32
 * MiB, move nothing and, without delay, all else is done at once: for measurements
 * - STANDIN_FAIL: NUMBER or FUNCTION:NUMBER, and :CODE: that call returns CODE (999)
 * - STANDIN_CODE: files with x86-64 code for kernels, with colons between: shared objects, or
 *   programs with x86-64 offload images in them
 * - STANDIN_REPORT: a file that gets a line per kind of thing that was not given back
 */
#ifndef OMPRMA_TESTS_CUDA_STANDIN_H
#define OMPRMA_TESTS_CUDA_STANDIN_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/standin/calls.h"
#include "tests/standin/code.h"
#include "tests/standin/place.h"

#define EXPORT __attribute__((visibility("default")))

/* Who calls the exported functions declares them by itself. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALIZED = 3,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    NO_BINARY = 209,
    INVALID_PTX = 218,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    PEER_ENABLED = 704,
    ASSERT = 710,
    LAUNCH_FAILED = 719,
    NOT_SUPPORTED = 801,
    UNKNOWN = 999
};

enum { DEVICES_MOST = 16 };

/* ---- settings.c */

struct standin_counts {
    int blocks, modules, streams, events, contexts, registrations; /* that are not given back */
    int deepest;                                                   /* most in one stream so far */
    int calls;                                                     /* so far */
    int recorded;                                                  /* events, so far */
    int synchronized;                                              /* streams, so far */
    const char *failed; /* that was made to fail, or NULL */
};

struct settings {
    int devices, version, capability;
    size_t memory_bytes;
    int gbps; /* 0: copies are made */
    int takes_us;
    _Atomic unsigned delay_us;
    const char *code; /* "" if there is none */
};

extern struct settings settings;

/* Somebody measures what others add: small things are done at once, and cost little. */
static inline bool settings_measure(void)
{
    return settings.gbps && !settings.delay_us;
}

extern struct standin_counts counts; /* with counts_lock */
extern pthread_mutex_t counts_lock;

void settings_read(void);

#define ENTER                                                                                      \
    do {                                                                                           \
        int code_ = call_begin(__func__);                                                          \
        if (code_ != SUCCESS)                                                                      \
            return code_;                                                                          \
    } while (0)

void counts_add(int *count, int more);

/* So many things wait in one stream. */
void counts_most(int waiting);

/* For tests in the same process: what is there; have the n-th call from now on fail; 0: none. */
EXPORT void standin_counts(struct standin_counts *now);
EXPORT void standin_fail(const char *function, int number, int code);
/* Forgets contexts that have faulted, as the end of a process would. */
EXPORT void standin_forget_contexts(void);

/* ---- device.c */

struct context {
    int device, references;
    _Atomic int fault;       /* SUCCESS, or what everything returns from now on */
    pthread_mutex_t kernels; /* one runs at a time */
    pthread_rwlock_t work;   /* read while an operation of any stream is done */
};

/* That of the calling thread, or the reason why it has none that can be used. */
int context_current(struct context **context);

/* It shows when what other streams are at has ended: nothing touches memory afterwards. Not from
 * inside of an operation. */
void context_lose(struct context *context, int code);

/* True if it is memory of the device, or a variable of a module. */
bool memory_is_valid(uint64_t address, size_t bytes);
bool memory_is_registered(const void *memory, size_t bytes);

/* Memory of a device for a module; 0 without any. */
uint64_t memory_take(int device, size_t bytes);
void memory_give(uint64_t address);

/* Names a variable of a module that lies in code. */
int memory_note(uint64_t address, size_t bytes);
void memory_forget(uint64_t address);

/* ---- stream.c */

struct stream;

/* Has a stream call work(data) after what it was given before, and then free `data`. */
int stream_add(struct stream *stream, int (*work)(void *data), void *data);

/* Waits until all that it was given is over; the context's fault, or SUCCESS. */
int stream_wait(struct stream *stream);

/* Instead, a copy by an engine, which moves nothing: for who measures. */
enum { STREAM_ENGINES = 2, STREAM_ENGINE_LEAST = 32 << 10 };
void stream_add_copy(struct stream *stream, int engine, size_t bytes);

/* ---- image.c */

struct image_parameter {
    uint32_t offset, bytes;
};

struct image_symbol {
    char *name;
    bool kernel;
    size_t bytes;   /* of a variable */
    void *contents; /* of a variable; NULL: zero */
    uint32_t count; /* of a kernel's parameters */
    struct image_parameter *parameters;
};

struct image {
    struct image_symbol *symbols;
    size_t count;
};

/* Adds what it says. `bytes` is SIZE_MAX where that is not known. */
int image_read(struct image *image, const void *data, size_t bytes);
void image_free(struct image *image);

#endif
