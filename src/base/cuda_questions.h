/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cuda_questions.h: what CUDA devices can be asked by omprma_device_ask(), and how questions and
 * answers read: what the program's side of the CUDA driver interface and the worker's backend
 * agree on. Plain C types only; numbers of attributes and limits, and error codes, are the CUDA
 * driver's. All structures are little endian, without padding.
 *
 * Where the driver refuses, the call fails with its line, and omprma_error_code() is its code.
 */
#ifndef OMPRMA_BASE_CUDA_QUESTIONS_H
#define OMPRMA_BASE_CUDA_QUESTIONS_H

#include <stdint.h>

#include "base/gpu_questions.h"

enum cuda_question {
    /* nothing -> struct cuda_device */
    CUDA_ASK_DEVICE = GPU_ASK_SUMMARY + 1,
    /* nothing -> struct cuda_memory: free and total now */
    CUDA_ASK_MEMORY,
    /* struct cuda_name -> struct cuda_function with its parameters */
    CUDA_ASK_FUNCTION,
    /* struct cuda_name -> struct cuda_global */
    CUDA_ASK_GLOBAL,
    /* uint64_t module -> nothing: unloads it; what it held must not be used any more */
    CUDA_ASK_UNLOAD,
    /* struct cuda_setting with `object` a function -> int64_t: an attribute of it now */
    CUDA_ASK_FUNCTION_ATTRIBUTE,
    /* the same with a value -> nothing */
    CUDA_SET_FUNCTION_ATTRIBUTE,
    /* struct cuda_setting, `object` 0 -> int64_t: a limit of the context */
    CUDA_ASK_LIMIT,
    /* the same with a value -> nothing */
    CUDA_SET_LIMIT,
    /* struct cuda_occupancy_question -> struct cuda_occupancy */
    CUDA_ASK_OCCUPANCY,
    /* uint32_t: the index of another CUDA device among the devices of the same worker, as in
     * omprma_device_info() -> uint32_t: 1: the driver can copy between them directly */
    CUDA_ASK_PEER
};

/* Attributes of devices that omprma itself looks at. */
enum { CUDA_CAPABILITY_MAJOR = 75, CUDA_CAPABILITY_MINOR = 76 };

enum {
    CUDA_DEVICE_ATTRIBUTES = 192,  /* of which a driver knows the first so many */
    CUDA_FUNCTION_ATTRIBUTES = 16, /* the same */
    CUDA_PARAMETERS_MOST = 1024,
    CUDA_PARAMETERS_UNKNOWN = -1,
    CUDA_UNKNOWN = INT32_MIN /* the driver does not know the attribute */
};

struct cuda_device {
    char name[256];
    char bus_id[32]; /* "0000:1b:00.0" */
    uint8_t uuid[16];
    uint64_t total_bytes;
    int32_t driver_version; /* 12040: 12.4 */
    int32_t reserved;
    int32_t attributes[CUDA_DEVICE_ATTRIBUTES]; /* by number; else CUDA_UNKNOWN */
};

/*
 * What omprma_module_load() is given to have several inputs linked to one module: this, and after
 * it each input's struct cuda_input and its bytes, padded with zeros to a multiple of 8. A single
 * cubin, fat binary or PTX text needs none of it.
 */
struct cuda_link {
    uint64_t magic; /* CUDA_LINK_MAGIC */
    uint64_t count;
};

struct cuda_input {
    uint64_t bytes;
    int32_t type; /* CUjitInputType: 0 cubin, 1 PTX, 2 fat binary, 3 object, 4 library */
    int32_t reserved;
};

#define CUDA_LINK_MAGIC UINT64_C(0x6b6e696c6475636f)

struct cuda_memory {
    uint64_t free_bytes, total_bytes;
};

/* In a module, or, `module` 0, in any image that omprma_image_load() has loaded. */
struct cuda_name {
    uint64_t module;
    char name[]; /* to the end of the question, without a zero */
};

/* Of a kernel: where its parameter lies among all. */
struct cuda_parameter {
    uint32_t offset, bytes;
};

struct cuda_function {
    uint64_t function; /* what omprma_launch() takes as the kernel */
    int32_t attributes[CUDA_FUNCTION_ATTRIBUTES];
    int32_t parameter_count; /* or CUDA_PARAMETERS_UNKNOWN: drivers before 12.4 do not say */
    int32_t reserved;
    struct cuda_parameter parameters[]; /* parameter_count of them, at most CUDA_PARAMETERS_MOST */
};

struct cuda_global {
    uint64_t address, bytes;
};

struct cuda_setting {
    uint64_t object;
    int32_t which, reserved;
    int64_t value;
};

struct cuda_occupancy_question {
    uint64_t function;
    int32_t block_threads; /* 0: asks for the best number, up to `block_limit` (0: any) */
    int32_t block_limit;
    uint64_t shared_bytes; /* per block, dynamic */
    uint32_t flags, reserved;
};

struct cuda_occupancy {
    int32_t blocks;        /* that run at a time: per multiprocessor for given block_threads, else
                            * the least grid that fills the device */
    int32_t block_threads; /* as asked, or the best number */
};

#endif
