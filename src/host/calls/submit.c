/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * submit.c: submit, retrieve and fill, public functions of omprma.h: each checks its range, lets
 * operations end that use the same memory of the program, chooses a path by what was measured and
 * what can be (move()), and appends one hop that way.
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
#include "host/queue/append.h"
#include "host/queue/issue.h"
#include "host/path/path.h"

omprma_status_t submit_settle_host(struct omprma_queue *queue, const void *host, uint64_t bytes,
                                   bool fill)
{
    if (!host_ranges_meet(&queue->hosts, (uint64_t)(uintptr_t)host, bytes, fill))
        return OMPRMA_OK;
    queue_settle(queue);
    return call_check_queue(queue); /* it may have failed meanwhile */
}

/* ---- hops ---- */

static omprma_status_t append_inline(const struct hop *hop)
{
    struct operation *operation;
    omprma_status_t status = path_inline.append(hop, &operation);

    if (status == OMPRMA_OK)
        observe_inline(hop->queue->device->runtime->observers, hop->queue, hop_data(hop),
                       hop->bytes);
    return status;
}

/* What somebody wants to know of a transfer: when it is over; what it takes, of one that the caller
 * waits for, or of one that stands behind commands. */
enum wanted { WANTED_NOTHING, WANTED_RESULT, WANTED_WAITED, WANTED_TIME };

static enum wanted wanted_of(const struct omprma_queue *queue, bool timed)
{
    return !timed ? WANTED_NOTHING : queue_is_idle(queue) ? WANTED_WAITED : WANTED_TIME;
}

/* *operation: a reference. */
static omprma_status_t append_held(const struct path_ops *path, const struct hop *hop,
                                   struct operation **operation)
{
    omprma_status_t status = path->append(hop, operation);

    if (status == OMPRMA_OK)
        operation_hold(*operation);
    return status;
}

/* With a result the worker says when this transfer is over, and begins none of the same queue
 * before. *operation: a reference. */
static omprma_status_t append_two_sided(const struct hop *hop, enum wanted wanted,
                                        struct operation **operation)
{
    struct omprma_queue *queue = hop->queue;
    omprma_status_t status;

    if (wanted == WANTED_TIME) { /* the worker says when all before it is over */
        queue_want(queue, queue->appended);
        queue_seal(queue);
    }
    status = append_held(&path_two_sided, hop, operation);
    if (status != OMPRMA_OK)
        return status;
    if (wanted >= WANTED_WAITED)
        adapt_watch(*operation, wanted == WANTED_WAITED);
    if (wanted != WANTED_NOTHING)
        queue_want(queue, queue->appended);
    queue_flush(queue); /* let the data move while the caller goes on */
    return OMPRMA_OK;
}

static omprma_status_t move_two_sided(const struct hop *hop, enum wanted wanted)
{
    struct operation *operation;
    omprma_status_t status = append_two_sided(hop, wanted, &operation);

    if (status == OMPRMA_OK)
        operation_drop(&hop->queue->device->runtime->operations, operation);
    return status;
}

/* The source of a small submit may be on the caller's stack: if its data has not left when the call
 * ends, it has to stand somewhere else. */
static omprma_status_t keep_small_source(struct omprma_queue *queue, struct operation *put)
{
    const void *source = put->move.transfer.local;
    void *copy;

    if (operation_has_ended(put))
        return OMPRMA_OK;
    copy = put->state == OPERATION_APPENDED ? malloc(put->host_bytes) : NULL;
    if (!copy) { /* it is on its way, or there is no memory: wait for it */
        queue_settle(queue);
        return OMPRMA_OK;
    }
    put->move.transfer.local = put->move.copy = memcpy(copy, source, put->host_bytes);
    put->host_at = (uint64_t)(uintptr_t)copy;
    return OMPRMA_OK;
}

/* A move that was appended begins, if the caller's data is to leave; drops the reference. */
static omprma_status_t begin_move(const struct hop *hop, struct operation *move)
{
    struct omprma_queue *queue = hop->queue;
    omprma_status_t status = OMPRMA_OK;

    if (hop_is_submit(hop) || move->by->copies)
        queue_advance(queue);
    if (hop_is_submit(hop) && hop->bytes <= OMPRMA_COPIED_SUBMIT)
        status = keep_small_source(queue, move);
    operation_drop(&queue->device->runtime->operations, move);
    return status;
}

/* Where memory of the program is not there, Open MPI would try for ever to copy it. */
static omprma_status_t check_small(const struct hop *hop)
{
    const struct hop_end *here = hop_is_submit(hop) ? &hop->from : &hop->to;

    return hop->bytes > OMPRMA_COPIED_SUBMIT /* it has been looked at */
               ? OMPRMA_OK
               : memory_check_now(hop->queue->device, (const void *)(uintptr_t)here->at, hop->bytes,
                                  !hop_is_submit(hop));
}

static omprma_status_t move_one_sided(const struct hop *hop, enum wanted wanted)
{
    struct operation *operation;
    omprma_status_t status = check_small(hop);

    if (status == OMPRMA_OK)
        status = append_held(&path_put_get, hop, &operation);
    if (status != OMPRMA_OK)
        return status;
    if (wanted >= WANTED_WAITED)
        adapt_watch(operation, wanted == WANTED_WAITED);
    return begin_move(hop, operation);
}

static omprma_status_t move_shared(const struct hop *hop)
{
    struct operation *operation;
    omprma_status_t status = append_held(&path_shared, hop, &operation);

    return status == OMPRMA_OK ? begin_move(hop, operation) : status;
}

static omprma_status_t move_staged(const struct hop *hop)
{
    struct omprma_queue *queue = hop->queue;
    struct operation *operation;
    omprma_status_t status = append_held(&path_staged, hop, &operation);

    if (status != OMPRMA_OK)
        return status;
    if (hop_is_submit(hop))
        queue_advance(queue);
    operation_drop(&queue->device->runtime->operations, operation);
    return OMPRMA_OK;
}

/* It begins at once, or when a look finds that it may. */
static omprma_status_t move_by_thread(const struct hop *hop)
{
    struct operation *operation;
    omprma_status_t status = path_thread.append(hop, &operation);

    if (status == OMPRMA_OK)
        queue_flush(hop->queue);
    return status;
}

static omprma_status_t move(struct hop *hop)
{
    struct omprma_queue *queue = hop->queue;
    bool staged = device_is_staged(queue->device), submit = hop_is_submit(hop), timed = false;
    bool one_sided;
    enum wanted wanted;
    omprma_status_t status;

    if (queue->unwaited && path_thread.takes(hop))
        return move_by_thread(hop);
    if (path_shared.takes(hop))
        return move_shared(hop);
    one_sided =
        hop_there(hop)->arena && !staged && adapt_one_sided(queue, submit, hop->bytes, &timed);
    wanted = wanted_of(queue, timed);
    if (!one_sided && submit && hop->bytes <= OMPRMA_COPIED_SUBMIT)
        /* The caller may reuse the source at once, so a small one travels in the message. */
        return append_inline(hop);
    if (staged)
        return move_staged(hop);
    if (one_sided)
        status = move_one_sided(hop, wanted);
    else
        status = move_two_sided(hop, wanted);
    if (wanted == WANTED_WAITED && status == OMPRMA_OK)
        queue_settle(queue); /* who comes back late would not see when it ends */
    return status;
}

omprma_status_t submit_part(struct omprma_queue *queue, bool submit, omprma_addr_t address,
                            void *host, uint64_t bytes, bool arena, struct operation **operation)
{
    struct hop hop = hop_of_program(queue, submit, address, host, bytes, arena);

    if (device_is_staged(queue->device))
        return append_held(&path_staged, &hop, operation);
    if (path_shared.takes(&hop))
        return append_held(&path_shared, &hop, operation);
    if (arena && paths_one_sided(&queue->device->paths, submit, bytes))
        return append_held(&path_put_get, &hop, operation);
    return append_two_sided(&hop, WANTED_RESULT, operation);
}

/* ---- public functions ---- */

/* Up to how much is looked at only once: that would take as long as the copy. */
enum { KNOWN_MOST = 256 << 10 };

static omprma_status_t check_memory(const struct hop *hop, const void *host)
{
    bool known = hop->bytes <= KNOWN_MOST && path_shared.takes(hop);

    return known ? memory_check_known(hop->queue->device, host, hop->bytes, !hop_is_submit(hop))
                 : memory_check(hop->queue->device, host, hop->bytes, !hop_is_submit(hop));
}

/* Takes the lock for a copy, and checks. False: there is nothing to do, or something is wrong; the
 * lock is not held then, and *status is what the call returns. */
static bool begin_copy(struct omprma_queue *queue, bool submit, omprma_addr_t address,
                       const void *host, size_t bytes, struct hop *hop, omprma_status_t *status)
{
    const char *what = submit ? "submit" : "retrieve";
    bool arena = false;

    *status = call_begin(queue);
    if (*status != OMPRMA_OK)
        return false;
    if (bytes > 0 && !host)
        *status = error_set(OMPRMA_ERR_ARGUMENT, "%s: %s of %zu bytes %s NULL",
                            device_name(queue->device), what, bytes, submit ? "from" : "to");
    else if (bytes > 0)
        *status = call_check_range(queue->device, what, address, bytes, &arena);
    *hop = hop_of_program(queue, submit, address, host, bytes, arena);
    if (*status == OMPRMA_OK && bytes > 0)
        *status = check_memory(hop, host);
    if (*status == OMPRMA_OK && bytes > 0)
        *status = submit_settle_host(queue, host, bytes, !submit);
    if (*status != OMPRMA_OK || bytes == 0) {
        call_end(queue, *status);
        return false;
    }
    return true;
}

static omprma_status_t submit(struct hop *hop)
{
    const struct hop_end *there = hop_there(hop);

    if (hop->bytes <= (there->arena ? there->device->paths.inline_submit : OMPRMA_COPIED_SUBMIT))
        return append_inline(hop);
    return move(hop);
}

omprma_status_t omprma_submit(omprma_queue_t *queue, omprma_addr_t to, const void *from,
                              size_t bytes)
{
    struct hop hop;
    omprma_status_t status;

    if (!begin_copy(queue, true, to, from, bytes, &hop, &status))
        return status;
    return call_end(queue, submit(&hop));
}

/* Is there something in the queue behind which the program's memory may be another: what waits for
 * other queues or for the program? Commands of the worker's own do not touch it, and what fills the
 * source itself has been waited for. */
static bool queue_awaits_others(const struct omprma_queue *queue)
{
    return queue->mixed > 0 || queue->watching > queue->answered;
}

omprma_status_t omprma_submit_in_turn(omprma_queue_t *queue, omprma_addr_t to, const void *from,
                                      size_t bytes)
{
    struct hop hop;
    omprma_status_t status;

    if (!begin_copy(queue, true, to, from, bytes, &hop, &status))
        return status;
    if (queue_awaits_others(queue) && device_is_staged(queue->device)) {
        status = move_staged(&hop); /* which begins behind all of that */
    } else {
        if (queue_awaits_others(queue))
            queue_settle(queue);
        status = call_check_queue(queue);
        if (status == OMPRMA_OK)
            status = submit(&hop);
    }
    return call_end(queue, status);
}

/* Up to how many bytes of an arena come back in a message: more where one comes back anyway. */
static uint64_t read_limit(const struct omprma_queue *queue)
{
    const struct paths *paths = &queue->device->paths;
    bool comes = queue->open && queue->hazard >= queue->open_first->number;

    return comes ? paths->inline_retrieve_fused : paths->inline_retrieve;
}

omprma_status_t omprma_retrieve(omprma_queue_t *queue, void *to, omprma_addr_t from, size_t bytes)
{
    struct hop hop;
    omprma_status_t status;

    if (!begin_copy(queue, false, from, to, bytes, &hop, &status))
        return status;
    if (bytes <= (hop.from.arena ? read_limit(queue) : HOP_INLINE_MOST / 4))
        status = append_inline(&hop);
    else
        status = move(&hop);
    return call_end(queue, status);
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

/* Of a small range of an arena; *done: it is. Else its parts go one by one. */
static omprma_status_t retrieve_at_once(struct omprma_queue *queue, omprma_addr_t from,
                                        size_t bytes, const omprma_part_t *parts, size_t count,
                                        bool *done)
{
    bool arena = false;
    struct read_parts *copy;
    struct hop hop;
    void *to;
    omprma_status_t status = submit_check_parts(queue->device, bytes, parts, count);

    *done = bytes == 0;
    if (status == OMPRMA_OK && bytes > 0)
        status = call_check_range(queue->device, "retrieve", from, bytes, &arena);
    if (status != OMPRMA_OK || *done || !arena || bytes > read_limit(queue))
        return status;
    *done = true;
    status = submit_settle_parts(queue, parts, count);
    if (status == OMPRMA_OK)
        status = submit_place_parts(queue, parts, count, bytes, &to, &copy);
    if (status != OMPRMA_OK)
        return status;
    hop = hop_of_program(queue, false, from, to, bytes, true);
    hop.parts = copy;
    status = append_inline(&hop);
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
