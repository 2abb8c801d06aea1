/*
 * operation.c: submit, retrieve, exchange and launch: checks the range, chooses the way, appends to
 * the queue. Public functions of omprma.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "host/device.h"
#include "host/image.h"
#include "host/operation.h"
#include "host/queue.h"

/* Largest retrieve or submit that travels in one record. */
enum { RECORD_DATA_MOST = 60 << 10 };

omprma_status_t operation_check_queue(struct omprma_queue *queue)
{
    if (queue->device->lost && queue->failed == OMPRMA_OK)
        queue_fail(queue, OMPRMA_ERR_DEVICE_LOST, queue->device->lost_text);
    return queue->failed == OMPRMA_OK ? OMPRMA_OK
                                      : error_set(queue->failed, "%s", queue->failed_text);
}

void operation_make_room(struct omprma_queue *queue)
{
    struct device *device = queue->device;

    if (queue->items >= QUEUE_ITEMS_MOST)
        queue_make_room(queue);
    /* Who issues nothing but small one-sided transfers never waits, but what keeps the worker awake
     * for them (device_keep_awake()) must be acknowledged, too. */
    if (!device_may_send(device) && !device->runtime->driven)
        progress_once(device->runtime);
}

omprma_status_t operation_begin(struct omprma_queue *queue)
{
    omprma_status_t status;

    if (!queue)
        return error_set(OMPRMA_ERR_ARGUMENT, "queue is NULL");
    if (!runtime_get())
        return error_set(OMPRMA_ERR_CLOSED, "omprma is not running");
    runtime_lock(queue->device->runtime);
    operation_make_room(queue);
    status = operation_check_queue(queue);
    if (status != OMPRMA_OK)
        runtime_unlock(queue->device->runtime);
    return status;
}

omprma_status_t operation_end(struct omprma_queue *queue, omprma_status_t status)
{
    runtime_unlock(queue->device->runtime);
    return status;
}

omprma_status_t operation_check_range(struct device *device, const char *what,
                                      omprma_addr_t address, uint64_t bytes, bool *arena)
{
    omprma_addr_t block = 0;
    uint64_t block_bytes = 0;
    enum allocator_range range = device_classify(device, address, bytes, &block, &block_bytes);

    *arena = range == RANGE_LIVE;
    if (range == RANGE_LIVE)
        return OMPRMA_OK;
    if (range == RANGE_OVERRUN && block_bytes > 0)
        return error_set(OMPRMA_ERR_ADDRESS,
                         "%s: %s of %llu bytes at 0x%llx runs past the end of "
                         "its block of %llu bytes at 0x%llx",
                         device_name(device), what, (unsigned long long)bytes,
                         (unsigned long long)address, (unsigned long long)block_bytes,
                         (unsigned long long)block);
    if (range == RANGE_FREE)
        return error_set(OMPRMA_ERR_ADDRESS,
                         "%s: %s of %llu bytes at 0x%llx: that is device "
                         "memory which was freed or never allocated",
                         device_name(device), what, (unsigned long long)bytes,
                         (unsigned long long)address);
    if (range == RANGE_OVERRUN || address + bytes < address || address < 4096)
        return error_set(OMPRMA_ERR_ADDRESS, "%s: %s of %llu bytes at 0x%llx: not a device address",
                         device_name(device), what, (unsigned long long)bytes,
                         (unsigned long long)address);
    return OMPRMA_OK;
}

/* Lets operations end that use the same host memory, where nothing else keeps them in order. */
static omprma_status_t settle_host_overlap(struct omprma_queue *queue, const void *host,
                                           uint64_t bytes, bool fill)
{
    if (!(queue->reads_first || queue->bulk || queue->first) ||
        !queue_uses(queue, host, bytes, fill))
        return OMPRMA_OK;
    queue_settle(queue);
    return operation_check_queue(queue); /* it may have failed meanwhile */
}

/* ---- the three ways ---- */

static omprma_status_t send_inline(struct omprma_queue *queue, omprma_addr_t to, const void *from,
                                   uint64_t bytes, bool arena)
{
    struct wire_record record = {
        .code = WIRE_WRITE,
        .flags = arena ? 0 : WIRE_REPLY, /* outside arenas it may fail */
        .word = {to},
        .tail = from,
        .tail_bytes = (uint32_t)bytes,
    };
    omprma_status_t status = queue_append(queue, &record, NULL);

    if (status == OMPRMA_OK)
        stats_count(&queue->device->stats, STATS_SUBMIT, PATH_INLINE, bytes, 0);
    return status;
}

static omprma_status_t read_inline(struct omprma_queue *queue, void *to, omprma_addr_t from,
                                   uint64_t bytes)
{
    struct wire_record record = {.code = WIRE_READ, .flags = WIRE_REPLY, .word = {from, bytes}};
    omprma_status_t status = queue_append_read(queue, &record, to, (uint32_t)bytes);

    if (status == OMPRMA_OK)
        stats_count(&queue->device->stats, STATS_RETRIEVE, PATH_INLINE, bytes, 0);
    return status;
}

/* Tells the worker to do its half, and puts ours beside it. With a result the worker says when this
 * transfer is over, and begins none of the same queue before. */
static omprma_status_t move_two_sided(struct omprma_queue *queue, bool submit, omprma_addr_t device,
                                      void *host, uint64_t bytes, bool result)
{
    struct runtime *runtime = queue->device->runtime;
    uint32_t tag = runtime->next_tag++;
    struct wire_record record = {
        .code = submit ? WIRE_RECV : WIRE_SEND,
        .word = {device, bytes, tag, (uint64_t)runtime->world.rank},
    };
    struct transfer transfer = {
        .direction = submit ? TRANSFER_OUT : TRANSFER_IN,
        .peer = queue->device->rank,
        .local = host,
        .bytes = bytes,
        .tag = tag,
    };
    omprma_status_t status =
        queue_append_bulk(queue, &record, &transfer, submit ? STATS_SUBMIT : STATS_RETRIEVE);

    if (status == OMPRMA_OK)
        queue_flush(queue, result); /* let the data move while the caller goes on */
    return status;
}

static omprma_status_t append_one_sided(struct omprma_queue *queue, bool submit,
                                        omprma_addr_t device, void *host, uint64_t bytes,
                                        uint64_t *number)
{
    struct transfer transfer = {
        .direction = submit ? TRANSFER_OUT : TRANSFER_IN,
        .peer = queue->device->rank,
        .local = host,
        .remote = device,
        .bytes = bytes,
    };

    return queue_append_transfer(queue, &transfer, number);
}

/* A small source may be on the caller's stack: if its data has not left when the call ends, it has
 * to stand somewhere else. */
static omprma_status_t submit_small_one_sided(struct omprma_queue *queue, omprma_addr_t device,
                                              const void *host, uint64_t bytes)
{
    void *copy = malloc(bytes);
    struct queue_item *item;
    uint64_t number = 0;
    omprma_status_t status;

    if (!copy)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory to copy a submit");
    status = append_one_sided(queue, true, device, (void *)(uintptr_t)host, bytes, &number);
    if (status == OMPRMA_OK)
        queue_advance(queue);
    item = status == OMPRMA_OK ? queue_find_transfer(queue, number) : NULL;
    if (item && !item->issued) {
        item->transfer.transfer.local = item->transfer.copy = memcpy(copy, host, bytes);
        return OMPRMA_OK;
    }
    free(copy);
    if (item)
        queue_settle(queue);
    return status;
}

static omprma_status_t move_one_sided(struct omprma_queue *queue, bool submit, omprma_addr_t device,
                                      void *host, uint64_t bytes)
{
    uint64_t number = 0;
    omprma_status_t status;

    if (submit && bytes <= OMPRMA_COPIED_SUBMIT)
        return submit_small_one_sided(queue, device, host, bytes);
    status = append_one_sided(queue, submit, device, host, bytes, &number);
    if (status == OMPRMA_OK && submit)
        queue_advance(queue);
    return status;
}

static omprma_status_t move(struct omprma_queue *queue, bool submit, omprma_addr_t address,
                            void *host, uint64_t bytes, bool arena)
{
    const struct paths *paths = &queue->device->paths;

    if (arena && paths_bulk(paths, submit, bytes) == PATH_RMA)
        return move_one_sided(queue, submit, address, host, bytes);
    if (submit && bytes <= OMPRMA_COPIED_SUBMIT) {
        /* The caller may reuse the source at once, so a small one travels in the message. */
        return send_inline(queue, address, host, bytes, arena);
    }
    return move_two_sided(queue, submit, address, host, bytes, false);
}

omprma_status_t operation_bulk(struct omprma_queue *queue, bool submit, omprma_addr_t address,
                               void *host, uint64_t bytes, bool arena)
{
    uint64_t number = 0;

    if (arena && paths_bulk(&queue->device->paths, submit, bytes) == PATH_RMA)
        return append_one_sided(queue, submit, address, host, bytes, &number);
    return move_two_sided(queue, submit, address, host, bytes, true);
}

/* ---- public functions ---- */

omprma_status_t omprma_submit(omprma_queue_t *queue, omprma_addr_t to, const void *from,
                              size_t bytes)
{
    bool arena = false;
    omprma_status_t status = operation_begin(queue);

    if (status != OMPRMA_OK)
        return status;
    if (bytes == 0)
        return operation_end(queue, OMPRMA_OK);
    if (!from)
        return operation_end(queue,
                             error_set(OMPRMA_ERR_ARGUMENT, "%s: submit of %zu bytes from NULL",
                                       device_name(queue->device), bytes));
    status = operation_check_range(queue->device, "submit", to, bytes, &arena);
    if (status != OMPRMA_OK)
        return operation_end(queue, status);
    status = settle_host_overlap(queue, from, bytes, false);
    if (status != OMPRMA_OK)
        return operation_end(queue, status);
    if (bytes <= (arena ? queue->device->paths.inline_submit : OMPRMA_COPIED_SUBMIT))
        status = send_inline(queue, to, from, bytes, arena);
    else
        status = move(queue, true, to, (void *)(uintptr_t)from, bytes, arena);
    return operation_end(queue, status);
}

omprma_status_t omprma_retrieve(omprma_queue_t *queue, void *to, omprma_addr_t from, size_t bytes)
{
    const struct paths *paths;
    bool arena = false, fused;
    uint64_t limit;
    omprma_status_t status = operation_begin(queue);

    if (status != OMPRMA_OK)
        return status;
    if (bytes == 0)
        return operation_end(queue, OMPRMA_OK);
    if (!to)
        return operation_end(queue,
                             error_set(OMPRMA_ERR_ARGUMENT, "%s: retrieve of %zu bytes to NULL",
                                       device_name(queue->device), bytes));
    status = operation_check_range(queue->device, "retrieve", from, bytes, &arena);
    if (status != OMPRMA_OK)
        return operation_end(queue, status);
    status = settle_host_overlap(queue, to, bytes, true);
    if (status != OMPRMA_OK)
        return operation_end(queue, status);
    paths = &queue->device->paths;
    fused = queue->open && !queue->open->segment.only_writes;
    limit = fused ? paths->inline_retrieve_fused : paths->inline_retrieve;
    if (bytes <= (arena ? limit : RECORD_DATA_MOST / 4))
        status = read_inline(queue, to, from, bytes);
    else
        status = move(queue, false, from, to, bytes, arena);
    return operation_end(queue, status);
}

/* Points at arguments that look like addresses of freed memory (OMPRMA_CHECK). They may as well be
 * scalars, so nothing is refused. */
static void check_arguments(struct device *device, omprma_addr_t kernel, const uint64_t *arguments,
                            size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (device_classify(device, arguments[i], 1, NULL, NULL) == RANGE_FREE)
            log_write(LOG_ERROR,
                      "check: %s: kernel %s: argument %zu (0x%llx) points to device "
                      "memory that is freed or was never allocated",
                      device_name(device), image_kernel_of(device, kernel), i,
                      (unsigned long long)arguments[i]);
}

omprma_status_t omprma_launch(omprma_queue_t *queue, omprma_addr_t kernel,
                              const uint64_t *arguments, size_t count)
{
    struct wire_record record = {
        .code = WIRE_LAUNCH,
        .word = {kernel},
        .tail = arguments,
        .tail_bytes = (uint32_t)(8 * count),
    };
    omprma_status_t status = operation_begin(queue);

    if (status != OMPRMA_OK)
        return status;
    if (kernel == 0 || count > OMPRMA_LAUNCH_ARGUMENTS || (count && !arguments))
        return operation_end(queue,
                             error_set(OMPRMA_ERR_ARGUMENT,
                                       "%s: launch of kernel 0x%llx with %zu "
                                       "arguments; at most %d are possible",
                                       device_name(queue->device), (unsigned long long)kernel,
                                       count, OMPRMA_LAUNCH_ARGUMENTS));
    if (queue->device->runtime->config.check)
        check_arguments(queue->device, kernel, arguments, count);
    status = queue_append(queue, &record, NULL);
    if (status == OMPRMA_OK)
        queue->device->stats.launches++;
    return operation_end(queue, status);
}
