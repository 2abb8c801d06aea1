/* exchange.c: see exchange.h. The application only tells the workers; data goes straight from one
 * to the other, in the order of the source's queue. */
#include "host/exchange.h"

#include <string.h>

#include "base/error.h"
#include "host/adapt.h"
#include "host/append.h"
#include "host/call.h"
#include "host/carry.h"
#include "host/check.h"
#include "host/helper.h"
#include "host/issue.h"
#include "host/order.h"

struct exchange_paths *exchange_paths_of(const struct device *from, const struct device *to)
{
    return &from->runtime->exchange[strcmp(from->peer->hello.host, to->peer->hello.host) != 0];
}

/* Small submits to the range that may still be on their way to the device come first. */
static omprma_status_t wait_for_writes(struct omprma_queue *queue, struct device *device,
                                       omprma_addr_t begin, uint64_t bytes)
{
    struct operation *write = NULL;
    omprma_status_t status = OMPRMA_OK;

    while (status == OMPRMA_OK && (write = order_next_write(device, begin, bytes, write)) != NULL)
        if (write->queue != queue)
            status = queue_append_wait(queue, write, WAIT_ORDER);
    return status;
}

/* ---- the ways ---- */

/* To the source's queue; *arrived: a reference. */
static omprma_status_t append_named(const struct exchange *x, struct wire_record *record,
                                    struct operation **arrived)
{
    omprma_status_t status = queue_append_command(x->queue, OPERATION_COMMAND, record, arrived);

    if (status != OMPRMA_OK)
        return status;
    operation_hold(*arrived)->with = x->to_device;
    return OMPRMA_OK;
}

static omprma_status_t copy_inside(const struct exchange *x, struct operation **arrived)
{
    struct wire_record record = {.code = WIRE_COPY,
                                 .word = {x->to, x->from, x->bytes, x->to_device->index}};

    return append_named(x, &record, arrived);
}

static omprma_status_t put(const struct exchange *x, struct operation **arrived)
{
    struct wire_record record = {
        .code = WIRE_PUT,
        .word = {x->from, x->to, x->bytes, (uint64_t)x->to_device->peer->rank},
    };
    omprma_status_t status = wait_for_writes(x->queue, x->to_device, x->to, x->bytes);

    peer_keep_awake(x->to_device->peer);
    if (status == OMPRMA_OK)
        status = queue_append_access(x->queue, x->to_device->peer, &record, arrived);
    if (status == OMPRMA_OK)
        operation_hold(*arrived)->with = x->to_device;
    return status;
}

/* The destination gets when the source's queue has come so far. */
static omprma_status_t get(const struct exchange *x, struct operation **arrived)
{
    struct device *device = x->queue->device;
    struct wire_record record = {
        .code = WIRE_GET,
        .word = {x->to, x->from, x->bytes, (uint64_t)device->peer->rank},
    };
    struct omprma_queue *getter;
    omprma_status_t status = helper_open(x->to_device, x->queue, &getter);

    if (status != OMPRMA_OK)
        return status;
    peer_keep_awake(device->peer);
    status = wait_for_writes(getter, device, x->from, x->bytes);
    if (status == OMPRMA_OK)
        status = queue_append_access(getter, device->peer, &record, arrived);
    if (status == OMPRMA_OK) {
        operation_hold(*arrived)->with = device;
        (*arrived)->is_part = true;
    }
    return helper_let_go(getter, status);
}

/* Both halves leave together, so that neither end waits for long. A receive has a queue of its own
 * that nothing else is in, so that no order between queues can hold it up. */
static omprma_status_t send(const struct exchange *x, struct operation **arrived)
{
    struct device *device = x->queue->device;
    uint32_t tag = device->runtime->next_tag++;
    struct wire_record out = {
        .code = WIRE_SEND,
        .word = {x->from, x->bytes, tag, (uint64_t)x->to_device->peer->rank},
    };
    struct wire_record in = {
        .code = WIRE_RECV,
        .word = {x->to, x->bytes, tag, (uint64_t)device->peer->rank},
    };
    struct omprma_queue *receiver;
    struct operation *sender;
    omprma_status_t status = helper_open(x->to_device, NULL, &receiver);

    if (status != OMPRMA_OK)
        return status;
    if (x->to_device->check)
        status = check_order(receiver, x->to_device);
    if (status == OMPRMA_OK)
        status = queue_append_command(receiver, OPERATION_COMMAND, &in, arrived);
    if (status == OMPRMA_OK)
        status = append_named(x, &out, &sender);
    if (status != OMPRMA_OK) {
        *arrived = NULL;
        return helper_let_go(receiver, status);
    }
    operation_hold(*arrived);
    receiver->sender = sender;
    receiver->give_when_idle = receiver->held = true;
    sender->releases = receiver; /* leaves when this does */
    queue_flush(x->queue);
    return OMPRMA_OK;
}

/* Puts and gets reach the range. */
static bool is_reached(const struct device *device, bool arena)
{
    return device_is_one_sided(device) && (arena || device_is_staged(device));
}

static bool is_staged(const struct exchange *x)
{
    return device_is_staged(x->queue->device) || device_is_staged(x->to_device);
}

/* Small data is put: that is one message, and no measurement tells more. */
static enum config_exchange choose(const struct exchange *x, struct adapt_exchange *times)
{
    const struct exchange_paths *paths = exchange_paths_of(x->queue->device, x->to_device);

    if (paths->way == EXCHANGE_APPLICATION)
        return EXCHANGE_APPLICATION;
    if (!is_reached(x->queue->device, x->from_arena) || !is_reached(x->to_device, x->to_arena))
        return EXCHANGE_SEND;
    if (paths->small_put && x->bytes < EXCHANGE_SMALL)
        return EXCHANGE_PUT;
    return times && !is_staged(x) ? adapt_exchange_way(x, paths, times) : paths->way;
}

/* In pieces, with memory in between. */
static bool is_carried(const struct exchange *x, enum config_exchange way)
{
    return way == EXCHANGE_APPLICATION || is_staged(x);
}

static omprma_status_t append(const struct exchange *x, struct adapt_exchange *times,
                              enum path *path, struct operation **arrived)
{
    static const enum path paths[EXCHANGE_WAYS] = {
        [EXCHANGE_PUT] = PATH_RMA,
        [EXCHANGE_GET] = PATH_RMA,
        [EXCHANGE_SEND] = PATH_TWO_SIDED,
        [EXCHANGE_APPLICATION] = PATH_APPLICATION,
    };
    enum config_exchange way;

    if (x->to_device->peer == x->queue->device->peer) {
        *path = PATH_INLINE;
        return copy_inside(x, arrived);
    }
    way = choose(x, times);
    *path = paths[way];
    if (is_carried(x, way))
        return carry_append_exchange(x, way, arrived);
    if (way == EXCHANGE_PUT)
        return put(x, arrived);
    return way == EXCHANGE_GET ? get(x, arrived) : send(x, arrived);
}

/* `times`, unless NULL: of one that may be waited for. */
static omprma_status_t append_counted(const struct exchange *x, struct adapt_exchange *times,
                                      struct operation **arrived)
{
    const struct device *from = x->queue->device;
    struct carried carried = {from, DATA_EXCHANGE, PATH_INLINE, x->bytes, 0};
    omprma_status_t status = append(x, times, &carried.path, arrived);

    if (status == OMPRMA_OK)
        observers_carried(from->runtime->observers, &carried);
    return status;
}

omprma_status_t exchange_append(const struct exchange *x, struct operation **arrived)
{
    return append_counted(x, NULL, arrived);
}

/* Says which exchange the calling thread's error is of. */
static omprma_status_t name_both(const struct device *from, int to_device, omprma_status_t status)
{
    return error_set(status, "exchange from device %d to device %d: %s", from->number, to_device,
                     error_text());
}

static omprma_status_t check(struct exchange *x)
{
    struct device *from = x->queue->device;
    omprma_status_t status =
        call_check_range(from, "exchange from", x->from, x->bytes, &x->from_arena);

    if (status == OMPRMA_OK)
        status = call_check_range(x->to_device, "exchange to", x->to, x->bytes, &x->to_arena);
    if (status == OMPRMA_OK) /* else a put would succeed */
        status = device_check_alive(x->to_device);
    if (status == OMPRMA_OK)
        status = device_check_alive(from);
    return status == OMPRMA_OK ? status : name_both(from, x->to_device->number, status);
}

/* The queue takes nothing. Its own error is another operation's; a lost device is this one's. */
static omprma_status_t refuse(const omprma_queue_t *queue, int to_device, omprma_status_t status)
{
    if (status != OMPRMA_ERR_DEVICE_LOST || !queue->device->lost)
        return status;
    error_set(status, "%s", queue->device->lost_text);
    return name_both(queue->device, to_device, status);
}

omprma_status_t omprma_exchange(omprma_queue_t *queue, omprma_addr_t from, int to_device,
                                omprma_addr_t to, size_t bytes)
{
    struct exchange x = {.queue = queue, .from = from, .to = to, .bytes = bytes};
    struct adapt_exchange times = {0};
    struct operation *arrived = NULL;
    omprma_status_t status = call_begin(queue);

    if (status != OMPRMA_OK)
        return refuse(queue, to_device, status);
    status = device_find(queue->device->runtime, to_device, &x.to_device);
    if (status != OMPRMA_OK || bytes == 0)
        return call_end(queue, status);
    status = check(&x);
    if (status == OMPRMA_OK && queue->device->check)
        status = check_order(queue, x.to_device);
    if (status == OMPRMA_OK)
        status = append_counted(&x, &times, &arrived);
    if (status == OMPRMA_OK && arrived->queue != queue)
        status = queue_append_wait(queue, arrived, WAIT_EXCHANGE);
    if (status == OMPRMA_OK && times.timed) {
        queue_settle(queue);
        adapt_exchange_ended(&x, &times);
    }
    operation_drop(&queue->device->runtime->operations, arrived);
    return call_end(queue, status);
}
