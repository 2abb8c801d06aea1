/*
 * exchange.c: an exchange is one hop in the order of the source's queue, by the way that
 * start-up chose (measure_exchange.c), unless that cannot take it. A get needs a queue of ours on
 * the destination that follows the source's queue, and a send one that receives. Where data has to
 * stop on its way, staged.c makes several hops of it.
 */
#include "host/calls/exchange.h"

#include <string.h>

#include "base/error.h"
#include "host/calls/call.h"
#include "host/check/check.h"
#include "host/path/path.h"
#include "host/path/staged.h"
#include "host/queue/append.h"
#include "host/queue/issue.h"
#include "host/queue/order.h"
#include "host/queue/subqueue.h"

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

static struct hop hop_of(const struct exchange *x)
{
    struct device *from = x->queue->device, *to = x->to_device;

    return (struct hop){
        .queue = x->queue,
        .from = {.device = from, .at = x->from, .arena = x->from_arena || device_is_staged(from)},
        .to = {.device = to, .at = x->to, .arena = x->to_arena || device_is_staged(to)},
        .bytes = x->bytes,
    };
}

static omprma_status_t append_hop(const struct path_ops *path, const struct hop *hop,
                                  struct operation **arrived)
{
    omprma_status_t status = path->append(hop, arrived);

    if (status == OMPRMA_OK)
        operation_hold(*arrived);
    return status;
}

static omprma_status_t put(const struct hop *hop, struct operation **arrived)
{
    omprma_status_t status = wait_for_writes(hop->queue, hop->to.device, hop->to.at, hop->bytes);

    return status == OMPRMA_OK ? append_hop(&path_put, hop, arrived) : status;
}

/* The destination gets when the source's queue has come so far. */
static omprma_status_t get(struct hop *hop, struct operation **arrived)
{
    omprma_status_t status = subqueue_open(hop->to.device, hop->queue, &hop->queue);

    if (status != OMPRMA_OK)
        return status;
    hop->is_part = true;
    status = wait_for_writes(hop->queue, hop->from.device, hop->from.at, hop->bytes);
    if (status == OMPRMA_OK)
        status = append_hop(&path_get, hop, arrived);
    return subqueue_let_go(hop->queue, status);
}

static omprma_status_t send(struct hop *hop, struct operation **arrived)
{
    omprma_status_t status = subqueue_open(hop->to.device, NULL, &hop->receiver);

    if (status != OMPRMA_OK)
        return status;
    if (hop->to.device->check)
        status = check_order(hop->receiver, hop->to.device);
    if (status == OMPRMA_OK)
        status = append_hop(&path_send, hop, arrived);
    if (status != OMPRMA_OK) {
        *arrived = NULL;
        return subqueue_let_go(hop->receiver, status);
    }
    hop->receiver->give_when_idle = true;
    queue_flush(hop->queue);
    return OMPRMA_OK;
}

static bool is_staged(const struct exchange *x)
{
    return device_is_staged(x->queue->device) || device_is_staged(x->to_device);
}

/* NULL: through the application, in pieces. */
static const struct path_ops *const paths_of_ways[EXCHANGE_WAYS] = {
    [EXCHANGE_PUT] = &path_put,
    [EXCHANGE_GET] = &path_get,
    [EXCHANGE_SEND] = &path_send,
};

const char *exchange_way_name(enum config_exchange way)
{
    return paths_of_ways[way] ? paths_of_ways[way]->name : "application";
}

/* Small data is put: that is one message, and no measurement tells more. */
static enum config_exchange choose(const struct exchange *x, const struct hop *hop)
{
    const struct exchange_paths *paths = exchange_paths_of(x->queue->device, x->to_device);

    if (paths->way == EXCHANGE_APPLICATION)
        return EXCHANGE_APPLICATION;
    if (path_pick(&path_put, hop) != &path_put)
        return EXCHANGE_SEND;
    if (paths->small_put && x->bytes < EXCHANGE_SMALL)
        return EXCHANGE_PUT;
    return paths->way;
}

/* In pieces, with memory in between. */
static bool is_carried(const struct exchange *x, enum config_exchange way)
{
    return way == EXCHANGE_APPLICATION || is_staged(x);
}

static omprma_status_t append(const struct exchange *x, enum path *path, struct operation **arrived)
{
    struct hop hop = hop_of(x);
    enum config_exchange way;

    if (path_copy.takes(&hop)) {
        *path = path_copy.path;
        return append_hop(&path_copy, &hop, arrived);
    }
    way = choose(x, &hop);
    *path = paths_of_ways[way] ? paths_of_ways[way]->path : PATH_APPLICATION;
    if (is_carried(x, way))
        return staged_append_exchange(&hop, way, arrived);
    if (way == EXCHANGE_PUT)
        return put(&hop, arrived);
    return way == EXCHANGE_GET ? get(&hop, arrived) : send(&hop, arrived);
}

omprma_status_t exchange_append(const struct exchange *x, struct operation **arrived)
{
    const struct device *from = x->queue->device;
    struct carried carried = {from, DATA_EXCHANGE, PATH_INLINE, x->bytes, 0};
    omprma_status_t status = append(x, &carried.path, arrived);

    if (status == OMPRMA_OK)
        observers_carried(from->runtime->observers, &carried);
    return status;
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
        status = exchange_append(&x, &arrived);
    if (status == OMPRMA_OK && arrived->queue != queue)
        status = queue_append_wait(queue, arrived, WAIT_EXCHANGE);
    operation_drop(&queue->device->runtime->operations, arrived);
    return call_end(queue, status);
}
