/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * pool.c: a pool's handle is its agent and its number there. Programs look for the first pool with
 * the flags that they want, so their order is that of AMD's runtime.
 */
#include "hsa/pool.h"

#include <unistd.h>

#include "hsa/gpu.h"
#include "hsa/handles.h"

enum { GROUP_BYTES = 64 << 10 };
enum {
    FINE = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED,
    COARSE = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED,
    KERNARG = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT
};

static const uint32_t host_flags[] = {FINE, FINE | KERNARG, COARSE};
enum { HOST_KERNARG = 1 };
_Static_assert(sizeof(host_flags) / sizeof(host_flags[0]) == HOST_POOLS, "pools of the host");
enum { GPU_GROUP = 1 };

static struct pool host_pool(unsigned index)
{
    return (struct pool){.segment = HSA_AMD_SEGMENT_GLOBAL,
                         .flags = host_flags[index],
                         .bytes = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGE_SIZE),
                         .allocates = true};
}

static struct pool gpu_pool(struct gpu *gpu, unsigned index)
{
    if (index == GPU_GROUP)
        return (struct pool){.gpu = gpu, .segment = HSA_AMD_SEGMENT_GROUP, .bytes = GROUP_BYTES};
    return (struct pool){.gpu = gpu,
                         .segment = HSA_AMD_SEGMENT_GLOBAL,
                         .flags = COARSE,
                         .bytes = gpu->bytes,
                         .allocates = true};
}

/* The pool of an agent by its number there. False: none. */
static bool pool_at(unsigned agent, unsigned index, struct pool *pool)
{
    struct gpu *gpu = agent ? gpu_at((int)agent - 1) : NULL;

    if (index >= (agent ? GPU_POOLS : HOST_POOLS) || (agent && !gpu))
        return false;
    *pool = gpu ? gpu_pool(gpu, index) : host_pool(index);
    return true;
}

bool pool_of(hsa_amd_memory_pool_t handle, struct pool *pool)
{
    unsigned agent, index;

    return handle_read(handle.handle, HANDLE_OF_POOL, &agent, &index) &&
           pool_at(agent, index, pool);
}

bool pool_of_region(hsa_region_t handle, struct pool *pool)
{
    unsigned agent, index;

    if (!handle_read(handle.handle, HANDLE_OF_REGION, &agent, &index))
        return false;
    if (agent == 0)
        return pool_at(0, index, pool);
    if (!gpu_at((int)agent - 1))
        return false;
    return index == 0 ? pool_at(0, HOST_KERNARG, pool) : pool_at(agent, index - 1, pool);
}
