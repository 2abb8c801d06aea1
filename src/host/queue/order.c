/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * order.c: the order rules of queues.
 *
 * Operations are issued one after the other, in the order of the queue's list, which is the order
 * of the calls but for two cases that nobody can tell apart from it:
 *
 *   - a put or get that is appended behind an open message of nothing but small submits to other
 *     places is put before that message (order_may_pass);
 *   - a small retrieve that cannot fail joins an open message although gets were appended after
 *     that, since all of them only read (order_may_join).
 *
 * Issued is not complete: the next operation of the list may be issued while earlier ones are still
 * on their way. What it must wait for is said by one rule per kind, below:
 *
 * - A command: the worker orders commands among each other. It does not see transfers, waits and
 *   tasks: those before it must have ended.
 * - A transfer: the worker does not see it. Commands before it that may touch what it touches must
 *   have ended, so must transfers before it whose ranges meet its own or that may fail; and small
 *   submits of all queues of the device to the same range that were sent must be executed. A put or
 *   get does not begin while its worker may attach or detach an arena (attach_order.h), nor, where
 *   the worker has a part in it, before that one looks for messages (peer_takes_part()).
 * - A staged transfer follows the same rule: its pieces run in queues of their own, which are not
 *   ordered with this one (staged.c).
 * - A transfer with a command (two-sided): it is issued with that, and begins when the message has
 *   left. The worker has the command in order, so commands behind it do not wait for the transfer.
 * - A wait: for its target, which may lie in any queue; nothing behind it is issued before.
 * - A task: everything before it must have ended.
 *
 * Nothing waits for what is not appended yet, so no circle can close. An operation that was issued
 * needs only what the workers answer, and room in staging memory, which is in use only by others
 * that need no more than answers (slots.h).
 *
 * Workers answer what they are asked. So all of this goes on as long as one thing holds: whoever
 * holds something back has asked for what lets it go, and does not trust that somebody else has.
 * What holds, and who asks:
 *
 * - An open message: the program flushes it; while a thread waits for the queue, so does
 *   queue_advance(), whoever has appended it.
 * - Too far ahead: a result is on its way, or message_may_leave() asks for one.
 * - A full window: each peer_send() of so many asks, at least one of a full window (limits.h).
 * - Full shared memory: the worker takes messages out of it unasked; meanwhile one looks again.
 * - Transfers, tasks: they are moved on until they end, since their queue is attended to.
 * - A command, a write: whoever must follow it says queue_want().
 * - Another queue's end: issue_wait() says queue_push(), and order_await() brings it back.
 * - The other half: issuing or ending the first one releases it (queue->held).
 * - A worker that is late: it is told to stay awake; meanwhile one looks again.
 * - A worker's table: the change and the accesses ask for results; meanwhile one looks again.
 * - Slots: whoever gives one back hands it to those that wait (slots.c).
 * - A full queue: who waits for room has it flushed, and is one that waits.
 *
 * Where internal checks are on, order_verify() looks after each step of a queue, and slots.c by
 * itself.
 */
#include "host/queue/order.h"

#include "base/range.h"
#include "host/core/attach_order.h"

/* Two transfers of a queue that must not run at the same time. One that is timed runs alone. */
static bool transfers_conflict(const struct operation *a, const struct operation *b)
{
    bool both_in = a->fills_host && b->fills_host, both_out = !a->fills_host && !b->fills_host;

    return a->timed || b->timed ||
           (!both_in &&
            ranges_meet(a->device_at, a->device_bytes, b->device_at, b->device_bytes)) ||
           (!both_out && ranges_meet(a->host_at, a->host_bytes, b->host_at, b->host_bytes));
}

/* Whether a transfer must wait for the end of an operation before it in its queue. */
static bool transfer_follows(const struct operation *transfer, const struct operation *earlier)
{
    switch (earlier->kind) {
    case OPERATION_MARK:
        return false;
    case OPERATION_READ:
        return !transfer->fills_host &&
               (earlier->may_fail || ranges_meet(earlier->device_at, earlier->device_bytes,
                                                 transfer->device_at, transfer->device_bytes));
    case OPERATION_TRANSFER:
        return earlier->may_fail || transfers_conflict(earlier, transfer);
    default: /* a small submit stands among the writes when it is sent */
        return true;
    }
}

/* Whether an operation must wait for the end of one before it in its queue. */
static bool must_follow(const struct operation *operation, const struct operation *earlier)
{
    switch (operation->kind) {
    case OPERATION_TRANSFER:
        return transfer_follows(operation, earlier);
    case OPERATION_TASK:
        return earlier->kind != OPERATION_MARK;
    case OPERATION_WAIT:
        return false;
    default:
        return earlier->kind == OPERATION_TRANSFER && !operation_has_command(earlier);
    }
}

struct operation *order_blocker(const struct operation *operation)
{
    struct operation *blocker = NULL;

    for (struct operation *o = operation->queue->first; o != operation; o = o->next)
        if (must_follow(operation, o))
            blocker = o; /* the last one: it is asked for once */
    return blocker;
}

/* Somebody waits for the end of an operation that is issued, and of those before it. */
static void want(const struct operation *blocker)
{
    if (operation_is_command(blocker) || operation_has_command(blocker))
        queue_want(blocker->queue, blocker->number);
}

static bool transfer_may_start(struct operation *transfer)
{
    struct omprma_queue *queue = transfer->queue;
    struct operation *blocker;

    if (queue->transfers >= queue->device->runtime->limits.transfers)
        return false; /* the end of one brings us back */
    blocker = order_blocker(transfer);
    if (blocker) {
        want(blocker);
        return false;
    }
    return !order_await_write(transfer, queue->device, transfer->device_at, transfer->device_bytes);
}

/* What the worker holds is bounded. The next result brings us back. The one that was asked for last
 * may have come and not be enough: much may have left behind the command that it is of, and nothing
 * asks for another one while it is on its way (issue.c: result_is_due()). */
static bool must_let_worker_catch_up(struct omprma_queue *queue)
{
    if (!queue_is_far_ahead(queue))
        return false;
    if (queue->asked <= queue->answered)
        queue_want(queue, queue->issued);
    return true;
}

/* A message with the command, and those that joined it, may leave. */
static bool message_may_leave(const struct operation *command, bool *again)
{
    struct omprma_queue *queue = command->queue;

    if (command->message == queue->open || queue->held || queue->transfers > 0)
        return false; /* a flush, the other half, or the end of the transfers brings us back */
    if (must_let_worker_catch_up(queue))
        return false;
    *again = !peer_may_send(queue->device->peer) ||
             !peer_has_room(queue->device->peer, command->message->bytes) ||
             !attach_order_lets_leave(queue->device->peer, command);
    return !*again;
}

static bool task_may_start(const struct operation *task)
{
    const struct operation *blocker = order_blocker(task);

    if (blocker)
        want(blocker);
    return !blocker;
}

bool order_may_issue(struct operation *operation, bool *again)
{
    *again = false;
    switch (operation->kind) {
    case OPERATION_TRANSFER:
        *again = !operation->task.task && attach_order_moves(operation->queue->device->peer);
        if (*again || !transfer_may_start(operation))
            return false;
        *again = operation->by && operation->by->may_begin && !operation->by->may_begin(operation);
        return !*again;
    case OPERATION_WAIT:
        return true;
    case OPERATION_TASK:
        return task_may_start(operation);
    default:
        return message_may_leave(operation, again);
    }
}

bool order_may_pass(const struct omprma_queue *queue, uint64_t at, uint64_t bytes)
{
    const struct operation *write = queue->open ? queue->open_first : NULL;

    for (; write; write = write->next) {
        if (write->kind == OPERATION_MARK)
            continue;
        if (write->kind != OPERATION_WRITE ||
            ranges_meet(write->device_at, write->device_bytes, at, bytes))
            return false;
    }
    return queue->open != NULL;
}

bool order_may_join(const struct omprma_queue *queue, const struct operation *command)
{
    /* Ahead of earlier gets one that fails would take them along. */
    bool marks = true, gets = command->kind == OPERATION_READ && !command->may_fail;

    if (!queue->open)
        return false;
    for (const struct operation *o = queue->open_last->next; o; o = o->next) {
        marks &= o->kind == OPERATION_MARK;
        gets &= o->kind == OPERATION_TRANSFER && o->fills_host;
    }
    return marks || gets;
}

struct operation *order_next_write(struct device *device, uint64_t at, uint64_t bytes,
                                   const struct operation *after)
{
    struct omprma_queue **link = &device->writers;
    bool seen = after == NULL;

    while (*link) {
        struct omprma_queue *queue = *link;
        struct operation *found = NULL;

        if (!queue->writes_first) { /* all are executed */
            queue->is_writer = false;
            *link = queue->next_writer;
            continue;
        }
        for (struct operation *o = queue->writes_first; o && seen; o = o->next)
            if (ranges_meet(o->device_at, o->device_bytes, at, bytes))
                found = o;
        if (found)
            return found;
        seen = seen || queue == after->queue;
        link = &queue->next_writer;
    }
    return NULL;
}

void order_await(struct operation *operation, struct operation *target)
{
    if (operation->awaited)
        return; /* it will look again anyway */
    operation->awaited = target;
    operation->next_waiter = target->waiters;
    target->waiters = operation;
}

bool order_await_write(struct operation *operation, struct device *device, uint64_t at,
                       uint64_t bytes)
{
    struct operation *write = device->lost ? NULL : order_next_write(device, at, bytes, NULL);

    if (!write)
        return false;
    order_await(operation, write);
    queue_want(write->queue, write->number);
    return true;
}

const struct operation *order_before_write(const struct operation *write)
{
    const struct operation *o = write->queue->last;

    while (o &&
           o->number >= write->number) /* what is no command has the number of the one before */
        o = o->prev;
    return o;
}

/* Everything before it in its queue must be something that the worker sees, and have been sent. A
 * small submit that was sent has left the list, and stood behind commands only. */
bool order_worker_can_watch(const struct operation *target)
{
    const struct operation *o = target;

    if (target->queue->issued < target->number || target->failure)
        return false;
    if (target->kind == OPERATION_WRITE && target->state == OPERATION_ISSUED)
        o = order_before_write(target);
    for (; o; o = o->prev)
        if (o->kind != OPERATION_MARK &&
            (!operation_is_command(o) || o->state == OPERATION_APPENDED))
            return false;
    return true;
}
