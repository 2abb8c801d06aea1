/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * memory.c: memory of GPUs and of the host. Memory of a GPU lies there twice: at its address nobody
 * can touch it but kernels of GPUs that may, while they run; at another address the stand-in itself
 * always can. See standin.h.
 */
#include "standin.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

struct block {
    struct block *next;
    enum block_kind kind;
    char *address, *memory; /* `memory` is where the stand-in reaches it */
    size_t bytes, mapped_bytes;
    struct agent *owner;
    uint32_t allowed; /* bit of each GPU that may touch it */
    uint32_t flags;   /* of its pool */
    bool open;        /* at its address */
    int references;   /* of a lock */
    void *user_data;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct block *blocks;
static size_t used[DEVICES_MOST];
static int running[DEVICES_MOST]; /* kernels */

static uint32_t bit_of(const struct agent *agent)
{
    return agent->device >= 0 ? 1u << agent->device : 0;
}

/* ---- who touches what; with the lock ---- */

static struct block *find(const void *address, size_t bytes)
{
    const char *at = address;

    for (struct block *block = blocks; block; block = block->next)
        if (at >= block->address && (size_t)(at - block->address) < block->bytes &&
            bytes <= block->bytes - (size_t)(at - block->address))
            return block;
    return NULL;
}

static struct block *find_start(const void *address, enum block_kind kind)
{
    for (struct block *block = blocks; block; block = block->next)
        if (block->address == address && block->kind == kind)
            return block;
    return NULL;
}

/* Some bytes of it are memory of a GPU. */
static bool touches_device(const void *address, size_t bytes)
{
    const char *at = address;

    for (const struct block *block = blocks; block; block = block->next)
        if (block->kind == BLOCK_DEVICE && at < block->address + block->bytes &&
            block->address < at + bytes)
            return true;
    return false;
}

static void set_open(struct block *block)
{
    bool open = settings_measure(); /* nobody sees a system call then */

    if (block->kind != BLOCK_DEVICE)
        return;
    for (int i = 0; i < settings.devices; i++)
        open |= running[i] && block->allowed >> i & 1;
    if (open != block->open &&
        mprotect(block->address, block->mapped_bytes, open ? PROT_READ | PROT_WRITE : PROT_NONE))
        abort();
    block->open = open;
}

static void set_open_all(void)
{
    for (struct block *block = blocks; block; block = block->next)
        set_open(block);
}

void memory_begin(const struct agent *agent)
{
    pthread_mutex_lock(&lock);
    if (running[agent->device]++ == 0)
        set_open_all();
    pthread_mutex_unlock(&lock);
}

void memory_end(const struct agent *agent)
{
    pthread_mutex_lock(&lock);
    if (--running[agent->device] == 0)
        set_open_all();
    pthread_mutex_unlock(&lock);
}

void *memory_reach(const void *address, size_t bytes, const struct agent *agent, bool host_too)
{
    const struct block *block;
    void *memory = NULL;

    pthread_mutex_lock(&lock);
    block = find(address, bytes);
    if (block && (!agent || !bit_of(agent) || block->allowed & bit_of(agent)))
        memory = block->memory + ((const char *)address - block->address);
    else if (!block && host_too && !touches_device(address, bytes))
        memory = (void *)(uintptr_t)address;
    pthread_mutex_unlock(&lock);
    return memory;
}

/* ---- blocks ---- */

static struct block *new_block(enum block_kind kind, void *address, size_t bytes)
{
    struct block *block = calloc(1, sizeof(*block));

    if (!block)
        abort();
    block->kind = kind;
    block->address = block->memory = address;
    block->bytes = bytes;
    return block;
}

static void add(struct block *block)
{
    pthread_mutex_lock(&lock);
    block->next = blocks;
    blocks = block;
    set_open(block);
    pthread_mutex_unlock(&lock);
}

/* With the lock. */
static void take_out(struct block *block)
{
    struct block **link = &blocks;

    while (*link != block)
        link = &(*link)->next;
    *link = block->next;
}

static void unmap(struct block *block)
{
    standin_unmap(block->address, block->mapped_bytes);
    if (block->memory != block->address)
        munmap(block->memory, block->mapped_bytes);
}

/* Shared memory can be mapped again. */
static struct block *map(struct agent *owner, size_t bytes)
{
    size_t mapped = (bytes + PAGE - 1) / PAGE * PAGE;
    int protection = owner->device < 0 ? PROT_READ | PROT_WRITE : PROT_NONE;
    void *memory, *address = standin_map(mapped, protection, MAP_SHARED | MAP_NORESERVE);
    struct block *block;

    if (address == MAP_FAILED)
        return NULL;
    block = new_block(owner->device < 0 ? BLOCK_HOST : BLOCK_DEVICE, address, bytes);
    block->mapped_bytes = mapped;
    block->owner = owner;
    if (owner->device < 0)
        return block;
    memory = mremap(address, 0, mapped, MREMAP_MAYMOVE);
    if (memory == MAP_FAILED || mprotect(memory, mapped, PROT_READ | PROT_WRITE))
        abort();
    block->memory = memory;
    memset(memory, 0xee, bytes < 65536 ? bytes : 65536);
    return block;
}

static bool take_bytes(const struct agent *owner, size_t bytes)
{
    bool enough = bytes <= settings.memory_bytes;

    if (owner->device < 0)
        return enough;
    pthread_mutex_lock(&lock);
    enough = enough && used[owner->device] <= settings.memory_bytes - bytes;
    if (enough)
        used[owner->device] += bytes;
    pthread_mutex_unlock(&lock);
    return enough;
}

static hsa_status_t allocate(struct agent *owner, size_t bytes, uint32_t allowed, uint32_t flags,
                             void **address)
{
    struct block *block;

    if (bytes == 0)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (!take_bytes(owner, bytes))
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    block = map(owner, bytes);
    if (!block)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    block->allowed = allowed | bit_of(owner);
    block->flags = flags;
    *address = block->address;
    add(block);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t release(void *address)
{
    struct block *block;

    pthread_mutex_lock(&lock);
    block = find_start(address, BLOCK_DEVICE);
    if (!block)
        block = find_start(address, BLOCK_HOST);
    if (block) {
        take_out(block);
        if (block->owner->device >= 0)
            used[block->owner->device] -= block->bytes;
    }
    pthread_mutex_unlock(&lock);
    if (!block)
        return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    unmap(block);
    free(block);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t memory_allocate(struct agent *agent, size_t bytes, bool all_may, void **address)
{
    return allocate(agent, bytes, all_may ? UINT32_MAX : 0, 0, address);
}

void memory_free_code(void *address)
{
    release(address);
}

void memory_note(void *address, size_t bytes, struct agent *agent)
{
    struct block *block = new_block(BLOCK_CODE, address, bytes);

    block->owner = agent;
    block->allowed = bit_of(agent);
    add(block);
}

void memory_forget(void *address)
{
    struct block *block;

    pthread_mutex_lock(&lock);
    block = find_start(address, BLOCK_CODE);
    if (block)
        take_out(block);
    pthread_mutex_unlock(&lock);
    free(block);
}

void memory_forget_all(void)
{
    pthread_mutex_lock(&lock);
    while (blocks) {
        struct block *block = blocks;

        blocks = block->next;
        if (block->kind == BLOCK_HOST || block->kind == BLOCK_DEVICE)
            unmap(block);
        free(block);
    }
    memset(used, 0, sizeof(used));
    pthread_mutex_unlock(&lock);
}

/* ---- what programs call: blocks ---- */

hsa_status_t hsa_amd_memory_pool_allocate(hsa_amd_memory_pool_t handle, size_t bytes,
                                          uint32_t flags, void **address)
{
    const struct pool *pool = pool_of(handle.handle);
    hsa_status_t status;

    ENTER;
    (void)flags;
    if (!pool || pool->segment != HSA_AMD_SEGMENT_GLOBAL)
        return (hsa_status_t)HSA_STATUS_ERROR_INVALID_MEMORY_POOL;
    status = allocate(pool->agent, bytes, 0, pool->flags, address);
    if (status == HSA_STATUS_SUCCESS)
        counts_add(&counts.blocks, 1);
    return status;
}

hsa_status_t hsa_amd_memory_pool_free(void *address)
{
    hsa_status_t status;

    ENTER;
    if (!address)
        return HSA_STATUS_SUCCESS;
    status = release(address);
    if (status == HSA_STATUS_SUCCESS)
        counts_add(&counts.blocks, -1);
    return status;
}

/* Of a region: memory of the host is every GPU's. */
hsa_status_t hsa_memory_allocate(hsa_region_t handle, size_t bytes, void **address)
{
    const struct pool *pool = pool_of(handle.handle);
    hsa_status_t status;

    ENTER;
    if (!pool || pool->segment != HSA_AMD_SEGMENT_GLOBAL)
        return HSA_STATUS_ERROR_INVALID_REGION;
    status = allocate(pool->agent, bytes, pool->agent->device < 0 ? UINT32_MAX : 0, pool->flags,
                      address);
    if (status == HSA_STATUS_SUCCESS)
        counts_add(&counts.blocks, 1);
    return status;
}

hsa_status_t hsa_memory_free(void *address)
{
    return hsa_amd_memory_pool_free(address);
}

hsa_status_t hsa_memory_assign_agent(void *address, hsa_agent_t agent,
                                     hsa_access_permission_t access)
{
    ENTER;
    (void)address, (void)access;
    return agent_of(agent) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_AGENT;
}

/* Only these GPUs, and the one to which it belongs. */
hsa_status_t hsa_amd_agents_allow_access(uint32_t count, const hsa_agent_t *handles,
                                         const uint32_t *flags, const void *address)
{
    struct block *block;
    uint32_t allowed = 0;

    ENTER;
    if (count == 0 || !handles || flags || !address)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < count; i++) {
        const struct agent *agent = agent_of(handles[i]);

        if (!agent)
            return HSA_STATUS_ERROR_INVALID_AGENT;
        allowed |= bit_of(agent);
    }
    pthread_mutex_lock(&lock);
    block = find(address, 1);
    if (block) {
        block->allowed = allowed | bit_of(block->owner);
        set_open(block);
    }
    pthread_mutex_unlock(&lock);
    return block ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

/* ---- locks ---- */

static hsa_status_t lock_memory(void *address, size_t bytes, const hsa_agent_t *handles, int count,
                                void **at_gpu)
{
    struct block *block;
    uint32_t allowed = 0;

    if (!address || bytes == 0 || !at_gpu || (handles == NULL) != (count == 0))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    for (int i = 0; i < count; i++) {
        const struct agent *agent = agent_of(handles[i]);

        if (!agent)
            return HSA_STATUS_ERROR_INVALID_AGENT;
        allowed |= bit_of(agent);
    }
    block = new_block(BLOCK_LOCKED, address, bytes);
    block->owner = agent_of_device(-1);
    block->allowed = count ? allowed : UINT32_MAX;
    add(block);
    counts_add(&counts.locks, 1);
    *at_gpu = address;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_lock(void *address, size_t bytes, hsa_agent_t *agents, int count,
                                 void **at_gpu)
{
    ENTER;
    return lock_memory(address, bytes, agents, count, at_gpu);
}

hsa_status_t hsa_amd_memory_lock_to_pool(void *address, size_t bytes, hsa_agent_t *agents,
                                         int count, hsa_amd_memory_pool_t pool, uint32_t flags,
                                         void **at_gpu)
{
    ENTER;
    if (flags || !pool_of(pool.handle))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return lock_memory(address, bytes, agents, count, at_gpu);
}

/* The last lock that begins there. */
hsa_status_t hsa_amd_memory_unlock(void *address)
{
    struct block *block;

    ENTER;
    pthread_mutex_lock(&lock);
    block = find_start(address, BLOCK_LOCKED);
    if (block)
        take_out(block);
    pthread_mutex_unlock(&lock);
    if (!block)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    free(block);
    counts_add(&counts.locks, -1);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_memory_register(void *address, size_t bytes)
{
    ENTER;
    return address && bytes ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

hsa_status_t hsa_memory_deregister(void *address, size_t bytes)
{
    ENTER;
    (void)address, (void)bytes;
    return HSA_STATUS_SUCCESS;
}

/* ---- what programs ask of addresses ---- */

static void describe(hsa_amd_pointer_info_t *info, const struct block *block)
{
    if (!block)
        return;
    info->type =
        block->kind == BLOCK_LOCKED ? HSA_EXT_POINTER_TYPE_LOCKED : HSA_EXT_POINTER_TYPE_HSA;
    info->agentBaseAddress = block->address;
    info->hostBaseAddress =
        block->kind == BLOCK_LOCKED || block->kind == BLOCK_HOST ? block->address : NULL;
    info->sizeInBytes = block->bytes;
    info->userData = block->user_data;
    info->agentOwner = agent_handle(block->owner);
    info->global_flags = block->flags;
}

/* It says no more than its caller has room for. */
hsa_status_t hsa_amd_pointer_info(const void *address, hsa_amd_pointer_info_t *info,
                                  void *(*alloc)(size_t bytes), uint32_t *count,
                                  hsa_agent_t **agents)
{
    hsa_amd_pointer_info_t known = {.size = sizeof(known), .type = HSA_EXT_POINTER_TYPE_UNKNOWN};
    const struct block *block;
    uint32_t allowed = 0;

    ENTER;
    if (!address || !info || info->size == 0 || (alloc && (!count || !agents)))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    pthread_mutex_lock(&lock);
    block = find(address, 1);
    describe(&known, block);
    if (block)
        allowed = block->allowed;
    pthread_mutex_unlock(&lock);
    if (info->size < known.size)
        known.size = info->size;
    memcpy(info, &known, known.size);
    if (!alloc)
        return HSA_STATUS_SUCCESS;
    *count = 0;
    *agents = alloc((size_t)settings.devices * sizeof(**agents));
    for (int i = 0; *agents && i < settings.devices; i++)
        if (allowed >> i & 1)
            (*agents)[(*count)++] = agent_handle(agent_of_device(i));
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_pointer_info_set_userdata(const void *address, void *user_data)
{
    struct block *block;

    ENTER;
    pthread_mutex_lock(&lock);
    block = find(address, 1);
    if (block)
        block->user_data = user_data;
    pthread_mutex_unlock(&lock);
    return block ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_ARGUMENT;
}

/* ---- copies and fills that are waited for ---- */

static bool is_lost(const void *address)
{
    const struct block *block;
    bool lost;

    pthread_mutex_lock(&lock);
    block = find(address, 1);
    lost = block && block->owner->lost;
    pthread_mutex_unlock(&lock);
    return lost;
}

hsa_status_t hsa_memory_copy(void *to, const void *from, size_t bytes)
{
    void *there, *here;

    ENTER;
    if (bytes == 0)
        return HSA_STATUS_SUCCESS;
    there = memory_reach(to, bytes, NULL, true);
    here = memory_reach(from, bytes, NULL, true);
    if (!there || !here)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (is_lost(to) || is_lost(from))
        return HSA_STATUS_ERROR;
    memmove(there, here, bytes);
    return HSA_STATUS_SUCCESS;
}

/* `count` words of 32 bits. */
hsa_status_t hsa_amd_memory_fill(void *to, uint32_t value, size_t count)
{
    uint32_t *there;

    ENTER;
    if (!to || (uintptr_t)to % sizeof(value))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    there = memory_reach(to, count * sizeof(value), NULL, false);
    if (!there)
        return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    if (is_lost(to))
        return HSA_STATUS_ERROR;
    for (size_t i = 0; i < count; i++)
        there[i] = value;
    return HSA_STATUS_SUCCESS;
}
