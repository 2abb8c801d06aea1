/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * blocks.c: memory comes from the allocator under its own lock. Where there is no room a worker is
 * told to attach another arena, one at a time per device, with the runtime's lock. A block that is
 * freed while queues of the device are busy is retired first. Arenas that are empty go back when
 * another one is needed, or when memory is short.
 */
#include "host/device/blocks.h"

#include "base/error.h"
#include "base/log.h"
#include "host/core/attach_order.h"
#include "host/core/fault_address.h"
#include "host/device/devices.h"
#include "host/device/retired.h"
#include "host/queue/append.h"
#include "host/queue/issue.h"

enum {
    GROW_LARGE = 1 << 30, /* arenas grow by doubling up to this, then as needed */
    WISHES = 4,           /* where an arena is asked for before the worker chooses */
    WORKER_PAGE = 65536   /* the largest page of a worker, or more */
};

/* ---- memory that nobody needs any more ---- */

/* Takes an empty arena off the books. */
static omprma_addr_t take_empty_arena(struct device *device, uint64_t *bytes)
{
    omprma_addr_t base;

    spinlock_lock(&device->memory.lock);
    base = allocator_empty_arena(device->memory.allocator, bytes);
    if (base && allocator_remove_arena(device->memory.allocator, base) != OMPRMA_OK)
        base = 0;
    if (base)
        device->memory.attached_bytes -= *bytes;
    spinlock_unlock(&device->memory.lock);
    return base;
}

/* Nobody waits for it: the worker does everything later after it, so it cannot hand the same
 * addresses out again before. On the control queue's stream, under the number that it is at. */
static void release(struct device *device, omprma_addr_t base, uint64_t bytes)
{
    struct wire_record record = {
        .code = WIRE_RELEASE,
        .device = device->index,
        .op = (uint32_t)device->control->issued,
        .word = {base, bytes},
    };
    struct operation *command;

    fault_address_note_release(device, base, bytes);
    addresses_release(&device->memory.addresses, base);
    if (!attach_order_matters(device->peer)) {
        peer_send_record(device->peer, &record, false);
        return;
    }
    record.flags = WIRE_REPLY;
    if (queue_append_command(device->control, OPERATION_COMMAND, &record, &command) != OMPRMA_OK)
        return; /* without memory: it stays the worker's until the end */
    attach_order_change(device->peer, command);
    queue_push(command);
}

/* Gives empty arenas back, as many as may be now; the others stay in use until the next time. With
 * the lock held. */
static void release_empty(struct device *device)
{
    omprma_addr_t base = 1;
    uint64_t bytes = 0;

    while (base && !device->lost && peer_may_send(device->peer) &&
           attach_order_is_quiet(device->peer)) {
        base = take_empty_arena(device, &bytes);
        if (base)
            release(device, base, bytes);
    }
}

void blocks_release_retired(struct device *device)
{
    uint32_t before = device->memory.retired_count;

    if (before == 0)
        return;
    retired_reap(device);
    if (device->memory.retired_count < before)
        release_empty(device);
}

/* ---- more memory ---- */

static void settle_attach_order(struct peer *peer)
{
    struct operation *change;

    while ((change = attach_order_pending(peer)) != NULL) {
        operation_hold(change);
        queue_settle_operation(change);
        operation_drop(&peer->runtime->operations, change);
    }
}

/* Asks the worker for an arena whose addresses nothing has here: below those that it has. Where
 * that cannot be, the worker chooses. With the lock held. */
static omprma_status_t ask_arena(struct device *device, uint64_t bytes, omprma_addr_t *base)
{
    uint64_t below = device->native ? addresses_lowest(&device->memory.addresses) : 0;
    struct wire_record record = {.code = WIRE_GROW, .word = {bytes, 0}};
    omprma_status_t status = OMPRMA_ERR_ADDRESS;

    for (int i = 0; i < WISHES && status == OMPRMA_ERR_ADDRESS && below; i++) {
        /* The worker has a page more behind it. */
        uint64_t wish = addresses_keep_below(&device->memory.addresses, below, bytes + WORKER_PAGE);

        if (!wish)
            break;
        record.word[1] = wish;
        status = device_command(device, &record, base, NULL, 0);
        if (status != OMPRMA_OK)
            addresses_release(&device->memory.addresses, wish);
        below = wish;
    }
    if (status != OMPRMA_ERR_ADDRESS)
        return status;
    record.word[1] = 0;
    status = device_command(device, &record, base, NULL, 0);
    if (status == OMPRMA_OK && !addresses_keep(&device->memory.addresses, *base, bytes))
        log_write(LOG_CHOICE, "%s: memory of this process has the numbers of an arena at 0x%llx",
                  device_name(device), (unsigned long long)*base);
    return status;
}

/* Asks for an arena of *bytes, or, where the worker has not so much, for a smaller one that has
 * room for `least`. With the lock held. */
static omprma_status_t attach_arena(struct device *device, uint64_t least, uint64_t *bytes,
                                    omprma_addr_t *base)
{
    omprma_status_t status;

    for (;;) {
        release_empty(device); /* what could not be sent before */
        settle_attach_order(device->peer);
        status = ask_arena(device, *bytes, base);
        if (status != OMPRMA_ERR_DEVICE_MEMORY || *bytes == least)
            return status;
        *bytes = (*bytes / 2 + 4095) & ~UINT64_C(4095);
        if (*bytes < least)
            *bytes = least;
    }
}

/* Attaches another arena that has room for `bytes`. */
static omprma_status_t grow(struct device *device, uint64_t bytes)
{
    uint64_t least = (bytes + ALLOCATOR_PAGE - 1) & ~(uint64_t)(ALLOCATOR_PAGE - 1);
    omprma_addr_t base = 0;
    uint64_t want;
    omprma_status_t status;

    spinlock_lock(&device->memory.lock);
    want = device->memory.attached_bytes < GROW_LARGE ? device->memory.attached_bytes : GROW_LARGE;
    spinlock_unlock(&device->memory.lock);
    if (want < least)
        want = least;
    want = (want + 4095) & ~UINT64_C(4095);
    runtime_lock(device->runtime);
    status = attach_arena(device, least, &want, &base);
    if (status == OMPRMA_OK) {
        spinlock_lock(&device->memory.lock);
        status = allocator_add_arena(device->memory.allocator, base, want);
        if (status == OMPRMA_OK)
            device->memory.attached_bytes += want;
        spinlock_unlock(&device->memory.lock);
        if (status != OMPRMA_OK)
            release(device, base, want);
    }
    runtime_unlock(device->runtime);
    return status;
}

/* Gives retired blocks back; waits for them if `wait`. True if there may be more room now. */
static bool reap(struct device *device, bool wait)
{
    uint32_t before;
    bool more;

    if (atomic_load_explicit(&device->memory.retired_count, memory_order_relaxed) == 0)
        return false;
    runtime_lock(device->runtime);
    before = device->memory.retired_count;
    if (wait)
        retired_wait(device);
    else
        retired_reap(device);
    more = device->memory.retired_count < before;
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
        spinlock_lock(&device->memory.lock);
        block = allocator_take(device->memory.allocator, bytes, fit);
        device->allocs += block != 0;
        spinlock_unlock(&device->memory.lock);
        if (block)
            break;
        if (reap(device, false))
            continue;
        status = grow(device, fit.residue + bytes);
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

/* True if the block is to be handed out again later. */
static bool retire(struct device *device, omprma_addr_t block)
{
    bool retired = false;

    if (atomic_load_explicit(&device->unsettled, memory_order_relaxed) == 0 &&
        atomic_load_explicit(&device->memory.retired_count, memory_order_relaxed) == 0)
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

    if (address == 0 || (device->memory.keeps && is_block(device, address)))
        return OMPRMA_OK;
    if (retire(device, address))
        return OMPRMA_OK;
    spinlock_lock(&device->memory.lock);
    if (device_has_retired(device, address))
        status = error_set(OMPRMA_ERR_ADDRESS, "free of 0x%llx, which was freed before",
                           (unsigned long long)address);
    else
        status = allocator_give(device->memory.allocator, address, &bytes);
    if (status == OMPRMA_OK) {
        device->frees++;
        empty = allocator_empty_arena(device->memory.allocator, &bytes) != 0;
    }
    spinlock_unlock(&device->memory.lock);
    if (status != OMPRMA_OK)
        return error_set(status, "%s: %s", device_name(device), error_text());
    if (empty) {
        runtime_lock(device->runtime);
        release_empty(device);
        runtime_unlock(device->runtime);
    }
    return OMPRMA_OK;
}
