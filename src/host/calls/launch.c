/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * launch.c: launches, and regions: a launch with what is copied before and after it. A region with
 * little data is appended as one command, any other as the calls that it stands for. Public
 * functions of omprma.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/range.h"
#include "host/calls/call.h"
#include "host/calls/cores.h"
#include "host/calls/submit.h"
#include "host/check/check.h"
#include "host/device/blocks.h"
#include "host/device/kernel_names.h"
#include "host/queue/append.h"
#include "host/queue/issue.h"

/* Where all of the geometry is left to the device it takes no room in the message. */
static bool says_nothing(const omprma_geometry_t *geometry)
{
    static const omprma_geometry_t none;

    return !geometry || memcmp(geometry, &none, sizeof(none)) == 0;
}

/* What a kernel is called with. */
struct kernel_call {
    const omprma_geometry_t *geometry;
    const void *parameters;
    uint64_t bytes; /* of them */
    uint16_t form;  /* WIRE_PACKED, WIRE_CONTEXT, or 0: words */
};

static uint32_t tail_bytes_of(const struct kernel_call *call, uint16_t flags)
{
    return (uint32_t)((call->bytes + 7) & ~UINT64_C(7)) +
           (flags & WIRE_GEOMETRY ? (uint32_t)sizeof(*call->geometry) : 0) +
           (call->form == WIRE_PACKED ? 8 : 0);
}

/* Geometry, size of packed parameters, parameters. Returns what is behind them. */
static char *write_tail(char *tail, const struct kernel_call *call, uint16_t flags)
{
    uint64_t bytes = call->bytes, whole = bytes & ~UINT64_C(7);

    if (flags & WIRE_GEOMETRY)
        tail =
            (char *)memcpy(tail, call->geometry, sizeof(*call->geometry)) + sizeof(*call->geometry);
    if (call->form == WIRE_PACKED)
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

    cores_begin(queue->device->peer);
    record->flags |= (uint16_t)((says_nothing(call->geometry) ? 0 : WIRE_GEOMETRY) | call->form);
    record->tail_bytes = tail_bytes_of(call, record->flags) + data_bytes;
    status = queue_append_command(queue, OPERATION_COMMAND, record, launch);
    if (status != OMPRMA_OK)
        return status;
    tail =
        (char *)(*launch)->message->data + (*launch)->record + wire_record_bytes(record->code, 0);
    tail = write_tail(tail, call, record->flags);
    if (data_bytes)
        memcpy(tail, data, data_bytes);
    return OMPRMA_OK;
}

/* What is called with `count` of something, of which `most` are possible. With the lock. */
static omprma_status_t append_launch(struct omprma_queue *queue, omprma_addr_t kernel,
                                     const struct kernel_call *call, size_t count, int most,
                                     const char *what)
{
    struct wire_record record = {.code = WIRE_LAUNCH, .word = {kernel}};
    struct operation *operation;

    if (kernel == 0 || count > (size_t)most || (count && !call->parameters))
        return error_set(OMPRMA_ERR_ARGUMENT,
                         "%s: launch of kernel 0x%llx with %zu %s; at most %d are possible",
                         device_name(queue->device), (unsigned long long)kernel, count, what, most);
    if (queue->device->check)
        check_launch(queue->device, kernel, call->parameters, call->bytes);
    return append(queue, &record, call, NULL, 0, &operation);
}

static omprma_status_t launch(struct omprma_queue *queue, omprma_addr_t kernel,
                              const struct kernel_call *call, size_t count, int most,
                              const char *what)
{
    omprma_status_t status = call_begin(queue);

    if (status != OMPRMA_OK)
        return status;
    return call_end(queue, append_launch(queue, kernel, call, count, most, what));
}

static omprma_status_t launch_words(struct omprma_queue *queue, omprma_addr_t kernel,
                                    const omprma_geometry_t *geometry, const uint64_t *arguments,
                                    size_t count, uint16_t form)
{
    const struct kernel_call call = {geometry, arguments, 8 * count, form};

    return launch(queue, kernel, &call, count, OMPRMA_LAUNCH_ARGUMENTS, "arguments");
}

omprma_status_t omprma_launch(omprma_queue_t *queue, omprma_addr_t kernel,
                              const omprma_geometry_t *geometry, const uint64_t *arguments,
                              size_t count)
{
    return launch_words(queue, kernel, geometry, arguments, count, 0);
}

omprma_status_t omprma_launch_context(omprma_queue_t *queue, omprma_addr_t kernel,
                                      const omprma_geometry_t *geometry, const uint64_t *arguments,
                                      size_t count)
{
    return launch_words(queue, kernel, geometry, arguments, count, WIRE_CONTEXT);
}

omprma_status_t omprma_launch_packed(omprma_queue_t *queue, omprma_addr_t kernel,
                                     const omprma_geometry_t *geometry, const void *parameters,
                                     size_t bytes)
{
    const struct kernel_call call = {geometry, parameters, bytes, WIRE_PACKED};

    return launch(queue, kernel, &call, bytes, 8 * OMPRMA_LAUNCH_ARGUMENTS, "bytes of parameters");
}

/* ---- regions ---- */

enum { REGION_DATA_MOST = 2048 /* each way; for more there are ways to choose from */ };

/* All of it is small. What is wrong with it is left to its steps. */
static bool goes_at_once(const struct omprma_queue *queue, const omprma_region_t *region)
{
    const struct device *device = queue->device;
    const struct paths *paths = &device->paths;

    return device->about.regions && region->bytes <= REGION_DATA_MOST &&
           region->bytes <= paths->inline_submit && region->back_bytes <= REGION_DATA_MOST &&
           region->back_bytes <= paths->inline_retrieve_fused && region->kernel &&
           region->count <= OMPRMA_LAUNCH_ARGUMENTS && (region->arguments || !region->count) &&
           (region->from || !region->bytes) && (region->parts || !region->back_bytes);
}

static enum allocator_range classify(struct device *device, omprma_addr_t address, uint64_t bytes,
                                     omprma_addr_t *block, uint64_t *block_bytes)
{
    return device->check ? check_classify(device, address, bytes, block, block_bytes)
                         : device_classify(device, address, bytes, block, block_bytes);
}

/* Both ranges lie in live blocks of the device's arenas: mostly in the same one. */
static bool is_in_arenas(struct device *device, const omprma_region_t *region)
{
    omprma_addr_t block = 0;
    uint64_t bytes = 0;

    if (region->bytes > 0 &&
        classify(device, region->to, region->bytes, &block, &bytes) != RANGE_LIVE)
        return false;
    if (region->back_bytes == 0)
        return true;
    if (region->back >= block && range_fits(region->back - block, region->back_bytes, bytes))
        return true;
    return classify(device, region->back, region->back_bytes, &block, &bytes) == RANGE_LIVE;
}

static omprma_status_t settle_hosts(struct omprma_queue *queue, const omprma_region_t *region)
{
    omprma_status_t status = OMPRMA_OK;

    if (region->bytes > 0)
        status = submit_settle_host(queue, region->from, region->bytes, false);
    if (region->back_bytes > 0 && status == OMPRMA_OK)
        status = submit_settle_parts(queue, region->parts, region->part_count);
    return status;
}

static uint16_t form_of(const omprma_region_t *region)
{
    return region->context ? WIRE_CONTEXT : 0;
}

/* As one command. */
static omprma_status_t append_region(struct omprma_queue *queue, const omprma_region_t *region,
                                     const struct kernel_call *call)
{
    struct observer *observers = queue->device->runtime->observers;
    struct wire_record record = {
        .code = WIRE_REGION,
        .flags = region->back_bytes ? WIRE_REPLY : 0,
        .word = {region->kernel, region->to, region->back,
                 wire_region_bytes((uint32_t)region->bytes, (uint32_t)region->back_bytes)},
    };
    struct operation *operation;
    struct read_parts *parts = NULL;
    void *to = NULL;
    omprma_status_t status = OMPRMA_OK;

    if (region->back_bytes)
        status = submit_place_parts(queue, region->parts, region->part_count, region->back_bytes,
                                    &to, &parts);
    if (status != OMPRMA_OK)
        return status;
    if (queue->device->check)
        check_launch(queue->device, region->kernel, call->parameters, call->bytes);
    status = append(queue, &record, call, region->from, (uint32_t)region->bytes, &operation);
    if (status != OMPRMA_OK) {
        free(parts);
        return status;
    }
    if (region->bytes)
        observe_inline(observers, queue, DATA_SUBMIT, region->bytes);
    if (region->back_bytes) {
        queue_brings(operation, region->back_bytes, to, parts);
        observe_inline(observers, queue, DATA_RETRIEVE, region->back_bytes);
    }
    return OMPRMA_OK;
}

/* With the lock. False: it is to be done one by one. */
static bool append_at_once(struct omprma_queue *queue, const omprma_region_t *region,
                           omprma_status_t *status)
{
    const struct kernel_call call = {region->geometry, region->arguments, 8 * region->count,
                                     form_of(region)};

    if (region->bytes == 0 && region->back_bytes == 0) {
        *status = append_launch(queue, region->kernel, &call, region->count,
                                OMPRMA_LAUNCH_ARGUMENTS, "arguments");
        return true;
    }
    if (!goes_at_once(queue, region) || !is_in_arenas(queue->device, region))
        return false;
    if (region->back_bytes && submit_check_parts(queue->device, region->back_bytes, region->parts,
                                                 region->part_count) != OMPRMA_OK)
        return false;
    *status = settle_hosts(queue, region);
    if (*status == OMPRMA_OK)
        *status = append_region(queue, region, &call);
    return true;
}

static omprma_status_t region_one_by_one(struct omprma_queue *queue, const omprma_region_t *region)
{
    omprma_status_t status = OMPRMA_OK;

    if (region->bytes > 0)
        status = omprma_submit(queue, region->to, region->from, region->bytes);
    if (status == OMPRMA_OK)
        status = launch_words(queue, region->kernel, region->geometry, region->arguments,
                              region->count, form_of(region));
    if (status == OMPRMA_OK && region->back_bytes > 0)
        status = omprma_retrieve_parts(queue, region->back, region->back_bytes, region->parts,
                                       region->part_count);
    return status;
}

static omprma_status_t region_begin(struct omprma_queue *queue, const omprma_region_t *region)
{
    return region ? call_begin(queue) : error_set(OMPRMA_ERR_ARGUMENT, "region is NULL");
}

omprma_status_t omprma_region(omprma_queue_t *queue, const omprma_region_t *region)
{
    omprma_status_t status = region_begin(queue, region);
    bool whole;

    if (status != OMPRMA_OK)
        return status;
    whole = append_at_once(queue, region, &status);
    call_end(queue, status);
    return whole ? status : region_one_by_one(queue, region);
}

/* Waits without giving up the lock in between. */
static omprma_status_t region_end(struct omprma_queue *queue, void (*issued)(void *data),
                                  void *data)
{
    omprma_status_t status;

    queue_send_wanted(queue);
    if (issued)
        issued(data);
    status = queue_synchronize_sent(queue);
    blocks_release_retired(queue->device);
    return call_end(queue, status);
}

/* What is under way ends, too, which may set another error than that of the region. */
static omprma_status_t end_refused(struct omprma_queue *queue, omprma_status_t status)
{
    char text[ERROR_TEXT_BYTES];
    int code = error_code();
    omprma_status_t ended;

    snprintf(text, sizeof(text), "%s", error_text());
    ended = omprma_queue_synchronize(queue);
    return ended != OMPRMA_OK ? ended : error_note_code(error_set(status, "%s", text), code);
}

/* `whole` and `status`: what append_at_once() said; the lock is given up. */
static omprma_status_t region_end_apart(struct omprma_queue *queue, const omprma_region_t *region,
                                        bool whole, omprma_status_t status,
                                        void (*issued)(void *data), void *data)
{
    if (!whole)
        status = region_one_by_one(queue, region);
    if (issued)
        issued(data);
    return status == OMPRMA_OK ? omprma_queue_synchronize(queue) : end_refused(queue, status);
}

omprma_status_t omprma_region_wait(omprma_queue_t *queue, const omprma_region_t *region,
                                   void (*issued)(void *data), void *data)
{
    omprma_status_t status = region_begin(queue, region);
    bool whole = true;

    if (status == OMPRMA_OK) {
        whole = append_at_once(queue, region, &status);
        if (whole && status == OMPRMA_OK && !queue->device->check)
            return region_end(queue, issued, data);
        call_end(queue, status);
    }
    return region_end_apart(queue, region, whole, status, issued, data);
}
