/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * exchange.c: an exchange is one hop: within a host, where the source can map the destination's
 * memory, its copy; else by the path that start-up chose (measure_exchange.c), unless that cannot
 * take it. What the path has put into a queue of ours on the destination is let go, and the
 * source's queue waits for it.
 */
#include "host/calls/exchange.h"

#include <string.h>

#include <omprma_private/common.h>

#include "base/error.h"
#include "host/calls/call.h"
#include "host/check/check.h"
#include "host/path/path.h"
#include "host/queue/append.h"
#include "host/queue/issue.h"
#include "host/queue/subqueue.h"

struct exchange_paths *exchange_paths_of(const struct device *from, const struct device *to)
{
    return &from->runtime->exchange[!peer_shares_host(from->peer, to->peer)];
}

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

/* The one list of them. */
static const struct path_ops *const paths_of_ways[EXCHANGE_WAYS] = {
    [EXCHANGE_PUT] = &path_put,
    [EXCHANGE_GET] = &path_get,
    [EXCHANGE_SEND] = &path_send,
    [EXCHANGE_APPLICATION] = &path_application,
};

const char *exchange_way_name(enum config_exchange way)
{
    return paths_of_ways[way]->name;
}

/* Small data is put: that is one message, and no measurement tells more. */
static const struct path_ops *choose(const struct hop *hop)
{
    const struct exchange_paths *paths = exchange_paths_of(hop->from.device, hop->to.device);
    bool small = paths->small_put && hop->bytes < EXCHANGE_SMALL;

    return path_copy_to.takes(hop) ? &path_copy_to
                                   : path_pick(small ? &path_put : paths_of_ways[paths->way], hop);
}

/* In pieces, where the path would have to touch memory that it cannot. */
static const struct path_ops *stage(const struct path_ops *path, struct hop *hop)
{
    hop->between = path == &path_application ? NULL : path;
    return path_staged.takes(hop) ? &path_staged : path;
}

/* Both halves leave now: data moves while the caller goes on. */
static void let_go(struct omprma_queue *queue, const struct operation *arrived)
{
    if (arrived->queue != queue) {
        queue_flush(queue);
        subqueue_let_go(arrived->queue, OMPRMA_OK);
    } else if (arrived->kind == OPERATION_TASK) {
        queue_advance(queue);
    }
}

omprma_status_t exchange_append(const struct exchange *x, struct operation **arrived)
{
    const struct device *from = x->queue->device;
    struct hop hop = hop_of(x);
    const struct path_ops *path = choose(&hop);
    struct carried carried = {x->queue, DATA_EXCHANGE, path->path, x->bytes, 0, x->to_device};
    struct operation *operation;
    omprma_status_t status = stage(path, &hop)->append(&hop, &operation);

    if (status != OMPRMA_OK)
        return status;
    *arrived = operation_hold(operation);
    let_go(x->queue, operation);
    observers_carried(from->runtime->observers, &carried);
    return OMPRMA_OK;
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

omprma_status_t omprma_exchange_cost(int from, int to, omprma_exchange_cost_t *cost)
{
    struct runtime *runtime;
    struct device *from_device, *to_device;
    omprma_status_t status = runtime_require(&runtime);

    if (status == OMPRMA_OK)
        status = device_find(runtime, from, &from_device);
    if (status == OMPRMA_OK)
        status = device_find(runtime, to, &to_device);
    if (status != OMPRMA_OK)
        return status;
    runtime_lock(runtime);
    const struct exchange_paths *paths = exchange_paths_of(from_device, to_device);
    *cost = (omprma_exchange_cost_t){from_device->paths.round_trip_us, paths->us[paths->way]};
    runtime_unlock(runtime);
    return OMPRMA_OK;
}
