/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * append.c: makes an operation, and puts it into its queue's list where the order of calls wants
 * it. A command's record joins the queue's open message, or opens one; whatever the worker must not
 * see too late, or too early, seals it. Nothing is sent here: issue.c does that.
 */
#include "host/queue/append.h"

#include "base/error.h"
#include "host/core/attach_order.h"
#include "host/queue/order.h"

static struct operation_pool *pool_of(const struct omprma_queue *queue)
{
    return &queue->device->runtime->operations;
}

/* ---- commands ---- */

/* Appends the record to the open message, or to a new one, which the operation then opens. */
static omprma_status_t put_record(struct omprma_queue *queue, struct operation *operation,
                                  struct wire_record *record)
{
    struct channel *channel = queue->device->runtime->channel;

    if (queue->open && !order_may_join(queue, operation))
        queue_seal(queue);
    for (int attempt = 0; attempt < 2; attempt++) {
        struct channel_message *message = queue->open ? queue->open : channel_take(channel);
        struct wire_buffer buffer;

        if (!message)
            return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a control message");
        buffer = queue->device->peer->shares ? channel_join_buffer(channel, message)
                                             : channel_buffer(message);
        if (wire_append(&buffer, record)) {
            operation->record = message->bytes;
            operation->message = message;
            operation->opens = operation->counts = message != queue->open;
            message->bytes = buffer.used;
            return OMPRMA_OK;
        }
        if (message != queue->open) {
            channel_drop(channel, message);
            break;
        }
        queue_seal(queue);
        queue->ripe = true;
    }
    return error_set(OMPRMA_ERR_ARGUMENT, "a record of %u bytes does not fit in a message",
                     record->tail_bytes);
}

/* Into the list: behind the message's last command, where gets that were appended after it let it
 * pass, else at the end. */
static void insert_command(struct omprma_queue *queue, struct operation *operation)
{
    struct operation *before = NULL;

    if (operation->opens) {
        queue->open = operation->message;
        queue->open_first = operation;
    } else if (queue->last->kind == OPERATION_TRANSFER) {
        before = queue->open_last->next;
    }
    queue_insert(queue, operation, before);
    queue->open_last = operation;
    operation->number = ++queue->appended;
    if (operation->kind != OPERATION_WRITE)
        queue->hazard = operation->number;
    if (operation->kind == OPERATION_COMMAND && wire_is_launch(operation->command.code))
        queue->launch = operation->number;
}

static omprma_status_t append(struct omprma_queue *queue, enum operation_kind kind,
                              struct wire_record *record, bool may_fail,
                              struct operation **operation)
{
    struct operation *command = operation_take(pool_of(queue), kind);
    omprma_status_t status;

    if (!command)
        return OMPRMA_ERR_HOST_MEMORY;
    command->may_fail = may_fail;
    record->device = queue->device->index;
    record->queue = queue->number;
    record->op = (uint32_t)(queue->appended + 1);
    status = put_record(queue, command, record);
    if (status != OMPRMA_OK) {
        operation_drop(pool_of(queue), command);
        return status;
    }
    command->replies = record->flags & WIRE_REPLY;
    if (kind == OPERATION_COMMAND) {
        command->command.code = record->code;
        command->command.entry = record->word[0];
    }
    if (kind == OPERATION_WRITE || kind == OPERATION_READ) {
        command->device_at = record->word[0];
        command->device_bytes = kind == OPERATION_WRITE ? record->tail_bytes : record->word[1];
    }
    insert_command(queue, command);
    if (queue->first != queue->open_first || queue->waiters) /* a message may be ready to leave */
        queue_attend(queue);
    if (operation)
        *operation = command;
    return OMPRMA_OK;
}

omprma_status_t queue_append_command(struct omprma_queue *queue, enum operation_kind kind,
                                     struct wire_record *record, struct operation **operation)
{
    return append(queue, kind, record, false, operation);
}

omprma_status_t queue_append_access(struct omprma_queue *queue, struct peer *peer,
                                    struct wire_record *record, struct operation **operation)
{
    omprma_status_t status;

    if (attach_order_matters(peer))
        record->flags |= WIRE_REPLY; /* a change of the table waits for its end */
    status = queue_append_command(queue, OPERATION_COMMAND, record, operation);
    if (status == OMPRMA_OK && attach_order_matters(peer))
        (*operation)->reaches = peer;
    return status;
}

/* ---- what this side moves ---- */

static struct operation *take_transfer(struct omprma_queue *queue, const struct path_ops *by,
                                       const struct transfer *transfer)
{
    struct operation *move = operation_take(pool_of(queue), OPERATION_TRANSFER);

    if (!move)
        return NULL;
    move->move.transfer = *transfer;
    move->by = by;
    move->move.path = by->path;
    move->device_at = transfer->remote;
    move->device_bytes = move->host_bytes = transfer->bytes;
    move->host_at = (uint64_t)(uintptr_t)transfer->local;
    move->fills_host = transfer->direction == TRANSFER_IN;
    move->data = move->fills_host ? DATA_RETRIEVE : DATA_SUBMIT;
    return move;
}

void queue_brings(struct operation *command, uint64_t bytes, void *to, struct read_parts *parts)
{
    command->host_at = (uint64_t)(uintptr_t)to;
    command->host_bytes = bytes;
    command->fills_host = true;
    command->parts = parts;
    host_ranges_add(&command->queue->hosts, command);
}

omprma_status_t queue_append_read(struct omprma_queue *queue, omprma_addr_t from, uint64_t bytes,
                                  void *to, struct read_parts *parts, bool may_fail,
                                  struct operation **operation)
{
    struct wire_record record = {.code = WIRE_READ, .flags = WIRE_REPLY, .word = {from, bytes}};
    struct operation *read;
    omprma_status_t status = append(queue, OPERATION_READ, &record, may_fail, &read);

    if (status != OMPRMA_OK)
        return status;
    queue_brings(read, bytes, to, parts);
    if (operation)
        *operation = read;
    return OMPRMA_OK;
}

static void insert_transfer(struct omprma_queue *queue, struct operation *move)
{
    const struct transfer *transfer = &move->move.transfer;
    struct operation *before = NULL;

    move->counts = true;
    move->number = queue->appended;
    if (!move->may_fail && order_may_pass(queue, transfer->remote, transfer->bytes)) {
        before = queue->open_first;
        move->number = before->number - 1;
    } else if (queue->open) {
        queue_want(queue, queue->appended); /* it must see what the message does */
        if (!move->fills_host)
            queue_seal(queue);
    }
    queue_insert(queue, move, before);
    queue_attend(queue);
}

omprma_status_t queue_append_transfer(struct omprma_queue *queue, const struct path_ops *by,
                                      const struct transfer *transfer, struct operation **operation)
{
    struct operation *move = take_transfer(queue, by, transfer);

    if (!move)
        return OMPRMA_ERR_HOST_MEMORY;
    insert_transfer(queue, move);
    if (operation)
        *operation = move;
    return OMPRMA_OK;
}

omprma_status_t queue_append_staged(struct omprma_queue *queue, const struct path_ops *by,
                                    const struct transfer *transfer, bool may_fail,
                                    const struct operation_task *task, void *data,
                                    struct operation **operation)
{
    struct operation *move = take_transfer(queue, by, transfer);

    if (!move)
        return OMPRMA_ERR_HOST_MEMORY;
    move->may_fail = may_fail;
    move->task.task = task;
    move->task.data = data;
    insert_transfer(queue, move);
    *operation = move;
    return OMPRMA_OK;
}

/* Behind its command, in whose message it is. */
static void insert_behind(struct omprma_queue *queue, struct operation *command,
                          struct operation *move)
{
    command->device_at = move->device_at;
    command->device_bytes = move->device_bytes;
    move->move.command = operation_hold(command);
    move->message = command->message;
    move->number = command->number;
    move->launch = queue->launch;
    queue_insert(queue, move, command->next);
    queue->open_last = move;
}

omprma_status_t queue_append_with_command(struct omprma_queue *queue, const struct path_ops *by,
                                          const struct transfer *transfer,
                                          struct wire_record *record, struct operation **operation)
{
    struct operation *move = take_transfer(queue, by, transfer), *command;
    omprma_status_t status;

    if (!move)
        return OMPRMA_ERR_HOST_MEMORY;
    status = queue_append_command(queue, OPERATION_COMMAND, record, &command);
    if (status != OMPRMA_OK) {
        operation_drop(pool_of(queue), move);
        return status;
    }
    insert_behind(queue, command, move);
    *operation = move;
    return OMPRMA_OK;
}

/* ---- waits, tasks, marks ---- */

omprma_status_t queue_append_wait(struct omprma_queue *queue, struct operation *target,
                                  enum wait_use use)
{
    struct operation *wait = operation_take(pool_of(queue), OPERATION_WAIT);

    if (!wait)
        return OMPRMA_ERR_HOST_MEMORY;
    queue_seal(queue);
    wait->wait.target = operation_hold(target);
    wait->wait.use = use;
    wait->counts = true;
    wait->number = queue->appended;
    queue_insert(queue, wait, NULL);
    if (use == WAIT_EXCHANGE)
        queue_use(wait, target->queue->device);
    queue_attend(queue);
    return OMPRMA_OK;
}

omprma_status_t queue_append_task(struct omprma_queue *queue, const struct operation_task *task,
                                  void *data, struct operation **operation)
{
    struct operation *work = operation_take(pool_of(queue), OPERATION_TASK);

    if (!work)
        return OMPRMA_ERR_HOST_MEMORY;
    queue_seal(queue);
    work->task.task = task;
    work->task.data = data;
    work->counts = true;
    work->number = queue->appended;
    queue_insert(queue, work, NULL);
    queue_attend(queue);
    if (operation)
        *operation = work;
    return OMPRMA_OK;
}

static bool can_share(const struct omprma_queue *queue)
{
    const struct operation *last = queue->last;

    return last && last->kind == OPERATION_MARK && !last->mark.completion &&
           last->ordinal == queue->ordinal && !last->failure && !queue->failed;
}

/* At the end of the list. What has failed and was not cleared came before it as well. */
struct operation *queue_append_mark(struct omprma_queue *queue, struct completion *completion)
{
    struct operation *mark = operation_take(pool_of(queue), OPERATION_MARK);

    if (!mark)
        return NULL;
    mark->number = queue->appended;
    mark->state = OPERATION_ISSUED;
    mark->failure = queue->failed ? failure_hold(queue->failed) : NULL;
    mark->mark.completion = completion;
    queue_insert(queue, mark, NULL);
    return mark;
}

/* The last command that has not ended; NULL: none. */
static struct operation *last_command(const struct omprma_queue *queue)
{
    struct operation *last = queue->last, *write = queue->writes_last;

    while (last && last->kind == OPERATION_MARK)
        last = last->prev;
    return write && (!last || last->number < write->number) ? write : last;
}

omprma_status_t queue_mark(struct omprma_queue *queue, struct operation **mark)
{
    /* The worker ends commands in their order, and all after one that fails fail with it: where
     * there is nothing else, the last one has the fate of all. */
    if (queue->mixed == 0 && !queue->failed) {
        *mark = last_command(queue);
        if (*mark)
            operation_hold(*mark);
        return OMPRMA_OK;
    }
    *mark = can_share(queue) ? queue->last : queue_append_mark(queue, NULL);
    if (!*mark)
        return OMPRMA_ERR_HOST_MEMORY;
    operation_hold(*mark);
    queue_end_marks(queue);
    return OMPRMA_OK;
}
