/* queue_list.c: the list of a queue: operations are appended, end, fail. See queue.h. */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "host/order.h"
#include "host/trace.h"

static struct operation_pool *pool_of(const struct omprma_queue *queue)
{
    return &queue->device->runtime->operations;
}

/* ---- the list ---- */

static struct operation *skip_marks(struct operation *operation)
{
    while (operation && operation->kind == OPERATION_MARK)
        operation = operation->next;
    return operation;
}

/* Nobody needs to wait for a mark, unless it calls somebody. */
static bool counts_as_unsettled(const struct operation *operation)
{
    return operation->kind != OPERATION_MARK || operation->mark.completion;
}

/* Puts an operation before another; at the end for NULL. */
static void insert(struct omprma_queue *queue, struct operation *operation,
                   struct operation *before)
{
    operation->queue = queue;
    operation->ordinal = ++queue->ordinal;
    operation->next = before;
    operation->prev = before ? before->prev : queue->last;
    if (operation->prev)
        operation->prev->next = operation;
    else
        queue->first = operation;
    if (before)
        before->prev = operation;
    else
        queue->last = operation;
    queue->unsettled += counts_as_unsettled(operation);
    if (operation->kind == OPERATION_MARK)
        return;
    if (queue->next == before)
        queue->next = operation;
    queue->entries += operation->counts;
    queue->hosts += operation->host_bytes > 0;
}

void queue_unlist(struct operation *operation)
{
    struct omprma_queue *queue = operation->queue;

    if (queue->next == operation)
        queue->next = skip_marks(operation->next);
    if (operation->prev)
        operation->prev->next = operation->next;
    else
        queue->first = operation->next;
    if (operation->next)
        operation->next->prev = operation->prev;
    else
        queue->last = operation->prev;
    queue->unsettled -= counts_as_unsettled(operation);
    queue->entries -= operation->counts;
    queue->hosts -= operation->host_bytes > 0;
}

void queue_pass(struct operation *operation)
{
    operation->queue->next = skip_marks(operation->next);
}

void queue_seal(struct omprma_queue *queue)
{
    queue->open = NULL;
    queue->open_first = queue->open_last = NULL;
}

/* ---- commands ---- */

/* Appends the record to the open message, or to a new one. NULL: the operation opens it. */
static omprma_status_t put_record(struct omprma_queue *queue, struct operation *operation,
                                  struct wire_record *record)
{
    struct channel *channel = queue->device->runtime->channel;

    if (queue->open && !order_may_join(queue, operation->kind))
        queue_seal(queue);
    for (int attempt = 0; attempt < 2; attempt++) {
        struct channel_message *message = queue->open ? queue->open : channel_take(channel);
        struct wire_buffer buffer;

        if (!message)
            return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a control message");
        buffer = channel_buffer(message);
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
        queue_seal(queue); /* full */
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
    insert(queue, operation, before);
    queue->open_last = operation;
    operation->number = ++queue->appended;
    if (operation->kind != OPERATION_WRITE)
        queue->hazard = operation->number;
}

omprma_status_t queue_append_command(struct omprma_queue *queue, enum operation_kind kind,
                                     struct wire_record *record, struct operation **operation)
{
    struct operation *command = operation_take(pool_of(queue), kind);
    omprma_status_t status;

    if (!command)
        return OMPRMA_ERR_HOST_MEMORY;
    record->device = queue->device->index;
    record->queue = queue->number;
    record->op = (uint32_t)(queue->appended + 1);
    status = put_record(queue, command, record);
    if (status != OMPRMA_OK) {
        operation_drop(pool_of(queue), command);
        return status;
    }
    command->replies = record->flags & WIRE_REPLY;
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

/* ---- what this side moves ---- */

static void set_ranges(struct operation *operation, const struct transfer *transfer)
{
    operation->move.transfer = *transfer;
    operation->device_at = transfer->remote;
    operation->device_bytes = operation->host_bytes = transfer->bytes;
    operation->host_at = (uint64_t)(uintptr_t)transfer->local;
    operation->fills_host = transfer->direction == TRANSFER_IN;
}

omprma_status_t queue_append_read(struct omprma_queue *queue, struct wire_record *record, void *to,
                                  bool may_fail)
{
    struct operation *read;
    omprma_status_t status = queue_append_command(queue, OPERATION_READ, record, &read);

    if (status != OMPRMA_OK)
        return status;
    read->host_at = (uint64_t)(uintptr_t)to;
    read->host_bytes = record->word[1];
    read->fills_host = true;
    read->may_fail = may_fail;
    queue->hosts++;
    return OMPRMA_OK;
}

omprma_status_t queue_append_transfer(struct omprma_queue *queue, const struct transfer *transfer,
                                      struct operation **operation)
{
    struct operation *move = operation_take(pool_of(queue), OPERATION_TRANSFER), *before = NULL;

    if (!move)
        return OMPRMA_ERR_HOST_MEMORY;
    set_ranges(move, transfer);
    move->move.kind = move->fills_host ? STATS_RETRIEVE : STATS_SUBMIT;
    move->counts = true;
    move->number = queue->appended;
    if (order_may_pass(queue, transfer->remote, transfer->bytes)) {
        before = queue->open_first;
        move->number = before->number - 1;
    } else if (queue->open) {
        queue_want(queue, queue->appended); /* it must see what the message does */
        if (!move->fills_host)
            queue_seal(queue);
    }
    insert(queue, move, before);
    queue_attend(queue);
    if (operation)
        *operation = move;
    return OMPRMA_OK;
}

omprma_status_t queue_append_half(struct omprma_queue *queue, struct wire_record *record,
                                  const struct transfer *transfer, enum stats_kind kind,
                                  struct operation **operation)
{
    struct operation *half;
    omprma_status_t status = queue_append_command(queue, OPERATION_HALF, record, &half);

    if (status != OMPRMA_OK)
        return status;
    set_ranges(half, transfer);
    half->device_at = record->word[0];
    half->move.kind = kind;
    queue->hosts++;
    if (operation)
        *operation = half;
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
    wait->with = use == WAIT_EXCHANGE ? target->queue->device : NULL;
    wait->counts = true;
    wait->number = queue->appended;
    insert(queue, wait, NULL);
    queue_attend(queue);
    return OMPRMA_OK;
}

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
    return queue_append_command(queue, OPERATION_COMMAND, &record, NULL);
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
    insert(queue, work, NULL);
    queue_attend(queue);
    if (operation)
        *operation = work;
    return OMPRMA_OK;
}

static bool can_share(const struct omprma_queue *queue)
{
    const struct operation *last = queue->last;

    return last && last->kind == OPERATION_MARK && !last->mark.completion &&
           last->ordinal == queue->ordinal && !queue->failed;
}

/* At the end of the list. What has failed and was not cleared came before it as well. */
static struct operation *append_mark(struct omprma_queue *queue, struct completion *completion)
{
    struct operation *mark = operation_take(pool_of(queue), OPERATION_MARK);

    if (!mark)
        return NULL;
    mark->number = queue->appended;
    mark->state = OPERATION_ISSUED;
    mark->failure = queue->failed ? failure_hold(queue->failed) : NULL;
    mark->mark.completion = completion;
    insert(queue, mark, NULL);
    return mark;
}

omprma_status_t queue_mark(struct omprma_queue *queue, struct operation **mark)
{
    *mark = NULL;
    if (!queue->first && !queue->writes_first && !queue->failed)
        return OMPRMA_OK;
    *mark = can_share(queue) ? queue->last : append_mark(queue, NULL);
    if (!*mark)
        return OMPRMA_ERR_HOST_MEMORY;
    operation_hold(*mark);
    queue_end_marks(queue);
    return OMPRMA_OK;
}

omprma_status_t queue_notify(struct omprma_queue *queue, struct completion *completion)
{
    struct operation *mark = append_mark(queue, completion);

    if (!mark)
        return OMPRMA_ERR_HOST_MEMORY;
    queue_push(mark);
    queue_end_marks(queue);
    return OMPRMA_OK;
}

/* ---- the end ---- */

/* Those that wait for it look again. */
static void release_waiters(struct operation *operation)
{
    struct operation *waiter;

    while ((waiter = operation->waiters) != NULL) {
        operation->waiters = waiter->next_waiter;
        waiter->awaited = NULL;
        queue_attend(waiter->queue);
    }
}

/* It waits for nothing any more. */
static void stop_awaiting(struct operation *operation)
{
    struct operation **link;

    if (!operation->awaited)
        return;
    link = &operation->awaited->waiters;
    while (*link != operation)
        link = &(*link)->next_waiter;
    *link = operation->next_waiter;
    operation->awaited = NULL;
}

static void deactivate(struct omprma_queue *queue, const struct operation *operation)
{
    struct operation **link = &queue->active;

    while (*link && *link != operation)
        link = &(*link)->next_active;
    if (*link)
        *link = operation->next_active;
}

/* What belongs to it goes. */
static void release(struct operation *operation)
{
    struct omprma_queue *queue = operation->queue;

    if (operation->opens && operation->message)
        channel_drop(queue->device->runtime->channel, operation->message);
    operation->message = NULL;
    if (operation->kind == OPERATION_TRANSFER) {
        queue->transfers -= operation->state == OPERATION_ISSUED;
        free(operation->move.copy);
    } else if (operation->kind == OPERATION_WAIT) {
        operation_drop(pool_of(queue), operation->wait.target);
    } else if (operation->kind == OPERATION_TASK && !operation->task.in_step) {
        operation->task.task->end(operation);
    }
    if (operation->state == OPERATION_ISSUED && operation->kind >= OPERATION_HALF)
        deactivate(queue, operation);
}

/* The second half of an exchange whose first will never leave. */
static void let_partner_go(struct operation *operation)
{
    struct omprma_queue *partner = operation->releases;

    operation->releases = NULL;
    if (!partner)
        return;
    partner->held = false;
    queue_fail(partner, NULL, operation->failure->status, operation->failure->text);
}

static void note_end(struct operation *operation)
{
    struct omprma_queue *queue = operation->queue;

    if (operation->closes)
        queue->unanswered--;
    if (operation->closes && operation->start_ns && operation->kind != OPERATION_HALF)
        trace_add(queue->device->runtime, "segment", "control", queue->device->number,
                  operation->start_ns, trace_now(queue->device->runtime), 0);
    if (operation->kind == OPERATION_MARK && operation->mark.completion) {
        operation->mark.completion->status =
            operation->failure ? operation->failure->status : OMPRMA_OK;
        completions_add(&queue->device->runtime->completions, operation->mark.completion);
    }
}

/* Takes an issued small submit out of the queue's writes; it is the first one. */
static void take_write(struct omprma_queue *queue, const struct operation *write)
{
    queue->writes_first = write->next;
    if (!queue->writes_first)
        queue->writes_last = NULL;
}

void queue_end_operation(struct operation *operation, struct failure *failure)
{
    struct omprma_queue *queue = operation->queue;

    if (failure && !operation->failure)
        operation->failure = failure_hold(failure);
    stop_awaiting(operation);
    if (operation->kind == OPERATION_WRITE && operation->state == OPERATION_ISSUED)
        take_write(queue, operation);
    else
        queue_unlist(operation);
    release(operation);
    note_end(operation);
    operation->state = OPERATION_ENDED;
    let_partner_go(operation);
    release_waiters(operation);
    operation_drop(pool_of(queue), operation);
}

void queue_end_marks(struct omprma_queue *queue)
{
    struct operation *mark;

    while ((mark = queue->first) != NULL && mark->kind == OPERATION_MARK &&
           (!queue->writes_first || queue->writes_first->number > mark->number))
        queue_end_operation(mark, NULL);
}

/* ---- failure ---- */

/* What fails with an operation of the list, and how. */
static void fail_one(struct operation *operation, bool at, struct failure *failure)
{
    bool ends = operation->state == OPERATION_APPENDED || operation->moved ||
                (at && operation->kind != OPERATION_TASK) || operation->kind == OPERATION_WAIT ||
                (operation_is_command(operation) && operation->kind != OPERATION_HALF);

    if (ends) {
        queue_end_operation(operation, failure);
        return;
    }
    /* What this side has begun comes to its end by itself. The worker takes part in its half of a
     * transfer even so, but does not answer as before. */
    operation->answered = true;
    if (!operation->failure)
        operation->failure = failure_hold(failure);
}

/* Events share the failure of what was appended before them, and of nothing else. */
static void fail_marks(struct omprma_queue *queue, uint64_t ordinal, struct failure *failure)
{
    for (struct operation *o = queue->first; o; o = o->next) {
        if (o->kind != OPERATION_MARK)
            continue;
        if (o->ordinal > ordinal && !o->failure)
            o->failure = failure_hold(failure);
        if (o->number > queue->issued) /* what was between will never be sent */
            o->number = queue->issued;
    }
}

static void note_failure(struct omprma_queue *queue, struct failure *failure)
{
    if (!queue->failed)
        queue->failed = failure_hold(failure);
    queue->failures++;
    queue->appended = queue->issued; /* the rest is gone */
    if (queue->hazard > queue->issued)
        queue->hazard = queue->issued;
    queue_attend(queue);
    progress_signal(queue->device->runtime);
}

void queue_fail(struct omprma_queue *queue, struct operation *at, omprma_status_t status,
                const char *text)
{
    struct failure *failure = failure_create(status, text);
    struct operation *operation = at ? at : queue->next, *next;
    uint64_t ordinal = UINT64_MAX;

    queue_seal(queue);
    for (; operation; operation = next) {
        next = skip_marks(operation->next);
        if (operation->kind == OPERATION_MARK)
            continue;
        if (operation->ordinal < ordinal)
            ordinal = operation->ordinal;
        fail_one(operation, operation == at, failure);
    }
    fail_marks(queue, ordinal, failure);
    note_failure(queue, failure);
    queue_end_marks(queue);
    failure_drop(failure);
}

const char *queue_name_exchange(const struct omprma_queue *queue, const struct operation *of,
                                const char *text, char *named, size_t bytes)
{
    const struct device *with = of ? of->with : NULL;

    for (const struct operation *o = of ? NULL : queue->first; o && !with; o = o->next)
        with = o->with;
    if (!with)
        return text;
    snprintf(named, bytes, "exchange from device %d to device %d: %s", queue->device->number,
             with->number, text);
    return named;
}

/* MPI may still move what it was given; so a copy that it reads stays. */
static void abandon(struct operation *operation)
{
    struct runtime *runtime = operation->queue->device->runtime;

    if (operation->state != OPERATION_ISSUED)
        return;
    if (operation->kind == OPERATION_TRANSFER)
        datapath_abandon(runtime->one_sided, &operation->move.transfer);
    else if (operation->kind == OPERATION_HALF && operation->move.started && !operation->moved)
        datapath_abandon(runtime->two_sided, &operation->move.transfer);
    if (operation->kind == OPERATION_TRANSFER)
        operation->move.copy = NULL;
}

void queue_lose(struct omprma_queue *queue, const char *text)
{
    char named[700];
    struct failure *failure = failure_create(
        OMPRMA_ERR_DEVICE_LOST, queue_name_exchange(queue, NULL, text, named, sizeof(named)));

    queue_seal(queue);
    while (queue->writes_first)
        queue_end_operation(queue->writes_first, failure);
    while (queue->first) {
        abandon(queue->first);
        queue_end_operation(queue->first, failure);
    }
    note_failure(queue, failure);
    failure_drop(failure);
}

void queue_keep_memory(struct omprma_queue *queue, const struct device *lost)
{
    for (struct operation *o = queue->first; o; o = o->next) {
        if (o->with == lost && o->kind != OPERATION_TASK)
            queue->device->keeps_memory = true;
        else if (o->with && queue->device == lost && o->kind != OPERATION_TASK)
            o->with->keeps_memory = true;
    }
}

/* ---- memory of this process ---- */

bool queue_uses(const struct omprma_queue *queue, const void *host, uint64_t bytes, bool fill)
{
    uint64_t begin = (uint64_t)(uintptr_t)host;

    if (queue->hosts == 0)
        return false;
    for (const struct operation *o = queue->first; o; o = o->next)
        if (o->host_bytes && (o->fills_host || (fill && o->kind == OPERATION_HALF)) &&
            begin < o->host_at + o->host_bytes && o->host_at < begin + bytes)
            return true;
    return false;
}
