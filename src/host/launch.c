/*
 * launch.c: launches, and regions: a launch with what is copied before and after it. Public
 * functions of omprma.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/range.h"
#include "host/append.h"
#include "host/call.h"
#include "host/check.h"
#include "host/image.h"
#include "host/submit.h"
#include "host/turn.h"

/* Where all of the geometry is left to the device it takes no room in the message. */
static bool says_nothing(const omprma_geometry_t *geometry)
{
    static const omprma_geometry_t none;

    return !geometry || memcmp(geometry, &none, sizeof(none)) == 0;
}

static void name_launch(struct omprma_queue *queue, const struct operation *launch)
{
    struct trace_place place = queue_trace_place(queue);

    trace_kernel(&place, launch, image_kernel_of(queue->device, launch->command.entry));
}

/* What a kernel is called with: words, or parameters as it has them. */
struct kernel_call {
    const omprma_geometry_t *geometry;
    const void *parameters;
    uint64_t bytes; /* of them */
    bool packed;
};

static uint32_t tail_bytes_of(const struct kernel_call *call, uint16_t flags)
{
    return (uint32_t)((call->bytes + 7) & ~UINT64_C(7)) +
           (flags & WIRE_GEOMETRY ? (uint32_t)sizeof(*call->geometry) : 0) + (call->packed ? 8 : 0);
}

/* Geometry, size of packed parameters, parameters. Returns what is behind them. */
static char *write_tail(char *tail, const struct kernel_call *call, uint16_t flags)
{
    uint64_t bytes = call->bytes, whole = bytes & ~UINT64_C(7);

    if (flags & WIRE_GEOMETRY)
        tail =
            (char *)memcpy(tail, call->geometry, sizeof(*call->geometry)) + sizeof(*call->geometry);
    if (call->packed)
        tail = (char *)memcpy(tail, &bytes, 8) + 8;
    if (bytes & 7)
        memset(tail + whole, 0, 8);
    if (bytes)
        memcpy(tail, call->parameters, bytes);
    return tail + whole + (bytes & 7 ? 8 : 0);
}

/* Launch or region; `data` are the latter's, and copied. */
static omprma_status_t append(struct omprma_queue *queue, struct wire_record *record,
                              const struct kernel_call *call, const void *data, uint32_t data_bytes,
                              struct operation **launch)
{
    omprma_status_t status;
    char *tail;

    record->flags |= (uint16_t)((says_nothing(call->geometry) ? 0 : WIRE_GEOMETRY) |
                                (call->packed ? WIRE_PACKED : 0));
    record->tail_bytes = tail_bytes_of(call, record->flags) + data_bytes;
    status = queue_append_command(queue, OPERATION_COMMAND, record, launch);
    if (status != OMPRMA_OK)
        return status;
    if (queue->device->runtime->trace)
        name_launch(queue, *launch);
    queue->device->stats.launches++;
    tail =
        (char *)(*launch)->message->data + (*launch)->record + wire_record_bytes(record->code, 0);
    tail = write_tail(tail, call, record->flags);
    if (data_bytes)
        memcpy(tail, data, data_bytes);
    return OMPRMA_OK;
}

static omprma_status_t append_launch(struct omprma_queue *queue, omprma_addr_t kernel,
                                     const struct kernel_call *call)
{
    struct wire_record record = {.code = WIRE_LAUNCH, .word = {kernel}};
    struct operation *launch;

    turn_begin(queue->device->peer);
    return append(queue, &record, call, NULL, 0, &launch);
}

omprma_status_t omprma_launch(omprma_queue_t *queue, omprma_addr_t kernel,
                              const omprma_geometry_t *geometry, const uint64_t *arguments,
                              size_t count)
{
    omprma_status_t status = call_begin(queue);
    struct kernel_call call;

    if (status != OMPRMA_OK)
        return status;
    if (kernel == 0 || count > OMPRMA_LAUNCH_ARGUMENTS || (count && !arguments))
        return call_end(queue, error_set(OMPRMA_ERR_ARGUMENT,
                                         "%s: launch of kernel 0x%llx with %zu "
                                         "arguments; at most %d are possible",
                                         device_name(queue->device), (unsigned long long)kernel,
                                         count, OMPRMA_LAUNCH_ARGUMENTS));
    if (queue->device->check)
        check_launch(queue->device, kernel, arguments, count);
    call = (struct kernel_call){.geometry = geometry, .parameters = arguments, .bytes = 8 * count};
    return call_end(queue, append_launch(queue, kernel, &call));
}

omprma_status_t omprma_launch_packed(omprma_queue_t *queue, omprma_addr_t kernel,
                                     const omprma_geometry_t *geometry, const void *parameters,
                                     size_t bytes)
{
    omprma_status_t status = call_begin(queue);
    struct kernel_call call;

    if (status != OMPRMA_OK)
        return status;
    if (kernel == 0 || bytes > 8 * OMPRMA_LAUNCH_ARGUMENTS || (bytes && !parameters))
        return call_end(queue, error_set(OMPRMA_ERR_ARGUMENT,
                                         "%s: launch of kernel 0x%llx with %zu bytes of "
                                         "parameters; at most %d are possible",
                                         device_name(queue->device), (unsigned long long)kernel,
                                         bytes, 8 * OMPRMA_LAUNCH_ARGUMENTS));
    if (queue->device->check)
        check_command(queue->device, kernel, parameters, bytes);
    call = (struct kernel_call){geometry, parameters, bytes, true};
    return call_end(queue, append_launch(queue, kernel, &call));
}

/* ---- regions ---- */

enum { REGION_DATA_MOST = 2048 /* each way; for more there are ways to choose from */ };

/* All of it is small, and nobody is to see its steps. What is wrong with it is left to those. */
static bool goes_at_once(const struct omprma_queue *queue, const omprma_region_t *region)
{
    const struct device *device = queue->device;
    uint64_t there = device->paths.inline_submit, back = device->paths.inline_retrieve_fused;

    return !device->check && !device->runtime->trace && !device_is_staged(device) &&
           region->bytes <= (there < REGION_DATA_MOST ? there : REGION_DATA_MOST) &&
           region->back_bytes <= (back < REGION_DATA_MOST ? back : REGION_DATA_MOST) &&
           region->kernel && region->count <= OMPRMA_LAUNCH_ARGUMENTS &&
           (region->arguments || !region->count) && (region->from || !region->bytes) &&
           (region->parts || !region->back_bytes);
}

/* Both ranges lie in live blocks of the device's arenas: mostly in the same one. */
static bool is_in_arenas(struct device *device, const omprma_region_t *region)
{
    omprma_addr_t block = 0;
    uint64_t bytes = 0;

    if (region->bytes > 0 &&
        device_classify(device, region->to, region->bytes, &block, &bytes) != RANGE_LIVE)
        return false;
    if (region->back_bytes == 0)
        return true;
    if (region->back >= block && range_fits(region->back - block, region->back_bytes, bytes))
        return true;
    return device_classify(device, region->back, region->back_bytes, NULL, NULL) == RANGE_LIVE;
}

static omprma_status_t settle_hosts(struct omprma_queue *queue, const omprma_region_t *region)
{
    omprma_status_t status = OMPRMA_OK;

    if (queue->hosts == 0)
        return OMPRMA_OK;
    if (region->bytes > 0)
        status = submit_settle_host(queue, region->from, region->bytes, false);
    for (size_t i = 0; region->back_bytes && i < region->part_count && status == OMPRMA_OK; i++)
        status = submit_settle_host(queue, region->parts[i].to, region->parts[i].bytes, true);
    return status;
}

/* Where it comes back to: one place, or several. */
static omprma_status_t parts_of(const omprma_region_t *region, void **to, struct read_parts **parts)
{
    const omprma_part_t *first = region->parts;

    *to = NULL;
    *parts = NULL;
    if (region->back_bytes == 0)
        return OMPRMA_OK;
    if (region->part_count == 1 && first->offset == 0 && first->bytes == region->back_bytes)
        *to = first->to;
    else
        *parts = submit_copy_parts(region->parts, region->part_count);
    return *to || *parts ? OMPRMA_OK : OMPRMA_ERR_HOST_MEMORY;
}

/* As one command. */
static omprma_status_t append_region(struct omprma_queue *queue, const omprma_region_t *region)
{
    const struct kernel_call call = {region->geometry, region->arguments, 8 * region->count, false};
    struct stats *stats = &queue->device->stats;
    struct wire_record record = {
        .code = WIRE_REGION,
        .flags = region->back_bytes ? WIRE_REPLY : 0,
        .word = {region->kernel, region->to, region->back,
                 (uint64_t)region->bytes << 32 | region->back_bytes},
    };
    struct operation *operation;
    struct read_parts *parts;
    void *to;
    omprma_status_t status = parts_of(region, &to, &parts);

    if (status != OMPRMA_OK)
        return status;
    turn_begin(queue->device->peer);
    status = append(queue, &record, &call, region->from, (uint32_t)region->bytes, &operation);
    if (status != OMPRMA_OK) {
        free(parts);
        return status;
    }
    if (region->bytes)
        stats_count(stats, STATS_SUBMIT, PATH_INLINE, region->bytes, 0);
    if (region->back_bytes) {
        queue_brings(operation, region->back_bytes, to, parts);
        stats_count(stats, STATS_RETRIEVE, PATH_INLINE, region->back_bytes, 0);
    }
    return OMPRMA_OK;
}

/* *done: it is; else it is to be done one by one. */
static omprma_status_t region_at_once(struct omprma_queue *queue, const omprma_region_t *region,
                                      bool *done)
{
    bool moves = region->bytes > 0 || region->back_bytes > 0;
    omprma_status_t status = moves ? call_begin(queue) : OMPRMA_OK;

    *done = status != OMPRMA_OK;
    if (*done || !moves)
        return status;
    if (goes_at_once(queue, region) && is_in_arenas(queue->device, region) &&
        (!region->back_bytes || submit_check_parts(queue->device, region->back_bytes, region->parts,
                                                   region->part_count) == OMPRMA_OK)) {
        *done = true;
        status = settle_hosts(queue, region);
        if (status == OMPRMA_OK)
            status = append_region(queue, region);
    }
    return call_end(queue, status);
}

omprma_status_t omprma_region(omprma_queue_t *queue, const omprma_region_t *region)
{
    bool done;
    omprma_status_t status;

    if (!region)
        return error_set(OMPRMA_ERR_ARGUMENT, "region is NULL");
    status = region_at_once(queue, region, &done);
    if (!done && region->bytes > 0)
        status = omprma_submit(queue, region->to, region->from, region->bytes);
    if (!done && status == OMPRMA_OK)
        status = omprma_launch(queue, region->kernel, region->geometry, region->arguments,
                               region->count);
    if (!done && status == OMPRMA_OK && region->back_bytes > 0)
        status = omprma_retrieve_parts(queue, region->back, region->back_bytes, region->parts,
                                       region->part_count);
    return status;
}
