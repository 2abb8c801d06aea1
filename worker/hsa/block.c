/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * block.c: memory of the host that GPUs reach. Kernel arguments, patterns of fills, and data on its
 * way to or from other memory take blocks, of a power of two, which are cut from slabs of the
 * host's pool and come back when their kernel or copy is over. Memory of this process that
 * worker/gpu has locked needs none; GPUs may see it at another address than this process does.
 */
#include <stdlib.h>

#include "worker/hsa/hsa.h"

enum {
    SMALLEST_BITS = 8,
    LARGEST_BITS = 17, /* more is allocated for its own */
    SIZES = LARGEST_BITS - SMALLEST_BITS + 1,
    SLAB_BYTES = 1 << 20
};

struct spare {
    struct spare *next;
};

struct slab {
    struct slab *next;
    char *memory;
    size_t used;
};

struct lock {
    struct lock *next;
    char *memory, *at; /* here, for GPUs */
    size_t bytes;
};

/* Of the process, as the runtime is. */
static struct {
    pthread_mutex_t mutex;
    struct spare *spares[SIZES];
    struct slab *slabs;
    struct lock *locks;
} host = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* ---- blocks ---- */

static void *pool_take(const struct rocr *rocr, size_t bytes, int *code)
{
    void *memory = NULL;

    *code = rocr->amd_memory_pool_allocate(rocr->pool, bytes, 0, &memory);
    if (*code)
        return NULL;
    *code = rocr->amd_agents_allow_access((uint32_t)rocr->count, rocr->gpus, NULL, memory);
    if (!*code)
        return memory;
    rocr->amd_memory_pool_free(memory);
    return NULL;
}

static int size_class(size_t bytes)
{
    int class = 0;

    while (bytes > (size_t)1 << (SMALLEST_BITS + class))
        class ++;
    return class;
}

static bool add_slab(const struct rocr *rocr, int *code)
{
    struct slab *slab = calloc(1, sizeof(*slab));

    if (!slab) {
        *code = HSA_STATUS_ERROR_OUT_OF_RESOURCES;
        return false;
    }
    slab->memory = pool_take(rocr, SLAB_BYTES, code);
    if (!slab->memory) {
        free(slab);
        return false;
    }
    slab->next = host.slabs;
    host.slabs = slab;
    return true;
}

/* The rest of a slab that is too small for a block is lost. */
static void *cut(const struct rocr *rocr, int class, int *code)
{
    size_t bytes = (size_t)1 << (SMALLEST_BITS + class), alignment = bytes < 4096 ? bytes : 4096;
    size_t at = host.slabs ? (host.slabs->used + alignment - 1) & ~(alignment - 1) : SLAB_BYTES;

    if (at + bytes > SLAB_BYTES) {
        if (!add_slab(rocr, code))
            return NULL;
        at = 0;
    }
    host.slabs->used = at + bytes;
    return host.slabs->memory + at;
}

void *rocr_block_take(const struct rocr *rocr, size_t bytes, int *code)
{
    int class = size_class(bytes);
    void *block;

    *code = HSA_STATUS_SUCCESS;
    if (class >= SIZES)
        return pool_take(rocr, bytes, code);
    pthread_mutex_lock(&host.mutex);
    block = host.spares[class];
    if (block)
        host.spares[class] = host.spares[class]->next;
    else
        block = cut(rocr, class, code);
    pthread_mutex_unlock(&host.mutex);
    return block;
}

void rocr_block_give(const struct rocr *rocr, void *block, size_t bytes)
{
    int class = size_class(bytes);
    struct spare *spare = block;

    if (class >= SIZES) {
        rocr->amd_memory_pool_free(block);
        return;
    }
    pthread_mutex_lock(&host.mutex);
    spare->next = host.spares[class];
    host.spares[class] = spare;
    pthread_mutex_unlock(&host.mutex);
}

void rocr_blocks_end(const struct rocr *rocr)
{
    for (int i = 0; i < SIZES; i++)
        host.spares[i] = NULL;
    while (host.slabs) {
        struct slab *slab = host.slabs;

        host.slabs = slab->next;
        rocr->amd_memory_pool_free(slab->memory);
        free(slab);
    }
}

/* ---- memory of this process ---- */

int rocr_host_lock(const struct gpu *gpu, void *memory, size_t bytes)
{
    const struct rocr *rocr = hsa_of(gpu)->rocr;
    struct lock *lock = calloc(1, sizeof(*lock));
    void *at = NULL;
    hsa_agent_t agents[ROCR_GPUS_MOST];
    int code;

    if (!lock)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    for (int i = 0; i < rocr->count; i++)
        agents[i] = rocr->gpus[i];
    code = rocr->amd_memory_lock(memory, bytes, agents, rocr->count, &at);
    if (code) {
        free(lock);
        return code;
    }
    *lock = (struct lock){.memory = memory, .at = at, .bytes = bytes};
    pthread_mutex_lock(&host.mutex);
    lock->next = host.locks;
    host.locks = lock;
    pthread_mutex_unlock(&host.mutex);
    return HSA_STATUS_SUCCESS;
}

/* Memory that could not be locked is not there. */
int rocr_host_unlock(const struct gpu *gpu, void *memory)
{
    struct lock **link = &host.locks, *lock;

    pthread_mutex_lock(&host.mutex);
    while (*link && (*link)->memory != memory)
        link = &(*link)->next;
    lock = *link;
    if (lock)
        *link = lock->next;
    pthread_mutex_unlock(&host.mutex);
    if (!lock)
        return HSA_STATUS_SUCCESS;
    free(lock);
    return hsa_of(gpu)->rocr->amd_memory_unlock(memory);
}

void *rocr_host_at(const void *memory, size_t bytes)
{
    const char *begin = memory;
    char *at = NULL;

    pthread_mutex_lock(&host.mutex);
    for (const struct lock *lock = host.locks; lock && !at; lock = lock->next)
        if (begin >= lock->memory && (size_t)(begin - lock->memory) <= lock->bytes &&
            bytes <= lock->bytes - (size_t)(begin - lock->memory))
            at = lock->at + (begin - lock->memory);
    pthread_mutex_unlock(&host.mutex);
    return at;
}
