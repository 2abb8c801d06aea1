/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * host_memory.c: pinned host memory. omprma's data path takes any memory, so nothing is pinned:
 * only what the program was told is remembered, as blocks by host address. Registered ones are
 * pieces of the program's memory, the others were allocated here.
 */
#include "cuda/host_memory.h"

#include <stdlib.h>
#include <unistd.h>

#include "cuda/context.h"
#include "cuda/driver.h"
#include "cuda/exports.h"
#include "face/driver/block.h"

static struct blocks pinned = {.lock = PTHREAD_MUTEX_INITIALIZER,
                               .tree = RB_INITIALIZER(pinned.tree)};

static const char program_memory; /* what registered memory is a piece of */

bool host_memory_is_pinned(const void *begin, size_t bytes)
{
    omprma_addr_t address = (uintptr_t)begin;
    struct block found;

    return blocks_find(&pinned, address, &found) &&
           bytes <= found.bytes - (address - found.address);
}

static CUresult pinned_add(const void *begin, size_t bytes, unsigned flags, const void *part_of)
{
    switch (blocks_add(&pinned, &(struct block){.address = (uintptr_t)begin,
                                                .bytes = bytes,
                                                .flags = flags,
                                                .part_of = part_of})) {
    case BLOCK_ADDED:
        return CUDA_SUCCESS;
    case BLOCK_OVERLAPS:
        return CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    default:
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
}

static bool pinned_remove(const void *begin, const void *part_of)
{
    struct block removed;
    return blocks_take(&pinned, (uintptr_t)begin, part_of, &removed);
}

/* ---- exported ------------------------------------------------------------------------------- */

static CUresult host_alloc(void **memory, size_t bytes, unsigned flags)
{
    if (!memory || bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (flags & CU_MEMHOSTALLOC_DEVICEMAP)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (flags & ~(unsigned)(CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_WRITECOMBINED))
        return CUDA_ERROR_INVALID_VALUE;
    void *made;
    if (posix_memalign(&made, (size_t)sysconf(_SC_PAGESIZE), bytes))
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = pinned_add(made, bytes, flags, NULL);
    if (result == CUDA_SUCCESS)
        *memory = made;
    else
        free(made);
    return result;
}

CUresult cuMemHostAlloc(void **memory, size_t bytes, unsigned flags)
{
    struct call call;
    CUresult result = api_begin(&call);

    if (result == CUDA_SUCCESS)
        result = host_alloc(memory, bytes, flags);
    return api_end(&call, result);
}

CUresult cuMemAllocHost_v2(void **memory, size_t bytes)
{
    return cuMemHostAlloc(memory, bytes, 0);
}

/* The first form differs in the width of `bytes` only. */
CUresult cuMemAllocHost(void **memory, size_t bytes)
{
    return cuMemHostAlloc(memory, bytes, 0);
}

/* The driver waits for all that is under way, and programs give memory back that copies still use.
 */
CUresult cuMemFreeHost(void *memory)
{
    struct call call;
    CUresult result = api_begin_bare(&call);

    if (result == CUDA_SUCCESS && !pinned_remove(memory, NULL))
        result = CUDA_ERROR_INVALID_VALUE;
    else if (result == CUDA_SUCCESS) {
        result = contexts_settle();
        free(memory);
    }
    return api_end(&call, result);
}

CUresult cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags)
{
    struct call call;
    CUresult result = api_begin(&call);

    if (result == CUDA_SUCCESS && (!memory || bytes == 0))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS &&
        (flags & ~(unsigned)(CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTREGISTER_READ_ONLY)) != 0)
        result = CUDA_ERROR_NOT_SUPPORTED;
    if (result == CUDA_SUCCESS)
        result = pinned_add(memory, bytes, flags, &program_memory);
    return api_end(&call, result);
}

CUresult cuMemHostRegister(void *memory, size_t bytes, unsigned flags)
{
    return cuMemHostRegister_v2(memory, bytes, flags);
}

CUresult cuMemHostUnregister(void *memory)
{
    struct call call;
    CUresult result = api_begin_bare(&call);

    if (result == CUDA_SUCCESS && !pinned_remove(memory, &program_memory))
        result = CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    else if (result == CUDA_SUCCESS)
        result = contexts_settle();
    return api_end(&call, result);
}

CUresult cuMemHostGetFlags(unsigned *flags, void *memory)
{
    struct call call;
    struct block found;
    CUresult result = api_begin(&call);

    if (result == CUDA_SUCCESS && !flags)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && !blocks_find(&pinned, (uintptr_t)memory, &found))
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *flags = found.flags;
    return api_end(&call, result);
}
