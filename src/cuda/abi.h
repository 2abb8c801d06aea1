/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * abi.h: the types of the CUDA driver interface as programs know them, declared by ourselves: no
 * header of CUDA is needed to build omprma. Handles are pointers to structures of this folder.
 * Knows nothing of omprma.
 */
#ifndef OMPRMA_CUDA_ABI_H
#define OMPRMA_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

#define CU_EXPORT __attribute__((visibility("default")))

typedef enum cu_result {
#define CU_RESULT(value, name, words) name = value,
#include "cuda/results.def"
#undef CU_RESULT
} CUresult;

typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct context *CUcontext;
typedef struct module *CUmodule;
typedef struct function *CUfunction;
typedef struct stream *CUstream;
typedef struct event *CUevent;
typedef struct link *CUlinkState;

typedef struct cu_uuid {
    char bytes[16];
} CUuuid;

/* Streams that are not created; the null stream is the first of them. */
#define CU_STREAM_LEGACY ((CUstream)0x1)
#define CU_STREAM_PER_THREAD ((CUstream)0x2)

enum cu_stream_flags { CU_STREAM_NON_BLOCKING = 1 };
enum cu_event_flags {
    CU_EVENT_BLOCKING_SYNC = 1,
    CU_EVENT_DISABLE_TIMING = 2,
    CU_EVENT_INTERPROCESS = 4
};
enum cu_context_flags { CU_CTX_SCHED_MASK = 7, CU_CTX_MAP_HOST = 8, CU_CTX_FLAGS_MASK = 0xff };
enum cu_host_flags {
    CU_MEMHOSTALLOC_PORTABLE = 1,
    CU_MEMHOSTALLOC_DEVICEMAP = 2,
    CU_MEMHOSTALLOC_WRITECOMBINED = 4,
    CU_MEMHOSTREGISTER_READ_ONLY = 8
};

/* Those that this library knows by name; the others pass through it as numbers. */
enum cu_device_attribute {
    CU_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
    CU_ATTRIBUTE_MAX_BLOCK_DIM_X = 2,
    CU_ATTRIBUTE_MAX_GRID_DIM_X = 5,
    CU_ATTRIBUTE_WARP_SIZE = 10,
    CU_ATTRIBUTE_INTEGRATED = 18,
    CU_ATTRIBUTE_CAN_MAP_HOST_MEMORY = 19,
    CU_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
    CU_ATTRIBUTE_CAPABILITY_MAJOR = 75,
    CU_ATTRIBUTE_CAPABILITY_MINOR = 76,
    CU_ATTRIBUTE_MANAGED_MEMORY = 83,
    CU_ATTRIBUTE_HOST_NATIVE_ATOMIC = 86,
    CU_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS = 88,
    CU_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS = 89,
    CU_ATTRIBUTE_HOST_POINTER_FOR_REGISTERED = 91,
    CU_ATTRIBUTE_STREAM_MEM_OPS_FIRST = 92,
    CU_ATTRIBUTE_STREAM_MEM_OPS_LAST = 94,
    CU_ATTRIBUTE_COOPERATIVE_LAUNCH = 95,
    CU_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE = 96,
    CU_ATTRIBUTE_MAX_SHARED_OPTIN = 97,
    CU_ATTRIBUTE_FLUSH_REMOTE_WRITES = 98,
    CU_ATTRIBUTE_HOST_PAGE_TABLES = 100,
    CU_ATTRIBUTE_DIRECT_MANAGED_ACCESS = 101,
    CU_ATTRIBUTE_VIRTUAL_MEMORY = 102,
    CU_ATTRIBUTE_HANDLE_TYPES_FIRST = 103,
    CU_ATTRIBUTE_HANDLE_TYPES_LAST = 105,
    CU_ATTRIBUTE_COMPRESSION = 107,
    CU_ATTRIBUTE_RDMA_VIRTUAL_MEMORY = 110,
    CU_ATTRIBUTE_SPARSE_ARRAYS = 112,
    CU_ATTRIBUTE_TIMELINE_SEMAPHORES = 114,
    CU_ATTRIBUTE_MEMORY_POOLS = 115,
    CU_ATTRIBUTE_RDMA_FIRST = 116,
    CU_ATTRIBUTE_CLUSTER_LAUNCH = 120,
    CU_ATTRIBUTE_DMA_BUF = 124,
    CU_ATTRIBUTE_IPC_EVENTS = 125,
    CU_ATTRIBUTE_FABRIC_HANDLES = 128,
    CU_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS = 129,
    CU_ATTRIBUTE_MULTICAST = 132,
    CU_ATTRIBUTE_HOST_NUMA_FIRST = 141,
    CU_ATTRIBUTE_HOST_NUMA_LAST = 147
};

enum cu_function_attribute {
    CU_FUNCTION_MAX_THREADS_PER_BLOCK = 0,
    CU_FUNCTION_MAX_DYNAMIC_SHARED = 8,
    CU_FUNCTION_SHARED_CARVEOUT = 9
};

enum cu_jit_option { CU_JIT_ERROR_LOG_BUFFER = 5, CU_JIT_ERROR_LOG_BUFFER_BYTES = 6 };

enum cu_pointer_attribute {
    CU_POINTER_CONTEXT = 1,
    CU_POINTER_MEMORY_TYPE = 2,
    CU_POINTER_DEVICE_POINTER = 3,
    CU_POINTER_HOST_POINTER = 4,
    CU_POINTER_P2P_TOKENS = 5,
    CU_POINTER_SYNC_MEMOPS = 6,
    CU_POINTER_BUFFER_ID = 7,
    CU_POINTER_IS_MANAGED = 8,
    CU_POINTER_DEVICE_ORDINAL = 9,
    CU_POINTER_IPC_CAPABLE = 10,
    CU_POINTER_RANGE_START = 11,
    CU_POINTER_RANGE_BYTES = 12,
    CU_POINTER_MAPPED = 13,
    CU_POINTER_HANDLE_TYPES = 14,
    CU_POINTER_RDMA_CAPABLE = 15,
    CU_POINTER_ACCESS_FLAGS = 16,
    CU_POINTER_POOL = 17
};
enum cu_memory_type {
    CU_MEMORY_HOST = 1,
    CU_MEMORY_DEVICE = 2,
    CU_MEMORY_ARRAY = 3,
    CU_MEMORY_UNIFIED = 4
};

/* Entries of the array `extra` of cuLaunchKernel(). */
#define CU_LAUNCH_PARAM_END ((void *)0x00)
#define CU_LAUNCH_PARAM_BUFFER_POINTER ((void *)0x01)
#define CU_LAUNCH_PARAM_BUFFER_SIZE ((void *)0x02)

enum cu_launch_attribute_id {
    CU_LAUNCH_ATTRIBUTE_IGNORE = 0,
    CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY = 1,
    CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,
    CU_LAUNCH_ATTRIBUTE_CLUSTER = 4,
    CU_LAUNCH_ATTRIBUTE_PRIORITY = 8
};

typedef struct cu_launch_attribute {
    int id;
    char padding[4];
    union {
        char room[64];
        int cooperative;
        unsigned cluster[3];
    } value;
} CUlaunchAttribute;

typedef struct cu_launch_config {
    unsigned grid[3], block[3], shared_bytes;
    CUstream stream;
    CUlaunchAttribute *attributes;
    unsigned attribute_count;
} CUlaunchConfig;

typedef struct cu_copy_2d {
    size_t from_x, from_y;
    int from_type;
    const void *from_host;
    CUdeviceptr from_device;
    void *from_array;
    size_t from_pitch;
    size_t to_x, to_y;
    int to_type;
    void *to_host;
    CUdeviceptr to_device;
    void *to_array;
    size_t to_pitch;
    size_t width_bytes, height;
} CUDA_MEMCPY2D;

typedef struct cu_copy_3d {
    size_t from_xyz[3], from_level;
    int from_type;
    const void *from_host;
    CUdeviceptr from_device;
    void *from_array, *from_reserved;
    size_t from_pitch, from_height;
    size_t to_xyz[3], to_level;
    int to_type;
    void *to_host;
    CUdeviceptr to_device;
    void *to_array, *to_reserved;
    size_t to_pitch, to_height;
    size_t width_bytes, height, depth;
} CUDA_MEMCPY3D;

typedef void (*CUhostFn)(void *data);
typedef void (*CUstreamCallback)(CUstream stream, CUresult status, void *data);
typedef size_t (*CUoccupancyB2DSize)(int block);

_Static_assert(sizeof(void *) == 8, "this interface is known for 64-bit machines only");
_Static_assert(sizeof(CUlaunchAttribute) == 72, "launch attribute");
_Static_assert(offsetof(CUlaunchConfig, attributes) == 40, "launch configuration");
_Static_assert(sizeof(CUDA_MEMCPY2D) == 128, "copy of a rectangle");
_Static_assert(sizeof(CUDA_MEMCPY3D) == 200, "copy of a box");

#endif
