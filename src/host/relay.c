/* relay.c: see relay.h. Each of the two devices has a queue of ours for the parts, so that no order
 * between users' queues can hold them up. */
#include "host/relay.h"

#include <stdlib.h>

#include "base/error.h"
#include "host/operation.h"

enum { PARTS = 2 /* of memory: one is filled while the other is emptied */ };

struct part {
    enum { PART_FREE, PART_READ, PART_WRITTEN } state;
    char *memory;
    uint64_t at, bytes;       /* of the exchange */
    struct queue_place place; /* when it has been read, or written */
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

omprma_status_t relay_append(const struct exchange *x, struct queue_place *arrived)
{
    struct relay *relay = calloc(1, sizeof(*relay));
    omprma_status_t status;

    if (!relay)
        return error_set(OMPRMA_ERR_HOST_MEMORY,
                         "no memory for an exchange through the application");
    relay->exchange = *x;
    status = queue_append_relay(x->queue, relay);
    if (status != OMPRMA_OK) {
        free(relay);
        return status;
    }
    *arrived = queue_end(x->queue);
    queue_advance(x->queue);
    return OMPRMA_OK;
}

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

/* Small submits that somebody's kernel may hold up are waited for without memory. */
static bool is_written(struct device *device, omprma_addr_t begin, uint64_t bytes)
{
    struct omprma_queue *writer =
        device->lost ? NULL : device_next_write(device, begin, begin + bytes, NULL);

    if (writer)
        queue_ask(writer);
    return writer != NULL;
}

omprma_status_t relay_start(struct relay *relay, bool *started)
{
    const struct exchange *x = &relay->exchange;
    struct device *from = x->queue->device;
    struct runtime *runtime = from->runtime;
    struct omprma_queue *queue = x->queue;
    uint64_t failures = queue->failures;
    omprma_status_t status;
    bool written;

    *started = false;
    written = is_written(from, x->from, x->bytes) || is_written(x->to_device, x->to, x->bytes);
    if (queue->failures != failures) /* by asking: there is no relay any more */
        return OMPRMA_OK;
    if (written) {
        stop_waiting(relay, runtime); /* others can go on */
        wake_next(runtime);
        queue_attend(queue);
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

const struct device *relay_target(const struct relay *relay)
{
    return relay->exchange.to_device;
}

/* Of a queue whose device was lost, transfers do not end. */
static bool is_in_use(const struct omprma_queue *queue)
{
    const struct queue_item *item = queue->first;

    while (item && !(item->kind == ITEM_TRANSFER && item->issued && !item->done))
        item = item->next;
    return item || queue->bulk;
}

void relay_end(struct relay *relay)
{
    struct runtime *runtime = relay->exchange.queue->device->runtime;

    stop_waiting(relay, runtime);
    if (relay->memory) {
        runtime->relays--;
        if (is_in_use(relay->reader) || is_in_use(relay->writer))
            relay->memory = NULL; /* given up: MPI may still move data there */
        exchange_let_go(relay->reader, OMPRMA_OK);
        exchange_let_go(relay->writer, OMPRMA_OK);
    }
    wake_next(runtime);
    relay_free(relay);
}

void relay_free(struct relay *relay)
{
    free(relay->memory);
    free(relay);
}

/* ---- the parts ---- */

static omprma_status_t read_part(struct relay *relay, struct part *part)
{
    const struct exchange *x = &relay->exchange;
    uint64_t left = x->bytes - relay->begun;
    omprma_status_t status;

    part->at = relay->begun;
    part->bytes = left < relay->part_bytes ? left : relay->part_bytes;
    relay->begun += part->bytes;
    status = operation_bulk(relay->reader, false, x->from + part->at, part->memory, part->bytes,
                            x->from_arena);
    part->place = queue_end(relay->reader);
    part->state = PART_READ;
    queue_advance(relay->reader);
    return status;
}

static omprma_status_t write_part(struct relay *relay, struct part *part)
{
    const struct exchange *x = &relay->exchange;
    omprma_status_t status = operation_bulk(relay->writer, true, x->to + part->at, part->memory,
                                            part->bytes, x->to_arena);

    part->place = queue_end(relay->writer);
    part->state = PART_WRITTEN;
    queue_advance(relay->writer);
    return status;
}

static omprma_status_t part_advance(struct relay *relay, struct part *part)
{
    omprma_status_t status = OMPRMA_OK;

    if (part->state != PART_FREE && !queue_passed(&part->place)) {
        queue_push(&part->place);
        return OMPRMA_OK;
    }
    if (part->state == PART_READ)
        return write_part(relay, part);
    part->state = PART_FREE;
    if (relay->begun < relay->exchange.bytes)
        status = read_part(relay, part);
    return status;
}

/* No further parts begin; those under way end. */
static void fail(struct relay *relay, omprma_status_t status, const char *text)
{
    relay->failed = true;
    queue_fail(relay->reader, status, text);
    queue_fail(relay->writer, status, text);
}

/* What one of the devices says, or that the parts cannot go on. */
static omprma_status_t parts_advance(struct relay *relay)
{
    const struct omprma_queue *ends[] = {relay->reader, relay->writer};

    for (int i = 0; i < PARTS; i++) {
        omprma_status_t status;

        for (int k = 0; k < 2; k++)
            if (ends[k]->failed != OMPRMA_OK)
                return report(relay, ends[k]->failed, ends[k]->failed_text);
        status = part_advance(relay, &relay->part[i]);
        if (status != OMPRMA_OK)
            return report(relay, status, error_text());
    }
    return OMPRMA_OK;
}

/* The queue may hold something from before that nobody has asked about. */
static bool has_ended(struct omprma_queue *queue)
{
    struct queue_place end = queue_end(queue);

    if (queue_idle(queue))
        return true;
    queue_push(&end);
    return false;
}

static bool is_over(struct relay *relay)
{
    bool over = relay->failed || relay->begun == relay->exchange.bytes;

    for (int i = 0; i < PARTS && !relay->failed; i++)
        over = over && relay->part[i].state == PART_FREE;
    return over && has_ended(relay->reader) && has_ended(relay->writer);
}

omprma_status_t relay_advance(struct relay *relay, bool *done)
{
    const struct omprma_queue *queue = relay->exchange.queue;
    omprma_status_t status = OMPRMA_OK;

    if (!relay->failed && queue->failed != OMPRMA_OK) {
        fail(relay, queue->failed, queue->failed_text); /* nobody wants it any more */
    } else if (!relay->failed) {
        status = parts_advance(relay);
        if (status != OMPRMA_OK)
            fail(relay, status, error_text());
    }
    *done = is_over(relay);
    return status;
}
