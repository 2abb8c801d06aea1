/* queue.c: order within a queue on the application's side. See queue.h. */
#include "host/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "host/trace.h"

enum { ACTIVE_TRANSFERS = 16 /* one-sided transfers of one queue under way at a time */ };

/* Operation numbers wrap around. */
static bool passed(uint32_t now, uint32_t op)
{
    return (int32_t)(now - op) >= 0;
}

/* ---- items ---- */

/* Items come and go with every region: the runtime keeps some. */
static struct queue_item *item_create(struct omprma_queue *queue, enum queue_item_kind kind)
{
    struct runtime *runtime = queue->device->runtime;
    struct queue_item *item = runtime->spare_items;

    if (item) {
        runtime->spare_items = item->next;
        memset(item, 0, sizeof(*item));
    } else {
        item = calloc(1, sizeof(*item));
    }
    if (!item) {
        error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for an operation of queue %u", queue->number);
        return NULL;
    }
    item->kind = kind;
    return item;
}

static void item_free(struct omprma_queue *queue, struct queue_item *item)
{
    item->next = queue->device->runtime->spare_items;
    queue->device->runtime->spare_items = item;
}

static void item_insert(struct omprma_queue *queue, struct queue_item *item,
                        struct queue_item *before)
{
    item->next = before;
    item->prev = before ? before->prev : queue->last;
    if (item->prev)
        item->prev->next = item;
    else
        queue->first = item;
    if (before)
        before->prev = item;
    else
        queue->last = item;
    queue->items++;
}

static void free_bulk(struct queue_bulk *bulk)
{
    while (bulk) {
        struct queue_bulk *next = bulk->next;

        free(bulk);
        bulk = next;
    }
}

static void item_remove(struct omprma_queue *queue, struct queue_item *item)
{
    if (item->prev)
        item->prev->next = item->next;
    else
        queue->first = item->next;
    if (item->next)
        item->next->prev = item->prev;
    else
        queue->last = item->prev;
    if (queue->open == item)
        queue->open = NULL;
    queue->items--;
    if (item->kind == ITEM_SEGMENT) {
        channel_drop(queue->device->runtime->channel, item->segment.message);
        free_bulk(item->segment.bulk);
        if (item->segment.receiver)
            queue_fail(item->segment.receiver, OMPRMA_ERR_DEVICE_LOST, "its source failed");
    } else if (item->kind == ITEM_TRANSFER) {
        free(item->transfer.copy);
    }
    item_free(queue, item);
}

/* ---- segments ---- */

static struct queue_item *segment_open(struct omprma_queue *queue)
{
    struct queue_item *item = item_create(queue, ITEM_SEGMENT);
    struct wire_buffer buffer;

    if (!item)
        return NULL;
    item->segment.message = channel_take(queue->device->runtime->channel);
    if (!item->segment.message) {
        item_free(queue, item);
        error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a control message");
        return NULL;
    }
    buffer = (struct wire_buffer){item->segment.message->data, 0, WIRE_MESSAGE_BYTES};
    wire_begin(&buffer);
    item->segment.message->bytes = buffer.used;
    item->segment.only_writes = true;
    item_insert(queue, item, NULL);
    queue->open = item;
    return item;
}

static void segment_seal(struct omprma_queue *queue, bool result)
{
    if (!queue->open)
        return;
    queue->open->segment.sealed = true;
    queue->open->segment.wants_result |= result;
    queue->open = NULL;
}

/* A segment with later items can be joined only by reads, and only if those items only read. */
static bool may_join(const struct omprma_queue *queue, unsigned code)
{
    const struct queue_item *item = queue->open;

    if (!item)
        return false;
    for (item = item->next; item; item = item->next)
        if (code != WIRE_READ || item->kind != ITEM_TRANSFER ||
            item->transfer.transfer.direction != TRANSFER_IN)
            return false;
    return true;
}

/* Notes in the segment, and in the queue, what the record means for others' order. */
static void segment_note(struct omprma_queue *queue, struct queue_item *item,
                         const struct wire_record *record)
{
    /* A write that asks for a result may fail: it goes outside arenas. */
    if (record->code == WIRE_WRITE && !(record->flags & WIRE_REPLY)) {
        device_remember_write(queue, record->word[0], record->tail_bytes, record->op);
        return;
    }
    item->segment.only_writes = false;
    queue->hazard_op = record->op;
}

omprma_status_t queue_append(struct omprma_queue *queue, struct wire_record *record, void **tail)
{
    struct queue_item *item;
    void *at = NULL;

    record->queue = queue->number;
    record->op = ++queue->next_op;
    for (int attempt = 0; attempt < 2 && !at; attempt++) {
        struct wire_buffer buffer;

        if (queue->open && !may_join(queue, record->code))
            segment_seal(queue, false);
        item = queue->open ? queue->open : segment_open(queue);
        if (!item)
            return OMPRMA_ERR_HOST_MEMORY;
        buffer = (struct wire_buffer){item->segment.message->data, item->segment.message->bytes,
                                      WIRE_MESSAGE_BYTES};
        at = wire_append(&buffer, record);
        if (at) {
            item->segment.last_record = item->segment.message->bytes;
            item->segment.message->bytes = buffer.used;
        } else {
            segment_seal(queue, false); /* full */
        }
    }
    if (!at)
        return error_set(OMPRMA_ERR_ARGUMENT, "a record of %u bytes does not fit in a message",
                         record->tail_bytes);
    item->segment.last_op = record->op;
    if (record->flags & WIRE_REPLY)
        item->segment.wants_result = true;
    segment_note(queue, item, record);
    if (tail)
        *tail = at;
    if (queue->first != queue->open || queue->waiters) /* a segment may be ready to leave */
        queue_attend(queue);
    return OMPRMA_OK;
}

static void read_free(struct omprma_queue *queue, struct queue_read *read)
{
    read->next = queue->device->runtime->spare_reads;
    queue->device->runtime->spare_reads = read;
}

omprma_status_t queue_expect(struct omprma_queue *queue, uint32_t op, void *to, uint32_t bytes)
{
    struct runtime *runtime = queue->device->runtime;
    struct queue_read *read = runtime->spare_reads;

    if (read)
        runtime->spare_reads = read->next;
    else
        read = malloc(sizeof(*read));

    if (!read)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a retrieve");
    *read = (struct queue_read){.to = to, .bytes = bytes, .op = op};
    if (queue->reads_last)
        queue->reads_last->next = read;
    else
        queue->reads_first = read;
    queue->reads_last = read;
    return OMPRMA_OK;
}

omprma_status_t queue_append_bulk(struct omprma_queue *queue, const struct transfer *transfer,
                                  enum stats_kind kind)
{
    struct queue_bulk *bulk = calloc(1, sizeof(*bulk)), **link = &queue->open->segment.bulk;

    if (!bulk)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a transfer");
    bulk->transfer = *transfer;
    bulk->kind = kind;
    bulk->op = queue->open->segment.last_op;
    while (*link) /* started in order */
        link = &(*link)->next;
    *link = bulk;
    return OMPRMA_OK;
}

static void segment_send(struct omprma_queue *queue, struct queue_item *item)
{
    struct channel_message *message = item->segment.message;
    struct device *device = queue->device;
    struct queue_bulk *bulk;

    if (item->segment.wants_result) {
        struct wire_buffer buffer = {message->data, message->bytes, WIRE_MESSAGE_BYTES};

        wire_want_reply(&buffer, item->segment.last_record);
        queue->asked_op = item->segment.last_op;
    }
    item->segment.message = NULL;
    item->segment.sent_ns = trace_now(device->runtime);
    item->issued = true;
    queue->sent_op = item->segment.last_op;
    item->segment.sealed = true;
    if (queue->open == item)
        queue->open = NULL;
    if (device_send(device, message, false) != OMPRMA_OK) {
        queue_fail(queue, OMPRMA_ERR_MPI, error_text());
        return;
    }
    while ((bulk = item->segment.bulk) != NULL) {
        item->segment.bulk = bulk->next;
        bulk->start_ns = clock_ns();
        if (datapath_start(device->runtime->two_sided, &bulk->transfer) != OMPRMA_OK) {
            queue_fail(queue, OMPRMA_ERR_MPI, error_text());
            free(bulk);
            continue;
        }
        bulk->next = queue->bulk;
        queue->bulk = bulk;
    }
    if (item->segment.receiver) {
        struct omprma_queue *receiver = item->segment.receiver;

        item->segment.receiver = NULL;
        queue_flush(receiver, true);
    }
}

omprma_status_t queue_append_wait(struct omprma_queue *queue, const struct queue_place *place)
{
    struct queue_item *item = item_create(queue, ITEM_WAIT);

    if (!item)
        return OMPRMA_ERR_HOST_MEMORY;
    segment_seal(queue, false);
    item->wait = *place;
    item->number = ++queue->next_number;
    item_insert(queue, item, NULL);
    queue_attend(queue);
    return OMPRMA_OK;
}

/* ---- one-sided transfers ---- */

static bool ranges_meet(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}

/* Two transfers that must not run at the same time. */
static bool conflict(const struct transfer *a, const struct transfer *b)
{
    bool both_in = a->direction == TRANSFER_IN && b->direction == TRANSFER_IN;
    bool both_out = a->direction == TRANSFER_OUT && b->direction == TRANSFER_OUT;

    return (!both_in && ranges_meet(a->remote, a->bytes, b->remote, b->bytes)) ||
           (!both_out && ranges_meet((uint64_t)(uintptr_t)a->local, a->bytes,
                                     (uint64_t)(uintptr_t)b->local, b->bytes));
}

omprma_status_t queue_append_transfer(struct omprma_queue *queue, const struct transfer *transfer,
                                      uint64_t *number)
{
    struct queue_item *item = item_create(queue, ITEM_TRANSFER), *open = queue->open,
                      *before = NULL;

    if (!item)
        return OMPRMA_ERR_HOST_MEMORY;
    item->transfer.transfer = *transfer;
    item->number = ++queue->next_number;
    item->transfer.after_op = queue->hazard_op;
    if (open && open == queue->last && open->segment.only_writes &&
        !writes_meet(&queue->writes, transfer->remote, transfer->remote + transfer->bytes,
                     queue->sent_op, queue->next_op)) {
        before = open;
    } else if (open) {
        /* It must see what the segment does, so the segment's result is wanted. */
        item->transfer.after_op = queue->next_op;
        open->segment.wants_result = true;
        if (transfer->direction == TRANSFER_OUT)
            segment_seal(queue, true);
    }
    item_insert(queue, item, before);
    *number = item->number;
    queue_attend(queue);
    return OMPRMA_OK;
}

struct queue_item *queue_find_transfer(struct omprma_queue *queue, uint64_t number)
{
    for (struct queue_item *item = queue->last; item; item = item->prev)
        if (item->kind == ITEM_TRANSFER && item->number == number)
            return item->done ? NULL : item;
    return NULL;
}

/* Whether a transfer that nothing unsent precedes may start now. *own: it waits for results of its
 * own queue, so that no attention is needed until they come. */
static bool transfer_may_start(struct omprma_queue *queue, struct queue_item *item, bool *own)
{
    const struct transfer *transfer = &item->transfer.transfer;
    struct omprma_queue *writer;

    if (!passed(queue->done_op, item->transfer.after_op)) {
        if (!passed(queue->asked_op, item->transfer.after_op))
            queue_ask(queue);
        *own = true;
        return false;
    }
    for (const struct queue_item *earlier = queue->first; earlier != item; earlier = earlier->next)
        if (earlier->kind == ITEM_TRANSFER && !earlier->done &&
            conflict(&earlier->transfer.transfer, transfer))
            return false;
    writer = device_find_write(queue->device, transfer->remote, transfer->remote + transfer->bytes);
    if (!writer)
        return true;
    queue_ask(writer);
    return false;
}

static void transfer_start(struct omprma_queue *queue, struct queue_item *item)
{
    item->issued = true;
    item->transfer.start_ns = clock_ns();
    device_keep_awake(queue->device);
    if (datapath_start(queue->device->runtime->one_sided, &item->transfer.transfer) != OMPRMA_OK) {
        item->done = true;
        queue_fail(queue, OMPRMA_ERR_MPI, error_text());
    }
}

static void account(struct device *device, const struct transfer *transfer, enum stats_kind kind,
                    enum path path, int64_t start_ns)
{
    struct stats_cell *cell = &device->stats.cell[kind][path];
    int64_t now = clock_ns();

    cell->operations++;
    cell->bytes += transfer->bytes;
    cell->ns += now - start_ns;
    trace_add(device->runtime, kind == STATS_SUBMIT ? "submit" : "retrieve", paths_names[path],
              device->number, start_ns, now, transfer->bytes);
}

static void transfer_test(struct omprma_queue *queue, struct queue_item *item)
{
    struct transfer *transfer = &item->transfer.transfer;
    bool done = false;

    if (datapath_test(queue->device->runtime->one_sided, transfer, &done) != OMPRMA_OK) {
        item->done = true;
        queue_fail(queue, OMPRMA_ERR_MPI, error_text());
        return;
    }
    item->done = done;
    if (done)
        account(queue->device, transfer,
                transfer->direction == TRANSFER_OUT ? STATS_SUBMIT : STATS_RETRIEVE, PATH_RMA,
                item->transfer.start_ns);
    else
        device_keep_awake(queue->device);
}

/* ---- going on ---- */

/* What one pass over the items has found. */
struct pass {
    bool moved;     /* something was issued or completed */
    bool stop;      /* nothing behind this place may be issued */
    bool attention; /* somebody must come back without being told */
    int active;     /* transfers under way */
};

static void pass_transfer(struct omprma_queue *queue, struct queue_item *item, struct pass *pass)
{
    bool own = false;

    if (!item->issued) {
        if (pass->active >= ACTIVE_TRANSFERS || !transfer_may_start(queue, item, &own)) {
            pass->stop = true;
            pass->attention |= !own;
            return;
        }
        transfer_start(queue, item);
        pass->moved = true;
    }
    if (!item->done) {
        transfer_test(queue, item);
        pass->moved |= item->done;
    }
    if (!item->done) {
        pass->active++;
        pass->attention = true;
    }
}

static void pass_segment(struct omprma_queue *queue, struct queue_item *item, struct pass *pass)
{
    if (!item->issued) {
        if (!item->segment.sealed) {
            pass->stop = true;
        } else if (pass->active || !device_may_send(queue->device)) {
            pass->stop = pass->attention = true;
        } else {
            segment_send(queue, item);
            pass->moved = true;
        }
    }
    if (!item->issued || item->done)
        return;
    item->done = !item->segment.wants_result || passed(queue->done_op, item->segment.last_op);
    if (item->done && item->segment.wants_result)
        trace_add(queue->device->runtime, "segment", "control", queue->device->number,
                  item->segment.sent_ns, trace_now(queue->device->runtime), 0);
}

/* What it waited for has failed. */
static void fail_after(struct omprma_queue *queue, const struct queue_place *place)
{
    const struct omprma_queue *other = place->queue;
    char text[800];

    snprintf(text, sizeof(text), "%s from device %d %s device %d: %s",
             place->exchange ? "exchange" : "wait for an event", queue->device->number,
             place->exchange ? "to" : "of", other->device->number, other->failed_text);
    queue_fail(queue, other->failed_status, text);
}

static void pass_wait(struct omprma_queue *queue, struct queue_item *item, struct pass *pass)
{
    const struct queue_place *place = &item->wait;

    if (queue_passed(place)) {
        item->done = item->issued = true;
        pass->moved = true;
        if (!place->order_only && queue_place_failed(place))
            fail_after(queue, place);
        return;
    }
    queue_push(place);
    pass->stop = pass->attention = true;
}

static bool test_bulk(struct omprma_queue *queue)
{
    struct queue_bulk **link = &queue->bulk;
    bool moved = false;

    while (*link) {
        struct queue_bulk *bulk = *link;
        bool done = false;
        omprma_status_t status =
            datapath_test(queue->device->runtime->two_sided, &bulk->transfer, &done);

        if (status != OMPRMA_OK)
            queue_fail(queue, status, error_text());
        if (status == OMPRMA_OK && !done) {
            link = &bulk->next;
            continue;
        }
        account(queue->device, &bulk->transfer, bulk->kind, PATH_TWO_SIDED, bulk->start_ns);
        *link = bulk->next;
        free(bulk);
        moved = true;
    }
    return moved;
}

/* Makes the worker forget a failure, so that the next user of the queue starts clean. */
static void reset_remote(struct omprma_queue *queue)
{
    struct wire_record record = {.code = WIRE_RESET};

    queue->remote_failed = false;
    if (queue->device->lost)
        return;
    if (queue_append(queue, &record, NULL) == OMPRMA_OK)
        queue_flush(queue, false);
}

/* Ends the life of a queue that nobody holds. */
static void give_back(struct omprma_queue *queue)
{
    queue->give_when_idle = false;
    queue->failed = OMPRMA_OK;
    if (queue->remote_failed)
        reset_remote(queue);
    queue_give(queue);
}

bool queue_advance(struct omprma_queue *queue)
{
    struct pass pass = {.moved = queue->bulk && test_bulk(queue)};
    uint64_t failures = queue->failures;

    for (struct queue_item *item = queue->first; item && !pass.stop; item = item->next) {
        if (item->kind == ITEM_TRANSFER)
            pass_transfer(queue, item, &pass);
        else if (item->kind == ITEM_SEGMENT)
            pass_segment(queue, item, &pass);
        else if (!item->done)
            pass_wait(queue, item, &pass);
        if (queue->failures != failures)
            break; /* the list has changed */
    }
    while (queue->first && queue->first->done)
        item_remove(queue, queue->first);
    if (queue->waiters && queue->open && queue->open == queue->first) {
        /* Another thread has appended while one waits, and may not come back to flush. */
        segment_seal(queue, !queue->first->segment.only_writes);
        pass.attention = true;
    }
    if (pass.attention || queue->bulk || queue->failures != failures)
        queue_attend(queue);
    if (queue->waiters && !queue->first && !passed(queue->asked_op, queue->hazard_op))
        queue_ask(queue); /* somebody waits for operations that nobody asked about */
    if (queue->waiters && (pass.moved || queue_idle(queue)))
        progress_signal(queue->device->runtime);
    if (queue->give_when_idle && queue_idle(queue))
        give_back(queue);
    return pass.moved;
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

void queue_flush(struct omprma_queue *queue, bool result)
{
    segment_seal(queue, result);
    queue_advance(queue);
}

/* A fence outside the order of the items: it takes the number of the operation that was sent last,
 * whose completion it reports. */
void queue_ask(struct omprma_queue *queue)
{
    struct channel_message *message;
    struct wire_record record = {
        .code = WIRE_FENCE,
        .flags = WIRE_REPLY,
        .queue = queue->number,
        .op = queue->sent_op,
    };
    struct wire_buffer buffer;

    if (passed(queue->asked_op, queue->sent_op))
        return;
    message = channel_take(queue->device->runtime->channel);
    if (!message)
        return; /* asked again at the next turn */
    buffer = (struct wire_buffer){message->data, 0, WIRE_MESSAGE_BYTES};
    wire_begin(&buffer);
    wire_append(&buffer, &record);
    message->bytes = buffer.used;
    queue->asked_op = queue->sent_op;
    if (device_send(queue->device, message, false) != OMPRMA_OK)
        queue_fail(queue, OMPRMA_ERR_MPI, error_text());
}

void queue_result(struct omprma_queue *queue, const struct wire_record *record)
{
    struct queue_read *read;

    while ((read = queue->reads_first) != NULL && passed(record->op, read->op)) {
        if (record->code == WIRE_DONE && read->op == record->op &&
            record->tail_bytes == read->bytes)
            memcpy(read->to, record->tail, read->bytes);
        else if (record->code == WIRE_DONE && read->op == record->op)
            queue_fail(queue, OMPRMA_ERR_PROTOCOL, "a retrieve came back with another size");
        queue->reads_first = read->next;
        if (!queue->reads_first)
            queue->reads_last = NULL;
        read_free(queue, read);
    }
    if (record->code == WIRE_DONE) {
        queue->value = record->word[0];
        if (queue->tail && record->tail_bytes <= queue->tail_capacity)
            memcpy(queue->tail, record->tail, record->tail_bytes);
    }
    if (record->code == WIRE_FAILED) { /* before done_op says that even this one is complete */
        char text[512];

        snprintf(text, sizeof(text), "%s, queue %u: %.*s", device_name(queue->device),
                 queue->number, (int)record->tail_bytes, (const char *)record->tail);
        queue->remote_failed = true;
        queue_fail(queue, (omprma_status_t)record->word[0], text);
    }
    if (passed(record->op, queue->done_op))
        queue->done_op = record->op;
    if (queue->waiters)
        progress_signal(queue->device->runtime);
    queue_advance(queue);
}

/* What was not issued will not be; what is under way must end before its memory may be reused. */
void queue_fail(struct omprma_queue *queue, omprma_status_t status, const char *text)
{
    struct queue_item *item, *next;

    if (queue->failed == OMPRMA_OK) {
        queue->failed_after = queue_known(queue);
        queue->failed = queue->failed_status = status;
        snprintf(queue->failed_text, sizeof(queue->failed_text), "%s", text);
    }
    queue->failures++;
    for (item = queue->first; item; item = next) {
        next = item->next;
        if (!item->issued)
            item_remove(queue, item);
    }
    while (queue->reads_last && !passed(queue->sent_op, queue->reads_last->op)) {
        struct queue_read **link = &queue->reads_first, *before = NULL;

        while (*link != queue->reads_last) {
            before = *link;
            link = &(*link)->next;
        }
        read_free(queue, queue->reads_last);
        *link = NULL;
        queue->reads_last = before;
    }
    queue->next_op = queue->sent_op;
    writes_forget(&queue->writes, queue->sent_op);
    if (!passed(queue->sent_op, queue->hazard_op))
        queue->hazard_op = queue->sent_op;
    queue_attend(queue);
    progress_signal(queue->device->runtime);
}

/* Touches no other queue: those may be gone. */
void queue_free(struct omprma_queue *queue)
{
    while (queue->first) {
        if (queue->first->kind == ITEM_SEGMENT)
            queue->first->segment.receiver = NULL;
        item_remove(queue, queue->first);
    }
    while (queue->reads_first) {
        struct queue_read *read = queue->reads_first;

        queue->reads_first = read->next;
        free(read);
    }
    free_bulk(queue->bulk);
    free(queue);
}

bool queue_idle(const struct omprma_queue *queue)
{
    if (queue->device->lost && queue->device->runtime->unresponsive)
        return true;
    return !queue->first && !queue->bulk && passed(queue->done_op, queue->asked_op) &&
           passed(queue->done_op, queue->hazard_op);
}

bool queue_fills(const struct omprma_queue *queue, const void *host, uint64_t bytes)
{
    uint64_t begin = (uint64_t)(uintptr_t)host;

    for (const struct queue_read *read = queue->reads_first; read; read = read->next)
        if (ranges_meet(begin, bytes, (uint64_t)(uintptr_t)read->to, read->bytes))
            return true;
    for (const struct queue_bulk *bulk = queue->bulk; bulk; bulk = bulk->next)
        if (bulk->transfer.direction == TRANSFER_IN &&
            ranges_meet(begin, bytes, (uint64_t)(uintptr_t)bulk->transfer.local,
                        bulk->transfer.bytes))
            return true;
    for (const struct queue_item *item = queue->first; item; item = item->next) {
        if (item->kind == ITEM_TRANSFER && !item->done &&
            item->transfer.transfer.direction == TRANSFER_IN &&
            ranges_meet(begin, bytes, (uint64_t)(uintptr_t)item->transfer.transfer.local,
                        item->transfer.transfer.bytes))
            return true;
        if (item->kind != ITEM_SEGMENT)
            continue;
        for (const struct queue_bulk *bulk = item->segment.bulk; bulk; bulk = bulk->next)
            if (bulk->transfer.direction == TRANSFER_IN &&
                ranges_meet(begin, bytes, (uint64_t)(uintptr_t)bulk->transfer.local,
                            bulk->transfer.bytes))
                return true;
    }
    return false;
}

static bool idle_predicate(const void *data)
{
    const struct omprma_queue *queue = data;

    return queue_idle(queue);
}

void queue_settle(struct omprma_queue *queue)
{
    /* A segment of nothing but small submits needs no answer: whatever is sent later to the same
     * worker comes after it, and one-sided transfers look at device_find_write(). */
    bool result = queue->open && !queue->open->segment.only_writes;

    queue->waiters++;
    queue_flush(queue, result);
    if (!queue_idle(queue))
        progress_wait(queue->device->runtime, idle_predicate, queue);
    queue->waiters--;
}

omprma_status_t queue_synchronize(struct omprma_queue *queue)
{
    omprma_status_t status;

    queue_settle(queue);
    status = queue->failed;
    if (status == OMPRMA_OK)
        return OMPRMA_OK;
    error_set(status, "%s", queue->failed_text);
    queue->failed = OMPRMA_OK;
    if (queue->remote_failed)
        reset_remote(queue);
    return status;
}
