/* host_memory.c: see host_memory.h. */
#include "cuda/host_memory.h"

#include <bsd/sys/tree.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "cuda/driver.h"
#include "cuda/exports.h"

struct locked {
    RB_ENTRY(locked) link;
    uintptr_t begin;
    size_t bytes;
    unsigned flags;
    bool owned; /* allocated here */
};
RB_HEAD(locked_tree, locked);

static struct host_memory {
    pthread_mutex_t lock;
    struct locked_tree tree;
} host_memory = {.lock = PTHREAD_MUTEX_INITIALIZER, .tree = RB_INITIALIZER(host_memory.tree)};

static int locked_compare(const struct locked *a, const struct locked *b)
{
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function" /* each tree uses some of them */
RB_GENERATE_INTERNAL(locked_tree, locked, link, locked_compare, static)
#pragma GCC diagnostic pop

/* The last one that begins at or before `address`; NULL: none. Under the lock. */
static struct locked *locked_before(uintptr_t address)
{
    struct locked key = {.begin = address};
    struct locked *found = RB_NFIND(locked_tree, &host_memory.tree, &key);

    if (found && found->begin == address)
        return found;
    return found ? RB_PREV(locked_tree, &host_memory.tree, found)
                 : RB_MAX(locked_tree, &host_memory.tree);
}

/* The one that an address lies in; NULL: none. Under the lock. */
static struct locked *locked_at(uintptr_t address)
{
    struct locked *found = locked_before(address);
    return found && address - found->begin < found->bytes ? found : NULL;
}

bool host_memory_is_locked(const void *begin, size_t bytes)
{
    uintptr_t at = (uintptr_t)begin;

    pthread_mutex_lock(&host_memory.lock);
    struct locked *found = locked_at(at);
    bool whole = found && bytes <= found->bytes - (at - found->begin);
    pthread_mutex_unlock(&host_memory.lock);
    return whole;
}

/* Errors: OUT_OF_MEMORY, HOST_MEMORY_ALREADY_REGISTERED. */
static CUresult locked_add(const struct locked *locked)
{
    struct locked *made = malloc(sizeof(*made));
    CUresult result = CUDA_SUCCESS;

    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *made = *locked;
    pthread_mutex_lock(&host_memory.lock);
    struct locked *before = locked_before(locked->begin + locked->bytes - 1);
    if (before && before->begin + before->bytes > locked->begin)
        result = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    else
        RB_INSERT(locked_tree, &host_memory.tree, made);
    pthread_mutex_unlock(&host_memory.lock);
    if (result != CUDA_SUCCESS)
        free(made);
    return result;
}

static bool locked_remove(const void *begin, bool owned)
{
    struct locked key = {.begin = (uintptr_t)begin};

    pthread_mutex_lock(&host_memory.lock);
    struct locked *found = RB_FIND(locked_tree, &host_memory.tree, &key);
    bool right = found && found->owned == owned;
    if (right) {
        RB_REMOVE(locked_tree, &host_memory.tree, found);
        free(found);
    }
    pthread_mutex_unlock(&host_memory.lock);
    return right;
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
    CUresult result = locked_add(
        &(struct locked){.begin = (uintptr_t)made, .bytes = bytes, .flags = flags, .owned = true});
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

/* Copies that use it have to be over, as with the driver. */
CUresult cuMemFreeHost(void *memory)
{
    struct call call;
    CUresult result = api_begin_bare(&call);

    if (result == CUDA_SUCCESS) {
        if (locked_remove(memory, true))
            free(memory);
        else
            result = CUDA_ERROR_INVALID_VALUE;
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
        result = locked_add(
            &(struct locked){.begin = (uintptr_t)memory, .bytes = bytes, .flags = flags});
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

    if (result == CUDA_SUCCESS && !locked_remove(memory, false))
        result = CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    return api_end(&call, result);
}

CUresult cuMemHostGetFlags(unsigned *flags, void *memory)
{
    struct call call;
    CUresult result = api_begin(&call);

    if (result == CUDA_SUCCESS && !flags)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS) {
        pthread_mutex_lock(&host_memory.lock);
        struct locked *found = locked_at((uintptr_t)memory);
        if (found)
            *flags = found->flags;
        else
            result = CUDA_ERROR_INVALID_VALUE;
        pthread_mutex_unlock(&host_memory.lock);
    }
    return api_end(&call, result);
}
