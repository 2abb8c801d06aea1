/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * lock.c: memory of the program that is locked for GPUs, and what is said of an address. Locking
 * changes nothing here: workers' data paths take any memory, and the address for GPUs is the same.
 * It is remembered, so that arguments of kernels that point there can be served (argument.h), and
 * counted, since programs lock the same memory more than once. Memory that overlaps another lock is
 * not remembered: nothing but arguments would need it.
 */
#include <stdlib.h>
#include <string.h>

#include "hsa/driver.h"
#include "hsa/exports.h"
#include "hsa/gpu.h"
#include "hsa/memory.h"
#include "hsa/pool.h"

/* ---- locks ---------------------------------------------------------------------------------- */

static pthread_mutex_t locks = PTHREAD_MUTEX_INITIALIZER;

static void lock_add(void *address, size_t bytes)
{
    struct allocation allocation = {
        .locked = true, .locks = 1, .flags = HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED};
    struct block block;

    pthread_mutex_lock(&locks);
    if (memory_take_host(address, true, &block)) {
        ((struct allocation *)block.owner)->locks++;
        if (block.bytes < bytes)
            block.bytes = bytes;
        memory_put_host(&block);
    } else {
        memory_add_host(address, bytes, &allocation);
    }
    pthread_mutex_unlock(&locks);
}

static void lock_drop(void *address)
{
    struct block block;

    pthread_mutex_lock(&locks);
    if (memory_take_host(address, true, &block)) {
        struct allocation *owner = block.owner;
        if (--owner->locks > 0)
            memory_put_host(&block);
        else
            free(owner);
    }
    pthread_mutex_unlock(&locks);
}

static hsa_status_t memory_lock(void *address, size_t bytes, void **agent_address)
{
    if (!address || bytes == 0 || !agent_address)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    lock_add(address, bytes);
    *agent_address = address;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_lock(void *address, size_t bytes, hsa_agent_t *agents, int count,
                                 void **agent_address)
{
    struct call call;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS && (count < 0 || (agents != NULL) != (count > 0)))
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (status == HSA_STATUS_SUCCESS)
        status = memory_lock(address, bytes, agent_address);
    return api_end(&call, status);
}

hsa_status_t hsa_amd_memory_lock_to_pool(void *address, size_t bytes, hsa_agent_t *agents,
                                         int count, hsa_amd_memory_pool_t handle, uint32_t flags,
                                         void **agent_address)
{
    struct call call;
    struct pool pool;
    hsa_status_t status = api_begin(&call);

    (void)agents, (void)count, (void)flags;
    if (status == HSA_STATUS_SUCCESS && (!pool_of(handle, &pool) || pool.gpu))
        status = HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
    if (status == HSA_STATUS_SUCCESS)
        status = memory_lock(address, bytes, agent_address);
    return api_end(&call, status);
}

/* Also of memory that was not remembered. */
hsa_status_t hsa_amd_memory_unlock(void *address)
{
    struct call call;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS)
        lock_drop(address);
    return api_end(&call, status);
}

hsa_status_t hsa_memory_register(void *address, size_t bytes)
{
    struct call call;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS && !address && bytes > 0)
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return api_end(&call, status);
}

hsa_status_t hsa_memory_deregister(void *address, size_t bytes)
{
    return hsa_memory_register(address, bytes);
}

/* ---- what an address is --------------------------------------------------------------------- */

static void describe(const struct place *place, hsa_amd_pointer_info_t *info)
{
    const struct allocation *owner = place->block.owner;
    void *base = (void *)(uintptr_t)place->block.address; // NOLINT(performance-no-int-to-ptr)

    if (!place->known || !owner) /* a variable is none of the runtime's allocations */
        return;
    info->type = owner->locked ? HSA_EXT_POINTER_TYPE_LOCKED : HSA_EXT_POINTER_TYPE_HSA;
    info->agentBaseAddress = base;
    info->hostBaseAddress = place->gpu ? NULL : base;
    info->sizeInBytes = place->block.bytes;
    info->userData = owner->user_data;
    info->agentOwner = place->gpu ? gpu_agent(place->gpu) : cpu_agent;
    info->global_flags = owner->flags;
    info->registered = owner->locked;
}

/* Who can use it: the host and all GPUs, or one GPU. */
static hsa_status_t list_agents(const struct place *place, void *(*alloc)(size_t bytes),
                                uint32_t *count, hsa_agent_t **accessible)
{
    uint32_t all = !place->known ? 0 : place->gpu ? 1 : 1 + (uint32_t)gpu_count();
    hsa_agent_t *agents = NULL;

    if (accessible && alloc && all > 0) {
        agents = alloc(all * sizeof(*agents));
        if (!agents)
            return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
        agents[0] = place->gpu ? gpu_agent(place->gpu) : cpu_agent;
        for (uint32_t i = 1; i < all; i++)
            agents[i] = gpu_agent(gpu_at((int)i - 1));
    }
    if (accessible)
        *accessible = agents;
    if (count)
        *count = all;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_pointer_info(const void *address, hsa_amd_pointer_info_t *info,
                                  void *(*alloc)(size_t bytes), uint32_t *count,
                                  hsa_agent_t **accessible)
{
    struct call call;
    struct place place;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS && (!address || !info || info->size < sizeof(info->size)))
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (status == HSA_STATUS_SUCCESS) {
        hsa_amd_pointer_info_t whole = {.type = HSA_EXT_POINTER_TYPE_UNKNOWN};
        size_t room = info->size < sizeof(whole) ? info->size : sizeof(whole);
        memory_find(address, &place);
        describe(&place, &whole);
        whole.size = (uint32_t)room;
        memcpy(info, &whole, room);
        status = list_agents(&place, alloc, count, accessible);
    }
    return api_end(&call, status);
}

hsa_status_t hsa_amd_pointer_info_set_userdata(const void *address, void *data)
{
    struct call call;
    struct place place;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS) {
        memory_find(address, &place);
        struct allocation *owner = place.known ? place.block.owner : NULL;
        if (owner)
            owner->user_data = data;
        else
            status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    }
    return api_end(&call, status);
}
