/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * driver.h: the CUDA driver, opened when the worker starts: omprma is built without CUDA, and runs
 * where there is none. Declares what it needs of the driver interface by itself.
 *
 * Thread: any, once it is open; what belongs to a context needs that current on the calling thread.
 */
#ifndef OMPRMA_WORKER_CUDA_DRIVER_H
#define OMPRMA_WORKER_CUDA_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <omprma/omprma.h>

#include "base/cuda_questions.h"

typedef struct driver_context_s *driver_context;
typedef struct driver_module_s *driver_module;
typedef struct driver_function_s *driver_function;
typedef struct gpu_stream_s *driver_stream; /* worker/gpu has the same */
typedef struct driver_link_s *driver_link;
typedef struct gpu_event_s *driver_event;

/* Of the driver's results, attributes, flags and options those that the worker knows by name. */
enum {
    DRIVER_OK = 0,
    DRIVER_INVALID_VALUE = 1,
    DRIVER_OUT_OF_MEMORY = 2,
    DRIVER_STUB = 34,
    DRIVER_NO_DEVICE = 100,
    DRIVER_INVALID_IMAGE = 200,
    DRIVER_NO_BINARY = 209,
    DRIVER_UNCORRECTABLE = 214,
    DRIVER_INVALID_PTX = 218,
    DRIVER_NVLINK = 220,
    DRIVER_NO_COMPILER = 221,
    DRIVER_PTX_TOO_NEW = 222,
    DRIVER_INVALID_HANDLE = 400,
    DRIVER_NOT_FOUND = 500,
    DRIVER_NOT_READY = 600,
    DRIVER_ILLEGAL_ADDRESS = 700,
    DRIVER_LAUNCH_TIMEOUT = 702,
    DRIVER_PEER_ENABLED = 704,
    DRIVER_CONTEXT_GONE = 709,
    DRIVER_ASSERT = 710,
    DRIVER_STACK = 714,
    DRIVER_LAUNCH_FAILED = 719,
    DRIVER_NOT_SUPPORTED = 801,
    DRIVER_UNKNOWN = 999
};
enum { DRIVER_MULTIPROCESSORS = 16 };
enum { DRIVER_BLOCKING_SYNC = 4, DRIVER_NON_BLOCKING = 1, DRIVER_PORTABLE = 1 };
enum { DRIVER_DISABLE_TIMING = 2 };
enum { DRIVER_ERROR_LOG = 5, DRIVER_ERROR_LOG_BYTES = 6 };

struct driver {
    void *library;
    int version_number; /* 12040: 12.4 */
    int count;          /* of GPUs */
#define DRIVER(field, symbol, parameters) int(*field) parameters;
#define OPTIONAL(field, symbol, parameters) int(*field) parameters;
#include "worker/cuda/driver.def"
#undef DRIVER
#undef OPTIONAL
};

/* Opens libcuda.so.1 and counts its GPUs. Errors: UNSUPPORTED (there is no driver, it is too old,
 * or it has no GPU), in a line. */
omprma_status_t driver_open(struct driver *driver);
void driver_close(struct driver *driver);

/* The parameters of a kernel, at most CUDA_PARAMETERS_MOST. Returns how many there are;
 * CUDA_PARAMETERS_UNKNOWN: the driver does not say. */
int32_t driver_list_parameters(const struct driver *driver, driver_function function,
                               struct cuda_parameter *parameters);

/* After these the context is of no use any more: no call on it succeeds. */
bool driver_is_fatal(int code);

/* Sets the error "WHAT: NAME OF THE CODE: its words", with the code. Returns the status that fits.
 */
omprma_status_t driver_error(const struct driver *driver, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "CUDA_ERROR_OUT_OF_MEMORY: out of memory", in static storage of the calling thread. */
const char *driver_words(const struct driver *driver, int code);

#endif
