/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * order_verify.c: for the first operation of a queue that is not issued, and for what it stands
 * behind, one function per reason to wait checks that somebody has asked: for a result, for a
 * turn, or to be attended to. A failed check ends the process.
 */
#include "host/queue/order_verify.h"

#ifndef NDEBUG

#include "base/check.h"
#include "host/core/attach_order.h"
#include "host/queue/order.h"

/* The worker will say when the commands up to `number` are over: it was asked, or is asked as soon
 * as there is memory to, or when they leave. */
static bool is_asked_for(const struct omprma_queue *queue, uint64_t number)
{
    const struct operation *o = queue->last;

    if (number <= queue->asked || queue->must_ask || queue->device->lost)
        return true;
    while (o && (!operation_is_command(o) || o->number > number))
        o = o->prev;
    return number > queue->issued && o && o->wanted;
}

/* Somebody looks at it again without being told. */
static void verify_looks(const struct omprma_queue *queue)
{
    CHECK(queue->busy, ==, true);
}

/* What this side moves on brings the queue back. */
static void verify_moves(const struct omprma_queue *queue)
{
    CHECK(queue->active != NULL, ==, true);
    verify_looks(queue);
}

/* It comes to its end, which the worker says, or which this side finds. */
static void verify_ends(const struct operation *o)
{
    const struct omprma_queue *queue = o->queue;

    if (operation_has_ended(o) || queue->device->lost)
        return;
    if (operation_is_command(o) || o->kind == OPERATION_MARK)
        CHECK(is_asked_for(queue, o->number), ==, true);
    else if (o->state == OPERATION_ISSUED && o->kind == OPERATION_TRANSFER)
        verify_moves(queue);
    if (o->number > queue->issued && queue->next && queue->open)
        CHECK(queue->next->message != queue->open, ==, true);
}

/* What the peer acknowledges last makes room in its window. */
static void verify_window(const struct peer *peer)
{
    uint32_t asked = peer->sent & ~(peer->runtime->limits.ask_each - 1);

    if (!peer_may_send(peer))
        CHECK((int32_t)(asked - peer->acked), >, 0);
}

static void verify_message(const struct omprma_queue *queue, const struct operation *command)
{
    if (queue->held) { /* who releases it flushes it, too; tests hold some without a sender */
        CHECK(!queue->sender || queue->sender->releases == queue, ==, true);
    } else if (command->message == queue->open) { /* the program flushes it, if it does not wait */
        CHECK(queue->waiters, ==, 0);
        CHECK(queue->give_when_idle, ==, false);
    } else if (queue->transfers > 0) {
        verify_moves(queue);
    } else if (queue_is_far_ahead(queue)) {
        CHECK(queue->asked > queue->answered || queue->must_ask, ==, true);
    } else {
        verify_looks(queue);
        verify_window(queue->device->peer);
    }
}

static void verify_transfer(const struct omprma_queue *queue, const struct operation *transfer)
{
    const struct operation *blocker = order_blocker(transfer);

    if (queue->transfers >= queue->device->runtime->limits.transfers)
        verify_moves(queue);
    else if (!transfer->task.task && attach_order_moves(queue->device->peer))
        verify_looks(queue);
    else if (blocker)
        verify_ends(blocker);
    else if (transfer->awaited)
        verify_ends(transfer->awaited);
    else
        verify_looks(queue);
}

static void verify_wait(const struct omprma_queue *queue, const struct operation *wait)
{
    if (operation_has_ended(wait->wait.target)) {
        verify_looks(queue);
        return;
    }
    CHECK(wait->awaited == wait->wait.target, ==, true);
    verify_ends(wait->wait.target);
}

/* One that nothing stands before is held by the program. */
static void verify_task(const struct omprma_queue *queue, const struct operation *task)
{
    const struct operation *blocker = order_blocker(task);

    if (task->state == OPERATION_ISSUED)
        verify_looks(queue);
    else if (blocker)
        verify_ends(blocker);
    else if (task->awaited)
        verify_ends(task->awaited);
}

static void verify_next(const struct omprma_queue *queue, const struct operation *next)
{
    switch (next->kind) {
    case OPERATION_TRANSFER:
        verify_transfer(queue, next);
        break;
    case OPERATION_WAIT:
        verify_wait(queue, next);
        break;
    case OPERATION_TASK:
        verify_task(queue, next);
        break;
    default:
        verify_message(queue, next);
    }
}

/* Of those that call somebody, the first. */
static const struct operation *first_callback(const struct omprma_queue *queue)
{
    const struct operation *o = queue->first;

    while (o && (o->kind != OPERATION_MARK || !o->mark.completion))
        o = o->next;
    return o;
}

void order_verify(const struct omprma_queue *queue)
{
    const struct operation *callback = first_callback(queue);

    if (queue->device->lost)
        return;
    if (queue->next)
        verify_next(queue, queue->next);
    if (queue->waiters || queue->give_when_idle)
        CHECK(is_asked_for(queue, queue->hazard), ==, true);
    if (callback)
        verify_ends(callback);
}

#endif
