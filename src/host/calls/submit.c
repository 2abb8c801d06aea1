/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * submit.c: submit, retrieve and fill, public functions of omprma.h: each checks its range, lets
 * operations end that use the same memory of the program, and appends one hop by the path that
 * path_pick() gives, or the one that adapt.c tries in place of that.
 */
#include "host/calls/submit.h"

#include <stdlib.h>
#include <string.h>

#include <omprma_private/in_turn.h>

#include "base/error.h"
#include "base/range.h"
#include "host/choice/adapt.h"
#include "host/calls/call.h"
#include "host/calls/memory.h"
#include "host/core/progress.h"
#include "host/queue/append.h"
#include "host/queue/issue.h"
#include "host/queue/order.h"
#include "host/path/path.h"

omprma_status_t submit_settle_host(struct omprma_queue *queue, const void *host, uint64_t bytes,
                                   bool fill)
{
    if (!host_ranges_meet(&queue->hosts, (uint64_t)(uintptr_t)host, bytes, fill))
        return OMPRMA_OK;
    queue_settle(queue);
    return call_check_queue(queue); /* it may have failed meanwhile */
}

/* ---- one copy ---- */

/* *operation: a reference. `result`: a worker that has a part in it says when it is over, and
 * begins none of the same queue before. */
static omprma_status_t append(const struct path_ops *path, const struct hop *hop, bool result,
                              struct operation **operation)
{
    omprma_status_t status = path->append(hop, operation);

    if (status != OMPRMA_OK)
        return status;
    operation_hold(*operation);
    if (result && path->flushes)
        queue_want(hop->queue, hop->queue->appended);
    return OMPRMA_OK;
}

/* Has it read from a copy of its source. False: it is on its way, or there is no memory. */
static bool keep_source(struct operation *put)
{
    const void *source = put->move.transfer.local;
    void *copy = put->state == OPERATION_APPENDED ? malloc(put->host_bytes) : NULL;

    if (!copy)
        return false;
    put->move.transfer.local = put->move.copy = memcpy(copy, source, put->host_bytes);
    put->host_at = (uint64_t)(uintptr_t)copy;
    return true;
}

/* The source of a small submit may be on the caller's stack: if its data has not left when the call
 * ends, it has to stand somewhere else. */
static void keep_small_source(struct omprma_queue *queue, struct operation *put)
{
    if (!operation_has_ended(put) && !keep_source(put))
        queue_settle(queue);
}

/* Of the program itself, which copies it to where the device gets it. */
static bool reads_source(const struct hop *hop)
{
    return device_is_staged(hop->to.device) && hop->to.device->paths.shared;
}

static bool source_is_read(const void *data)
{
    const struct operation *move = data;

    return operation_has_ended(move) ||
           (move->state == OPERATION_ISSUED && move->by->has_read && move->by->has_read(move));
}

/* Nothing but transfers that are under way is before it. */
static bool waits_for_transfers(const struct operation *move)
{
    const struct omprma_queue *queue = move->queue;
    const struct operation *blocker;

    if (move->state != OPERATION_APPENDED || queue->next != move)
        return false;
    if (queue->transfers >= queue->device->runtime->limits.transfers)
        return true;
    blocker = order_blocker(move);
    return blocker && blocker->kind == OPERATION_TRANSFER && !operation_has_command(blocker);
}

static bool source_may_be_kept(const void *data)
{
    return source_is_read(data) || !waits_for_transfers(data);
}

static void wait_until(struct operation *move, bool (*done)(const void *))
{
    struct omprma_queue *queue = move->queue;

    if (done(move))
        return;
    queue->waiters++;
    progress_wait(queue->device->runtime, done, move);
    queue->waiters--;
}

/* It is read now, if its turn has come; else it has to stand somewhere else. */
static void read_source(struct operation *move)
{
    wait_until(move, source_may_be_kept);
    if (!keep_source(move))
        wait_until(move, source_is_read);
}

/* The caller's data leaves while it goes on. */
static void begin(const struct hop *hop, struct operation *operation)
{
    bool moves = operation->kind == OPERATION_TRANSFER;

    if (operation->by->flushes)
        queue_flush(hop->queue);
    else if (moves && (hop_is_submit(hop) || operation->by->copies))
        queue_advance(hop->queue);
    if (moves && hop_is_reused(hop))
        keep_small_source(hop->queue, operation);
    else if (moves && hop->copied && !operation->move.copy)
        read_source(operation);
}

enum { KNOWN_MOST = 256 << 10 /* to look at more takes as long as the copy itself */ };

/* What this process copies may be looked at only once. Where memory that is handed on is not there,
 * Open MPI would try for ever to copy it. */
static omprma_status_t check_memory(const struct hop *hop, const struct path_ops *path)
{
    bool submit = hop_is_submit(hop);
    const void *here = (const void *)(uintptr_t)(submit ? hop->from.at : hop->to.at);
    uint64_t known = path->copies || hop->copied ? KNOWN_MOST
                     : path->start               ? 0
                                                 : OMPRMA_COPIED_SUBMIT;

    return hop->bytes <= known ? memory_check_known(hop->queue->device, here, hop->bytes, !submit)
                               : memory_check_now(hop->queue->device, here, hop->bytes, !submit);
}

/* Where others would read the source late a copy of it is sent; NULL: it is not, or there is no
 * memory. */
static void *copy_source(struct hop *hop)
{
    void *copy = hop->copied && !reads_source(hop) ? malloc(hop->bytes) : NULL;

    if (!copy)
        return NULL;
    memcpy(copy, (const void *)(uintptr_t)hop->from.at, hop->bytes);
    hop->from.at = (uint64_t)(uintptr_t)copy;
    return copy;
}

/* What is not moved later stands in a message. */
static void leave_copy(struct operation *operation, void *copy)
{
    if (operation->kind == OPERATION_TRANSFER)
        operation->move.copy = copy;
    else
        free(copy);
}

static omprma_status_t append_copy(struct hop *hop)
{
    struct omprma_queue *queue = hop->queue;
    bool timed, waited;
    const struct path_ops *path = adapt_pick(hop, path_pick(NULL, hop), &timed);
    struct operation *operation;
    omprma_status_t status = check_memory(hop, path);
    void *copy;

    if (status != OMPRMA_OK)
        return status;
    copy = copy_source(hop);
    waited = timed && queue_is_idle(queue);
    if (timed && !waited && path->flushes) { /* the worker says when all before it is over */
        queue_want(queue, queue->appended);
        queue_seal(queue);
    }
    status = append(path, hop, timed, &operation);
    if (status != OMPRMA_OK) {
        free(copy);
        return status;
    }
    leave_copy(operation, copy);
    if (timed)
        adapt_watch(operation, waited);
    begin(hop, operation);
    operation_drop(&queue->device->runtime->operations, operation);
    if (waited)
        queue_settle(queue); /* who comes back late would not see when it ends */
    return OMPRMA_OK;
}

omprma_status_t submit_part(struct omprma_queue *queue, bool submit, omprma_addr_t address,
                            void *host, uint64_t bytes, bool arena, struct operation **operation)
{
    struct hop hop = hop_of_program(queue, submit, address, host, bytes, arena);
    const struct path_ops *path;
    omprma_status_t status;

    hop.stays = true;
    path = path_pick(NULL, &hop);
    status = append(path, &hop, true, operation);
    if (status == OMPRMA_OK && path->flushes)
        queue_flush(queue);
    return status;
}

/* ---- public functions ---- */

/* With the lock. */
static omprma_status_t check(struct omprma_queue *queue, bool submit, omprma_addr_t address,
                             const void *host, size_t bytes, bool *arena)
{
    const char *what = submit ? "submit" : "retrieve";
    omprma_status_t status;

    if (!host)
        return error_set(OMPRMA_ERR_ARGUMENT, "%s: %s of %zu bytes %s NULL",
                         device_name(queue->device), what, bytes, submit ? "from" : "to");
    status = call_check_range(queue->device, what, address, bytes, arena);
    return status == OMPRMA_OK ? submit_settle_host(queue, host, bytes, !submit) : status;
}

/* Is there something in the queue behind which the program's memory may be another: what waits for
 * other queues or for the program? Commands of the worker's own do not touch it, and what fills the
 * source itself has been waited for. */
static bool queue_awaits_others(const struct omprma_queue *queue)
{
    return queue->mixed > 0 || queue->watching > queue->answered;
}

/* When the source of a submit is read. */
enum source { SOURCE_STAYS, SOURCE_IN_TURN, SOURCE_COPIED };

/* The source is read behind all that the queue holds, which a staged submit does anyway. */
static omprma_status_t await_turn(struct hop *hop)
{
    hop->stays = device_is_staged(hop->queue->device);
    if (!hop->stays)
        queue_settle(hop->queue);
    return call_check_queue(hop->queue);
}

static omprma_status_t copy(struct omprma_queue *queue, bool submit, omprma_addr_t address,
                            const void *host, size_t bytes, enum source source)
{
    bool arena = false;
    struct hop hop;
    omprma_status_t status = call_begin(queue);

    if (status != OMPRMA_OK)
        return status;
    if (bytes == 0)
        return call_end(queue, OMPRMA_OK);
    status = check(queue, submit, address, host, bytes, &arena);
    hop = hop_of_program(queue, submit, address, host, bytes, arena);
    hop.copied = source == SOURCE_COPIED && bytes > OMPRMA_COPIED_SUBMIT;
    if (status == OMPRMA_OK && source == SOURCE_IN_TURN && queue_awaits_others(queue))
        status = await_turn(&hop);
    if (status == OMPRMA_OK)
        status = append_copy(&hop);
    return call_end(queue, status);
}

omprma_status_t omprma_submit(omprma_queue_t *queue, omprma_addr_t to, const void *from,
                              size_t bytes)
{
    return copy(queue, true, to, from, bytes, SOURCE_STAYS);
}

omprma_status_t omprma_submit_in_turn(omprma_queue_t *queue, omprma_addr_t to, const void *from,
                                      size_t bytes)
{
    return copy(queue, true, to, from, bytes, SOURCE_IN_TURN);
}

omprma_status_t omprma_submit_copied(omprma_queue_t *queue, omprma_addr_t to, const void *from,
                                     size_t bytes)
{
    return copy(queue, true, to, from, bytes, SOURCE_COPIED);
}

omprma_status_t omprma_retrieve(omprma_queue_t *queue, void *to, omprma_addr_t from, size_t bytes)
{
    return copy(queue, false, from, to, bytes, SOURCE_STAYS);
}

omprma_status_t submit_check_parts(const struct device *device, size_t bytes,
                                   const omprma_part_t *parts, size_t count)
{
    omprma_status_t status = OMPRMA_OK;

    if (!parts)
        return error_set(OMPRMA_ERR_ARGUMENT, "%s: retrieve of %zu parts, which are NULL",
                         device_name(device), count);
    for (size_t i = 0; i < count; i++)
        if (!range_fits(parts[i].offset, parts[i].bytes, bytes) || (parts[i].bytes && !parts[i].to))
            return error_set(OMPRMA_ERR_ARGUMENT,
                             "%s: retrieve of %zu bytes from offset %zu to %p, of a range of %zu",
                             device_name(device), parts[i].bytes, parts[i].offset, parts[i].to,
                             bytes);
    for (size_t i = 0; i < count && status == OMPRMA_OK; i++)
        status = memory_check(device, parts[i].to, parts[i].bytes, true);
    return status;
}

/* Mostly that of the last one. NULL: no memory. */
static struct read_parts *take_parts(struct omprma_queue *queue, size_t count)
{
    struct read_parts *parts = queue->spare_parts;

    queue->spare_parts = NULL;
    if (parts && parts->room >= count)
        return parts;
    free(parts);
    parts = malloc(sizeof(*parts) + count * sizeof(parts->part[0]));
    if (parts)
        parts->room = count;
    return parts;
}

/* Parts without bytes are left out. */
static struct read_parts *copy_parts(struct omprma_queue *queue, const omprma_part_t *list,
                                     size_t count)
{
    struct read_parts *parts = take_parts(queue, count);

    if (!parts) {
        error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a list of %zu parts", count);
        return NULL;
    }
    *parts = (struct read_parts){.begin = UINT64_MAX, .room = parts->room};
    for (size_t i = 0; i < count; i++) {
        uint64_t begin = (uint64_t)(uintptr_t)list[i].to, end = begin + list[i].bytes;

        if (begin == end)
            continue;
        parts->part[parts->count++] = list[i];
        parts->begin = begin < parts->begin ? begin : parts->begin;
        parts->end = end > parts->end ? end : parts->end;
    }
    return parts;
}

omprma_status_t submit_settle_parts(struct omprma_queue *queue, const omprma_part_t *parts,
                                    size_t count)
{
    omprma_status_t status = OMPRMA_OK;

    for (size_t i = 0; i < count && queue->hosts.count > 0 && status == OMPRMA_OK; i++)
        status = submit_settle_host(queue, parts[i].to, parts[i].bytes, true);
    return status;
}

omprma_status_t submit_place_parts(struct omprma_queue *queue, const omprma_part_t *list,
                                   size_t count, uint64_t bytes, void **to,
                                   struct read_parts **parts)
{
    bool one = count == 1 && list[0].offset == 0 && list[0].bytes == bytes;

    *to = one ? list[0].to : NULL;
    *parts = one ? NULL : copy_parts(queue, list, count);
    return one || *parts ? OMPRMA_OK : OMPRMA_ERR_HOST_MEMORY;
}

enum { COPIED_PARTS = 2 }; /* more of them take longer than the message that brings all */

/* Of a small range of an arena; *done: it is. Else its parts go one by one. */
static omprma_status_t retrieve_at_once(struct omprma_queue *queue, omprma_addr_t from,
                                        size_t bytes, const omprma_part_t *parts, size_t count,
                                        bool *done)
{
    bool arena = false;
    struct read_parts *copy;
    struct operation *read;
    struct hop hop = hop_of_program(queue, false, from, NULL, bytes, true);
    void *to;
    omprma_status_t status = submit_check_parts(queue->device, bytes, parts, count);

    hop.scattered = count > COPIED_PARTS;
    *done = bytes == 0;
    if (status == OMPRMA_OK && bytes > 0)
        status = call_check_range(queue->device, "retrieve", from, bytes, &arena);
    if (status != OMPRMA_OK || *done || !arena || !path_inline.wants(&hop))
        return status;
    *done = true;
    status = submit_settle_parts(queue, parts, count);
    if (status == OMPRMA_OK)
        status = submit_place_parts(queue, parts, count, bytes, &to, &copy);
    if (status != OMPRMA_OK)
        return status;
    hop.to.at = (uint64_t)(uintptr_t)to;
    hop.parts = copy;
    status = path_inline.append(&hop, &read);
    if (status != OMPRMA_OK)
        free(copy);
    return status;
}

omprma_status_t omprma_retrieve_parts(omprma_queue_t *queue, omprma_addr_t from, size_t bytes,
                                      const omprma_part_t *parts, size_t count)
{
    bool done = count == 0;
    omprma_status_t status = call_begin(queue);

    if (status != OMPRMA_OK)
        return status;
    if (!done)
        status = retrieve_at_once(queue, from, bytes, parts, count, &done);
    call_end(queue, status);
    for (size_t i = 0; i < count && status == OMPRMA_OK && !done; i++)
        status = omprma_retrieve(queue, parts[i].to, from + parts[i].offset, parts[i].bytes);
    return status;
}

omprma_status_t omprma_fill(omprma_queue_t *queue, omprma_addr_t to, const void *pattern,
                            size_t pattern_bytes, size_t count)
{
    struct wire_record record = {.code = WIRE_FILL, .word = {to, 0, pattern_bytes, count}};
    uint64_t bytes = 0;
    bool arena = false;
    omprma_status_t status = call_begin(queue);

    if (status != OMPRMA_OK)
        return status;
    if (count == 0)
        return call_end(queue, OMPRMA_OK);
    if (!pattern || pattern_bytes == 0 || pattern_bytes > 8 ||
        pattern_bytes & (pattern_bytes - 1) || to % pattern_bytes ||
        __builtin_mul_overflow(pattern_bytes, count, &bytes))
        return call_end(queue, error_set(OMPRMA_ERR_ARGUMENT,
                                         "%s: fill of %zu times %zu bytes at 0x%llx: patterns have "
                                         "1, 2, 4 or 8 bytes and begin at a multiple of that",
                                         device_name(queue->device), count, pattern_bytes,
                                         (unsigned long long)to));
    status = call_check_range(queue->device, "fill", to, bytes, &arena);
    if (status != OMPRMA_OK)
        return call_end(queue, status);
    memcpy(&record.word[1], pattern, pattern_bytes);
    return call_end(queue, queue_append_command(queue, OPERATION_COMMAND, &record, NULL));
}
