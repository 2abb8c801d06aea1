/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * queue.c: the list of a queue, with the counts that are kept beside it; who is asked for the end
 * of what; and the one function that ends operations. A failure ends what has not begun behind it,
 * and marks what this side has begun, which ends by itself. If the device is lost all of it ends,
 * and what is under way is left to its path.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "host/core/attach_order.h"
#include "host/core/progress.h"
#include "host/queue/queue.h"

enum { QUEUES_MOST = 65536 /* of a device */ };

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

static void count_on(struct device *device, int more)
{
    _Atomic uint32_t *all = &device->unsettled; /* written with the lock only */

    atomic_store_explicit(all, atomic_load_explicit(all, memory_order_relaxed) + (uint32_t)more,
                          memory_order_relaxed);
}

static void count_unsettled(struct omprma_queue *queue, int more)
{
    queue->unsettled += (uint32_t)more;
    if (more > 0 && queue->unsettled == 1)
        progress_rouse(queue->device->runtime);
    count_on(queue->device, more);
}

static void count_used(struct device *device, int more)
{
    device->used += (uint32_t)more;
    count_on(device, more);
}

/* Nobody needs to wait for a mark, unless it calls somebody. */
static bool counts_as_unsettled(const struct operation *operation)
{
    return operation->kind != OPERATION_MARK || operation->mark.completion;
}

void queue_insert(struct omprma_queue *queue, struct operation *operation, struct operation *before)
{
    operation->queue = queue;
    observe_appended(queue->device->runtime->observers, operation, queue_is_idle(queue));
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
    count_unsettled(queue, counts_as_unsettled(operation));
    if (operation->kind == OPERATION_MARK)
        return;
    if (queue->next == before)
        queue->next = operation;
    queue->entries += operation->counts;
    host_ranges_add(&queue->hosts, operation);
    queue->mixed += operation->kind >= OPERATION_TRANSFER;
}

void queue_use(struct operation *operation, struct device *device)
{
    operation->with = device;
    count_used(device, 1);
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
    count_unsettled(queue, -counts_as_unsettled(operation));
    if (operation->with)
        count_used(operation->with, -1);
    if (operation->kind == OPERATION_MARK)
        return;
    queue->entries -= operation->counts;
    host_ranges_remove(&queue->hosts, operation);
    queue->mixed -= operation->kind >= OPERATION_TRANSFER;
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

void queue_attend(struct omprma_queue *queue)
{
    struct runtime *runtime = queue->device->runtime;

    if (queue->busy)
        return;
    queue->busy = true;
    queue->next_busy = NULL;
    if (runtime->busy_last)
        runtime->busy_last->next_busy = queue;
    else
        runtime->busy_first = queue;
    runtime->busy_last = queue;
    runtime->busy_count++;
}

/* ---- asking ---- */

/* A fence outside the order of the messages: it takes the number of the command that was sent last,
 * whose end it reports. */
static void ask(struct omprma_queue *queue)
{
    struct wire_record record = {
        .code = WIRE_FENCE,
        .flags = WIRE_REPLY,
        .device = queue->device->index,
        .queue = queue->number,
        .op = (uint32_t)queue->issued,
    };
    omprma_status_t status = peer_send_record(queue->device->peer, &record, false);

    queue->must_ask = status == OMPRMA_ERR_HOST_MEMORY; /* at the next turn */
    if (queue->must_ask)
        queue_attend(queue);
    else
        queue->asked = queue->issued; /* else the device is lost, and so is the queue */
}

void queue_want(struct omprma_queue *queue, uint64_t number)
{
    if (number <= queue->asked)
        return;
    if (number <= queue->issued) {
        if (!queue->device->lost)
            ask(queue);
        return;
    }
    for (struct operation *o = queue->last; o; o = o->prev) {
        if (!operation_is_command(o) || o->number > number)
            continue;
        o->wanted = true; /* its message will ask */
        return;
    }
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
    if (*link) {
        *link = operation->next_active;
        queue->device->runtime->moving--;
    }
}

/* Regions come again and again, each with a list of its own. */
static void parts_release(struct omprma_queue *queue, struct read_parts *parts)
{
    if (parts && !queue->spare_parts)
        queue->spare_parts = parts;
    else
        free(parts);
}

/* What belongs to it goes. */
static void release(struct operation *operation)
{
    struct omprma_queue *queue = operation->queue;

    if (operation->opens && operation->message)
        channel_drop(queue->device->runtime->channel, operation->message);
    operation->message = NULL;
    if (operation->kind == OPERATION_TRANSFER) {
        queue->transfers -=
            operation->state == OPERATION_ISSUED && !operation_has_command(operation);
        free(operation->move.copy);
    }
    parts_release(queue, operation->parts);
    operation->parts = NULL;
    if (operation->task.task && !operation->task.in_step)
        operation->task.task->end(operation);
    if (operation->state == OPERATION_ISSUED && operation->kind == OPERATION_TRANSFER)
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
    if (operation->failure)
        queue_fail_coded(partner, NULL, operation->failure->status, operation->failure->code,
                         operation->failure->text);
}

static void note_end(struct operation *operation)
{
    struct omprma_queue *queue = operation->queue;

    if (operation->closes)
        queue->unanswered--;
    if (operation->state == OPERATION_ISSUED)
        attach_order_note_access(operation, -1);
    observe_ended(queue->device->runtime->observers, operation);
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
    queue->device->runtime->moves++;
    release(operation);
    note_end(operation);
    if (operation->kind == OPERATION_WAIT)
        operation_drop(pool_of(queue), operation->wait.target);
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
    bool ends = operation->state == OPERATION_APPENDED || operation->kind == OPERATION_WAIT ||
                operation_is_command(operation) ||
                (at && operation->kind == OPERATION_TRANSFER && !operation->task.task);

    if (ends) {
        queue_end_operation(operation, failure);
        return;
    }
    /* What this side has begun comes to its end by itself: the worker takes part in a two-sided
     * transfer even so. */
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
}

/* Small submits from `number` on, which the worker will refuse. Returns the ordinal of the first.
 */
static uint64_t fail_writes(struct omprma_queue *queue, uint64_t number, struct failure *failure)
{
    struct operation *kept = queue->writes_first, *last = NULL;
    uint64_t ordinal = UINT64_MAX;

    while (queue->writes_first && queue->writes_first->number < number) {
        last = queue->writes_first;
        queue->writes_first = last->next;
    }
    if (queue->writes_first)
        ordinal = queue->writes_first->ordinal;
    while (queue->writes_first)
        queue_end_operation(queue->writes_first, failure);
    if (!last)
        return ordinal;
    queue->writes_first = kept;
    queue->writes_last = last;
    last->next = NULL;
    return ordinal;
}

/* Where the list fails when an operation, of the list or of the writes, does. */
static struct operation *first_to_fail(const struct omprma_queue *queue, struct operation *at)
{
    struct operation *operation = at ? at : queue->next;

    if (!at || at->kind != OPERATION_WRITE || at->state != OPERATION_ISSUED)
        return operation;
    operation = queue->first;
    while (operation && operation->ordinal < at->ordinal)
        operation = operation->next;
    return operation;
}

void queue_fail_coded(struct omprma_queue *queue, struct operation *at, omprma_status_t status,
                      int code, const char *text)
{
    struct failure *failure = failure_create(status, code, text);
    struct operation *operation = first_to_fail(queue, at), *next;
    uint64_t ordinal = UINT64_MAX;

    queue_seal(queue);
    if (at && operation_is_command(at))
        ordinal = fail_writes(queue, at->number, failure);
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
    progress_signal(queue->device->runtime);
    failure_drop(failure);
    if (queue->first) /* the message that was to ask for what is left may be gone */
        queue_want(queue, queue->issued);
}

void queue_fail(struct omprma_queue *queue, struct operation *at, omprma_status_t status,
                const char *text)
{
    queue_fail_coded(queue, at, status, 0, text);
}

const char *queue_name_exchange(const struct omprma_queue *queue, const struct operation *of,
                                const char *text, char *named, size_t bytes)
{
    for (const struct operation *o = queue->first; !of && o; o = o->next)
        of = o->with && !o->is_part ? o : NULL;
    if (!of || !of->with || of->is_part)
        return text;
    snprintf(named, bytes, "exchange from device %d to device %d: %s", queue->device->number,
             of->with->number, text);
    return named;
}

/* MPI may still move what it was given; so a copy that it reads stays. */
static void abandon(struct operation *operation)
{
    if (operation->kind != OPERATION_TRANSFER || !operation->start_ns)
        return;
    if (operation->by->abandon)
        operation->by->abandon(operation);
    operation->move.copy = NULL;
}

void queue_lose(struct omprma_queue *queue, omprma_status_t status, const char *text)
{
    char named[ERROR_TEXT_BYTES];
    struct failure *failure =
        failure_create(status, queue->device->lost_code,
                       queue_name_exchange(queue, NULL, text, named, sizeof(named)));

    queue_seal(queue);
    while (queue->writes_first)
        queue_end_operation(queue->writes_first, failure);
    while (queue->first) {
        abandon(queue->first);
        queue_end_operation(queue->first, failure);
    }
    note_failure(queue, failure);
    progress_signal(queue->device->runtime);
    failure_drop(failure);
}

void queue_keep_memory(struct omprma_queue *queue, const struct device *lost)
{
    for (struct operation *o = queue->first; o; o = o->next) {
        if (o->with == lost && o->kind != OPERATION_TASK)
            queue->device->memory->keeps = true;
        else if (o->with && queue->device == lost && o->kind != OPERATION_TASK)
            o->with->memory->keeps = true;
    }
}

/* ---- queues as a whole ---- */

static struct omprma_queue *new_queue(struct device *device)
{
    struct omprma_queue *queue;

    if (device->queue_count == QUEUES_MOST)
        return NULL;
    if (device->queue_count == device->queue_capacity) {
        uint32_t capacity = device->queue_capacity ? 2 * device->queue_capacity : 16;
        struct omprma_queue **queues = realloc(device->queues, capacity * sizeof(*queues));

        if (!queues)
            return NULL;
        device->queues = queues;
        device->queue_capacity = capacity;
    }
    queue = calloc(1, sizeof(*queue));
    if (!queue)
        return NULL;
    queue->device = device;
    queue->number = device->queue_count;
    device->queues[device->queue_count++] = queue;
    return queue;
}

omprma_status_t queue_take(struct device *device, struct omprma_queue **out)
{
    struct omprma_queue *queue = device->free_queues;

    if (queue)
        device->free_queues = queue->next_free;
    else
        queue = new_queue(device);
    if (!queue)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "%s: no memory for another queue, %u exist",
                         device_name(device), device->queue_count);
    queue->in_use = true;
    *out = queue;
    return OMPRMA_OK;
}

void queue_give(struct omprma_queue *queue)
{
    queue->in_use = false;
    queue->is_programs = queue->unwaited = false;
    queue->observed = (struct observed_queue){0};
    operation_drop(&queue->device->runtime->operations, queue->sender);
    queue->sender = NULL;
    queue->next_free = queue->device->free_queues;
    queue->device->free_queues = queue;
}

/* What nobody waited for is all that can be left. Touches no other queue or device: those may be
 * gone. */
void queue_free(struct omprma_queue *queue)
{
    while (queue->writes_first)
        queue_end_operation(queue->writes_first, NULL);
    while (queue->first) {
        queue->first->with = NULL;
        queue_end_operation(queue->first, NULL);
    }
    failure_drop(queue->failed);
    operation_drop(&queue->device->runtime->operations, queue->sender);
    free(queue->spare_parts);
    free(queue);
}
