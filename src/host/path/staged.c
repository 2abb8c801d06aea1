/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * staged.c: moves data piece by piece through memory in between (slots.h): the staging memory of
 * devices that cannot be touched, and, where two workers cannot reach each other, memory of the
 * program. Every piece goes from place to place:
 *
 * - submit: program -> staging memory -> device
 * - retrieve: device -> staging memory -> program
 * - exchange: device [-> staging memory] -> [staging memory ->] device, or device [-> staging
 *   memory] -> program [-> staging memory] -> device
 *
 * Each step is a hop. Between a device and its staging memory its worker copies; all other steps
 * are what they would be for a device that can be touched. Some pieces are under way at a time, so
 * that all links are busy.
 *
 * The steps of one piece are appended at once, to queues of our own on the two devices, which hold
 * nothing else; so the rules of order.c keep them in order, and no order between users' queues can
 * hold them up. A queue follows the last step if that is in the other one (follow()). The whole is
 * one operation of the user's queue: a submit or retrieve is ordered like a put or get, an exchange
 * is a task. piece.c moves it on.
 */
#include <stdlib.h>

#include "base/error.h"
#include "host/path/path.h"
#include "host/path/piece.h"
#include "host/queue/append.h"
#include "host/queue/issue.h"
#include "host/queue/order.h"

enum {
    PARTS = 4,          /* pieces under way at a time; */
    PUTS = 2,           /* of those so many on their first link: the rest would only share it */
    PIECES_WISHED = 16, /* so that there is little time in which only one link is busy, */
    PIECE_LEAST = 256 << 10, /* but each costs a round trip; */
    PIECE_EDGE = 32 << 10,   /* of the first and the last one, during which only one link is busy */
    WHOLE_MOST = 128 << 10,  /* less than that is one piece */
    EVEN = 4 << 10,
    PLACES_MOST = 5
};

struct staged {
    struct pieces pieces; /* first; of bytes */
    struct hop_end from, to;
    const struct path_ops *between; /* by what from worker to worker; NULL: through the program */
    uint64_t piece_bytes;
};

static const struct staged *staged_of(const struct pieces *pieces)
{
    return (const struct staged *)pieces;
}

static struct runtime *runtime_of(const struct pieces *pieces)
{
    return pieces->queue->device->runtime;
}

/* ---- the steps of a piece ---- */

/* In a slot of staging memory; NULL: of the program. */
static struct hop_end slot_of(struct device *device, uint64_t slot)
{
    return (struct hop_end){.device = device, .at = slot, .staged = device, .arena = device};
}

static struct hop_end end_at(const struct hop_end *end, uint64_t at)
{
    struct hop_end place = *end;

    place.at += at;
    return place;
}

/* Where the piece stops on its way. */
static int route(const struct staged *staged, const struct piece *piece, struct hop_end *place)
{
    const struct hop_end *from = &staged->from, *to = &staged->to;
    int count = 0, slots = 0;

    place[count++] = end_at(from, piece->first);
    if (from->device && device_is_staged(from->device))
        place[count++] = slot_of(from->device, piece->slot[slots++]);
    if (pieces_are_exchange(&staged->pieces) && !staged->between)
        place[count++] = slot_of(NULL, piece->slot[slots++]);
    if (to->device && device_is_staged(to->device))
        place[count++] = slot_of(to->device, piece->slot[slots++]);
    place[count++] = end_at(to, piece->first);
    return count;
}

/* The queue of the piece on a device, which waits for the last step if that is in the other one. */
static omprma_status_t follow(const struct staged *staged, const struct piece *piece,
                              const struct device *device, struct operation *last,
                              struct omprma_queue **queue)
{
    *queue = piece->queue[device == staged->to.device];
    return last && last->queue != *queue ? queue_append_wait(*queue, last, WAIT_PART) : OMPRMA_OK;
}

/* *last: the step before, and this one then; a reference. */
static omprma_status_t append_step(const struct staged *staged, const struct piece *piece,
                                   const struct hop_end *from, const struct hop_end *to,
                                   struct operation **last)
{
    struct hop hop = {.receiver = piece->queue[1],
                      .from = *from,
                      .to = *to,
                      .bytes = piece->amount,
                      .is_part = true,
                      .stays = true};
    struct operation *step = NULL;
    omprma_status_t status =
        follow(staged, piece, from->device ? from->device : to->device, *last, &hop.queue);

    if (status == OMPRMA_OK)
        status = path_pick(staged->between, &hop)->append(&hop, &step);
    if (status != OMPRMA_OK)
        return status;
    operation_drop(pieces_operations(&staged->pieces), *last);
    *last = operation_hold(step);
    return OMPRMA_OK;
}

static omprma_status_t append_steps(struct pieces *pieces, struct piece *piece)
{
    const struct staged *staged = staged_of(pieces);
    struct hop_end place[PLACES_MOST];
    int places = route(staged, piece, place);
    struct operation *last = NULL;
    omprma_status_t status = OMPRMA_OK;

    for (int i = 0; i + 1 < places && status == OMPRMA_OK; i++) {
        status = append_step(staged, piece, &place[i], &place[i + 1], &last);
        if (i == 0 && last && last->kind == OPERATION_TRANSFER && !last->fills_host)
            piece->put = operation_hold(last);
    }
    operation_drop(pieces_operations(&staged->pieces), last);
    return status;
}

/* ---- pieces ---- */

/* Pieces that are on their first link, which is a put by this side. */
static int pieces_put(const struct pieces *pieces)
{
    int puts = 0;

    for (int i = 0; i < PARTS; i++)
        puts += pieces->piece[i].put && !operation_has_ended(pieces->piece[i].put);
    return puts;
}

/* Nothing is won by further puts now. The first piece, for which the device waits, has the link for
 * itself. */
static bool link_is_free(const struct pieces *pieces)
{
    return pieces_put(pieces) < (pieces->begun > PIECE_EDGE ? PUTS : 1);
}

/* Pieces grow from the first one on, and shrink towards the last. All but that one end at multiples
 * of EVEN. */
static uint64_t next_piece(const struct pieces *pieces)
{
    uint64_t left = pieces->all - pieces->begun, most = staged_of(pieces)->piece_bytes;
    uint64_t piece = pieces->begun < left / 2 ? pieces->begun : left / 2 / EVEN * EVEN;

    if (piece < PIECE_EDGE)
        piece = PIECE_EDGE;
    if (piece > most)
        piece = most;
    /* What is little goes at once, and no small rest stays. */
    if (left <= most && (pieces->all < WHOLE_MOST || left < piece + PIECE_EDGE))
        piece = left;
    return piece < left ? piece : left;
}

/* Something that was lost, or is stuck, may still write to a slot. */
static bool spoils(const struct pieces *pieces, const struct piece *piece, int pool, bool stuck)
{
    const struct device *from = pieces->from, *to = pieces->to;
    const struct slot_pool *slots = pieces->turn.pool[pool];
    bool of_program = slots == &runtime_of(pieces)->memory;

    (void)piece;
    if (from && slots == &from->staging)
        return stuck;
    return stuck || (from && from->lost) || (of_program && to->lost);
}

/* Memory of the program, for the first time, or again: what a lost worker may still write to stays
 * as it is, and others go on with as much elsewhere. */
static void take_memory(struct runtime *runtime)
{
    void *memory = malloc(runtime->limits.memory);

    if (memory)
        slots_renew(&runtime->turns, &runtime->memory, (uint64_t)(uintptr_t)memory,
                    runtime->limits.memory);
}

static void renew(struct pieces *pieces)
{
    struct runtime *runtime = runtime_of(pieces);

    if (runtime->memory.count && runtime->memory.sound == 0)
        take_memory(runtime);
}

static const struct pieces_kind kind = {
    .memory = "memory in between",
    .may_begin = link_is_free,
    .next = next_piece,
    .append = append_steps,
    .spoils = spoils,
    .gave = renew,
};

/* ---- the whole ---- */

static omprma_status_t step(struct operation *operation, bool *done)
{
    struct staged *staged = operation->task.data;
    omprma_status_t status;

    if (operation->kind == OPERATION_TRANSFER) /* a small source may have been copied */
        *(staged->from.device ? &staged->to.at : &staged->from.at) =
            (uint64_t)(uintptr_t)operation->move.transfer.local;
    status = pieces_step(&staged->pieces, operation, done);
    if (operation->kind == OPERATION_TRANSFER) {
        operation->move.transfer.issued = staged->pieces.begun;
        operation->move.transfer.completed = staged->pieces.done;
    }
    return status;
}

static void end(struct operation *operation)
{
    struct staged *staged = operation->task.data;

    pieces_end(&staged->pieces, operation);
    free(staged);
}

static uint64_t piece_of(const struct runtime *runtime, uint64_t bytes)
{
    uint64_t piece = bytes / PIECES_WISHED, most = (uint64_t)runtime->config.piece;

    if (piece < PIECE_LEAST)
        piece = PIECE_LEAST;
    if (piece > SLOT_BYTES)
        piece = SLOT_BYTES;
    return piece < most ? piece : most;
}

static struct staged *create(const struct hop *hop)
{
    struct staged *staged = calloc(1, sizeof(*staged));

    if (!staged) {
        error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for an operation");
        return NULL;
    }
    pieces_init(&staged->pieces, &kind, hop->queue, hop->from.device, hop->to.device, PARTS);
    staged->pieces.all = hop->bytes;
    staged->from = hop->from;
    staged->to = hop->to;
    staged->piece_bytes = piece_of(hop->queue->device->runtime, hop->bytes);
    return staged;
}

/* What the pieces of a submit or retrieve go by, between the program and a slot. */
static enum path path_of_pieces(const struct hop *hop, uint64_t bytes)
{
    struct device *device = hop_there(hop)->device;
    struct hop piece = *hop;

    *(hop_is_submit(hop) ? &piece.to : &piece.from) = slot_of(device, device->staging.base);
    piece.bytes = bytes;
    piece.stays = true;
    return path_pick(NULL, &piece)->path;
}

/* The memory of the program is used as operation->move.transfer says when a piece is begun. */
static omprma_status_t append_transfer(const struct hop *hop, struct operation **operation)
{
    static const struct operation_task submit = {.name = "staged submit", .step = step, .end = end};
    static const struct operation_task retrieve = {
        .name = "staged retrieve", .step = step, .end = end};
    const struct hop_end *there = hop_there(hop);
    struct device *device = there->device;
    struct transfer transfer = hop_transfer(hop, 0);
    struct staged *staged = create(hop);
    omprma_status_t status;

    if (!staged)
        return OMPRMA_ERR_HOST_MEMORY;
    pieces_add_pool(&staged->pieces, &device->staging);
    status = queue_append_staged(hop->queue, &path_staged, &transfer, !there->arena,
                                 hop_is_submit(hop) ? &submit : &retrieve, staged, operation);
    if (status != OMPRMA_OK) {
        free(staged);
        return status;
    }
    (*operation)->move.path = path_of_pieces(hop, staged->piece_bytes);
    return OMPRMA_OK;
}

/* ---- exchanges ---- */

/* Small submits that somebody's kernel may hold up are waited for without slots. */
static bool waits(struct operation *task, const struct hop_end *range)
{
    const struct staged *staged = task->task.data;

    return order_await_write(task, range->device, range->at, staged->pieces.all) ||
           operation_has_ended(task); /* by asking: the device is lost */
}

static omprma_status_t start(struct operation *task, bool *started)
{
    struct staged *staged = task->task.data;
    omprma_status_t status;

    if (waits(task, &staged->from) || waits(task, &staged->to))
        return OMPRMA_OK;
    status = device_check_alive(staged->to.device);
    *started = status == OMPRMA_OK;
    return *started ? OMPRMA_OK : pieces_report(&staged->pieces, status, error_text());
}

static omprma_status_t reach_memory(struct runtime *runtime)
{
    if (!runtime->memory.count)
        take_memory(runtime);
    return runtime->memory.count ? OMPRMA_OK
                                 : error_set(OMPRMA_ERR_HOST_MEMORY,
                                             "no memory for an exchange through the application");
}

static void add_pools(struct staged *staged)
{
    if (device_is_staged(staged->from.device))
        pieces_add_pool(&staged->pieces, &staged->from.device->staging);
    if (!staged->between)
        pieces_add_pool(&staged->pieces, &runtime_of(&staged->pieces)->memory);
    if (device_is_staged(staged->to.device))
        pieces_add_pool(&staged->pieces, &staged->to.device->staging);
}

/* Between slots data is not got: that would be in another queue. */
static omprma_status_t append_exchange(const struct hop *hop, const struct path_ops *by,
                                       struct operation **operation)
{
    static const struct operation_task task = {
        .name = "exchange piece by piece",
        .waits_for = "its pieces, in queues of their own, or room for them",
        .start = start,
        .step = step,
        .end = end,
    };
    struct staged *staged = create(hop);
    omprma_status_t status;

    if (!staged)
        return OMPRMA_ERR_HOST_MEMORY;
    staged->between = hop->between == &path_get ? &path_put : hop->between;
    add_pools(staged);
    status = queue_append_task(hop->queue, &task, staged, operation);
    if (status != OMPRMA_OK) {
        free(staged);
        return status;
    }
    hop_carried(hop, by, *operation);
    queue_use(*operation, hop->to.device);
    return OMPRMA_OK;
}

/* ---- the paths ---- */

static bool takes(const struct hop *hop)
{
    const struct hop_end *from = &hop->from, *to = &hop->to;

    if (hop_is_of_program(hop))
        return !hop_there(hop)->staged && device_is_staged(hop_there(hop)->device);
    return hop->between && hop_is_between_workers(hop) &&
           (device_is_staged(from->device) || device_is_staged(to->device));
}

static omprma_status_t append(const struct hop *hop, struct operation **operation)
{
    return hop_is_of_program(hop) ? append_transfer(hop, operation)
                                  : append_exchange(hop, &path_staged, operation);
}

static bool wants(const struct hop *hop)
{
    return !hop_is_reused(hop);
}

static bool has_read(const struct operation *move)
{
    const struct pieces *pieces = move->task.data;

    return pieces->begun == pieces->all && pieces_put(pieces) == 0;
}

const struct path_ops path_staged = {
    .name = "staged",
    .takes = takes,
    .wants = wants,
    .append = append,
    .has_read = has_read,
};

static omprma_status_t append_through_program(const struct hop *hop, struct operation **operation)
{
    omprma_status_t status = reach_memory(hop->queue->device->runtime);

    return status == OMPRMA_OK ? append_exchange(hop, &path_application, operation) : status;
}

const struct path_ops path_application = {
    .name = "application",
    .path = PATH_APPLICATION,
    .takes = hop_is_between_workers,
    .append = append_through_program,
};
