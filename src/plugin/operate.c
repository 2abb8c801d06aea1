/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * operate.c: transfers, launches and memory, each once for all LLVM generations and for both the
 * synchronous and the asynchronous entry points.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <omprma_private/check.h>

#include "plugin/plugin.h"

/* Arguments that fit the stack; a launch with more takes them from malloc. */
enum { FEW_ARGUMENTS = 64 };

static omprma_addr_t address_of(const void *pointer)
{
    return (omprma_addr_t)(uintptr_t)pointer;
}

/* LLVM 13 and 14 have a mistake: when a structure with attached pointers is copied back, they put
 * the host's pointers back as soon as the retrieve was issued, and a retrieve that comes later
 * writes the device's pointers over them. So for them, once a pointer may have been attached,
 * retrieves that can hold a pointer wait. Attaching is a submit of one pointer, which is told from
 * other 8 bytes by its value: device memory lies above 4 GiB and below 2^47. */
static atomic_bool from_15, attached;

void operate_from_15(void)
{
    atomic_store(&from_15, true);
}

static void notice_attachment(const void *from, int64_t bytes)
{
    uint64_t value;
    if (bytes != sizeof(value) || atomic_load_explicit(&from_15, memory_order_relaxed))
        return;
    memcpy(&value, from, sizeof(value));
    if (value >> 32 != 0 && value >> 47 == 0)
        atomic_store_explicit(&attached, true, memory_order_relaxed);
}

static bool retrieve_must_wait(int64_t bytes)
{
    return bytes >= (int64_t)sizeof(void *) &&
           atomic_load_explicit(&attached, memory_order_relaxed);
}

/* omp_target_memcpy (seen in LLVM 14, 15 and 16) returns what issuing a transfer returned, and
 * drops what synchronizing does. Ranges inside blocks are checked when they are issued; whether
 * others exist only the worker knows, so for them the call waits. */
static bool error_may_come_late(int device, const void *there, int64_t bytes)
{
    bool inside = true;
    return omprma_address_inside(plugin_number(device), address_of(there), (size_t)bytes,
                                 &inside) == OMPRMA_OK &&
           !inside;
}

int32_t plugin_submit(int device, void *to, const void *from, int64_t bytes,
                      struct tgt_async *async)
{
    struct tgt_async own = {0};
    struct tgt_async *used = async ? async : &own;
    int32_t result = RTL_FAIL;
    if (!plugin_enter(device))
        return result;
    notice_attachment(from, bytes);
    omprma_queue_t *queue = queue_of(device, used);
    if (queue)
        result = queue_issued(device, used,
                              !async || mixed_is() || error_may_come_late(device, to, bytes),
                              omprma_submit(queue, address_of(to), from, (size_t)bytes));
    plugin_leave();
    return result;
}

int32_t plugin_retrieve(int device, void *to, const void *from, int64_t bytes,
                        struct tgt_async *async)
{
    struct tgt_async own = {0};
    struct tgt_async *used = async ? async : &own;
    int32_t result = RTL_FAIL;
    if (!plugin_enter(device))
        return result;
    omprma_queue_t *queue = queue_of(device, used);
    if (queue)
        result = queue_issued(device, used,
                              !async || retrieve_must_wait(bytes) ||
                                  error_may_come_late(device, from, bytes),
                              omprma_retrieve(queue, to, address_of(from), (size_t)bytes));
    plugin_leave();
    return result;
}

int32_t plugin_exchange(int device, const void *from, int to_device, void *to, int64_t bytes,
                        struct tgt_async *async)
{
    struct tgt_async own = {0};
    struct tgt_async *used = async ? async : &own;
    int32_t result = RTL_FAIL;
    if (!plugin_enter(device))
        return result;
    omprma_queue_t *queue = queue_of(device, used);
    if (queue)
        result = queue_issued(device, used, !async,
                              omprma_exchange(queue, address_of(from), plugin_number(to_device),
                                              address_of(to), (size_t)bytes));
    plugin_leave();
    return result;
}

static int32_t launch_words(int device, void *kernel, const uint64_t *words, uint32_t count,
                            struct tgt_async *async)
{
    struct tgt_async own = {0};
    struct tgt_async *used = async ? async : &own;
    int32_t result = RTL_FAIL;
    if (!plugin_enter(device))
        return result;
    omprma_queue_t *queue = queue_of(device, used);
    if (queue)
        result = queue_issued(device, used, !async,
                              omprma_launch(queue, address_of(kernel), NULL, words, count));
    plugin_leave();
    return result;
}

/* Code for hosts brings its teams and threads with it. */
int32_t plugin_launch(int device, void *kernel, void **arguments, const ptrdiff_t *offsets,
                      uint32_t count, uint32_t leading, struct tgt_async *async)
{
    uint64_t few[FEW_ARGUMENTS];
    uint64_t *words = few;
    if (count + leading > FEW_ARGUMENTS) {
        words = malloc((count + leading) * sizeof(*words));
        if (!words)
            return plugin_fail(device, "no host memory for the arguments of a kernel");
    }
    for (uint32_t i = 0; i < leading; i++)
        words[i] = 0;
    for (uint32_t i = 0; i < count; i++)
        words[leading + i] = (uint64_t)(uintptr_t)arguments[i] + (uint64_t)offsets[i];
    omprma_addr_t *begins =
        omprma_check_wanted() ? calloc(count + leading + 1, sizeof(*begins)) : NULL;
    for (uint32_t i = 0; i < count && begins; i++)
        if (offsets[i] != 0)
            begins[leading + i] = address_of(arguments[i]);
    omprma_check_begins(begins, NULL, begins ? count + leading : 0);
    int32_t result = launch_words(device, kernel, words, count + leading, async);
    omprma_check_begins(NULL, NULL, 0);
    free(begins);
    if (words != few)
        free(words);
    return result;
}

/* ---- memory ---- */

/* Host memory that was asked for through the plugin. It is given back through the function that
 * also frees device memory, and before LLVM 16 without its kind, so it must be known here. Such
 * blocks are few; a list does. */
static struct host_block {
    struct host_block *next;
    void *address;
} * host_blocks;
static pthread_mutex_t host_lock = PTHREAD_MUTEX_INITIALIZER;

static void *host_alloc(size_t bytes)
{
    struct host_block *block = malloc(sizeof(*block));
    void *address = malloc(bytes);
    if (!block || !address) {
        free(block);
        free(address);
        return NULL;
    }
    block->address = address;
    pthread_mutex_lock(&host_lock);
    block->next = host_blocks;
    host_blocks = block;
    pthread_mutex_unlock(&host_lock);
    return address;
}

/* False if it is not host memory of ours. */
static bool host_free(void *address)
{
    pthread_mutex_lock(&host_lock);
    struct host_block **place = &host_blocks;
    while (*place && (*place)->address != address)
        place = &(*place)->next;
    struct host_block *found = *place;
    if (found)
        *place = found->next;
    pthread_mutex_unlock(&host_lock);
    if (!found)
        return false;
    free(found);
    free(address);
    return true;
}

static void *device_alloc(int device, size_t bytes, const void *host)
{
    omprma_addr_t address = 0;
    int number = plugin_number(device);
    omprma_status_t status = host ? omprma_alloc_like(number, bytes, host, &address)
                                  : omprma_alloc(number, bytes, &address);
    if (status != OMPRMA_OK)
        plugin_fail(-1, omprma_error());
    return (void *)(uintptr_t)address;
}

void *plugin_alloc(int device, int64_t bytes, const void *host, int32_t kind)
{
    void *address = NULL;
    if (bytes <= 0 || !plugin_enter(device))
        return NULL;
    switch (kind) {
    case TGT_DEVICE:
    case TGT_DEFAULT:
        address = device_alloc(device, (size_t)bytes, host);
        break;
    case TGT_HOST:
        address = host_alloc((size_t)bytes);
        if (!address)
            plugin_fail(device, "no host memory for an allocation of kind host");
        break;
    default:
        plugin_fail(device, "memory shared between host and device cannot be had on a remote "
                            "device; allocate device memory and copy");
    }
    plugin_leave();
    return address;
}

int32_t plugin_delete(int device, void *address)
{
    /* At the end of the process everything is free already. */
    if (!address || plugin_ended() || host_free(address))
        return RTL_SUCCESS;
    if (!plugin_enter(device))
        return RTL_FAIL;
    int32_t result = plugin_result(omprma_free(plugin_number(device), address_of(address)));
    plugin_leave();
    return result;
}
