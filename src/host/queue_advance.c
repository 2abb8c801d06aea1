/* queue_advance.c: what of a queue can go on now: segments leave, transfers start and end, waits
 * are over. See queue.h. */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "host/queue_items.h"
#include "host/relay.h"
#include "host/trace.h"

enum { ACTIVE_TRANSFERS = 16 /* one-sided transfers of one queue under way at a time */ };

/* ---- segments ---- */

/* Counts a segment that leaves. True if it is to bring a result though nobody waits for it. Of the
 * marked ones at most one is under way: QUEUE_SENT_MOST leaves room for more while it is. */
static bool segment_mark(struct omprma_queue *queue, uint64_t last_op)
{
    queue->sent++;
    if (queue->sent - queue->executed < QUEUE_MARK_EACH || queue_marked(queue))
        return false;
    queue->mark = queue->sent;
    queue->mark_op = last_op;
    return true;
}

/* Of a two-sided transfer that has failed on this side the worker waits for the other half. */
static void lose_half(struct device *device)
{
    device_lose(device, "%s: %s", device_name(device), error_text());
}

/* False: the device is lost, and the item gone. */
static bool segment_send(struct omprma_queue *queue, struct queue_item *item)
{
    struct channel_message *message = item->segment.message;
    struct device *device = queue->device;
    bool marked = segment_mark(queue, item->segment.last_op);
    struct queue_bulk *bulk;

    if (item->segment.wants_result || marked) {
        struct wire_buffer buffer = channel_buffer(message);

        wire_want_reply(&buffer, item->segment.last_record);
    }
    if (item->segment.wants_result)
        queue->asked_op = item->segment.last_op;
    item->segment.message = NULL;
    item->segment.sent_ns = trace_now(device->runtime);
    item->issued = true;
    queue->sent_op = item->segment.last_op;
    item->segment.sealed = true;
    if (queue->open == item)
        queue->open = NULL;
    if (device_send(device, message, false) != OMPRMA_OK) {
        item_remove(queue, item);
        return false;
    }
    while ((bulk = item->segment.bulk) != NULL) {
        item->segment.bulk = bulk->next;
        bulk->start_ns = clock_ns();
        if (datapath_start(device->runtime->two_sided, &bulk->transfer) != OMPRMA_OK) {
            free(bulk);
            lose_half(device);
            item_remove(queue, item);
            return false;
        }
        bulk->next = queue->bulk;
        queue->bulk = bulk;
    }
    if (item->segment.receiver) {
        struct omprma_queue *receiver = item->segment.receiver;

        item->segment.receiver = NULL;
        receiver->held = false;
        queue_flush(receiver, true);
    }
    return true;
}

/* ---- one-sided transfers ---- */

/* Two transfers that must not run at the same time. */
static bool conflict(const struct transfer *a, const struct transfer *b)
{
    bool both_in = a->direction == TRANSFER_IN && b->direction == TRANSFER_IN;
    bool both_out = a->direction == TRANSFER_OUT && b->direction == TRANSFER_OUT;

    return (!both_in && ranges_meet(a->remote, a->bytes, b->remote, b->bytes)) ||
           (!both_out && ranges_meet((uint64_t)(uintptr_t)a->local, a->bytes,
                                     (uint64_t)(uintptr_t)b->local, b->bytes));
}

/* Whether a transfer that nothing unsent precedes may start now. *own: it waits for results of its
 * own queue, so that no attention is needed until they come. */
static bool transfer_may_start(struct omprma_queue *queue, struct queue_item *item, bool *own)
{
    const struct transfer *transfer = &item->transfer.transfer;
    struct omprma_queue *writer;

    if (queue->done_op < item->transfer.after_op) {
        if (queue->asked_op < item->transfer.after_op)
            queue_ask(queue);
        *own = true;
        return false;
    }
    for (const struct queue_item *earlier = queue->first; earlier != item; earlier = earlier->next)
        if (earlier->kind == ITEM_TRANSFER && !earlier->done &&
            conflict(&earlier->transfer.transfer, transfer))
            return false;
    writer = device_next_write(queue->device, transfer->remote, transfer->remote + transfer->bytes,
                               NULL);
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
        queue_fail(queue, OMPRMA_ERR_MPI, error_text()); /* first: it is not among what succeeded */
        item->done = true;
    }
}

static void account(struct device *device, const struct transfer *transfer, enum stats_kind kind,
                    enum path path, int64_t start_ns)
{
    int64_t now = clock_ns();

    stats_count(&device->stats, kind, path, transfer->bytes, now - start_ns);
    trace_add(device->runtime, kind == STATS_SUBMIT ? "submit" : "retrieve", paths_names[path],
              device->number, start_ns, now, transfer->bytes);
}

static void transfer_test(struct omprma_queue *queue, struct queue_item *item)
{
    struct transfer *transfer = &item->transfer.transfer;
    bool done = false;

    if (datapath_test(queue->device->runtime->one_sided, transfer, &done) != OMPRMA_OK) {
        queue_fail(queue, OMPRMA_ERR_MPI, error_text());
        item->done = true;
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
        pass->attention |= !queue->device->lost; /* else it never ends */
    }
}

static void pass_segment(struct omprma_queue *queue, struct queue_item *item, struct pass *pass)
{
    if (!item->issued) {
        if (item->segment.sealed && queue->device->lost) {
            queue_fail_lost(queue, queue->device->lost_text); /* which drops it */
            return;
        }
        if (!item->segment.sealed || queue->held) {
            pass->stop = true;
        } else if (queue->sent - queue->executed >= QUEUE_SENT_MOST) {
            pass->stop = true; /* until the result of the marked one comes */
        } else if (pass->active || !device_may_send(queue->device)) {
            pass->stop = pass->attention = true;
        } else {
            pass->moved = true;
            if (!segment_send(queue, item))
                return;
        }
    }
    if (!item->issued || item->done)
        return;
    item->done = !item->segment.wants_result || queue->done_op >= item->segment.last_op;
    if (item->done && item->segment.wants_result)
        trace_add(queue->device->runtime, "segment", "control", queue->device->number,
                  item->segment.sent_ns, trace_now(queue->device->runtime), 0);
}

/* What it waited for has failed. */
static void fail_after(struct omprma_queue *queue, const struct queue_place *place)
{
    const struct omprma_queue *other = place->queue;
    int from = queue->device->number, to = other->device->number;
    char text[800];

    if (place->use == PLACE_EVENT)
        snprintf(text, sizeof(text), "device %d waits for an event of device %d: %s", from, to,
                 other->failed_text);
    else if (place->use == PLACE_EXCHANGE)
        snprintf(text, sizeof(text), "exchange from device %d to device %d: %s", from, to,
                 other->failed_text);
    else
        snprintf(text, sizeof(text), "%s", other->failed_text);
    queue_fail(queue, other->failed_status, text);
}

static void pass_wait(struct omprma_queue *queue, struct queue_item *item, struct pass *pass)
{
    const struct queue_place *place = &item->wait;

    if (queue_passed(place)) {
        item->issued = true; /* so that a failure does not drop it */
        pass->moved = true;
        if (place->use != PLACE_ORDER && queue_place_failed(place))
            fail_after(queue, place); /* before it is done: who waits for it shares the failure */
        item->done = true;
        return;
    }
    queue_push(place);
    pass->stop = pass->attention = true;
}

/* True when everything before the relay is complete. If not, results of its own queue or transfers
 * under way bring the queue back here. */
static bool relay_may_start(struct omprma_queue *queue, const struct queue_item *item,
                            struct pass *pass)
{
    uint64_t after_op = item->relay.after_op;

    if (queue->done_op < after_op) {
        if (queue->asked_op < after_op)
            queue_ask(queue);
        pass->attention |= queue->asked_op < after_op;
        return false;
    }
    return !pass->active && !queue->bulk;
}

static void pass_relay(struct omprma_queue *queue, struct queue_item *item, struct pass *pass)
{
    struct relay *relay = item->relay.relay;
    uint64_t failures = queue->failures;
    omprma_status_t status;
    bool started, done = false;

    pass->stop = true;
    if (!item->issued) {
        if (!relay_may_start(queue, item, pass))
            return;
        status = relay_start(relay, &started);
        if (queue->failures != failures)
            return; /* while it was about to: it is gone, and so is the item */
        if (status != OMPRMA_OK)
            queue_fail(queue, status, error_text()); /* which ends the relay */
        if (status != OMPRMA_OK || !started)
            return;
        item->issued = true;
        pass->moved = true;
    }
    status = relay_advance(relay, &done);
    if (status != OMPRMA_OK)
        queue_fail(queue, status, error_text());
    item->done = done;
    pass->stop = !item->done;
    pass->moved |= item->done;
    pass->attention |= !item->done;
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
            lose_half(queue->device);
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

/* Ends the life of a queue that nobody holds. */
static void give_back(struct omprma_queue *queue)
{
    queue->give_when_idle = false;
    queue->failed = OMPRMA_OK;
    if (queue->remote_failed)
        queue_reset_remote(queue);
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
        else if (!item->done && item->kind == ITEM_RELAY)
            pass_relay(queue, item, &pass);
        else if (!item->done)
            pass_wait(queue, item, &pass);
        if (queue->failures != failures)
            break; /* the list has changed */
    }
    while (queue->first && queue->first->done) {
        item_remove(queue, queue->first);
        pass.moved = true; /* somebody may wait for the room */
    }
    if (queue->waiters && queue->open && queue->open == queue->first) {
        /* Another thread has appended while one waits, and may not come back to flush. */
        segment_seal(queue, !queue->first->segment.only_writes);
        pass.attention = true;
    }
    if (pass.attention || (queue->bulk && !queue->device->lost) || queue->failures != failures)
        queue_attend(queue);
    if ((queue->waiters || queue->give_when_idle) && !queue->first &&
        queue->asked_op < queue->hazard_op)
        queue_ask(queue); /* somebody waits for operations that nobody asked about */
    if (queue->waiters && (pass.moved || queue_idle(queue)))
        progress_signal(queue->device->runtime);
    if (queue->give_when_idle && queue_idle(queue))
        give_back(queue);
    return pass.moved;
}
