/* relay.c: see relay.h. Each of the two devices has a queue of ours for the parts, so that no order
 * between users' queues can hold them up. */
#include "host/relay.h"

#include <stdlib.h>

#include "base/error.h"
#include "host/append.h"
#include "host/helper.h"
#include "host/issue.h"
#include "host/order.h"
#include "host/submit.h"

enum { PARTS = 2 /* of memory: one is filled while the other is emptied */ };

struct part {
    enum { PART_FREE, PART_READ, PART_WRITTEN } state;
    char *memory;
    uint64_t at, bytes;     /* of the exchange */
    struct operation *step; /* reference: reads it, or writes it */
};

struct relay {
    struct exchange exchange;
    struct relay *next; /* of those that wait for their turn */
    bool waits;
    bool failed;
    struct omprma_queue *reader, *writer;
    uint64_t part_bytes, begun; /* begun: so far */
    struct part part[PARTS];
    char *memory; /* NULL: not started */
};

/* ---- turns ---- */

static void wait_for_turn(struct relay *relay, struct runtime *runtime)
{
    if (relay->waits)
        return;
    relay->waits = true;
    relay->next = NULL;
    if (runtime->relay_last)
        runtime->relay_last->next = relay;
    else
        runtime->relay_first = relay;
    runtime->relay_last = relay;
}

static void stop_waiting(struct relay *relay, struct runtime *runtime)
{
    struct relay **link = &runtime->relay_first, *last = NULL;

    if (!relay->waits)
        return;
    relay->waits = false;
    while (*link != relay) {
        last = *link;
        link = &last->next;
    }
    *link = relay->next;
    if (runtime->relay_last == relay)
        runtime->relay_last = last;
}

static void wake_next(const struct runtime *runtime)
{
    if (runtime->relays < RELAYS_MOST && runtime->relay_first)
        queue_attend(runtime->relay_first->exchange.queue);
}

/* ---- start and end ---- */

static omprma_status_t take_memory(struct relay *relay)
{
    const struct exchange *x = &relay->exchange;
    uint64_t most = (uint64_t)x->queue->device->runtime->config.piece;

    if (most > RELAY_PART_MOST)
        most = RELAY_PART_MOST;
    if (most > x->bytes)
        most = x->bytes;
    relay->part_bytes = most;
    relay->memory = malloc(PARTS * most);
    if (!relay->memory)
        return error_set(OMPRMA_ERR_HOST_MEMORY,
                         "no memory for an exchange through the application");
    for (int i = 0; i < PARTS; i++)
        relay->part[i].memory = relay->memory + (uint64_t)i * most;
    return OMPRMA_OK;
}

/* Takes all that it needs, or nothing. */
static omprma_status_t open(struct relay *relay)
{
    const struct exchange *x = &relay->exchange;
    omprma_status_t status = device_check_alive(x->to_device);

    if (status == OMPRMA_OK)
        status = take_memory(relay);
    if (status == OMPRMA_OK)
        status = queue_take(x->queue->device, &relay->reader);
    if (status == OMPRMA_OK)
        status = queue_take(x->to_device, &relay->writer);
    if (status == OMPRMA_OK)
        return OMPRMA_OK;
    if (relay->reader)
        queue_give(relay->reader);
    free(relay->memory);
    relay->memory = NULL;
    return status;
}

/* With what it names, for the queue's user. */
static omprma_status_t report(const struct relay *relay, omprma_status_t status, const char *text)
{
    return error_set(status, "exchange from device %d to device %d: %s",
                     relay->exchange.queue->device->number, relay->exchange.to_device->number,
                     text);
}

static struct operation_pool *pool_of(const struct relay *relay)
{
    return &relay->exchange.queue->device->runtime->operations;
}

/* Small submits that somebody's kernel may hold up are waited for without memory. */
static bool waits_for_write(struct operation *task, struct device *device, omprma_addr_t begin,
                            uint64_t bytes)
{
    struct operation *write = device->lost ? NULL : order_next_write(device, begin, bytes, NULL);

    if (!write)
        return false;
    order_await(task, write);
    queue_want(write->queue, write->number);
    return true;
}

static omprma_status_t start(struct operation *task, bool *started)
{
    struct relay *relay = task->task.data;
    const struct exchange *x = &relay->exchange;
    struct device *from = x->queue->device;
    struct runtime *runtime = from->runtime;
    omprma_status_t status;
    bool waits;

    waits = waits_for_write(task, from, x->from, x->bytes);
    if (!operation_has_ended(task) && !waits)
        waits = waits_for_write(task, x->to_device, x->to, x->bytes);
    if (operation_has_ended(task)) /* by asking: the device is lost */
        return OMPRMA_OK;
    if (waits) {
        stop_waiting(relay, runtime); /* others can go on */
        wake_next(runtime);
        return OMPRMA_OK;
    }
    if (runtime->relays == RELAYS_MOST || (runtime->relay_first && runtime->relay_first != relay)) {
        wait_for_turn(relay, runtime);
        return OMPRMA_OK;
    }
    stop_waiting(relay, runtime);
    status = open(relay);
    *started = status == OMPRMA_OK;
    if (*started)
        runtime->relays++;
    wake_next(runtime);
    return *started ? OMPRMA_OK : report(relay, status, error_text());
}

/* Of a queue whose device was lost, or that was stuck, MPI may still move what it was given. */
static bool is_abandoned(const struct part *part)
{
    return part->step && part->step->failure && operation_has_ended(part->step) &&
           (part->step->failure->status == OMPRMA_ERR_DEVICE_LOST ||
            part->step->failure->status == OMPRMA_ERR_STUCK);
}

static void end(struct operation *task)
{
    struct relay *relay = task->task.data;
    struct runtime *runtime = relay->exchange.queue->device->runtime;

    stop_waiting(relay, runtime);
    if (relay->memory) {
        runtime->relays--;
        helper_let_go(relay->reader, OMPRMA_OK);
        helper_let_go(relay->writer, OMPRMA_OK);
    }
    for (int i = 0; i < PARTS; i++) {
        if (is_abandoned(&relay->part[i]) ||
            (relay->part[i].step && !operation_has_ended(relay->part[i].step)))
            relay->memory = NULL;
        operation_drop(pool_of(relay), relay->part[i].step);
    }
    wake_next(runtime);
    free(relay->memory);
    free(relay);
}

/* ---- the parts ---- */

static omprma_status_t move_part(struct relay *relay, struct part *part, bool submit)
{
    const struct exchange *x = &relay->exchange;
    struct omprma_queue *queue = submit ? relay->writer : relay->reader;
    omprma_status_t status;

    operation_drop(pool_of(relay), part->step);
    part->step = NULL;
    status = submit_part(queue, submit, (submit ? x->to : x->from) + part->at, part->memory,
                         part->bytes, submit ? x->to_arena : x->from_arena, &part->step);
    part->state = submit ? PART_WRITTEN : PART_READ;
    queue_advance(queue);
    return status;
}

static omprma_status_t part_advance(struct relay *relay, struct part *part)
{
    uint64_t left;

    if (part->step && !operation_has_ended(part->step)) {
        queue_push(part->step);
        return OMPRMA_OK;
    }
    if (part->state == PART_READ)
        return move_part(relay, part, true);
    part->state = PART_FREE;
    left = relay->exchange.bytes - relay->begun;
    if (left == 0)
        return OMPRMA_OK;
    part->at = relay->begun;
    part->bytes = left < relay->part_bytes ? left : relay->part_bytes;
    relay->begun += part->bytes;
    return move_part(relay, part, false);
}

/* No further parts begin; those under way end. */
static void fail(struct relay *relay, omprma_status_t status, const char *text)
{
    relay->failed = true;
    queue_fail(relay->reader, NULL, status, text);
    queue_fail(relay->writer, NULL, status, text);
}

/* What one of the devices says, or that the parts cannot go on. */
static omprma_status_t parts_advance(struct relay *relay)
{
    const struct omprma_queue *ends[] = {relay->reader, relay->writer};

    for (int i = 0; i < PARTS; i++) {
        omprma_status_t status;

        for (int k = 0; k < 2; k++)
            if (ends[k]->failed)
                return report(relay, ends[k]->failed->status, ends[k]->failed->text);
        status = part_advance(relay, &relay->part[i]);
        if (status != OMPRMA_OK)
            return report(relay, status, error_text());
    }
    return OMPRMA_OK;
}

/* The queue may hold something from before that nobody has asked about. */
static bool has_ended(struct omprma_queue *queue)
{
    if (queue_is_idle(queue))
        return true;
    queue_want(queue, queue->hazard);
    return false;
}

static bool is_over(struct relay *relay)
{
    bool over = relay->failed || relay->begun == relay->exchange.bytes;

    for (int i = 0; i < PARTS && !relay->failed; i++)
        over = over && relay->part[i].state == PART_FREE;
    return over && has_ended(relay->reader) && has_ended(relay->writer);
}

static omprma_status_t step(struct operation *task, bool *done)
{
    struct relay *relay = task->task.data;
    omprma_status_t status = OMPRMA_OK;

    if (!relay->failed && task->failure) {
        fail(relay, task->failure->status, task->failure->text); /* nobody wants it any more */
    } else if (!relay->failed) {
        status = parts_advance(relay);
        if (status != OMPRMA_OK && !operation_has_ended(task))
            fail(relay, status, error_text());
    }
    *done = !operation_has_ended(task) && is_over(relay);
    return status;
}

omprma_status_t relay_append(const struct exchange *x, struct operation **arrived)
{
    static const struct operation_task task = {.start = start, .step = step, .end = end};
    struct relay *relay = calloc(1, sizeof(*relay));
    struct operation *operation;
    omprma_status_t status;

    if (!relay)
        return error_set(OMPRMA_ERR_HOST_MEMORY,
                         "no memory for an exchange through the application");
    relay->exchange = *x;
    status = queue_append_task(x->queue, &task, relay, &operation);
    if (status != OMPRMA_OK) {
        free(relay);
        return status;
    }
    operation->with = x->to_device;
    *arrived = operation_hold(operation);
    queue_advance(x->queue);
    return OMPRMA_OK;
}
