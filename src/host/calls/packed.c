/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * packed.c: the pieces are parts of an operation of the user's queue, a task, and follow each other
 * as piece.c has it: one is packed here while another is unpacked by the worker.
 *
 * How large the runs are from which on they go one by one was measured: process_vm_writev() of many
 * ranges, MPI_Put of a vector datatype and as many puts take 2 to 7 times as long as one put of as
 * much data, packing through shared memory no longer than that (docs/lab/performance.md).
 */
#include "host/calls/packed.h"

#include <stdlib.h>

#include "base/error.h"
#include "host/calls/exchange.h"
#include "host/calls/submit.h"
#include "host/device/blocks.h"
#include "host/device/devices.h"
#include "host/path/path.h"
#include "host/path/piece.h"
#include "host/queue/append.h"
#include "host/queue/issue.h"

enum {
    RUN_MOST = 4 << 10,     /* longer runs are not moved through a block, */
    PIECES_WISHED = 8,      /* so that little time is spent on one side only, */
    PIECE_LEAST = 32 << 10, /* but each costs a message and its answer; */
    PIECE_MOST = 256 << 10, /* and it stays in caches between its steps */
    PARTS_MOVED = 4,        /* pieces under way at a time, of those that are moved */
    BLOCK_BYTES = PARTS_MOVED * SLOT_BYTES,
    SHARED_BYTES = 32 * PIECE_MOST /* more than a processor's own cache, see slots.h */
};

struct packed {
    struct pieces pieces; /* first; of runs */
    struct side from, to;
    uint64_t piece_runs;
    bool shared; /* slots are memory of this process, too: nothing is moved */
};

static enum data_kind data_of(const struct packed *packed)
{
    return !packed->from.device ? DATA_SUBMIT : packed->to.device ? DATA_EXCHANGE : DATA_RETRIEVE;
}

static const struct packed *packed_of(const struct pieces *pieces)
{
    return (const struct packed *)pieces;
}

static uint64_t bytes_of(const struct packed *packed, const struct piece *piece)
{
    return piece->amount * packed->from.shape.bytes;
}

/* Slots of the source; of the destination if the program is that. */
static struct device *owner_of(const struct side *from, const struct side *to)
{
    return from->device ? from->device : to->device;
}

/* How far into the memory of the slots. */
static uint64_t offset_of(const struct packed *packed, const struct piece *piece)
{
    return piece->slot[0] - packed->pieces.turn.pool[0]->base;
}

/* Where a piece lies packed in this process. */
static void *packed_here(const struct packed *packed, const struct piece *piece)
{
    const struct device *device = owner_of(&packed->from, &packed->to);
    char *here = packed->shared ? device->shared.at : device->packing_here;

    return here + offset_of(packed, piece);
}

/* And on a side. */
static uint64_t packed_there(const struct packed *packed, const struct piece *piece, bool to)
{
    const struct device *owner = owner_of(&packed->from, &packed->to);
    const struct device *device = to ? packed->to.device : packed->from.device;

    return packed->shared ? owner->shared_in[device->number] + offset_of(packed, piece)
                          : piece->slot[to ? packed->pieces.turn.pools - 1 : 0];
}

/* ---- the steps of a piece ---- */

/* Scatters from a slot to a side, or gathers from it. */
static omprma_status_t append_side(const struct packed *packed, const struct piece *piece, bool to,
                                   struct operation **operation)
{
    const struct side *side = to ? &packed->to : &packed->from;
    struct wire_record record = {
        .code = to ? WIRE_SCATTER : WIRE_GATHER,
        .word = {side->at, packed_there(packed, piece, to), piece->first, piece->amount},
        .tail = &side->shape,
        .tail_bytes = sizeof(side->shape),
    };

    return queue_append_command(piece->queue[to], OPERATION_COMMAND, &record, operation);
}

/* Between memory of the program and a slot. */
static omprma_status_t append_move(const struct packed *packed, const struct piece *piece,
                                   bool submit)
{
    struct omprma_queue *queue = piece->queue[submit];
    uint64_t bytes = bytes_of(packed, piece);
    void *here = packed_here(packed, piece);
    struct operation *moved = NULL;
    omprma_status_t status = submit_part(queue, submit, piece->slot[0], here, bytes, true, &moved);

    operation_drop(pieces_operations(&packed->pieces), moved);
    return status;
}

/* From slot to slot, and the destination's queue waits for it. */
static omprma_status_t append_exchange(const struct packed *packed, struct piece *piece)
{
    const struct exchange x = {
        .queue = piece->queue[0],
        .to_device = packed->to.device,
        .from = piece->slot[0],
        .to = piece->slot[1],
        .bytes = bytes_of(packed, piece),
        .from_arena = true,
        .to_arena = true,
    };
    struct operation *arrived = NULL;
    omprma_status_t status = exchange_append(&x, &arrived);

    if (status == OMPRMA_OK)
        status = queue_append_wait(piece->queue[1], arrived, WAIT_PART);
    piece->astray = status != OMPRMA_OK;
    operation_drop(pieces_operations(&packed->pieces), arrived);
    return status;
}

/* What does not move is counted here. `gathered`: NULL for what the program packs. */
static omprma_status_t append_middle(const struct packed *packed, struct piece *piece,
                                     struct operation *gathered)
{
    const struct device *from = packed->from.device, *to = packed->to.device;
    struct observer *observers = packed->pieces.queue->device->runtime->observers;
    const struct carried carried = {packed->pieces.queue,
                                    data_of(packed),
                                    from == to ? PATH_INLINE : PATH_PACKED,
                                    bytes_of(packed, piece),
                                    0,
                                    from && from != to ? to : NULL};

    if (!packed->shared && from != to)
        return from && to ? append_exchange(packed, piece) : append_move(packed, piece, !from);
    if (observers)
        observers_carried(observers, &carried);
    return from && to && from != to ? queue_append_wait(piece->queue[1], gathered, WAIT_PART)
                                    : OMPRMA_OK;
}

static omprma_status_t append_steps(struct pieces *pieces, struct piece *piece)
{
    const struct packed *packed = packed_of(pieces);
    const struct side *from = &packed->from;
    struct operation *gathered = NULL;
    omprma_status_t status = OMPRMA_OK;

    if (from->device)
        status = append_side(packed, piece, false, &gathered);
    else
        shape_pack(&from->shape, (const void *)(uintptr_t)from->at, piece->first, piece->amount,
                   packed_here(packed, piece));
    if (status == OMPRMA_OK)
        status = append_middle(packed, piece, gathered);
    if (status == OMPRMA_OK && packed->to.device)
        status = append_side(packed, piece, true, NULL);
    return status;
}

/* ---- pieces ---- */

static uint64_t next_piece(const struct pieces *pieces)
{
    uint64_t left = pieces->all - pieces->begun, piece = packed_of(pieces)->piece_runs;

    return piece < left ? piece : left;
}

static void unpack(struct pieces *pieces, const struct piece *piece)
{
    const struct packed *packed = packed_of(pieces);
    const struct side *to = &packed->to;

    if (!to->device)
        shape_unpack(&to->shape, (void *)(uintptr_t)to->at, piece->first, piece->amount,
                     packed_here(packed, piece));
}

/* Somebody who was lost, or is stuck, may still write to its slot, to memory here and to a slot of
 * who got data from it. Nobody but the source writes to memory that is shared. */
static bool spoils(const struct pieces *pieces, const struct piece *piece, int pool, bool stuck)
{
    bool from_lost = pieces->from && pieces->from->lost, to_lost = pieces->to && pieces->to->lost;

    return stuck || piece->astray || from_lost ||
           (to_lost && !packed_of(pieces)->shared && pool == pieces->turn.pools - 1);
}

static const struct pieces_kind kind = {
    .memory = "memory for packed runs",
    .next = next_piece,
    .append = append_steps,
    .arrived = unpack,
    .spoils = spoils,
};

/* ---- the whole ---- */

static omprma_status_t start(struct operation *task, bool *started)
{
    const struct packed *packed = task->task.data;
    const struct device *to = packed->to.device;
    omprma_status_t status = to ? device_check_alive(to) : OMPRMA_OK;

    *started = status == OMPRMA_OK;
    return *started ? OMPRMA_OK : pieces_report(&packed->pieces, status, error_text());
}

static omprma_status_t step(struct operation *task, bool *done)
{
    return pieces_step(task->task.data, task, done);
}

static void end(struct operation *task)
{
    pieces_end(task->task.data, task);
    free(task->task.data);
}

static uint64_t runs_of_piece(uint64_t bytes, uint64_t runs)
{
    uint64_t piece = bytes * runs / PIECES_WISHED;

    if (piece < PIECE_LEAST)
        piece = PIECE_LEAST;
    if (piece > PIECE_MOST)
        piece = PIECE_MOST;
    piece /= bytes; /* in runs, none of which is longer */
    return piece > 1 ? piece : 1;
}

static struct packed *create(struct omprma_queue *queue, const struct side *from,
                             const struct side *to, bool shared)
{
    struct packed *packed = calloc(1, sizeof(*packed));
    struct device *owner = owner_of(from, to);

    if (!packed) {
        error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for an operation");
        return NULL;
    }
    packed->from = *from;
    packed->to = *to;
    packed->shared = shared;
    pieces_init(&packed->pieces, &kind, queue, from->device, to->device,
                shared ? PIECES_MOST : PARTS_MOVED);
    packed->pieces.all = shape_runs(&from->shape);
    packed->piece_runs = runs_of_piece(from->shape.bytes, packed->pieces.all);
    pieces_add_pool(&packed->pieces, shared ? &owner->sharing : &owner->packing);
    if (!shared && to->device && to->device != owner)
        pieces_add_pool(&packed->pieces, &to->device->packing);
    return packed;
}

void packed_use(struct operation *task, const struct side *from, const struct side *to)
{
    if (!to->device) {
        task->host_at = to->at;
        task->host_bytes = shape_reach(&to->shape);
        task->fills_host = true;
        host_ranges_add(&task->queue->hosts, task);
    } else if (from->device && to->device != from->device) {
        queue_use(task, to->device);
    }
}

/* No hop goes by it: the pieces take paths of their own. */
static const struct path_ops path_packed = {.name = "packed"};

omprma_status_t packed_append(struct omprma_queue *queue, const struct side *from,
                              const struct side *to, enum packed_slots slots)
{
    static const struct operation_task task = {
        .name = "runs piece by piece",
        .waits_for = "its pieces, in queues of their own, or room for them",
        .start = start,
        .step = step,
        .end = end,
    };
    struct packed *packed = create(queue, from, to, slots == PACKED_SHARED);
    struct operation *operation;
    omprma_status_t status;

    if (!packed)
        return OMPRMA_ERR_HOST_MEMORY;
    status = queue_append_task(queue, &task, packed, &operation);
    if (status != OMPRMA_OK) {
        free(packed);
        return status;
    }
    operation->by = &path_packed;
    operation->data = data_of(packed);
    packed_use(operation, from, to);
    queue_advance(queue);
    return OMPRMA_OK;
}

/* ---- slots: made at the first use of a device, and kept. The lock is given up meanwhile ---- */

static bool make_shared(struct device *device)
{
    struct shm_memory memory;

    if (device->shared.at)
        return true;
    if (!device->shared_in)
        device->shared_in = calloc((size_t)device->runtime->device_count, sizeof(uint64_t));
    if (!device->shared_in ||
        shm_memory_make(&memory, "omprma-packed", SHARED_BYTES, SHM_PAGES_LATER,
                        &device->shared_address) != OMPRMA_OK)
        return false;
    device->shared = memory;
    slots_open(&device->sharing, (uint64_t)(uintptr_t)memory.at, SHARED_BYTES, PIECE_MOST);
    return true;
}

/* Has the worker of `user` open what the device shares. Another thread that asks meanwhile does
 * without. */
static bool open_shared(struct device *device, struct device *user)
{
    const struct wire_record record = {
        .code = WIRE_SHARE,
        .word = {SHARED_BYTES},
        .tail = &device->shared_address,
        .tail_bytes = sizeof(device->shared_address),
    };
    uint64_t *in = &device->shared_in[user->number], at;

    if (*in == 0) {
        *in = DEVICE_SHARES_NOT;
        if (device_command(user, &record, &at, NULL, 0) == OMPRMA_OK)
            *in = at;
    }
    return *in != DEVICE_SHARES_NOT;
}

/* Not where the user has said how data moves. */
static bool can_share(const struct side *from, const struct side *to)
{
    struct device *owner = owner_of(from, to);

    return owner->runtime->config.data == DATA_AUTO &&
           (!from->device || from->device->peer->shares) &&
           (!to->device || to->device->peer->shares) && make_shared(owner) &&
           (!from->device || open_shared(owner, from->device)) &&
           (!to->device || open_shared(owner, to->device)) && owner->sharing.sound > 0;
}

/* Memory for packed runs, there and here. Without the lock. */
static bool make_block(struct device *device, omprma_addr_t *there, char **here)
{
    *here = malloc(BLOCK_BYTES);
    if (*here && blocks_alloc(device, BLOCK_BYTES, fit_plain(BLOCK_BYTES), there) == OMPRMA_OK)
        return true;
    free(*here);
    return false;
}

static bool has_block(struct device *device)
{
    omprma_addr_t there;
    char *here;
    bool made;

    if (device->packing.count > 0)
        return device->packing.sound > 0;
    runtime_unlock(device->runtime);
    made = make_block(device, &there, &here);
    runtime_lock(device->runtime);
    if (made && device->packing.count == 0) {
        slots_open(&device->packing, there, BLOCK_BYTES, SLOT_BYTES);
        device->packing_here = here;
    } else if (made) { /* another thread was quicker */
        runtime_unlock(device->runtime);
        free(here);
        blocks_release(device, there);
        runtime_lock(device->runtime);
    }
    return device->packing.count > 0;
}

enum packed_slots packed_slots_for(const struct side *from, const struct side *to)
{
    uint64_t bytes = from->shape.bytes;

    if (bytes <= PIECE_MOST && can_share(from, to))
        return PACKED_SHARED;
    return bytes < RUN_MOST && (!from->device || has_block(from->device)) &&
                   (!to->device || has_block(to->device))
               ? PACKED_BLOCK
               : PACKED_NOT;
}
