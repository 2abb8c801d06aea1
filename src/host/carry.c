/*
 * carry.c: a list of hops for each piece, one behind the other, in queues of ours on the devices. A
 * queue follows the last step if that is in the other one (follow()). The operation of the user's
 * queue looks at its pieces, gives the slots of those that have ended back and begins others
 * (step()) until all have ended.
 */
#include "host/carry.h"

#include <stdlib.h>

#include "base/error.h"
#include "host/append.h"
#include "host/helper.h"
#include "host/issue.h"
#include "host/order.h"
#include "host/path/path.h"

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

/* A piece that is under way, or room for one. */
struct part {
    bool busy;
    uint64_t at, bytes;
    uint64_t slot[SLOT_POOLS_MOST];
    struct omprma_queue *queue[2]; /* ours, on the source and the destination; kept for the next */
    struct operation *put;         /* reference: its first step, if that is a put by this side */
};

struct carry {
    struct slot_turn turn; /* first */
    struct omprma_queue *queue;
    struct hop_end from, to;
    enum config_exchange way; /* of an exchange */
    uint64_t bytes, piece_bytes;
    uint64_t begun, done;
    bool failed; /* no further pieces begin */
    struct part part[PARTS];
};

static struct runtime *runtime_of(const struct carry *carry)
{
    return carry->queue->device->runtime;
}

static struct operation_pool *pool_of(const struct carry *carry)
{
    return &runtime_of(carry)->operations;
}

static bool is_exchange(const struct carry *carry)
{
    return carry->from.device && carry->to.device;
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
static int route(const struct carry *carry, const struct part *part, struct hop_end *place)
{
    const struct hop_end *from = &carry->from, *to = &carry->to;
    int count = 0, slots = 0;

    place[count++] = end_at(from, part->at);
    if (from->device && device_is_staged(from->device))
        place[count++] = slot_of(from->device, part->slot[slots++]);
    if (is_exchange(carry) && carry->way == EXCHANGE_APPLICATION)
        place[count++] = slot_of(NULL, part->slot[slots++]);
    if (to->device && device_is_staged(to->device))
        place[count++] = slot_of(to->device, part->slot[slots++]);
    place[count++] = end_at(to, part->at);
    return count;
}

/* The queue of the piece on a device, which waits for the last step if that is in the other one. */
static omprma_status_t follow(const struct carry *carry, const struct part *part,
                              const struct device *device, struct operation *last,
                              struct omprma_queue **queue)
{
    *queue = part->queue[device == carry->to.device];
    return last && last->queue != *queue ? queue_append_wait(*queue, last, WAIT_PART) : OMPRMA_OK;
}

static const struct path_ops *path_of(const struct carry *carry, const struct hop *hop)
{
    if (!hop_is_of_program(hop))
        return path_pick(carry->way == EXCHANGE_SEND ? &path_send : &path_put, hop);
    return path_pick(paths_bulk(&hop_there(hop)->device->paths, hop_is_submit(hop), hop->bytes) ==
                             PATH_RMA
                         ? &path_put_get
                         : &path_two_sided,
                     hop);
}

/* *last: the step before, and this one then; a reference. */
static omprma_status_t append_step(const struct carry *carry, const struct part *part,
                                   const struct hop_end *from, const struct hop_end *to,
                                   struct operation **last)
{
    struct hop hop = {.receiver = part->queue[1],
                      .from = *from,
                      .to = *to,
                      .bytes = part->bytes,
                      .is_part = true};
    struct operation *step = NULL;
    omprma_status_t status =
        follow(carry, part, from->device ? from->device : to->device, *last, &hop.queue);

    if (status == OMPRMA_OK)
        status = path_of(carry, &hop)->append(&hop, &step);
    if (status != OMPRMA_OK)
        return status;
    operation_drop(pool_of(carry), *last);
    *last = operation_hold(step);
    return OMPRMA_OK;
}

static omprma_status_t append_steps(const struct carry *carry, struct part *part)
{
    struct hop_end place[PLACES_MOST];
    int places = route(carry, part, place);
    struct operation *last = NULL;
    omprma_status_t status = OMPRMA_OK;

    for (int i = 0; i + 1 < places && status == OMPRMA_OK; i++) {
        status = append_step(carry, part, &place[i], &place[i + 1], &last);
        if (i == 0 && last && last->kind == OPERATION_TRANSFER && !last->fills_host)
            part->put = operation_hold(last);
    }
    operation_drop(pool_of(carry), last);
    return status;
}

/* ---- pieces ---- */

/* With the devices that it names, for the queue's user. */
static omprma_status_t report(const struct carry *carry, omprma_status_t status, const char *text)
{
    return is_exchange(carry)
               ? error_set(status, "exchange from device %d to device %d: %s",
                           carry->from.device->number, carry->to.device->number, text)
               : error_set(status, "%s", text);
}

static omprma_status_t take_queues(const struct carry *carry, struct part *part)
{
    struct device *const devices[] = {carry->from.device, carry->to.device};
    omprma_status_t status = OMPRMA_OK;

    for (int i = 0; i < 2 && status == OMPRMA_OK; i++)
        if (devices[i] && !part->queue[i])
            status = queue_take(devices[i], &part->queue[i]);
    return status;
}

static void push_steps(const struct part *part, omprma_status_t status)
{
    for (int i = 0; i < 2; i++) {
        if (!part->queue[i])
            continue;
        if (status != OMPRMA_OK)
            queue_fail(part->queue[i], NULL, status, error_text());
        queue_want(part->queue[i], part->queue[i]->appended);
        queue_flush(part->queue[i]);
    }
}

/* Nothing is won by further puts now. The first piece, for which the device waits, has the link for
 * itself. */
static bool link_is_busy(const struct carry *carry)
{
    int puts = 0;

    for (int i = 0; i < PARTS; i++)
        puts += carry->part[i].put && !operation_has_ended(carry->part[i].put);
    return puts >= (carry->begun > PIECE_EDGE ? PUTS : 1);
}

/* Pieces grow from the first one on, and shrink towards the last. All but that one end at multiples
 * of EVEN. */
static uint64_t next_piece(const struct carry *carry)
{
    uint64_t left = carry->bytes - carry->begun;
    uint64_t piece = carry->begun < left / 2 ? carry->begun : left / 2 / EVEN * EVEN;

    if (piece < PIECE_EDGE)
        piece = PIECE_EDGE;
    if (piece > carry->piece_bytes)
        piece = carry->piece_bytes;
    /* What is little goes at once, and no small rest stays. */
    if (left <= carry->piece_bytes && (carry->bytes < WHOLE_MOST || left < piece + PIECE_EDGE))
        piece = left;
    return piece < left ? piece : left;
}

/* Begins the next piece if there are slots for it. */
static omprma_status_t begin_part(struct carry *carry, struct part *part)
{
    omprma_status_t status = take_queues(carry, part);

    if (status == OMPRMA_OK && !slots_exist(&carry->turn))
        status = error_set(OMPRMA_ERR_DEVICE_MEMORY,
                           "workers that were lost may still use all memory in between");
    if (status != OMPRMA_OK || !slots_take(&runtime_of(carry)->turns, &carry->turn))
        return status;
    for (int i = 0; i < carry->turn.pools; i++)
        part->slot[i] = carry->turn.slot[i];
    part->busy = true;
    part->at = carry->begun;
    part->bytes = next_piece(carry);
    carry->begun += part->bytes;
    status = append_steps(carry, part);
    push_steps(part, status);
    return status;
}

/* Something that was lost, or is stuck, may still write to a slot of the piece. */
static bool is_spoilt(const struct carry *carry, const struct slot_pool *pool, bool stuck)
{
    const struct device *from = carry->from.device, *to = carry->to.device;
    bool of_program = pool == &runtime_of(carry)->memory;

    if (from && pool == &from->staging)
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

static void give_slots(struct carry *carry, struct part *part, bool stuck)
{
    struct runtime *runtime = runtime_of(carry);
    struct slot_turn *turn = &carry->turn;

    part->busy = false;
    operation_drop(pool_of(carry), part->put);
    part->put = NULL;
    for (int i = 0; i < turn->pools; i++)
        slots_give(&runtime->turns, turn->pool[i], part->slot[i],
                   is_spoilt(carry, turn->pool[i], stuck));
    if (runtime->memory.count && runtime->memory.sound == 0)
        take_memory(runtime);
}

/* The queue may hold something that nobody has asked about. */
static bool has_ended(struct omprma_queue *queue)
{
    if (!queue || queue_is_idle(queue))
        return true;
    queue_want(queue, queue->hazard);
    return false;
}

/* Looks at a piece that is under way: whether it has ended, and how. */
static omprma_status_t end_part(struct carry *carry, struct part *part)
{
    const struct failure *failure = NULL;

    if (!has_ended(part->queue[0]) || !has_ended(part->queue[1]))
        return OMPRMA_OK;
    for (int i = 0; i < 2 && !failure; i++)
        failure = part->queue[i] ? part->queue[i]->failed : NULL;
    give_slots(carry, part, failure && failure->status == OMPRMA_ERR_STUCK);
    if (failure)
        return error_note_code(report(carry, failure->status, failure->text), failure->code);
    carry->done += part->bytes;
    return OMPRMA_OK;
}

static omprma_status_t move_on(struct carry *carry, struct part *part, bool may_begin)
{
    omprma_status_t status = part->busy ? end_part(carry, part) : OMPRMA_OK;

    if (status != OMPRMA_OK || part->busy || carry->failed || carry->begun == carry->bytes ||
        !may_begin || link_is_busy(carry))
        return status;
    status = begin_part(carry, part);
    return status == OMPRMA_OK ? OMPRMA_OK : report(carry, status, error_text());
}

/* ---- the whole ---- */

/* The user's queue fails once; the pieces that are under way end. */
static omprma_status_t step(struct operation *operation, bool *done)
{
    struct carry *carry = operation->task.data;
    omprma_status_t status = OMPRMA_OK;
    uint64_t begun = carry->begun; /* one piece at a time: a put that ends at once, as within a
                                    * host, is first handed on to the device */
    bool busy = false;

    if (operation->kind == OPERATION_TRANSFER) /* a small source may have been copied */
        *(carry->from.device ? &carry->to.at : &carry->from.at) =
            (uint64_t)(uintptr_t)operation->move.transfer.local;
    for (int i = 0; i < PARTS; i++) {
        carry->failed |= operation->failure != NULL || status != OMPRMA_OK;
        if (status == OMPRMA_OK)
            status = move_on(carry, &carry->part[i], carry->begun == begun);
        busy |= carry->part[i].busy;
    }
    carry->failed |= status != OMPRMA_OK;
    if (operation->kind == OPERATION_TRANSFER) {
        operation->move.transfer.issued = carry->begun;
        operation->move.transfer.completed = carry->done;
    }
    *done = !busy && (carry->failed || carry->begun == carry->bytes);
    return status;
}

/* Of a queue that was lost, or that was stuck, pieces may be under way for ever. */
static void end(struct operation *operation)
{
    struct carry *carry = operation->task.data;
    bool stuck = operation->failure && operation->failure->status == OMPRMA_ERR_STUCK;

    slots_leave(&runtime_of(carry)->turns, &carry->turn);
    for (int i = 0; i < PARTS; i++) {
        struct part *part = &carry->part[i];

        if (part->busy)
            give_slots(carry, part, stuck);
        for (int k = 0; k < 2; k++)
            if (part->queue[k])
                helper_let_go(part->queue[k], OMPRMA_OK);
    }
    free(carry);
}

static void granted(struct slot_turn *turn)
{
    queue_attend(((struct carry *)turn)->queue);
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

static struct carry *create(const struct hop *hop)
{
    struct carry *carry = calloc(1, sizeof(*carry));

    if (!carry) {
        error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for an operation");
        return NULL;
    }
    carry->queue = hop->queue;
    carry->from = hop->from;
    carry->to = hop->to;
    carry->bytes = hop->bytes;
    carry->piece_bytes = piece_of(hop->queue->device->runtime, hop->bytes);
    carry->turn.granted = granted;
    return carry;
}

static void add_pool(struct carry *carry, struct slot_pool *pool)
{
    carry->turn.pool[carry->turn.pools++] = pool;
}

static bool takes(const struct hop *hop)
{
    return hop_is_of_program(hop) && !hop_there(hop)->staged &&
           device_is_staged(hop_there(hop)->device);
}

/* The memory of the program is used as operation->move.transfer says when a piece is begun. */
static omprma_status_t append(const struct hop *hop, struct operation **operation)
{
    static const struct operation_task submit = {.name = "staged submit", .step = step, .end = end};
    static const struct operation_task retrieve = {
        .name = "staged retrieve", .step = step, .end = end};
    const struct hop_end *there = hop_there(hop);
    struct device *device = there->device;
    struct transfer transfer = hop_transfer(hop, 0);
    struct carry *carry = create(hop);
    omprma_status_t status;

    if (!carry)
        return OMPRMA_ERR_HOST_MEMORY;
    add_pool(carry, &device->staging);
    status = queue_append_staged(hop->queue, &path_staged, &transfer, !there->arena,
                                 hop_is_submit(hop) ? &submit : &retrieve, carry, operation);
    if (status != OMPRMA_OK) {
        free(carry);
        return status;
    }
    (*operation)->move.path = paths_bulk(&device->paths, hop_is_submit(hop), carry->piece_bytes);
    return OMPRMA_OK;
}

const struct path_ops path_staged = {.name = "staged", .takes = takes, .append = append};

/* ---- exchanges ---- */

/* Small submits that somebody's kernel may hold up are waited for without slots. */
static bool waits_for_write(struct operation *task, const struct hop_end *range, uint64_t bytes)
{
    struct device *device = range->device;
    struct operation *write =
        device->lost ? NULL : order_next_write(device, range->at, bytes, NULL);

    if (!write)
        return false;
    order_await(task, write);
    queue_want(write->queue, write->number);
    return true;
}

static omprma_status_t start(struct operation *task, bool *started)
{
    struct carry *carry = task->task.data;
    omprma_status_t status;

    if (waits_for_write(task, &carry->from, carry->bytes) || operation_has_ended(task))
        return OMPRMA_OK; /* ended by asking: the device is lost */
    if (waits_for_write(task, &carry->to, carry->bytes) || operation_has_ended(task))
        return OMPRMA_OK;
    status = device_check_alive(carry->to.device);
    *started = status == OMPRMA_OK;
    return *started ? OMPRMA_OK : report(carry, status, error_text());
}

static omprma_status_t reach_memory(struct runtime *runtime)
{
    if (!runtime->memory.count)
        take_memory(runtime);
    return runtime->memory.count ? OMPRMA_OK
                                 : error_set(OMPRMA_ERR_HOST_MEMORY,
                                             "no memory for an exchange through the application");
}

static void add_pools(struct carry *carry)
{
    if (device_is_staged(carry->from.device))
        add_pool(carry, &carry->from.device->staging);
    if (carry->way == EXCHANGE_APPLICATION)
        add_pool(carry, &runtime_of(carry)->memory);
    if (device_is_staged(carry->to.device))
        add_pool(carry, &carry->to.device->staging);
}

omprma_status_t carry_append_exchange(const struct hop *hop, enum config_exchange way,
                                      struct operation **arrived)
{
    static const struct operation_task task = {
        .name = "exchange piece by piece",
        .waits_for = "its pieces, in queues of their own, or room for them",
        .start = start,
        .step = step,
        .end = end,
    };
    struct carry *carry;
    struct operation *operation;
    omprma_status_t status =
        way == EXCHANGE_APPLICATION ? reach_memory(hop->queue->device->runtime) : OMPRMA_OK;

    if (status != OMPRMA_OK)
        return status;
    carry = create(hop);
    if (!carry)
        return OMPRMA_ERR_HOST_MEMORY;
    carry->way = way;
    add_pools(carry);
    status = queue_append_task(hop->queue, &task, carry, &operation);
    if (status != OMPRMA_OK) {
        free(carry);
        return status;
    }
    operation->with = hop->to.device;
    *arrived = operation_hold(operation);
    queue_advance(hop->queue);
    return OMPRMA_OK;
}
