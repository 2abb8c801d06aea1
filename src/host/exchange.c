/* exchange.c: see exchange.h. The application only tells the workers; data goes straight from one
 * to the other, in the order of the source's queue. */
#include "host/exchange.h"

#include <string.h>

#include "base/error.h"
#include "host/operation.h"
#include "host/relay.h"

struct exchange_paths *exchange_paths_of(const struct device *from, const struct device *to)
{
    return &from->runtime->exchange[strcmp(from->hello.host, to->hello.host) != 0];
}

/* Small submits to the range that may still be on their way to the device come first. */
static omprma_status_t wait_for_writes(struct omprma_queue *queue, struct device *device,
                                       omprma_addr_t begin, uint64_t bytes)
{
    struct omprma_queue *writer = NULL;
    omprma_status_t status = OMPRMA_OK;

    while (status == OMPRMA_OK &&
           (writer = device_next_write(device, begin, begin + bytes, writer)) != NULL) {
        struct queue_place place = queue_end(writer);

        place.op = writer->sent_op; /* and nothing that the worker does not see */
        place.number = 0;
        place.use = PLACE_ORDER;
        if (writer != queue)
            status = queue_append_wait(queue, &place);
    }
    return status;
}

/* ---- queues that do the other half ---- */

omprma_status_t exchange_wait(struct omprma_queue *queue, struct queue_place place)
{
    place.use = PLACE_PART;
    return queue_wait(queue, &place);
}

omprma_status_t exchange_helper(struct device *device, const struct omprma_queue *after,
                                struct omprma_queue **helper)
{
    omprma_status_t status = queue_take(device, helper);
    struct queue_place place;

    if (status != OMPRMA_OK || !after)
        return status;
    place = queue_end(after);
    if (queue_passed(&place))
        return OMPRMA_OK;
    status = exchange_wait(*helper, place);
    return status == OMPRMA_OK ? status : exchange_let_go(*helper, status);
}

omprma_status_t exchange_let_go(struct omprma_queue *helper, omprma_status_t status)
{
    helper->give_when_idle = true;
    if (status != OMPRMA_OK)
        queue_fail(helper, status, error_text());
    queue_flush(helper, true);
    return status;
}

/* ---- the ways ---- */

/* To the source's queue. */
static omprma_status_t append_named(const struct exchange *x, struct wire_record *record)
{
    omprma_status_t status = queue_append(x->queue, record, NULL);

    if (status == OMPRMA_OK)
        queue_note_exchange(x->queue, x->to_device);
    return status;
}

static omprma_status_t copy_inside(const struct exchange *x, struct queue_place *arrived)
{
    struct wire_record record = {.code = WIRE_COPY, .word = {x->to, x->from, x->bytes}};
    omprma_status_t status = append_named(x, &record);

    *arrived = queue_end(x->queue);
    return status;
}

static omprma_status_t put(const struct exchange *x, struct queue_place *arrived)
{
    struct wire_record record = {
        .code = WIRE_PUT,
        .word = {x->from, x->to, x->bytes, (uint64_t)x->to_device->rank},
    };
    omprma_status_t status = wait_for_writes(x->queue, x->to_device, x->to, x->bytes);

    device_keep_awake(x->to_device);
    if (status == OMPRMA_OK)
        status = append_named(x, &record);
    *arrived = queue_end(x->queue);
    return status;
}

/* The destination gets when the source's queue has come so far. */
static omprma_status_t get(const struct exchange *x, struct queue_place *arrived)
{
    struct device *device = x->queue->device;
    struct wire_record record = {
        .code = WIRE_GET,
        .word = {x->to, x->from, x->bytes, (uint64_t)device->rank},
    };
    struct omprma_queue *getter;
    omprma_status_t status = exchange_helper(x->to_device, x->queue, &getter);

    if (status != OMPRMA_OK)
        return status;
    device_keep_awake(device);
    status = wait_for_writes(getter, device, x->from, x->bytes);
    if (status == OMPRMA_OK)
        status = queue_append(getter, &record, NULL);
    *arrived = queue_end(getter);
    return exchange_let_go(getter, status);
}

/* Both halves leave together, so that neither end waits for long. A receive has a queue of its own
 * that nothing else is in, so that no order between queues can hold it up. */
static omprma_status_t send(const struct exchange *x, struct queue_place *arrived)
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
    omprma_status_t status = exchange_helper(x->to_device, NULL, &receiver);

    if (status != OMPRMA_OK)
        return status;
    status = queue_append(receiver, &in, NULL);
    if (status == OMPRMA_OK)
        status = append_named(x, &out);
    if (status != OMPRMA_OK)
        return exchange_let_go(receiver, status);
    *arrived = queue_end(receiver);
    receiver->sender = queue_end(x->queue);
    receiver->give_when_idle = receiver->held = true;
    x->queue->open->segment.receiver = receiver; /* leaves when this does */
    queue_flush(x->queue, false);
    return OMPRMA_OK;
}

/* Small data is put: that is one message, and no measurement tells more. */
static enum config_exchange choose(const struct exchange *x)
{
    const struct exchange_paths *paths = exchange_paths_of(x->queue->device, x->to_device);

    if (paths->way == EXCHANGE_APPLICATION)
        return EXCHANGE_APPLICATION;
    if (!x->from_arena || !x->to_arena)
        return EXCHANGE_SEND;
    return paths->small_put && x->bytes < EXCHANGE_SMALL ? EXCHANGE_PUT : paths->way;
}

static omprma_status_t append(const struct exchange *x, enum path *path,
                              struct queue_place *arrived)
{
    if (x->to_device == x->queue->device) {
        *path = PATH_INLINE;
        return copy_inside(x, arrived);
    }
    switch (choose(x)) {
    case EXCHANGE_PUT:
        *path = PATH_RMA;
        return put(x, arrived);
    case EXCHANGE_GET:
        *path = PATH_RMA;
        return get(x, arrived);
    case EXCHANGE_APPLICATION:
        *path = PATH_APPLICATION;
        return relay_append(x, arrived);
    default:
        *path = PATH_TWO_SIDED;
        return send(x, arrived);
    }
}

omprma_status_t exchange_append(const struct exchange *x, struct queue_place *arrived)
{
    enum path path = PATH_INLINE;
    omprma_status_t status = append(x, &path, arrived);

    if (status == OMPRMA_OK)
        stats_count(&x->queue->device->stats, STATS_EXCHANGE, path, x->bytes, 0);
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
        operation_check_range(from, "exchange from", x->from, x->bytes, &x->from_arena);

    if (status == OMPRMA_OK)
        status = operation_check_range(x->to_device, "exchange to", x->to, x->bytes, &x->to_arena);
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
    struct queue_place arrived = {0};
    omprma_status_t status = operation_begin(queue);

    if (status != OMPRMA_OK)
        return refuse(queue, to_device, status);
    status = device_find(queue->device->runtime, to_device, &x.to_device);
    if (status != OMPRMA_OK || bytes == 0)
        return operation_end(queue, status);
    status = check(&x);
    if (status == OMPRMA_OK)
        status = exchange_append(&x, &arrived);
    if (status == OMPRMA_OK && arrived.queue != queue) {
        arrived.use = PLACE_EXCHANGE;
        status = queue_append_wait(queue, &arrived);
    }
    return operation_end(queue, status);
}
