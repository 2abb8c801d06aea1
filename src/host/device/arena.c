/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * arena.c: a worker of native devices puts an arena where it is told to. The driver of a GPU
 * chooses by itself, and each process has one, so GPUs of two workers may get the same addresses.
 * Then the arena is held unused while another one is asked for, because what is held is not handed
 * out again, and the worker is told what addresses are in use here, which most drivers take from
 * the system; when one has been found, those that were held go back. Memory that several devices
 * have in common gets each arena on all of them, or on none.
 */
#include "host/device/arena.h"

#include <errno.h>

#include "base/error.h"
#include "base/log.h"
#include "host/core/attach_order.h"
#include "host/core/fault_address.h"
#include "host/core/told.h"
#include "host/device/devices.h"
#include "host/queue/append.h"
#include "host/queue/issue.h"

enum {
    WISHES = 4,         /* where an arena is asked for before the worker chooses */
    WORKER_PAGE = 65536 /* the largest page of a worker, or more */
};

/* Waits until no change of what the worker has attached is under way. */
static void settle(struct device *device)
{
    struct peer *peer = device->peer;
    struct operation *change;

    while ((change = attach_order_pending(peer)) != NULL) {
        operation_hold(change);
        queue_settle_operation(change);
        operation_drop(&peer->runtime->operations, change);
    }
}

/* ---- giving back ---- */

/* Nobody waits for it: the worker does everything later after it, so it cannot hand the same
 * addresses out again before. On the control queue's stream, under the number that it is at. */
static void send_release(struct device *device, omprma_addr_t base, uint64_t bytes)
{
    struct wire_record record = {
        .code = WIRE_RELEASE,
        .device = device->index,
        .op = (uint32_t)device->control->issued,
        .word = {base, bytes},
    };
    struct operation *command;

    told_forget(device->peer, base);
    mapped_drop(&device->mapped, base);
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

void arena_release(struct device *device, omprma_addr_t base, uint64_t bytes)
{
    struct device_memory *memory = device->memory;

    addresses_release(&memory->addresses, base);
    for (int i = 0; i < memory->device_count; i++) {
        fault_address_note_release(memory->devices[i], base, bytes);
        send_release(memory->devices[i], base, bytes);
    }
}

/* Those that cannot be sent now stay held until the next arena. */
static void release_held(struct device *device)
{
    struct device_memory *memory = device->memory;

    while (memory->held_count && !device->lost && peer_may_send(device->peer)) {
        const struct held_arena last = memory->held[--memory->held_count];

        settle(device);
        send_release(device, last.base, last.bytes);
    }
}

/* ---- attaching ---- */

/* `taken`: where an arena would have been, but something of this process is; 0: nowhere. */
static omprma_status_t ask(struct device *device, uint64_t bytes, uint64_t wish,
                           omprma_addr_t taken, omprma_addr_t *base)
{
    struct wire_record record = {.code = WIRE_GROW, .word = {bytes, wish}};
    struct shm_address file = {0};
    omprma_status_t status;

    if (taken)
        record.word[2] = addresses_taken(taken, bytes, ADDRESSES_HOLE, &record.word[3]);
    settle(device);
    status = device_command(device, &record, base, &file, sizeof(file));
    if (status == OMPRMA_OK && device->paths.shared)
        device_map(device, &file, *base, bytes);
    return status;
}

/* All workers, in turn; when one refuses, the others give it back. Those that are lost need it no
 * more, unless all are. */
static omprma_status_t ask_all(struct device_memory *memory, uint64_t bytes, uint64_t wish,
                               omprma_addr_t *base)
{
    omprma_status_t status = OMPRMA_OK, lost = OMPRMA_ERR_DEVICE_LOST;

    for (int i = 0; i < memory->device_count && status == OMPRMA_OK; i++) {
        struct device *device = memory->devices[i];

        status = device_check_alive(device);
        if (status == OMPRMA_OK)
            status = ask(device, bytes, wish, 0, base);
        if (status == OMPRMA_OK)
            lost = OMPRMA_OK;
        else if (!device_is_well(device))
            status = OMPRMA_OK;
        for (int j = 0; j < i && status != OMPRMA_OK; j++)
            if (device_is_well(memory->devices[j]))
                send_release(memory->devices[j], wish, bytes);
    }
    return status == OMPRMA_OK ? lost : status;
}

/* Of the arenas that there are, and of those that devices had before they had memory in common. */
static uint64_t lowest_arena(const struct device_memory *memory)
{
    uint64_t lowest = addresses_lowest(&memory->addresses);

    for (int i = 0; i < memory->device_count; i++) {
        uint64_t own = addresses_lowest(&memory->devices[i]->own_memory.addresses);

        if (own && (!lowest || own < lowest))
            lowest = own;
    }
    return lowest;
}

/* Where nothing is here, below the arenas that there are. ADDRESS: the worker has it nowhere
 * there. */
static omprma_status_t ask_at_wish(struct device *device, uint64_t bytes, omprma_addr_t *base)
{
    struct addresses *addresses = &device->memory->addresses;
    uint64_t below = lowest_arena(device->memory);
    omprma_status_t status = OMPRMA_ERR_ADDRESS;

    for (int i = 0; i < WISHES && status == OMPRMA_ERR_ADDRESS && below; i++) {
        /* The worker has a page more behind it. */
        uint64_t wish = addresses_keep_below(addresses, below, bytes + WORKER_PAGE);

        if (!wish)
            break;
        status = ask_all(device->memory, bytes, wish, base);
        if (status != OMPRMA_OK)
            addresses_release(addresses, wish);
        below = wish;
    }
    return status;
}

/* Where the worker chooses, whatever is there in this process. */
static omprma_status_t ask_anywhere(struct device *device, uint64_t bytes, omprma_addr_t *base)
{
    omprma_status_t status;

    if (device->memory->device_count > 1)
        return error_set(OMPRMA_ERR_DEVICE_MEMORY,
                         "%s: no addresses for %llu bytes are free on all workers",
                         device_name(device), (unsigned long long)bytes);
    status = ask(device, bytes, 0, 0, base);
    if (status == OMPRMA_OK && !addresses_keep(&device->memory->addresses, *base, bytes))
        log_write(LOG_CHOICE, "%s: memory of this process has the numbers of an arena at 0x%llx",
                  device_name(device), (unsigned long long)*base);
    return status;
}

/* ---- where a driver chooses ---- */

static omprma_status_t refuse(const struct device *device, uint64_t bytes, int tries)
{
    return error_set(OMPRMA_ERR_DEVICE_MEMORY,
                     "%s: its driver has %llu KiB only at addresses that something else in the "
                     "program has (%d tries); allow random addresses (kernel.randomize_va_space, "
                     "no setarch -R)",
                     device_name(device), (unsigned long long)(bytes >> 10), tries);
}

static void hold(struct device *device, omprma_addr_t base, uint64_t bytes)
{
    struct device_memory *memory = device->memory;

    log_write(LOG_DETAIL, "%s: something else has addresses of an arena at 0x%llx",
              device_name(device), (unsigned long long)base);
    if (memory->held_count < DEVICE_HELD)
        memory->held[memory->held_count++] = (struct held_arena){base, bytes};
    else
        send_release(device, base, bytes); /* other threads have asked meanwhile */
}

/* False: something else is there, or, with an error set, there are no addresses to keep. */
static bool keep(struct device *device, omprma_addr_t base, uint64_t bytes, omprma_status_t *status)
{
    if (addresses_keep(&device->memory->addresses, base, bytes))
        return true;
    if (errno != EEXIST)
        *status = error_set(OMPRMA_ERR_HOST_MEMORY,
                            "%s: no address space to keep the addresses of %llu MiB free; if the "
                            "shell limits it (ulimit -v), raise the limit",
                            device_name(device), (unsigned long long)(bytes >> 20));
    hold(device, base, bytes);
    return false;
}

/* What is held may be all that there is room for: then it goes back, once. */
static omprma_status_t ask_driver(struct device *device, uint64_t bytes, omprma_addr_t *base)
{
    struct device_memory *memory = device->memory;
    omprma_addr_t taken = 0;
    omprma_status_t status = OMPRMA_OK;
    bool made_room = false;
    int tries = 0;

    while (status == OMPRMA_OK) {
        if (memory->held_count == DEVICE_HELD) {
            status = refuse(device, bytes, tries);
            break;
        }
        status = ask(device, bytes, 0, taken, base);
        tries++;
        if (status == OMPRMA_OK && keep(device, *base, bytes, &status))
            break;
        taken = status == OMPRMA_OK ? *base : taken;
        if (status != OMPRMA_ERR_DEVICE_MEMORY || memory->held_count == 0)
            continue;
        if (made_room) {
            status = refuse(device, bytes, tries);
        } else {
            release_held(device);
            made_room = true;
            status = OMPRMA_OK;
        }
    }
    release_held(device);
    return status;
}

omprma_status_t arena_attach(struct device *device, uint64_t bytes, omprma_addr_t *base)
{
    omprma_status_t status = OMPRMA_ERR_ADDRESS;

    if (device_has_driver(device))
        return ask_driver(device, bytes, base);
    if (device->native)
        status = ask_at_wish(device, bytes, base);
    return status == OMPRMA_ERR_ADDRESS ? ask_anywhere(device, bytes, base) : status;
}
