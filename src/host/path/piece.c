/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * piece.c: where source and destination are one device, both queues of a piece are the same. One
 * piece begins in each step: what it has handed to the device, the device is told before the next
 * one is begun.
 */
#include "host/path/piece.h"

#include "base/error.h"
#include "host/queue/issue.h"
#include "host/queue/subqueue.h"

static struct slot_turns *turns_of(const struct pieces *pieces)
{
    return &pieces->queue->device->runtime->turns;
}

omprma_status_t pieces_report(const struct pieces *pieces, omprma_status_t status, const char *text)
{
    return pieces_are_exchange(pieces)
               ? error_set(status, "exchange from device %d to device %d: %s", pieces->from->number,
                           pieces->to->number, text)
               : error_set(status, "%s", text);
}

/* ---- the queues of a piece ---- */

/* Its data counts for the region that the user's queue is in. */
static void observe_for(struct omprma_queue *queue, const struct omprma_queue *user)
{
    if (queue && !queue->observed.region)
        queue->observed = (struct observed_queue){.region = user->observed.region,
                                                  .number = user->observed.number};
}

/* Takes those that are missing. */
static omprma_status_t open_queues(const struct pieces *pieces, struct omprma_queue *queue[2])
{
    struct device *from = pieces->from, *to = pieces->to;
    omprma_status_t status = OMPRMA_OK;

    if (from && !queue[0])
        status = subqueue_open(from, NULL, &queue[0]);
    if (to == from)
        queue[1] = queue[0];
    else if (status == OMPRMA_OK && to && !queue[1])
        status = subqueue_open(to, NULL, &queue[1]);
    for (int i = 0; i < 2; i++)
        observe_for(queue[i], pieces->queue);
    return status;
}

/* All steps are appended and leave, or fail with the thread's error. */
static void push(struct omprma_queue *const queue[2], omprma_status_t status)
{
    for (int i = 0; i < 2; i++) {
        if (!queue[i])
            continue;
        if (status != OMPRMA_OK)
            queue_fail(queue[i], NULL, status, error_text());
        queue_want(queue[i], queue[i]->appended);
        queue_flush(queue[i]);
    }
}

/* It may hold something that nobody has asked about. */
static bool has_ended(struct omprma_queue *queue)
{
    if (!queue || queue_is_idle(queue))
        return true;
    queue_want(queue, queue->hazard);
    return false;
}

static const struct failure *failure_of(struct omprma_queue *const queue[2])
{
    const struct failure *first = queue[0] ? queue[0]->failed : NULL;

    return first || !queue[1] ? first : queue[1]->failed;
}

static void let_go(struct omprma_queue *const queue[2])
{
    if (queue[0])
        subqueue_let_go(queue[0], OMPRMA_OK);
    if (queue[1] && queue[1] != queue[0])
        subqueue_let_go(queue[1], OMPRMA_OK);
}

/* ---- a piece ---- */

/* Begins the next one if there are slots for it. */
static omprma_status_t begin(struct pieces *pieces, struct piece *piece)
{
    omprma_status_t status = open_queues(pieces, piece->queue);

    if (status == OMPRMA_OK && !slots_exist(&pieces->turn))
        status = error_set(OMPRMA_ERR_DEVICE_MEMORY, "workers that were lost may still use all %s",
                           pieces->kind->memory);
    if (status != OMPRMA_OK)
        return pieces_report(pieces, status, error_text());
    if (!slots_take(turns_of(pieces), &pieces->turn))
        return OMPRMA_OK;
    for (int i = 0; i < pieces->turn.pools; i++)
        piece->slot[i] = pieces->turn.slot[i];
    piece->busy = true;
    piece->first = pieces->begun;
    piece->amount = pieces->kind->next(pieces);
    pieces->begun += piece->amount;
    status = pieces->kind->append(pieces, piece);
    push(piece->queue, status);
    return status == OMPRMA_OK ? OMPRMA_OK : pieces_report(pieces, status, error_text());
}

static void give_slots(struct pieces *pieces, struct piece *piece, bool stuck)
{
    const struct slot_turn *turn = &pieces->turn;

    piece->busy = false;
    operation_drop(pieces_operations(pieces), piece->put);
    piece->put = NULL;
    for (int i = 0; i < turn->pools; i++)
        slots_give(turns_of(pieces), turn->pool[i], piece->slot[i],
                   pieces->kind->spoils(pieces, piece, i, stuck));
    piece->astray = false;
    if (pieces->kind->gave)
        pieces->kind->gave(pieces);
}

/* Looks at one that is under way: whether it has ended, and how. */
static omprma_status_t look(struct pieces *pieces, struct piece *piece)
{
    const struct failure *failure;

    if (!has_ended(piece->queue[0]) || !has_ended(piece->queue[1]))
        return OMPRMA_OK;
    failure = failure_of(piece->queue);
    if (!failure && pieces->kind->arrived)
        pieces->kind->arrived(pieces, piece);
    give_slots(pieces, piece, failure && failure->status == OMPRMA_ERR_STUCK);
    if (failure)
        return error_note_code(pieces_report(pieces, failure->status, failure->text),
                               failure->code);
    pieces->done += piece->amount;
    return OMPRMA_OK;
}

static omprma_status_t move_on(struct pieces *pieces, struct piece *piece, bool may_begin)
{
    omprma_status_t status = piece->busy ? look(pieces, piece) : OMPRMA_OK;

    if (status != OMPRMA_OK || piece->busy || pieces->failed || pieces->begun == pieces->all ||
        !may_begin || (pieces->kind->may_begin && !pieces->kind->may_begin(pieces)))
        return status;
    return begin(pieces, piece);
}

/* ---- all of them ---- */

static void granted(struct slot_turn *turn)
{
    queue_attend(((struct pieces *)turn)->queue);
}

void pieces_init(struct pieces *pieces, const struct pieces_kind *kind, struct omprma_queue *queue,
                 struct device *from, struct device *to, int most)
{
    *pieces = (struct pieces){
        .turn = {.granted = granted},
        .kind = kind,
        .queue = queue,
        .from = from,
        .to = to,
        .most = most,
    };
}

void pieces_add_pool(struct pieces *pieces, struct slot_pool *pool)
{
    pieces->turn.pool[pieces->turn.pools++] = pool;
}

/* The user's queue fails once; the pieces that are under way end. */
omprma_status_t pieces_step(struct pieces *pieces, const struct operation *operation, bool *done)
{
    uint64_t begun = pieces->begun;
    omprma_status_t status = OMPRMA_OK;
    bool busy = false;

    for (int i = 0; i < pieces->most; i++) {
        pieces->failed |= operation->failure != NULL || status != OMPRMA_OK;
        if (status == OMPRMA_OK)
            status = move_on(pieces, &pieces->piece[i], pieces->begun == begun);
        busy |= pieces->piece[i].busy;
    }
    pieces->failed |= status != OMPRMA_OK;
    *done = !busy && (pieces->failed || pieces->begun == pieces->all);
    return status;
}

/* Of a queue that was lost, or that was stuck, pieces may be under way for ever. */
void pieces_end(struct pieces *pieces, const struct operation *operation)
{
    bool stuck = operation->failure && operation->failure->status == OMPRMA_ERR_STUCK;

    slots_leave(turns_of(pieces), &pieces->turn);
    for (int i = 0; i < pieces->most; i++) {
        if (pieces->piece[i].busy)
            give_slots(pieces, &pieces->piece[i], stuck);
        let_go(pieces->piece[i].queue);
    }
}
