/*
 * exchange.c: device to device. The application only tells the workers; data goes straight from one
 * to the other. One-sided: the source puts into its peer's arena, in the order of its queue.
 * Two-sided, and for memory outside arenas: the source sends, and the destination receives through
 * a queue of its own that nothing else is in, so that no order between queues can hold it up.
 */
#include "base/error.h"
#include "host/device.h"
#include "host/operation.h"
#include "host/queue.h"

struct exchange {
    struct omprma_queue *queue;
    struct device *to_device;
    omprma_addr_t from, to;
    uint64_t bytes;
    bool arenas; /* both ends lie in arenas */
};

/* Small submits to the destination that may still be on their way there come first. */
static omprma_status_t wait_for_writes(struct omprma_queue *queue, struct device *to_device,
                                       omprma_addr_t to, uint64_t bytes)
{
    struct omprma_queue *writer = device_find_write(to_device, to, to + bytes);
    struct queue_place place;

    if (!writer || writer == queue)
        return OMPRMA_OK;
    place = queue_end(writer);
    place.op = writer->sent_op;
    place.order_only = true;
    return queue_append_wait(queue, &place);
}

static omprma_status_t copy_inside(const struct exchange *x)
{
    struct wire_record record = {.code = WIRE_COPY, .word = {x->to, x->from, x->bytes}};

    return queue_append(x->queue, &record, NULL);
}

static omprma_status_t put(const struct exchange *x)
{
    struct wire_record record = {
        .code = WIRE_PUT,
        .word = {x->from, x->to, x->bytes, (uint64_t)x->to_device->rank},
    };

    device_keep_awake(x->to_device);
    return queue_append(x->queue, &record, NULL);
}

/* The receive goes through a queue of its own; this queue then waits for it. */
static omprma_status_t send(const struct exchange *x)
{
    struct device *device = x->queue->device;
    uint32_t tag = device->runtime->next_tag++;
    struct wire_record out = {
        .code = WIRE_SEND,
        .word = {x->from, x->bytes, tag, (uint64_t)x->to_device->rank},
    };
    struct wire_record in = {
        .code = WIRE_RECV,
        .word = {x->to, x->bytes, tag, (uint64_t)device->rank},
    };
    struct omprma_queue *receiver;
    struct queue_place place;
    omprma_status_t status = queue_take(x->to_device, &receiver);

    if (status != OMPRMA_OK)
        return status;
    receiver->give_when_idle = true;
    status = queue_append(receiver, &in, NULL);
    if (status == OMPRMA_OK)
        status = queue_append(x->queue, &out, NULL);
    if (status != OMPRMA_OK) {
        queue_fail(receiver, status, error_text());
        return status;
    }
    x->queue->open->segment.receiver = receiver; /* leaves when this does */
    place = queue_end(receiver);
    place.exchange = true;
    queue_flush(x->queue, false);
    return queue_append_wait(x->queue, &place);
}

omprma_status_t omprma_exchange(omprma_queue_t *queue, omprma_addr_t from, int to_device,
                                omprma_addr_t to, size_t bytes)
{
    struct exchange x = {.queue = queue, .from = from, .to = to, .bytes = bytes};
    bool from_arena = false, to_arena = false;
    enum path path;
    omprma_status_t status = operation_begin(queue);

    if (status != OMPRMA_OK)
        return status;
    status = device_find(queue->device->runtime, to_device, &x.to_device);
    if (status != OMPRMA_OK || bytes == 0)
        return operation_end(queue, status);
    status = operation_check_range(queue->device, "exchange from", from, bytes, &from_arena);
    if (status == OMPRMA_OK)
        status = operation_check_range(x.to_device, "exchange to", to, bytes, &to_arena);
    if (status != OMPRMA_OK)
        return operation_end(queue, error_set(status, "exchange from device %d to device %d: %s",
                                              queue->device->number, to_device, error_text()));
    x.arenas = from_arena && to_arena;
    path = x.arenas && queue->device->paths.exchange_rma ? PATH_RMA : PATH_TWO_SIDED;
    if (x.to_device == queue->device)
        path = PATH_INLINE;
    if (path == PATH_RMA) /* a receive comes after them by itself */
        status = wait_for_writes(queue, x.to_device, to, bytes);
    if (status == OMPRMA_OK)
        status = path == PATH_INLINE ? copy_inside(&x) : path == PATH_RMA ? put(&x) : send(&x);
    if (status == OMPRMA_OK) {
        queue->device->stats.cell[STATS_EXCHANGE][path].operations++;
        queue->device->stats.cell[STATS_EXCHANGE][path].bytes += bytes;
    }
    return operation_end(queue, status);
}
