/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * strided.c: runs of memory as one operation, public functions of omprma.h. A little that is
 * submitted travels in the message that scatters it. Where the program has both ends it copies the
 * runs (in_place.h). Everything else goes packed (packed.h), or, if its runs are large, and where
 * packing is not possible, run by run: the device cannot be touched, or has no room for slots.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "host/calls/call.h"
#include "host/calls/in_place.h"
#include "host/calls/memory.h"
#include "host/calls/packed.h"
#include "host/calls/submit.h"
#include "host/check/check.h"
#include "host/path/path.h"
#include "host/queue/append.h"

enum { RUNS_LEAST = 3 /* fewer go one by one */ };

/* ---- a little ---- */

static bool is_little(const struct side *from, const struct side *to)
{
    uint64_t bytes = from->shape.bytes * shape_runs(&from->shape);

    return !from->device &&
           (bytes <= OMPRMA_COPIED_SUBMIT ||
            (bytes <= to->device->paths.inline_submit && bytes <= HOP_INLINE_MOST));
}

/* In the message that scatters it. */
static omprma_status_t append_little(struct omprma_queue *queue, const struct side *from,
                                     const struct side *to)
{
    uint64_t runs = shape_runs(&from->shape), bytes = from->shape.bytes * runs;
    unsigned char *tail = malloc(sizeof(to->shape) + bytes);
    struct wire_record record = {
        .code = WIRE_SCATTER,
        .word = {to->at, 0, 0, runs},
        .tail = tail,
        .tail_bytes = (uint32_t)(sizeof(to->shape) + bytes),
    };
    omprma_status_t status;

    if (!tail)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for %llu bytes of runs",
                         (unsigned long long)bytes);
    memcpy(tail, &to->shape, sizeof(to->shape));
    shape_pack(&from->shape, (const void *)(uintptr_t)from->at, 0, runs, tail + sizeof(to->shape));
    status = queue_append_command(queue, OPERATION_COMMAND, &record, NULL);
    if (status == OMPRMA_OK)
        observe_inline(queue->device->runtime->observers, queue, DATA_SUBMIT, bytes);
    free(tail);
    return status;
}

/* ---- shapes ---- */

/* Without dimensions of one, and with as much in a run as follows each other at both ends. */
static omprma_shape_t simplify(const omprma_shape_t *shape)
{
    omprma_shape_t simple = {.bytes = shape->bytes, .count = {1, 1, 1}};
    int rank = 0;

    for (int i = 0; i < OMPRMA_SHAPE_RANK; i++) {
        size_t count = shape->count[i], to = shape->to_stride[i], from = shape->from_stride[i];

        if (count == 1)
            continue;
        if (rank == 0 && to == simple.bytes && from == simple.bytes) {
            simple.bytes *= count;
        } else if (rank > 0 && to == simple.count[rank - 1] * simple.to_stride[rank - 1] &&
                   from == simple.count[rank - 1] * simple.from_stride[rank - 1]) {
            simple.count[rank - 1] *= count;
        } else {
            simple.count[rank] = count;
            simple.to_stride[rank] = to;
            simple.from_stride[rank++] = from;
        }
    }
    return simple;
}

static struct shape shape_of(const omprma_shape_t *shape, const size_t *stride)
{
    struct shape side = {.bytes = shape->bytes};

    for (int i = 0; i < SHAPE_RANK; i++) {
        side.count[i] = shape->count[i];
        side.stride[i] = shape->count[i] == 1 ? 0 : stride[i];
    }
    return side;
}

static bool is_empty(const omprma_shape_t *shape)
{
    bool empty = shape->bytes == 0;

    for (int i = 0; i < OMPRMA_SHAPE_RANK; i++)
        empty |= shape->count[i] == 0;
    return empty;
}

static omprma_status_t move_run(omprma_queue_t *queue, const struct side *from,
                                const struct side *to, uint64_t run)
{
    uint64_t there = to->at + shape_at(&to->shape, run);
    uint64_t here = from->at + shape_at(&from->shape, run);
    size_t bytes = from->shape.bytes;

    if (!from->device)
        return omprma_submit(queue, there, (const void *)(uintptr_t)here, bytes);
    if (!to->device)
        return omprma_retrieve(queue, (void *)(uintptr_t)there, here, bytes);
    return omprma_exchange(queue, here, to->device->number, there, bytes);
}

static omprma_status_t move_each(omprma_queue_t *queue, const struct side *from,
                                 const struct side *to)
{
    uint64_t runs = shape_runs(&from->shape);
    omprma_status_t status = OMPRMA_OK;

    for (uint64_t i = 0; i < runs && status == OMPRMA_OK; i++)
        status = move_run(queue, from, to, i);
    return status;
}

/* ---- the choice ---- */

static bool is_staged(const struct side *side)
{
    return side->device && device_is_staged(side->device);
}

enum way { ONE_BY_ONE, IN_MESSAGE, IN_PLACE, PACKED };

/* May give up the lock. */
static enum way choose(const struct side *from, const struct side *to, enum packed_slots *slots)
{
    if (is_staged(from) || is_staged(to) || shape_runs(&from->shape) < RUNS_LEAST)
        return ONE_BY_ONE;
    if (is_little(from, to))
        return IN_MESSAGE;
    if (in_place_takes(from, to))
        return IN_PLACE;
    *slots = packed_slots_for(from, to);
    return *slots == PACKED_NOT ? ONE_BY_ONE : PACKED;
}

static omprma_status_t check_side(struct omprma_queue *queue, const struct side *side, bool to)
{
    static const char *const names[] = {"retrieve", "submit"};
    uint64_t reach = shape_reach(&side->shape);
    const void *here = (const void *)(uintptr_t)side->at;
    omprma_status_t status;
    bool arena;

    if (side->device)
        return call_check_range(side->device, names[to], side->at, reach, &arena);
    if (side->at == 0)
        return error_set(OMPRMA_ERR_ARGUMENT, "%s: %s of runs %s NULL", device_name(queue->device),
                         names[!to], to ? "to" : "from");
    status = memory_check_runs(queue->device, here, &side->shape, to);
    return status == OMPRMA_OK ? submit_settle_host(queue, here, reach, to) : status;
}

static omprma_status_t check_sides(struct omprma_queue *queue, const struct side *from,
                                   const struct side *to)
{
    bool exchange = from->device && to->device;
    omprma_status_t status = check_side(queue, from, false);

    if (status == OMPRMA_OK)
        status = check_side(queue, to, true);
    if (status == OMPRMA_OK && exchange)
        status = device_check_alive(to->device);
    if (status == OMPRMA_OK && exchange && queue->device->check)
        status = check_order(queue, to->device);
    return status == OMPRMA_OK || !exchange
               ? status
               : error_set(status, "exchange from device %d to device %d: %s", from->device->number,
                           to->device->number, error_text());
}

/* With the lock, which it gives up. */
static omprma_status_t move_runs(struct omprma_queue *queue, const struct side *from,
                                 const struct side *to)
{
    enum packed_slots slots = PACKED_NOT;
    enum way way = choose(from, to, &slots);
    omprma_status_t status;

    if (way == ONE_BY_ONE) {
        call_end(queue, OMPRMA_OK);
        return move_each(queue, from, to);
    }
    status = call_check_queue(queue); /* the lock may have been given up */
    if (status == OMPRMA_OK)
        status = check_sides(queue, from, to);
    if (status == OMPRMA_OK)
        status = way == IN_MESSAGE ? append_little(queue, from, to)
                 : way == IN_PLACE ? in_place_append(queue, from, to)
                                   : packed_append(queue, from, to, slots);
    return call_end(queue, status);
}

/* ---- public functions ---- */

/* Takes the lock, as call_begin(), and gives the sides their shapes. Of one that is empty they get
 * none, and the lock is given up again. */
static omprma_status_t begin(struct omprma_queue *queue, const omprma_shape_t *shape,
                             struct side *from, struct side *to)
{
    omprma_status_t status = call_begin(queue);
    omprma_shape_t simple;

    if (status != OMPRMA_OK)
        return status;
    if (!shape)
        return call_end(queue, error_set(OMPRMA_ERR_ARGUMENT, "%s: a shape that is NULL",
                                         device_name(queue->device)));
    if (is_empty(shape))
        return call_end(queue, OMPRMA_OK);
    from->shape = shape_of(shape, shape->from_stride);
    to->shape = shape_of(shape, shape->to_stride);
    if (!shape_is_sound(&from->shape) || !shape_is_sound(&to->shape))
        return call_end(queue,
                        error_set(OMPRMA_ERR_ARGUMENT, "%s: a shape that reaches beyond all memory",
                                  device_name(queue->device)));
    simple = simplify(shape);
    from->shape = shape_of(&simple, simple.from_stride);
    to->shape = shape_of(&simple, simple.to_stride);
    return OMPRMA_OK;
}

omprma_status_t omprma_submit_strided(omprma_queue_t *queue, omprma_addr_t to, const void *from,
                                      const omprma_shape_t *shape)
{
    struct side here = {.at = (uint64_t)(uintptr_t)from}, there = {.at = to};
    omprma_status_t status = begin(queue, shape, &here, &there);

    if (status != OMPRMA_OK || here.shape.bytes == 0)
        return status;
    there.device = queue->device;
    return move_runs(queue, &here, &there);
}

omprma_status_t omprma_retrieve_strided(omprma_queue_t *queue, void *to, omprma_addr_t from,
                                        const omprma_shape_t *shape)
{
    struct side there = {.at = from}, here = {.at = (uint64_t)(uintptr_t)to};
    omprma_status_t status = begin(queue, shape, &there, &here);

    if (status != OMPRMA_OK || there.shape.bytes == 0)
        return status;
    there.device = queue->device;
    return move_runs(queue, &there, &here);
}

omprma_status_t omprma_exchange_strided(omprma_queue_t *queue, omprma_addr_t from, int to_device,
                                        omprma_addr_t to, const omprma_shape_t *shape)
{
    struct side source = {.at = from}, target = {.at = to};
    omprma_status_t status = begin(queue, shape, &source, &target);

    if (status != OMPRMA_OK || source.shape.bytes == 0)
        return status;
    source.device = queue->device;
    status = device_find(queue->device->runtime, to_device, &target.device);
    return status == OMPRMA_OK ? move_runs(queue, &source, &target) : call_end(queue, status);
}
