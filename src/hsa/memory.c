/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * memory.c: device memory is allocated by omprma on this side, without a message; memory of the
 * host is mapped. Each GPU has a list of its blocks (face/driver/block.h), with the variables of
 * its modules; the host has one. Addresses of device memory are unique in the program: omprma keeps
 * the process from having something else there.
 */
#include "hsa/memory.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <omprma_private/owner.h>

#include "hsa/driver.h"
#include "hsa/exports.h"
#include "hsa/gpu.h"
#include "hsa/pool.h"
#include "hsa/result.h"

enum { APART_TRIES = 16 };

struct farewell {
    struct farewell *next;
    hsa_amd_deallocation_callback_t callback;
    void *data;
};

static struct memory {
    pthread_once_t once;
    struct blocks host;
    struct blocks *gpus;  /* by ordinal */
    pthread_mutex_t lock; /* of farewells */
} memory = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

static void memory_open(void)
{
    int count = gpu_count();

    blocks_open(&memory.host);
    memory.gpus = calloc((size_t)count + 1, sizeof(*memory.gpus));
    if (!memory.gpus)
        abort(); /* a few bytes, at the start */
    for (int i = 0; i < count; i++)
        blocks_open(&memory.gpus[i]);
}

static struct blocks *memory_of(const struct gpu *gpu)
{
    pthread_once(&memory.once, memory_open);
    return gpu ? &memory.gpus[gpu->ordinal] : &memory.host;
}

/* ---- whose an address is -------------------------------------------------------------------- */

void memory_find(const void *address, struct place *place)
{
    omprma_addr_t number = (omprma_addr_t)(uintptr_t)address;

    *place = (struct place){.gpu = NULL};
    for (int i = 0; i < gpu_count(); i++) {
        if (blocks_find(memory_of(gpu_at(i)), number, &place->block)) {
            place->gpu = gpu_at(i);
            place->known = true;
            return;
        }
    }
    place->known = blocks_find(memory_of(NULL), number, &place->block);
}

bool memory_fits(const struct place *place, const void *address, size_t bytes)
{
    if (!place->gpu)
        return true;
    return bytes <= place->block.bytes &&
           (uintptr_t)address - place->block.address <= place->block.bytes - bytes;
}

bool memory_find_host(const void *address, struct block *block)
{
    return blocks_find(memory_of(NULL), (omprma_addr_t)(uintptr_t)address, block);
}

bool memory_add_host(void *address, size_t bytes, const struct allocation *allocation)
{
    struct block block = {.address = (omprma_addr_t)(uintptr_t)address, .bytes = bytes};
    struct allocation *owner = malloc(sizeof(*owner));

    if (!owner)
        return false;
    *owner = *allocation;
    block.owner = owner;
    if (blocks_add(memory_of(NULL), &block) == BLOCK_ADDED)
        return true;
    free(owner);
    return false;
}

void memory_put_host(const struct block *block)
{
    blocks_add(memory_of(NULL), block);
}

bool memory_take_host(const void *address, bool locked, struct block *block)
{
    if (!blocks_take(memory_of(NULL), (omprma_addr_t)(uintptr_t)address, NULL, block))
        return false;
    if (((struct allocation *)block->owner)->locked == locked)
        return true;
    memory_put_host(block);
    return false;
}

bool memory_add_variable(struct gpu *gpu, omprma_addr_t address, size_t bytes, const void *part_of)
{
    struct block block = {.address = address, .bytes = bytes, .part_of = part_of};
    return blocks_add(memory_of(gpu), &block) != BLOCK_NO_MEMORY;
}

void memory_drop_variables(struct gpu *gpu, const void *part_of)
{
    struct block block;
    while (blocks_take_any(memory_of(gpu), NULL, part_of, &block)) {
    }
}

static bool is_of_other(const struct gpu *gpu, omprma_addr_t address, size_t bytes)
{
    for (int i = 0; i < gpu_count(); i++)
        if (gpu_at(i) != gpu && blocks_overlap(memory_of(gpu_at(i)), address, bytes))
            return true;
    return false;
}

/* Something of this process is at the page. What is only kept free there for memory of GPUs does
 * not count: blocks tell. */
static bool is_mapped(omprma_addr_t address)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    unsigned char resident;
    omprma_addr_t block;
    uint64_t bytes;

    if (omprma_owner(address, &block, &bytes) >= 0)
        return false;
    return mincore((void *)((uintptr_t)address & ~(page - 1)), 1, &resident) == 0 ||
           errno != ENOMEM;
}

bool memory_is_elsewhere(const struct gpu *gpu, omprma_addr_t address, size_t bytes)
{
    omprma_addr_t last = address + bytes - 1;

    return is_of_other(gpu, address, bytes) || is_mapped(address) || is_mapped(last);
}

/* ---- allocation ----------------------------------------------------------------------------- */

/* omprma knows nothing of variables, which may lie where it has memory of a GPU of another worker.
 * What has one of them in it is held while other memory is asked for. */
static omprma_status_t alloc_apart(const struct gpu *gpu, size_t bytes, struct block *block)
{
    struct block held[APART_TRIES];
    omprma_status_t status;
    int count = 0;

    do {
        status = block_alloc(gpu->device, bytes, POOL_GRANULE, block);
        if (status != OMPRMA_OK || !is_of_other(gpu, block->address, bytes))
            break;
        held[count++] = *block;
    } while (count < APART_TRIES);
    if (count == APART_TRIES) {
        report_error(
            "HSA: memory of GPU %d would be at addresses of variables on other GPUs; start "
            "the run again",
            gpu->ordinal);
        status = OMPRMA_ERR_DEVICE_MEMORY;
    }
    while (count > 0)
        omprma_free(gpu->device, held[--count].given);
    return status;
}

static hsa_status_t device_allocate(struct gpu *gpu, size_t bytes, uint32_t flags, void **address)
{
    struct allocation *owner = calloc(1, sizeof(*owner));
    struct block block = {.owner = owner};

    if (!owner)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    owner->flags = flags;
    hsa_status_t status = result_of(gpu, alloc_apart(gpu, bytes, &block));
    if (status != HSA_STATUS_SUCCESS) {
        free(owner);
        return status;
    }
    if (blocks_add(memory_of(gpu), &block) != BLOCK_ADDED) {
        omprma_free(gpu->device, block.given);
        free(owner);
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    *address = (void *)(uintptr_t)block.address; // NOLINT(performance-no-int-to-ptr)
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t host_allocate(size_t bytes, uint32_t flags, void **address)
{
    struct allocation allocation = {.flags = flags};
    void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (mapped == MAP_FAILED)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    if (!memory_add_host(mapped, bytes, &allocation)) {
        munmap(mapped, bytes);
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    *address = mapped;
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t pool_allocate(const struct pool *pool, size_t bytes, void **address)
{
    if (!address || bytes == 0)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!pool->allocates)
        return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    if (bytes > pool->bytes)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    bytes = (bytes + POOL_GRANULE - 1) / POOL_GRANULE * POOL_GRANULE;
    if (!pool->gpu)
        return host_allocate(bytes, pool->flags, address);
    hsa_status_t status = gpu_usable(pool->gpu);
    return status == HSA_STATUS_SUCCESS ? device_allocate(pool->gpu, bytes, pool->flags, address)
                                        : status;
}

static void owner_free(struct block *block)
{
    struct allocation *owner = block->owner;

    while (owner && owner->farewells) {
        struct farewell *first = owner->farewells;
        owner->farewells = first->next;
        first->callback((void *)(uintptr_t)block->address, // NOLINT(performance-no-int-to-ptr)
                        first->data);
        free(first);
    }
    free(owner);
}

/* What is under way on device memory goes on: omprma hands it out again when that is over. */
static hsa_status_t pool_free(void *address)
{
    struct block block;

    if (!address)
        return HSA_STATUS_SUCCESS;
    for (int i = 0; i < gpu_count(); i++) {
        struct gpu *gpu = gpu_at(i);
        if (!blocks_take(memory_of(gpu), (omprma_addr_t)(uintptr_t)address, NULL, &block))
            continue;
        owner_free(&block);
        hsa_status_t status = gpu_usable(gpu);
        omprma_status_t freed = omprma_free(gpu->device, block.given);
        return status == HSA_STATUS_SUCCESS ? result_of(gpu, freed) : HSA_STATUS_SUCCESS;
    }
    if (!memory_take_host(address, false, &block))
        return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    owner_free(&block);
    munmap(address, block.bytes);
    return HSA_STATUS_SUCCESS;
}

/* ---- exported ------------------------------------------------------------------------------- */

hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t handle, size_t bytes,
                                          uint32_t flags, void **address)
{
    struct call call;
    struct pool pool;
    hsa_status_t status = api_begin(&call);

    (void)flags; /* for kernels, or without zeros: all is one here */
    if (status == HSA_STATUS_SUCCESS && !pool_of(handle, &pool))
        status = HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
    if (status == HSA_STATUS_SUCCESS)
        status = pool_allocate(&pool, bytes, address);
    return api_end(&call, status);
}

hsa_status_t hsa_amd_memory_pool_free(void *address)
{
    struct call call;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS)
        status = pool_free(address);
    return api_end(&call, status);
}

hsa_status_t hsa_memory_allocate(hsa_region_t region, size_t bytes, void **address)
{
    struct call call;
    struct pool pool;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS && !pool_of_region(region, &pool))
        status = HSA_STATUS_ERROR_INVALID_REGION;
    if (status == HSA_STATUS_SUCCESS)
        status = pool_allocate(&pool, bytes, address);
    return api_end(&call, status);
}

hsa_status_t hsa_memory_free(void *address)
{
    return hsa_amd_memory_pool_free(address);
}

hsa_status_t hsa_memory_assign_agent(void *address, hsa_agent_t agent,
                                     hsa_access_permission_t access)
{
    struct call call;
    hsa_status_t status = api_begin(&call);

    (void)access;
    if (status == HSA_STATUS_SUCCESS && !agent_exists(agent))
        status = HSA_STATUS_ERROR_INVALID_AGENT;
    if (status == HSA_STATUS_SUCCESS && !address)
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return api_end(&call, status);
}

hsa_status_t hsa_amd_agents_allow_access(uint32_t count, const hsa_agent_t *agents,
                                         const uint32_t *flags, const void *address)
{
    struct call call;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS && (!agents || count == 0 || flags || !address))
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    for (uint32_t i = 0; status == HSA_STATUS_SUCCESS && i < count; i++) {
        if (!agent_exists(agents[i]))
            status = HSA_STATUS_ERROR_INVALID_AGENT;
    }
    return api_end(&call, status);
}

/* ---- callbacks for the end of a block ------------------------------------------------------- */

/* What is known of a block that was allocated; NULL: none begins there. */
static struct allocation *allocation_of(const void *address)
{
    struct place place;

    memory_find(address, &place);
    if (!place.known || place.block.address != (omprma_addr_t)(uintptr_t)address)
        return NULL;
    return place.block.owner;
}

static hsa_status_t farewell_add(struct allocation *owner, hsa_amd_deallocation_callback_t callback,
                                 void *data)
{
    struct farewell *farewell = malloc(sizeof(*farewell));

    if (!farewell)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    pthread_mutex_lock(&memory.lock);
    *farewell = (struct farewell){owner->farewells, callback, data};
    owner->farewells = farewell;
    pthread_mutex_unlock(&memory.lock);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_register_deallocation_callback(void *address,
                                                    hsa_amd_deallocation_callback_t callback,
                                                    void *data)
{
    struct call call;
    hsa_status_t status = api_begin(&call);
    struct allocation *owner = status == HSA_STATUS_SUCCESS ? allocation_of(address) : NULL;

    if (status == HSA_STATUS_SUCCESS && !callback)
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (status == HSA_STATUS_SUCCESS && !owner)
        status = HSA_STATUS_ERROR_INVALID_ALLOCATION;
    if (status == HSA_STATUS_SUCCESS)
        status = farewell_add(owner, callback, data);
    return api_end(&call, status);
}

/* False: there is no such one. */
static bool farewell_drop(struct allocation *owner, hsa_amd_deallocation_callback_t callback)
{
    struct farewell **at = &owner->farewells, *found = NULL;

    pthread_mutex_lock(&memory.lock);
    while (*at && (*at)->callback != callback)
        at = &(*at)->next;
    found = *at;
    if (found)
        *at = found->next;
    pthread_mutex_unlock(&memory.lock);
    free(found);
    return found != NULL;
}

hsa_status_t hsa_amd_deregister_deallocation_callback(void *address,
                                                      hsa_amd_deallocation_callback_t callback)
{
    struct call call;
    hsa_status_t status = api_begin(&call);
    struct allocation *owner = status == HSA_STATUS_SUCCESS ? allocation_of(address) : NULL;

    if (status == HSA_STATUS_SUCCESS && (!owner || !farewell_drop(owner, callback)))
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return api_end(&call, status);
}
