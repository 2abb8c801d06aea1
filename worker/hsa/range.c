/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * range.c: memory of a GPU. The runtime checks no address of a copy, and a wrong one loses the GPU,
 * so each is looked up here before: in blocks that were allocated, and among the variables of
 * modules. Only blocks can be opened to other GPUs, all at once and to all of them each time.
 */
#include <stdlib.h>

#include "base/error.h"
#include "worker/hsa/hsa.h"

/* ---- ranges; with the lock ---- */

static bool add(struct hsa *hsa, struct hsa_range range)
{
    if (hsa->range_count == hsa->range_room) {
        uint32_t room = hsa->range_room ? 2 * hsa->range_room : 32;
        struct hsa_range *ranges = realloc(hsa->ranges, room * sizeof(*ranges));

        if (!ranges)
            return false;
        hsa->ranges = ranges;
        hsa->range_room = room;
    }
    hsa->ranges[hsa->range_count++] = range;
    return true;
}

static bool add_locked(struct hsa *hsa, struct hsa_range range)
{
    bool done;

    pthread_mutex_lock(&hsa->lock);
    done = add(hsa, range);
    pthread_mutex_unlock(&hsa->lock);
    return done;
}

omprma_status_t rocr_range_add(struct hsa *hsa, uint64_t base, uint64_t bytes, const void *owner)
{
    return add_locked(hsa, (struct hsa_range){base, bytes, owner})
               ? OMPRMA_OK
               : error_set(OMPRMA_ERR_HOST_MEMORY, "no memory to remember variables");
}

/* Those of an owner, or, where that is NULL, the one that begins at `base`. */
static void forget(struct hsa *hsa, const void *owner, uint64_t base)
{
    pthread_mutex_lock(&hsa->lock);
    for (uint32_t i = 0; i < hsa->range_count;) {
        const struct hsa_range *range = &hsa->ranges[i];

        if (range->owner == owner && (owner || range->base == base))
            hsa->ranges[i] = hsa->ranges[--hsa->range_count];
        else
            i++;
    }
    pthread_mutex_unlock(&hsa->lock);
}

void rocr_ranges_forget(struct hsa *hsa, const void *owner)
{
    forget(hsa, owner, 0);
}

bool rocr_range_is(struct hsa *hsa, uint64_t address, uint64_t bytes, bool *own)
{
    bool is = false;

    pthread_mutex_lock(&hsa->lock);
    for (uint32_t i = 0; i < hsa->range_count && !is; i++) {
        const struct hsa_range *range = &hsa->ranges[i];

        is = address >= range->base && address - range->base <= range->bytes &&
             bytes <= range->bytes - (address - range->base);
        *own = is && !range->owner;
    }
    pthread_mutex_unlock(&hsa->lock);
    return is;
}

/* ---- other GPUs ---- */

static int open_to_peers(const struct hsa *hsa, const void *memory)
{
    hsa_agent_t agents[ROCR_GPUS_MOST];

    for (uint32_t i = 0; i < hsa->peer_count; i++)
        agents[i] = hsa->peers[i]->agent;
    return hsa->peer_count
               ? hsa->rocr->amd_agents_allow_access(hsa->peer_count, agents, NULL, memory)
               : HSA_STATUS_SUCCESS;
}

static bool may_reach(const struct hsa *hsa, const struct hsa *other)
{
    hsa_amd_memory_pool_access_t access = HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;
    hsa_status_t code = hsa->rocr->amd_agent_memory_pool_get_info(
        hsa->agent, other->pool, HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, &access);

    return code == HSA_STATUS_SUCCESS && access != HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;
}

static bool is_peer(const struct hsa *hsa, const struct hsa *other)
{
    uint32_t i = 0;

    while (i < hsa->peer_count && hsa->peers[i] != other)
        i++;
    return i < hsa->peer_count;
}

/* Before there is more than one thread. Where it cannot be, copies go by way of the host. */
void rocr_reach(const struct gpu *gpu, const struct gpu *other)
{
    struct hsa *hsa = hsa_of(gpu), *peer = hsa_of(other);
    int code = HSA_STATUS_SUCCESS;

    if (is_peer(hsa, peer) || !may_reach(hsa, peer) || !may_reach(peer, hsa))
        return;
    hsa->peers[hsa->peer_count++] = peer;
    for (uint32_t i = 0; i < hsa->range_count && code == HSA_STATUS_SUCCESS; i++)
        if (!hsa->ranges[i].owner)
            code = open_to_peers(hsa, (const void *)(uintptr_t)hsa->ranges[i].base);
    if (code != HSA_STATUS_SUCCESS)
        hsa->peer_count--;
}

bool rocr_reaches(const struct hsa *hsa, const struct hsa *other)
{
    return is_peer(hsa, other) && is_peer(other, hsa);
}

/* ---- blocks ---- */

int rocr_memory_alloc(const struct gpu *gpu, uint64_t *address, uint64_t bytes)
{
    struct hsa *hsa = hsa_of(gpu);
    void *memory = NULL;
    int code = rocr_fault_code(hsa);

    if (!code)
        code = hsa->rocr->amd_memory_pool_allocate(hsa->pool, bytes, 0, &memory);
    if (code)
        return code;
    code = open_to_peers(hsa, memory);
    if (!code && !add_locked(hsa, (struct hsa_range){(uintptr_t)memory, bytes, NULL}))
        code = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    if (code) {
        hsa->rocr->amd_memory_pool_free(memory);
        return code;
    }
    *address = (uintptr_t)memory;
    return HSA_STATUS_SUCCESS;
}

int rocr_memory_free(const struct gpu *gpu, uint64_t address)
{
    struct hsa *hsa = hsa_of(gpu);
    int code = rocr_fault_code(hsa);

    if (code)
        return code;
    forget(hsa, NULL, address);
    return hsa->rocr->amd_memory_pool_free((void *)(uintptr_t)address);
}
