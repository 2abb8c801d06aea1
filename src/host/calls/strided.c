/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * strided.c: runs of memory as one operation. A little that is submitted travels in the message
 * that scatters it. Everything else goes piece by piece, so many runs at a time, through slots of a
 * block of device memory: a piece that is submitted is packed here, moved into a slot as any data
 * is, and scattered from there; one that is retrieved is gathered into a slot, moved and unpacked
 * here; one between devices is gathered, exchanged and scattered. Each piece has queues of its own
 * on the devices, so one is moved while another is packed or unpacked by the worker.
 *
 * Runs that are large go one by one, and so do all where packing is not possible: the device cannot
 * be touched, or has no room for the block.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "host/calls/call.h"
#include "host/calls/exchange.h"
#include "host/calls/submit.h"
#include "host/check/check.h"
#include "host/device/blocks.h"
#include "host/path/path.h"
#include "host/path/piece.h"
#include "host/queue/append.h"
#include "host/queue/issue.h"

enum {
    PARTS = 4,              /* pieces under way at a time */
    RUNS_LEAST = 3,         /* fewer go one by one, */
    RUN_MOST = 4 << 10,     /* and so do such that are no smaller: measured */
    PIECES_WISHED = 8,      /* so that little time is spent on one side only, */
    PIECE_LEAST = 32 << 10, /* but each costs a message and its answer; */
    PIECE_MOST = 256 << 10, /* and it stays in caches between its steps */
    BLOCK_BYTES = PARTS * SLOT_BYTES
};

/* Where runs lie. */
struct side {
    struct device *device; /* NULL: memory of the program */
    uint64_t at;           /* of the first run */
    struct shape shape;
};

/* A piece that is under way, or room for one. */
struct part {
    bool busy;
    bool astray; /* its data may still arrive when both queues are done with it */
    uint64_t first, runs;
    uint64_t slot[2];              /* on the source and the destination */
    struct omprma_queue *queue[2]; /* ours, on both; kept for the next piece */
};

struct strided {
    struct slot_turn turn; /* first */
    struct omprma_queue *queue;
    struct side from, to;
    uint64_t runs, piece_runs;
    uint64_t begun, done;
    bool failed; /* no further pieces begin */
    struct part part[PARTS];
};

static struct operation_pool *pool_of(const struct strided *strided)
{
    return &strided->queue->device->runtime->operations;
}

static bool is_exchange(const struct strided *strided)
{
    return strided->from.device && strided->to.device;
}

static uint64_t run_bytes(const struct strided *strided)
{
    return strided->from.shape.bytes;
}

/* Where a piece lies packed in this process. */
static void *packed_here(const struct strided *strided, const struct part *part)
{
    const struct device *device = strided->from.device ? strided->from.device : strided->to.device;

    return device->packing_here + (part->slot[0] - device->packing.base);
}

/* ---- the steps of a piece ---- */

/* Scatters from `packed` to the side, or gathers from it. */
static omprma_status_t append_runs(struct omprma_queue *queue, const struct side *side,
                                   enum wire_code code, uint64_t packed, uint64_t first,
                                   uint64_t runs)
{
    struct wire_record record = {
        .code = code,
        .word = {side->at, packed, first, runs},
        .tail = &side->shape,
        .tail_bytes = sizeof(side->shape),
    };

    return queue_append_command(queue, OPERATION_COMMAND, &record, NULL);
}

static omprma_status_t append_side(const struct strided *strided, const struct part *part, bool to)
{
    return append_runs(part->queue[to], to ? &strided->to : &strided->from,
                       to ? WIRE_SCATTER : WIRE_GATHER, part->slot[to], part->first, part->runs);
}

/* Between memory of the program and a slot. A little comes back with the answer. */
static omprma_status_t append_move(const struct strided *strided, const struct part *part,
                                   bool submit)
{
    struct omprma_queue *queue = part->queue[submit];
    uint64_t slot = part->slot[submit], bytes = part->runs * run_bytes(strided);
    void *here = packed_here(strided, part);
    struct hop hop = hop_of_program(queue, submit, slot, here, bytes, true);
    struct operation *moved = NULL;
    omprma_status_t status;

    if (!submit && bytes <= queue->device->paths.inline_retrieve_fused)
        return path_inline.append(&hop, &moved);
    status = submit_part(queue, submit, slot, here, bytes, true, &moved);
    operation_drop(pool_of(strided), moved);
    return status;
}

/* From slot to slot, and the destination's queue waits for it. */
static omprma_status_t append_exchange(const struct strided *strided, struct part *part)
{
    const struct exchange x = {
        .queue = part->queue[0],
        .to_device = strided->to.device,
        .from = part->slot[0],
        .to = part->slot[1],
        .bytes = part->runs * run_bytes(strided),
        .from_arena = true,
        .to_arena = true,
    };
    struct operation *arrived = NULL;
    omprma_status_t status = exchange_append(&x, &arrived);

    if (status == OMPRMA_OK)
        status = queue_append_wait(part->queue[1], arrived, WAIT_PART);
    part->astray = status != OMPRMA_OK;
    operation_drop(pool_of(strided), arrived);
    return status;
}

static omprma_status_t append_steps(const struct strided *strided, struct part *part)
{
    bool same = strided->from.device == strided->to.device;
    omprma_status_t status = OMPRMA_OK;

    if (strided->from.device)
        status = append_side(strided, part, false);
    else
        shape_pack(&strided->from.shape, (const void *)(uintptr_t)strided->from.at, part->first,
                   part->runs, packed_here(strided, part));
    if (status == OMPRMA_OK && !is_exchange(strided))
        status = append_move(strided, part, !strided->from.device);
    else if (status == OMPRMA_OK && !same)
        status = append_exchange(strided, part);
    if (status == OMPRMA_OK && strided->to.device)
        status = append_side(strided, part, true);
    return status;
}

/* ---- pieces ---- */

/* Begins the next piece if there are slots for it. */
static omprma_status_t begin_part(struct strided *strided, struct part *part)
{
    uint64_t left = strided->runs - strided->begun;
    struct slot_turns *turns = &strided->queue->device->runtime->turns;
    omprma_status_t status = piece_open(part->queue, strided->from.device, strided->to.device);

    if (status == OMPRMA_OK && !slots_exist(&strided->turn))
        status = error_set(OMPRMA_ERR_DEVICE_MEMORY,
                           "workers that were lost may still use all memory for packed runs");
    if (status != OMPRMA_OK || !slots_take(turns, &strided->turn))
        return status;
    part->slot[0] = strided->turn.slot[0];
    part->slot[1] = strided->turn.slot[strided->turn.pools - 1];
    part->busy = true;
    part->first = strided->begun;
    part->runs = left < strided->piece_runs ? left : strided->piece_runs;
    strided->begun += part->runs;
    status = append_steps(strided, part);
    piece_push(part->queue, status);
    return status;
}

/* Somebody who was lost, or is stuck, may still write to its slot, to memory here and to a slot of
 * who got data from it. */
static void give_slots(const struct strided *strided, struct part *part, bool stuck)
{
    struct slot_turns *turns = &strided->queue->device->runtime->turns;
    const struct slot_turn *turn = &strided->turn;
    const struct device *from = strided->from.device, *to = strided->to.device;
    bool from_lost = from && from->lost, to_lost = to && to->lost;
    bool spoilt = stuck || part->astray || from_lost;

    part->busy = part->astray = false;
    slots_give(turns, turn->pool[0], part->slot[0], spoilt || (to_lost && turn->pools == 1));
    if (turn->pools > 1)
        slots_give(turns, turn->pool[1], part->slot[1], spoilt || to_lost);
}

/* Looks at a piece that is under way: whether it has ended, and how. */
static omprma_status_t end_part(struct strided *strided, struct part *part)
{
    const struct failure *failure;

    if (!piece_has_ended(part->queue))
        return OMPRMA_OK;
    failure = piece_failure(part->queue);
    if (!failure && !strided->to.device)
        shape_unpack(&strided->to.shape, (void *)(uintptr_t)strided->to.at, part->first, part->runs,
                     packed_here(strided, part));
    give_slots(strided, part, failure && failure->status == OMPRMA_ERR_STUCK);
    if (failure) {
        error_set(failure->status, "%s", failure->text);
        return error_note_code(failure->status, failure->code);
    }
    strided->done += part->runs;
    return OMPRMA_OK;
}

static omprma_status_t move_on(struct strided *strided, struct part *part, bool may_begin)
{
    omprma_status_t status = part->busy ? end_part(strided, part) : OMPRMA_OK;

    if (status != OMPRMA_OK || part->busy || strided->failed || strided->begun == strided->runs ||
        !may_begin)
        return status;
    return begin_part(strided, part);
}

/* ---- the whole ---- */

static omprma_status_t start(struct operation *task, bool *started)
{
    const struct strided *strided = task->task.data;
    const struct device *to = strided->to.device;

    *started = true;
    return to ? device_check_alive(to) : OMPRMA_OK;
}

/* The user's queue fails once; the pieces that are under way end. One begins at a time: the worker
 * is told of it before the next is packed. */
static omprma_status_t step(struct operation *task, bool *done)
{
    struct strided *strided = task->task.data;
    uint64_t begun = strided->begun;
    omprma_status_t status = OMPRMA_OK;
    bool busy = false;

    for (int i = 0; i < PARTS; i++) {
        strided->failed |= task->failure != NULL || status != OMPRMA_OK;
        if (status == OMPRMA_OK)
            status = move_on(strided, &strided->part[i], strided->begun == begun);
        busy |= strided->part[i].busy;
    }
    strided->failed |= status != OMPRMA_OK;
    *done = !busy && (strided->failed || strided->begun == strided->runs);
    return status;
}

/* Of a queue that was lost, or that was stuck, pieces may be under way for ever. */
static void end(struct operation *task)
{
    struct strided *strided = task->task.data;
    bool stuck = task->failure && task->failure->status == OMPRMA_ERR_STUCK;

    slots_leave(&strided->queue->device->runtime->turns, &strided->turn);
    for (int i = 0; i < PARTS; i++) {
        struct part *part = &strided->part[i];

        if (part->busy)
            give_slots(strided, part, stuck);
        piece_let_go(part->queue);
    }
    free(strided);
}

static void granted(struct slot_turn *turn)
{
    queue_attend(((struct strided *)turn)->queue);
}

static uint64_t runs_of_piece(uint64_t bytes, uint64_t runs)
{
    uint64_t piece = bytes * runs / PIECES_WISHED;

    if (piece < PIECE_LEAST)
        piece = PIECE_LEAST;
    if (piece > PIECE_MOST)
        piece = PIECE_MOST;
    piece = piece < bytes ? 1 : piece / bytes; /* of runs */
    return piece < runs ? piece : runs;
}

static struct strided *create(struct omprma_queue *queue, const struct side *from,
                              const struct side *to)
{
    struct strided *strided = calloc(1, sizeof(*strided));
    struct device *first = from->device ? from->device : to->device;

    if (!strided) {
        error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for an operation");
        return NULL;
    }
    strided->queue = queue;
    strided->from = *from;
    strided->to = *to;
    strided->runs = shape_runs(&from->shape);
    strided->piece_runs = runs_of_piece(from->shape.bytes, strided->runs);
    strided->turn.granted = granted;
    strided->turn.pool[strided->turn.pools++] = &first->packing;
    if (to->device && to->device != first)
        strided->turn.pool[strided->turn.pools++] = &to->device->packing;
    return strided;
}

/* No hop goes by it: the pieces take paths of their own. */
static const struct path_ops path_packed = {.name = "packed"};

static omprma_status_t append_pieces(struct omprma_queue *queue, const struct side *from,
                                     const struct side *to)
{
    static const struct operation_task task = {
        .name = "runs piece by piece",
        .waits_for = "its pieces, in queues of their own, or room for them",
        .start = start,
        .step = step,
        .end = end,
    };
    struct strided *strided = create(queue, from, to);
    struct operation *operation;
    omprma_status_t status;

    if (!strided)
        return OMPRMA_ERR_HOST_MEMORY;
    status = queue_append_task(queue, &task, strided, &operation);
    if (status != OMPRMA_OK) {
        free(strided);
        return status;
    }
    operation->by = &path_packed;
    operation->data = !from->device ? DATA_SUBMIT : to->device ? DATA_EXCHANGE : DATA_RETRIEVE;
    if (!to->device) {
        operation->host_at = to->at;
        operation->host_bytes = shape_reach(&to->shape);
        operation->fills_host = true;
        host_ranges_add(&queue->hosts, operation);
    } else if (from->device && to->device != from->device) {
        operation->with = to->device;
    }
    queue_advance(queue);
    return OMPRMA_OK;
}

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

/* Memory for packed runs, there and here. Without the lock. */
static bool make_pool(struct device *device, omprma_addr_t *there, char **here)
{
    *here = malloc(BLOCK_BYTES);
    if (*here && blocks_alloc(device, BLOCK_BYTES, fit_plain(BLOCK_BYTES), there) == OMPRMA_OK)
        return true;
    free(*here);
    return false;
}

/* Made at the first use of the device, and kept. Gives up the lock meanwhile. */
static bool has_pool(struct device *device)
{
    omprma_addr_t there;
    char *here;
    bool made;

    if (device->packing.count > 0)
        return device->packing.sound > 0;
    runtime_unlock(device->runtime);
    made = make_pool(device, &there, &here);
    runtime_lock(device->runtime);
    if (made && device->packing.count == 0) {
        slots_open(&device->packing, there, BLOCK_BYTES);
        device->packing_here = here;
    } else if (made) { /* another thread was quicker */
        runtime_unlock(device->runtime);
        free(here);
        blocks_release(device, there);
        runtime_lock(device->runtime);
    }
    return device->packing.count > 0;
}

static bool can_pack(const struct side *from, const struct side *to)
{
    if ((from->device && device_is_staged(from->device)) ||
        (to->device && device_is_staged(to->device)))
        return false;
    return is_little(from, to) ||
           ((!from->device || has_pool(from->device)) && (!to->device || has_pool(to->device)));
}

static bool goes_packed(const struct side *from, const struct side *to)
{
    return from->shape.bytes < RUN_MOST && shape_runs(&from->shape) >= RUNS_LEAST &&
           can_pack(from, to);
}

static omprma_status_t check_side(struct omprma_queue *queue, const struct side *side, bool to)
{
    static const char *const names[] = {"retrieve", "submit"};
    uint64_t reach = shape_reach(&side->shape);
    bool arena;

    if (side->device)
        return call_check_range(side->device, names[to], side->at, reach, &arena);
    if (side->at == 0)
        return error_set(OMPRMA_ERR_ARGUMENT, "%s: %s of runs %s NULL", device_name(queue->device),
                         names[!to], to ? "to" : "from");
    return submit_settle_host(queue, (const void *)(uintptr_t)side->at, reach, to);
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
    omprma_status_t status;

    if (!goes_packed(from, to)) {
        call_end(queue, OMPRMA_OK);
        return move_each(queue, from, to);
    }
    status = call_check_queue(queue); /* the lock may have been given up */
    if (status == OMPRMA_OK)
        status = check_sides(queue, from, to);
    if (status == OMPRMA_OK)
        status =
            is_little(from, to) ? append_little(queue, from, to) : append_pieces(queue, from, to);
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
