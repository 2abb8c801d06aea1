/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * issue.c: queue_advance() is one step of a queue: it moves on the transfers that are under way,
 * and issues operations as long as order.c lets the next one. A command is issued with its whole
 * message, and with it the transfers that begin when that has left. Results end the commands up to
 * their number, or fail the queue at one of them, and then the queue advances again.
 */
#include "host/queue/issue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "host/core/attach_order.h"
#include "host/core/fault_address.h"
#include "host/core/progress.h"
#include "host/queue/append.h"
#include "host/queue/order.h"
#include "host/queue/order_verify.h"

void queue_push(struct operation *operation)
{
    struct omprma_queue *queue = operation->queue;

    if (operation_has_ended(operation))
        return;
    if (operation_is_command(operation) || operation->kind == OPERATION_MARK)
        queue_want(queue, operation->number);
    if (queue->open &&
        (operation->state == OPERATION_APPENDED || operation->number > queue->issued))
        queue_flush(queue);
    else
        queue_attend(queue);
}

/* ---- messages ---- */

/* Whether a message is to bring a result though nobody waits for it, so that what the worker holds
 * stays bounded: when much is on its way, and no result is. */
static bool result_is_due(const struct omprma_queue *queue, uint64_t last)
{
    const struct limits *limits = &queue->device->runtime->limits;

    return queue->asked <= queue->answered && (queue->unanswered + 1 >= limits->mark_messages ||
                                               last - queue->answered >= limits->mark_commands);
}

/* A small submit is done as far as anybody waits for it. */
static void settle_write(struct omprma_queue *queue, struct operation *write)
{
    struct device *device = queue->device;

    queue_unlist(write);
    write->next = NULL;
    if (queue->writes_last)
        queue->writes_last->next = write;
    else
        queue->writes_first = write;
    queue->writes_last = write;
    if (queue->is_writer)
        return;
    queue->is_writer = true;
    queue->next_writer = device->writers;
    device->writers = queue;
}

static void activate(struct operation *operation)
{
    struct operation **link = &operation->queue->active;

    while (*link) /* in order */
        link = &(*link)->next_active;
    operation->next_active = NULL;
    *link = operation;
    operation->queue->device->runtime->moving++;
    operation->queue->device->runtime->moved++;
}

/* Handed to the worker or to a path. */
static void note_issue(struct operation *operation)
{
    struct runtime *runtime = operation->queue->device->runtime;

    operation->state = OPERATION_ISSUED;
    runtime->moves++;
    observe_issued(runtime->observers, operation);
}

/* The commands of a message are as good as sent. What comes behind them is next. */
static void note_issued(struct omprma_queue *queue, struct operation *first)
{
    const struct channel_message *message = first->message;
    struct operation *o, *next;

    for (o = first; o && (o->kind == OPERATION_MARK || o->message == message); o = next) {
        next = o->next;
        if (o->kind == OPERATION_MARK)
            continue;
        attach_order_note_access(o, 1);
        note_issue(o);
        o->message = NULL;
        queue->issued = o->number;
        queue->entries -= o->counts; /* what the worker holds is counted by messages */
        o->counts = false;
        if (o->replies)
            queue->asked = o->number;
        if (o->kind == OPERATION_TRANSFER)
            activate(o);
        else if (o->kind == OPERATION_WRITE)
            settle_write(queue, o);
    }
    queue->next = o;
}

/* Transfers whose commands the worker was just told. */
static void start_transfers(struct omprma_queue *queue)
{
    uint64_t failures = queue->failures;

    for (struct operation *o = queue->active; o; o = o->next_active) {
        if (o->start_ns)
            continue;
        o->start_ns = clock_ns();
        if (o->launch <= queue->answered)
            o->launch = 0;
        o->by->start(o);
        if (queue->failures != failures) /* the device was lost by that, and all is gone */
            return;
    }
}

/* The last command of the message. *sender: the one whose other half is held; *wanted: somebody
 * needs to know the end of one. */
static struct operation *last_of_message(struct operation *first, struct operation **sender,
                                         bool *wanted)
{
    struct operation *last = first;

    *sender = NULL;
    *wanted = false;
    for (struct operation *o = first; o; o = o->next) {
        if (o->kind == OPERATION_MARK)
            continue;
        if (o->message != first->message)
            break;
        if (operation_is_command(o))
            last = o;
        *wanted |= o->wanted;
        if (o->releases)
            *sender = o;
    }
    return last;
}

/* Both halves of an exchange leave together. */
static void release_receiver(struct operation *sender)
{
    struct omprma_queue *receiver = sender->releases;

    if (!receiver) /* the device was lost, and both are gone */
        return;
    sender->releases = NULL;
    receiver->held = false;
    queue_want(receiver, receiver->appended);
    queue_flush(receiver);
}

/* Sends the message that the operation opens. */
static void issue_message(struct omprma_queue *queue, struct operation *first)
{
    struct runtime *runtime = queue->device->runtime;
    struct channel_message *message = first->message;
    bool wanted;
    struct operation *sender, *last = last_of_message(first, &sender, &wanted);

    if (!last->replies && (wanted || result_is_due(queue, last->number))) {
        struct wire_buffer buffer = channel_buffer(message);

        wire_want_reply(&buffer, last->record);
        last->replies = true;
    }
    last->closes = true;
    observe_sent(runtime->observers, last, message->bytes);
    queue->unanswered++;
    if (sender)
        operation_hold(sender);
    note_issued(queue, first);
    if (peer_send(queue->device->peer, message, false) == OMPRMA_OK)
        start_transfers(queue);
    if (sender)
        release_receiver(sender);
    operation_drop(&runtime->operations, sender);
}

/* ---- what this side does ---- */

static void account(struct operation *operation)
{
    const struct device *device = operation->queue->device;
    const struct carried carried = {operation->queue,
                                    operation->data,
                                    operation->move.path,
                                    operation->move.transfer.bytes,
                                    operation->launch ? 0 : clock_ns() - operation->start_ns,
                                    NULL};

    if (!operation->is_part)
        observers_carried(device->runtime->observers, &carried);
}

static void end_steps(struct operation *operation)
{
    if (operation->kind == OPERATION_TRANSFER && !operation->failure)
        account(operation);
    queue_end_operation(operation, NULL);
}

/* True if anything moved, also of what it has appended to other queues. An operation with steps may
 * fail, and so end, inside its own functions: when the device is lost meanwhile. */
static bool run_steps(struct omprma_queue *queue, struct operation *operation)
{
    const struct operation_task *functions = operation->task.task;
    const struct runtime *runtime = queue->device->runtime;
    uint64_t moves = runtime->moves;
    bool started = false, done = false;
    omprma_status_t status = OMPRMA_OK;

    operation_hold(operation);
    operation->task.in_step = true;
    if (operation->state == OPERATION_APPENDED) {
        status = functions->start(operation, &started);
        if (started && !operation_has_ended(operation))
            note_issue(operation);
    }
    if (operation->state == OPERATION_ISSUED && status == OMPRMA_OK)
        status = functions->step(operation, &done);
    operation->task.in_step = false;
    if (operation_has_ended(operation))
        functions->end(operation);
    else if (status != OMPRMA_OK)
        queue_fail_coded(queue, operation, status, error_code(), error_text());
    else if (done)
        end_steps(operation);
    if (operation->state == OPERATION_ISSUED)
        queue_attend(queue);
    done = operation_has_ended(operation);
    operation_drop(&queue->device->runtime->operations, operation);
    return started || done || runtime->moves != moves;
}

/* True if it moved. */
static bool test_transfer(struct omprma_queue *queue, struct operation *transfer)
{
    uint64_t failures = queue->failures, before = transfer->move.transfer.completed;
    bool done = false;
    omprma_status_t status;

    if (transfer->task.task)
        return run_steps(queue, transfer);
    status = transfer->by->progress(transfer, &done);
    if (queue->failures != failures) /* its peer was given up, and all is gone */
        return true;
    if (status != OMPRMA_OK)
        queue_fail(queue, transfer, status, error_text());
    if (status != OMPRMA_OK || !done)
        return status != OMPRMA_OK ||
               (transfer->by->copies && transfer->move.transfer.completed > before);
    account(transfer);
    queue_end_operation(transfer, NULL);
    return true;
}

/* What this process copies is begun with: of little that is all. */
static void issue_transfer(struct omprma_queue *queue, struct operation *transfer)
{
    uint64_t failures = queue->failures;
    omprma_status_t status;

    peer_keep_awake(queue->device->peer, transfer->move.transfer.bytes);
    if (queue->failures != failures) /* the device was lost by that, and all is gone */
        return;
    queue_pass(transfer);
    transfer->start_ns = clock_ns();
    note_issue(transfer);
    queue->transfers++;
    activate(transfer);
    if (transfer->task.task)
        run_steps(queue, transfer);
    else if ((status = transfer->by->start(transfer)) != OMPRMA_OK)
        queue_fail(queue, transfer, status, error_text());
    else if (transfer->by->copies && queue->failures == failures)
        test_transfer(queue, transfer);
}

/* What it waited for has failed. */
static void fail_after(struct omprma_queue *queue, struct operation *wait)
{
    const struct operation *target = wait->wait.target;
    int from = queue->device->number, to = target->queue->device->number;
    const char *why = target->failure->text;
    char text[ERROR_TEXT_BYTES + 64];

    if (wait->wait.use == WAIT_EVENT)
        snprintf(text, sizeof(text), "device %d waits for an event of device %d: %s", from, to,
                 why);
    else if (wait->wait.use == WAIT_EXCHANGE)
        snprintf(text, sizeof(text), "exchange from device %d to device %d: %s", from, to, why);
    else
        snprintf(text, sizeof(text), "%s", why);
    queue_fail_coded(queue, wait, target->failure->status, target->failure->code, text);
}

/* True if it is over. */
static bool issue_wait(struct omprma_queue *queue, struct operation *wait)
{
    struct operation *target = wait->wait.target;

    if (!operation_has_ended(target)) {
        if (wait->state == OPERATION_APPENDED)
            note_issue(wait);
        order_await(wait, target);
        queue_push(target);
        return false;
    }
    if (target->failure && wait->wait.use != WAIT_ORDER)
        fail_after(queue, wait);
    else
        queue_end_operation(wait, NULL);
    return true;
}

/* ---- going on ---- */

/* Another thread has appended while one waits, and may not come back. */
static void seal_for_waiters(struct omprma_queue *queue)
{
    if (queue->waiters && queue->open && queue->open_first == queue->next)
        queue_seal(queue);
}

/* Issues what can be issued. True if anything moved. */
static bool issue_next(struct omprma_queue *queue)
{
    struct operation *next = queue->next;
    bool again;

    if (!order_may_issue(next, &again)) {
        if (again)
            queue_attend(queue);
        return false;
    }
    switch (next->kind) {
    case OPERATION_TRANSFER:
        issue_transfer(queue, next);
        return true;
    case OPERATION_WAIT:
        return issue_wait(queue, next);
    case OPERATION_TASK:
        return run_steps(queue, next);
    default:
        issue_message(queue, next);
        return true;
    }
}

static bool test_active(struct omprma_queue *queue)
{
    uint64_t failures = queue->failures;
    struct operation *next;
    bool moved = false;

    for (struct operation *o = queue->active; o; o = next) {
        next = o->next_active;
        moved |= test_transfer(queue, o);
        if (queue->failures != failures) { /* the list has changed */
            queue_attend(queue);
            break;
        }
    }
    return moved;
}

/* Ends the life of a queue that nobody holds. */
static void give_back(struct omprma_queue *queue)
{
    queue->give_when_idle = false;
    queue_clear(queue);
    queue_give(queue);
}

bool queue_advance(struct omprma_queue *queue)
{
    bool moved, more;

    if (queue->device->lost && queue->first)
        queue_lose(queue, OMPRMA_ERR_DEVICE_LOST,
                   queue->device->lost_text); /* appended after that, in the same call */
    moved = queue->active && test_active(queue);
    do {
        seal_for_waiters(queue);
        more = queue->next && issue_next(queue);
        moved |= more;
    } while (more);
    queue_end_marks(queue);
    queue_want(queue, queue->waiters || queue->give_when_idle ? queue->hazard : 0);
    if (queue->must_ask)
        queue_want(queue, queue->issued);
    if (queue->active && !queue->device->lost)
        queue_attend(queue);
    if (queue->waiters && (moved || queue_is_idle(queue)))
        progress_signal(queue->device->runtime);
    order_verify(queue);
    if (queue->give_when_idle && queue_is_idle(queue))
        give_back(queue);
    return moved;
}

void queue_flush(struct omprma_queue *queue)
{
    queue_seal(queue);
    queue_advance(queue);
}

/* ---- results ---- */

/* The number of a command by its lower half: the one nearest to what is known to be over. */
static uint64_t whole_number(const struct omprma_queue *queue, uint32_t number)
{
    return queue->answered + (uint64_t)(int64_t)(int32_t)(number - (uint32_t)queue->answered);
}

/* Most parts are single variables. */
static void copy_small(void *to, const void *from, size_t bytes)
{
    if (bytes == 8)
        memcpy(to, from, 8);
    else if (bytes == 4)
        memcpy(to, from, 4);
    else
        memcpy(to, from, bytes);
}

static void deliver_data(const struct operation *read, const uint8_t *data)
{
    const struct read_parts *parts = read->parts;

    if (!parts)
        memcpy((void *)(uintptr_t)read->host_at, data, read->host_bytes);
    for (size_t i = 0; parts && i < parts->count; i++)
        copy_small(parts->part[i].to, data + parts->part[i].offset, parts->part[i].bytes);
}

/* False: the result is not what was asked for. */
static bool deliver(struct operation *command, const struct wire_record *record)
{
    if (operation_brings_data(command)) {
        if (record->tail_bytes != command->host_bytes)
            return false;
        deliver_data(command, record->tail);
    } else if (command->kind == OPERATION_COMMAND) {
        command->command.value = record->word[0];
        if (command->command.tail && record->tail_bytes <= command->command.tail_capacity)
            memcpy(command->command.tail, record->tail, record->tail_bytes);
    }
    return true;
}

/* Commands up to `number` went well. `record`: the result of that one, or NULL. */
static void commands_done(struct omprma_queue *queue, uint64_t number,
                          const struct wire_record *record)
{
    struct operation *next;

    for (struct operation *o = queue->first; o && o != queue->next; o = next) {
        next = o->next;
        if (!operation_is_command(o))
            continue;
        if (o->number > number)
            break;
        if (record && o->number == number ? !deliver(o, record) : operation_brings_data(o)) {
            queue_fail(queue, o, OMPRMA_ERR_PROTOCOL, "a retrieve came back with another size");
            return;
        }
        queue_end_operation(o, NULL);
    }
}

/* The first command from `number` on that was issued and has not been answered, or NULL. */
static struct operation *first_unanswered(const struct omprma_queue *queue, uint64_t number)
{
    for (struct operation *o = queue->first; o && o != queue->next; o = o->next)
        if (operation_is_command(o) && o->number >= number)
            return o;
    return NULL;
}

/* What the worker says has failed: `number` or the first one after it that is not over. NULL: it is
 * among what has failed already, with one before it. */
static struct operation *find_failed(const struct omprma_queue *queue, uint64_t number)
{
    struct operation *at = first_unanswered(queue, number), *write = queue->writes_first;

    while (write && write->number < number)
        write = write->next;
    return write && (!at || write->number < at->number) ? write : at;
}

static void command_failed(struct omprma_queue *queue, uint64_t number,
                           const struct wire_record *record)
{
    uint64_t failed = whole_number(queue, (uint32_t)record->word[1]);
    struct operation *at;
    char text[ERROR_TEXT_BYTES], named[ERROR_TEXT_BYTES];

    if (failed > number)
        failed = number;
    at = find_failed(queue, failed);
    if (!at || at->number > number)
        return;
    snprintf(text, sizeof(text), "%s, queue %u: %.*s", device_name(queue->device), queue->number,
             (int)record->tail_bytes, (const char *)record->tail);
    queue->remote_failed = true;
    commands_done(queue, failed - 1, NULL);
    if (record->flags & WIRE_CRASHED && device_is_well(queue->device))
        fault_address_explain(queue->device, record->word[3], text, sizeof(text));
    if (record->flags & WIRE_CRASHED)
        device_note_crash(queue->device, (int)record->word[2], text);
    queue_fail_coded(queue, at, (omprma_status_t)record->word[0], (int)record->word[2],
                     queue_name_exchange(queue, record->flags & WIRE_CRASHED ? NULL : at, text,
                                         named, sizeof(named)));
}

void queue_result(struct omprma_queue *queue, const struct wire_record *record)
{
    uint64_t number = whole_number(queue, record->op);

    if (number > queue->issued) {
        peer_lose(queue->device->peer,
                  "%s, queue %u: a result for operation %u, which was not sent",
                  device_name(queue->device), queue->number, record->op);
        return;
    }
    if (record->code == WIRE_FAILED)
        command_failed(queue, number, record);
    else
        commands_done(queue, number, record);
    if (number > queue->answered)
        queue->answered = number;
    /* Executed, or refused with what failed before them. */
    while (queue->writes_first && queue->writes_first->number <= number)
        queue_end_operation(queue->writes_first, NULL);
    queue_end_marks(queue);
    if (queue->waiters)
        progress_signal(queue->device->runtime);
    queue_advance(queue);
}

void queue_span(struct omprma_queue *queue, const struct wire_record *record)
{
    uint64_t number = whole_number(queue, record->op);

    for (struct operation *o = queue->first; o && o != queue->next; o = o->next)
        if (operation_is_command(o) && o->number == number) {
            observers_ran(queue->device->runtime->observers, o, (int64_t)record->word[0],
                          (int64_t)record->word[1]);
            return;
        }
}

/* ---- waits and callbacks ---- */

omprma_status_t queue_wait(struct omprma_queue *queue, struct operation *target, enum wait_use use)
{
    struct wire_record record = {.code = WIRE_WAIT};

    if (!target)
        return OMPRMA_OK;
    if (!operation_has_ended(target) && target->queue->open)
        queue_flush(target->queue); /* which may end it */
    if (operation_has_ended(target) && !target->failure)
        return OMPRMA_OK;
    if (operation_has_ended(target) || target->queue->device->peer != queue->device->peer ||
        !order_worker_can_watch(target))
        return queue_append_wait(queue, target, use);
    record.word[0] = wire_queue(target->queue->device->index, target->queue->number);
    record.word[1] = (uint32_t)target->number;
    omprma_status_t status = queue_append_command(queue, OPERATION_COMMAND, &record, NULL);
    if (status == OMPRMA_OK)
        queue->watching = queue->appended;
    return status;
}

omprma_status_t queue_follow(struct omprma_queue *queue, struct omprma_queue *other)
{
    struct operation *mark = NULL;
    omprma_status_t status = queue_mark(other, &mark);

    if (status == OMPRMA_OK)
        status = queue_wait(queue, mark, WAIT_PART);
    operation_drop(&queue->device->runtime->operations, mark);
    return status;
}

omprma_status_t queue_notify(struct omprma_queue *queue, struct completion *completion)
{
    struct operation *mark = queue_append_mark(queue, completion);

    if (!mark)
        return OMPRMA_ERR_HOST_MEMORY;
    queue_push(mark);
    queue_end_marks(queue);
    return OMPRMA_OK;
}

/* ---- waiting ---- */

static bool idle_predicate(const void *data)
{
    return queue_is_idle(data);
}

void queue_send_wanted(struct omprma_queue *queue)
{
    queue_want(queue, queue->hazard);
    queue_flush(queue);
}

/* Whoever waits, for a two-sided transfer as well, is seen to. */
static void wait_until_idle(struct omprma_queue *queue)
{
    struct runtime *runtime = queue->device->runtime;
    struct observed_wait wait = {.what = "synchronize"};

    if (queue_is_idle(queue))
        return;
    if (runtime->observers)
        observers_waits(runtime->observers, queue, &wait);
    progress_wait(runtime, idle_predicate, queue);
    if (runtime->observers)
        observers_waited(runtime->observers, queue, &wait);
}

void queue_settle(struct omprma_queue *queue)
{
    queue->waiters++;
    queue_send_wanted(queue);
    wait_until_idle(queue);
    queue->waiters--;
}

static bool ended_predicate(const void *data)
{
    return operation_has_ended(data);
}

void queue_settle_operation(struct operation *operation)
{
    struct omprma_queue *queue = operation->queue;

    queue_push(operation);
    queue->waiters++; /* or nobody would tell this thread while another one drives */
    progress_wait(queue->device->runtime, ended_predicate, operation);
    queue->waiters--;
}

static bool room_predicate(const void *data)
{
    const struct omprma_queue *queue = data;

    return !queue_is_full(queue) || queue->failed || queue->device->lost;
}

/* What is appended can come to its end without the thread that waits here: nothing stays open. */
void queue_make_room(struct omprma_queue *queue)
{
    queue->waiters++;
    queue_flush(queue);
    progress_wait(queue->device->runtime, room_predicate, queue);
    queue->waiters--;
}

void queue_clear(struct omprma_queue *queue)
{
    struct wire_record record = {.code = WIRE_RESET};
    bool remote = queue->remote_failed;

    failure_drop(queue->failed);
    queue->failed = NULL;
    queue->remote_failed = false;
    if (!remote || queue->device->lost)
        return;
    /* Nobody waits for it, and it cannot fail. */
    if (queue_append_command(queue, OPERATION_WRITE, &record, NULL) == OMPRMA_OK)
        queue_flush(queue);
}

static omprma_status_t take_error(struct omprma_queue *queue)
{
    omprma_status_t status;

    if (!queue->failed)
        return OMPRMA_OK;
    status = failure_report(queue->failed);
    queue_clear(queue);
    return status;
}

omprma_status_t queue_synchronize(struct omprma_queue *queue)
{
    queue_settle(queue);
    observe_idle(queue->device->runtime->observers, queue);
    return take_error(queue);
}

omprma_status_t queue_synchronize_sent(struct omprma_queue *queue)
{
    queue->waiters++;
    wait_until_idle(queue);
    observe_idle(queue->device->runtime->observers, queue);
    queue->waiters--;
    return take_error(queue);
}
