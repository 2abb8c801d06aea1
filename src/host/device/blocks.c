/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * blocks.c: memory comes from the allocator under its own lock. Where there is no room a worker is
 * told to attach another arena, one at a time per device, with the runtime's lock. A block that is
 * freed while queues of the device are busy is retired first. Arenas that are empty go back when
 * another one is needed, or when memory is short.
 */
#include "host/device/blocks.h"

#include "base/error.h"
#include "host/core/attach_order.h"
#include "host/device/arena.h"
#include "host/device/retired.h"

enum { GROW_LARGE = 1 << 30 }; /* arenas grow by doubling up to this, then as needed */

/* ---- memory that nobody needs any more ---- */

/* Takes an empty arena off the books. */
static omprma_addr_t take_empty_arena(struct device *device, uint64_t *bytes)
{
    omprma_addr_t base;

    spinlock_lock(&device->memory->lock);
    base = allocator_empty_arena(device->memory->allocator, bytes);
    if (base && allocator_remove_arena(device->memory->allocator, base) != OMPRMA_OK)
        base = 0;
    if (base)
        device->memory->attached_bytes -= *bytes;
    spinlock_unlock(&device->memory->lock);
    return base;
}

static bool may_release(const struct device_memory *memory)
{
    for (int i = 0; i < memory->device_count; i++) {
        const struct device *device = memory->devices[i];

        if (device->lost || !peer_may_send(device->peer) || !attach_order_is_quiet(device->peer))
            return false;
    }
    return true;
}

/* Gives empty arenas back, as many as may be now; the others stay in use until the next time. With
 * the lock held. */
static void release_empty(struct device *device)
{
    omprma_addr_t base = 1;
    uint64_t bytes = 0;

    while (base && may_release(device->memory)) {
        base = take_empty_arena(device, &bytes);
        if (base)
            arena_release(device, base, bytes);
    }
}

void blocks_release_retired(struct device *device)
{
    uint32_t before = device->memory->retired_count;

    if (before == 0)
        return;
    retired_reap(device);
    if (device->memory->retired_count < before)
        release_empty(device);
}

/* ---- more memory ---- */

/* Asks for an arena of *bytes, or, where the worker has not so much, for a smaller one that has
 * room for `least`. With the lock held. */
static omprma_status_t attach_arena(struct device *device, uint64_t least, uint64_t *bytes,
                                    omprma_addr_t *base)
{
    omprma_status_t status;

    for (;;) {
        release_empty(device); /* what could not be sent before */
        status = arena_attach(device, *bytes, base);
        if (status != OMPRMA_ERR_DEVICE_MEMORY || *bytes == least)
            return status;
        *bytes = (*bytes / 2 + 4095) & ~UINT64_C(4095);
        if (*bytes < least)
            *bytes = least;
    }
}

omprma_status_t blocks_grow(struct device *device, uint64_t bytes)
{
    uint64_t least = (bytes + ALLOCATOR_PAGE - 1) & ~(uint64_t)(ALLOCATOR_PAGE - 1);
    omprma_addr_t base = 0;
    uint64_t want;
    omprma_status_t status;

    spinlock_lock(&device->memory->lock);
    want =
        device->memory->attached_bytes < GROW_LARGE ? device->memory->attached_bytes : GROW_LARGE;
    if (want == 0)
        want = device->about.arena_bytes;
    spinlock_unlock(&device->memory->lock);
    if (want < least)
        want = least;
    want = (want + 4095) & ~UINT64_C(4095);
    runtime_lock(device->runtime);
    status = attach_arena(device, least, &want, &base);
    if (status == OMPRMA_OK) {
        spinlock_lock(&device->memory->lock);
        status = allocator_add_arena(device->memory->allocator, base, want);
        if (status == OMPRMA_OK)
            device->memory->attached_bytes += want;
        spinlock_unlock(&device->memory->lock);
        if (status != OMPRMA_OK)
            arena_release(device, base, want);
    }
    runtime_unlock(device->runtime);
    return status;
}

/* Gives retired blocks back; waits for them if `wait`. True if there may be more room now. */
static bool reap(struct device *device, bool wait)
{
    uint32_t before;
    bool more;

    if (atomic_load_explicit(&device->memory->retired_count, memory_order_relaxed) == 0)
        return false;
    runtime_lock(device->runtime);
    before = device->memory->retired_count;
    if (wait)
        retired_wait(device);
    else
        retired_reap(device);
    more = device->memory->retired_count < before;
    runtime_unlock(device->runtime);
    return more;
}

/* ---- blocks ---- */

omprma_status_t blocks_alloc(struct device *device, size_t bytes, struct fit fit,
                             omprma_addr_t *address)
{
    omprma_addr_t block;
    omprma_status_t status;

    if (bytes > (UINT64_C(1) << 47))
        return error_set(OMPRMA_ERR_DEVICE_MEMORY, "%s: %zu bytes are more than any machine has",
                         device_name(device), bytes);
    for (;;) {
        spinlock_lock(&device->memory->lock);
        block = allocator_take(device->memory->allocator, bytes, fit);
        device->allocs += block != 0;
        spinlock_unlock(&device->memory->lock);
        if (block)
            break;
        if (reap(device, false))
            continue;
        status = blocks_grow(device, fit.residue + bytes);
        if (status == OMPRMA_ERR_DEVICE_MEMORY && reap(device, true))
            continue; /* what was freed is what was needed, perhaps */
        if (status != OMPRMA_OK)
            return status;
    }
    *address = block;
    return OMPRMA_OK;
}

static bool is_block(struct device *device, omprma_addr_t address)
{
    omprma_addr_t block = 0;

    return device_classify(device, address, 1, &block, NULL) == RANGE_LIVE && block == address;
}

static bool all_are_idle(const struct device_memory *memory)
{
    for (int i = 0; i < memory->device_count; i++)
        if (atomic_load_explicit(&memory->devices[i]->unsettled, memory_order_relaxed) > 0)
            return false;
    return true;
}

/* True if the block is to be handed out again later. */
static bool retire(struct device *device, omprma_addr_t block)
{
    bool retired = false;

    if (all_are_idle(device->memory) &&
        atomic_load_explicit(&device->memory->retired_count, memory_order_relaxed) == 0)
        return false;
    runtime_lock(device->runtime);
    blocks_release_retired(device);
    if (is_block(device, block))
        retired = retired_add(device, block);
    runtime_unlock(device->runtime);
    return retired;
}

omprma_status_t blocks_release(struct device *device, omprma_addr_t address)
{
    bool empty = false;
    uint64_t bytes = 0;
    omprma_status_t status = OMPRMA_OK;

    if (address == 0 || (device->memory->keeps && is_block(device, address)))
        return OMPRMA_OK;
    if (retire(device, address))
        return OMPRMA_OK;
    spinlock_lock(&device->memory->lock);
    if (device_has_retired(device, address))
        status = error_set(OMPRMA_ERR_ADDRESS, "free of 0x%llx, which was freed before",
                           (unsigned long long)address);
    else
        status = allocator_give(device->memory->allocator, address, &bytes);
    if (status == OMPRMA_OK) {
        device->frees++;
        empty = allocator_empty_arena(device->memory->allocator, &bytes) != 0;
    }
    spinlock_unlock(&device->memory->lock);
    if (status != OMPRMA_OK)
        return error_set(status, "%s: %s", device_name(device), error_text());
    if (empty) {
        runtime_lock(device->runtime);
        release_empty(device);
        runtime_unlock(device->runtime);
    }
    return OMPRMA_OK;
}
