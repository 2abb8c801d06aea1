/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * redzones.c: allocating and freeing wait for nothing. A new block and its zones are filled in a
 * queue of the check's own, which the program's later calls are ordered behind (check_order()). A
 * freed block goes through the states of enum check_state, each when the operations of the one
 * before are over: first what was under way when it was freed ends; then its zones are read and its
 * memory is poisoned; then it is kept; then all of it is read once more, and the allocator gets it
 * back.
 */
#include "host/check/redzones.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/error.h"
#include "base/kernel_name.h"
#include "base/log.h"
#include "base/units.h"
#include "host/check/check.h"
#include "host/check/findings.h"
#include "host/device/blocks.h"
#include "host/device/kernel_names.h"
#include "host/device/retired.h"
#include "host/path/path.h"
#include "host/queue/append.h"
#include "host/queue/issue.h"

enum {
    KEPT_BLOCKS = 256,      /* freed blocks of a device that are kept, */
    KEPT_BYTES = 64 << 20,  /* and their bytes */
    BODY_BYTES = 512 << 10, /* of a freed block that are looked at: at its beginning and its end */
    LOOKS = 64,             /* blocks that are looked at together */
    SMALL_BYTES = 1024,     /* of a block that is read at once, with its zones */
    RECORD_BYTES = 8192     /* of a read that travels in a message */
};

/* What is read of a block: the zones, and parts of what was the program's. */
struct look {
    struct operation *mark; /* a reference; NULL: it is over */
    uint64_t head, tail;    /* bytes of the program's at the beginning and at the end */
    bool body;              /* it was freed, and these are to be as they were left */
    unsigned char data[];   /* front zone, head, tail, back zone */
};

/* ---- opening -------------------------------------------------------------------------------- */

static omprma_status_t open_device(struct device *device)
{
    struct check *check = calloc(1, sizeof(*check));
    omprma_status_t status;

    if (!check)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory to check %s", device_name(device));
    status = queue_take(device, &check->queue);
    if (status == OMPRMA_OK)
        device->check = check;
    else
        free(check);
    return status;
}

omprma_status_t redzones_open(struct runtime *runtime)
{
    omprma_status_t status = OMPRMA_OK;

    if (runtime->config.check != CHECK_FULL)
        return OMPRMA_OK;
    findings_open();
    if (runtime->config.placement != PLACEMENT_PROGRAM && runtime->device_count > 1) {
        log_write(LOG_WARNING,
                  "%s with %s: looks for regions that write what they only read by "
                  "their word; without the latter it looks for wrong uses of memory",
                  config_known_as("OMPRMA_CHECK"), config_known_as("OMPRMA_PLACEMENT"));
        return OMPRMA_OK;
    }
    for (int i = 0; i < runtime->device_count && status == OMPRMA_OK; i++)
        if (device_is_well(runtime->devices[i]))
            status = open_device(runtime->devices[i]);
    return status;
}

/* ---- looking -------------------------------------------------------------------------------- */

static void fill(struct device *device, omprma_addr_t to, int pattern, uint64_t bytes)
{
    struct wire_record record = {.code = WIRE_FILL, .word = {to, (uint64_t)pattern, 1, bytes}};

    if (bytes > 0)
        queue_append_command(device->check->queue, OPERATION_COMMAND, &record, NULL);
}

static bool is_small(const struct check_block *block)
{
    return block->bytes <= SMALL_BYTES;
}

/* Of a small block it rides along with other answers, unless a kernel has crashed: one-sided
 * nothing is needed of the worker. */
static omprma_status_t read_part(struct device *device, bool small, omprma_addr_t from,
                                 unsigned char *to, uint64_t bytes)
{
    struct hop hop = hop_of_program(device->check->queue, false, from, to, bytes, true);
    struct operation *operation;
    omprma_status_t status = OMPRMA_OK;

    if (bytes == 0)
        return OMPRMA_OK;
    hop.is_part = true; /* the program has not asked for it */
    if ((device->check->crashed || !small) && path_put_get.takes(&hop))
        return path_put_get.append(&hop, &operation);
    for (uint64_t at = 0; at < bytes && status == OMPRMA_OK; at += hop.bytes) {
        hop.from.at = from + at;
        hop.to.at = (uint64_t)(uintptr_t)to + at;
        hop.bytes = bytes - at < RECORD_BYTES ? bytes - at : RECORD_BYTES;
        status = path_inline.append(&hop, &operation);
    }
    return status;
}

/* Begins to look at a block, with what was the program's if `body`. */
static void look_begin(struct device *device, struct check_block *block, bool body)
{
    struct omprma_queue *queue = device->check->queue;
    uint64_t whole = body || is_small(block) ? block->bytes : 0;
    uint64_t head = whole < BODY_BYTES ? whole : BODY_BYTES;
    uint64_t tail = whole - head < BODY_BYTES ? whole - head : BODY_BYTES;
    struct look *look = malloc(sizeof(*look) + 2 * REDZONES_BYTES + head + tail);
    uint64_t front, back;
    unsigned char *at;
    omprma_status_t status;

    if (!look)
        return;
    *look = (struct look){.head = head, .tail = tail, .body = body};
    at = look->data;
    front = REDZONES_BYTES + head;
    back = tail + REDZONES_BYTES;
    if (head == block->bytes) { /* they lie beside each other */
        front += back;
        back = 0;
    }
    status = read_part(device, is_small(block), block->begin - REDZONES_BYTES, at, front);
    if (status == OMPRMA_OK)
        status = read_part(device, is_small(block), block->begin + block->bytes - tail, at + front,
                           back);
    if (status == OMPRMA_OK)
        status = queue_mark(queue, &look->mark);
    if (status != OMPRMA_OK) /* what was appended still fills it */
        queue_settle(queue);
    if (status == OMPRMA_OK)
        block->look = look;
    else
        free(look);
}

/* Bytes that are not `value`, and where the first and the last one are. */
static uint64_t count_other(const unsigned char *at, uint64_t bytes, int value, uint64_t *first,
                            uint64_t *last)
{
    uint64_t count = 0;

    if (bytes > 0 && at[0] == value && memcmp(at, at + 1, bytes - 1) == 0)
        return 0; /* the usual case */
    for (uint64_t i = 0; i < bytes; i++) {
        if (at[i] == value)
            continue;
        if (count++ == 0)
            *first = i;
        *last = i;
    }
    return count;
}

static const char *kernel_words(const struct device *device, const struct check_block *block,
                                char *words, size_t room)
{
    char name[KERNEL_NAME_WORDS];

    words[0] = 0;
    if (block->kernel)
        snprintf(words, room, "; the last kernel that was given it is %s",
                 kernel_name_words(kernel_names_find(device, block->kernel), name));
    return words;
}

static void judge_redzones(const struct device *device, const struct check_block *block)
{
    const struct look *look = block->look;
    const unsigned char *back = look->data + REDZONES_BYTES + look->head + look->tail;
    uint64_t first = 0, last = 0, count;
    char words[CHECK_WORDS], kernel[KERNEL_NAME_WORDS + 64];

    count = count_other(look->data, REDZONES_BYTES, REDZONES_RED, &first, &last);
    if (count)
        findings_add(FINDING_BEFORE, block->number, 0,
                     "%s: %" PRIu64 " byte%s in front of the %s %s written, %" PRIu64 " to %" PRIu64
                     " bytes before it%s; look for an index below its first one",
                     device_name(device), count, units_plural((int64_t)count),
                     check_words(block, words), count == 1 ? "was" : "were", REDZONES_BYTES - last,
                     REDZONES_BYTES - first, kernel_words(device, block, kernel, sizeof(kernel)));
    count = count_other(back, REDZONES_BYTES, REDZONES_RED, &first, &last);
    if (count)
        findings_add(FINDING_BEHIND, block->number, 0,
                     "%s: %" PRIu64 " byte%s behind the %s %s written, at offsets %" PRIu64
                     " to %" PRIu64 " from its beginning%s; look for an index beyond its last one",
                     device_name(device), count, units_plural((int64_t)count),
                     check_words(block, words), count == 1 ? "was" : "were", block->bytes + first,
                     block->bytes + last, kernel_words(device, block, kernel, sizeof(kernel)));
}

static void judge_body(const struct device *device, const struct check_block *block)
{
    const struct look *look = block->look;
    const unsigned char *body = look->data + REDZONES_BYTES;
    uint64_t first = 0, last = 0, ignored = 0, in_tail, count;
    char words[CHECK_WORDS], kernel[KERNEL_NAME_WORDS + 64];

    count = count_other(body, look->head, REDZONES_FREED, &first, &last);
    in_tail = count_other(body + look->head, look->tail, REDZONES_FREED, count ? &ignored : &first,
                          &last);
    if (count + in_tail == 0)
        return;
    if (count == 0)
        first += block->bytes - look->tail;
    if (in_tail)
        last += block->bytes - look->tail;
    findings_add(FINDING_LATE, block->number, 0,
                 "%s: %" PRIu64 " byte%s of the %s %s written after that, at offsets %" PRIu64
                 " to %" PRIu64 "%s; free it when nothing uses it any more",
                 device_name(device), count + in_tail, units_plural((int64_t)count + in_tail),
                 check_words(block, words), count + in_tail == 1 ? "was" : "were", first, last,
                 kernel_words(device, block, kernel, sizeof(kernel)));
}

/* False: it is not over yet. Else there is no look any more. */
static bool look_end(struct device *device, struct check_block *block)
{
    struct look *look = block->look;

    if (!look)
        return true;
    if (look->mark && !operation_has_ended(look->mark))
        return false;
    if (!look->mark || !look->mark->failure) {
        judge_redzones(device, block);
        if (look->body)
            judge_body(device, block);
    }
    operation_drop(&device->runtime->operations, look->mark);
    free(look);
    block->look = NULL;
    return true;
}

/* ---- blocks that were freed ----------------------------------------------------------------- */

/* Its zones are read, then it is poisoned. True: that takes time, and is to begin now. */
static bool begin_keeping(struct device *device, struct check_block *block)
{
    retired_drop(device, block->before);
    block->before = NULL;
    look_begin(device, block, false);
    fill(device, block->begin, REDZONES_FREED, block->bytes);
    block->state = CHECK_LOOKED;
    device->check->kept++;
    device->check->kept_bytes += block->raw_bytes;
    return !is_small(block);
}

static bool is_too_much(const struct check *check)
{
    return check->kept > KEPT_BLOCKS || check->kept_bytes > KEPT_BYTES;
}

/* Up to GIVEN blocks that can be given back to the allocator. */
enum { GIVEN = 64 };
struct given {
    omprma_addr_t raw[GIVEN];
    int count;
};

/* All freed blocks go on as far as they can. What is appended by that for small ones leaves with
 * what the program asks for next, which is ordered behind it. `all`: none is kept any longer. */
static void go_on(struct device *device, bool all, struct given *given)
{
    struct check *check = device->check;
    struct check_block *block;
    bool large = false;

    given->count = 0;
    if (!device_is_well(device))
        return;
    for (block = check->fresh; block; block = block->next) {
        if (block->state == CHECK_FREED && (!block->before || retired_is_over(block->before)))
            large |= begin_keeping(device, block);
        if (block->state == CHECK_LOOKED && look_end(device, block))
            block->state = CHECK_KEPT;
        if (block->state == CHECK_FREED)
            break;
    }
    while (check->fresh && check->fresh->state >= CHECK_KEPT)
        check->fresh = check->fresh->next;
    for (block = check->first; block && block->state >= CHECK_KEPT && (all || is_too_much(check));
         block = block->next) {
        if (block->state == CHECK_LEAVING)
            continue;
        look_begin(device, block, true);
        large |= !is_small(block);
        block->state = CHECK_LEAVING;
        check->kept--;
        check->kept_bytes -= block->raw_bytes;
    }
    while ((block = check->first) != NULL && block->state == CHECK_LEAVING &&
           given->count < GIVEN && look_end(device, block)) {
        check->first = block->next;
        if (!check->first)
            check->last = NULL;
        given->raw[given->count++] = block->raw;
        check_past(check, block);
    }
    if (large)
        queue_flush(check->queue);
}

/* Without the lock. */
static void give_all(struct device *device, const struct given *given)
{
    for (int i = 0; i < given->count; i++)
        blocks_release(device, given->raw[i]);
}

void redzones_advance(struct device *device)
{
    struct given given;

    runtime_lock(device->runtime);
    go_on(device, false, &given);
    runtime_unlock(device->runtime);
    give_all(device, &given);
}

/* Gives up what is kept, because memory is short. False: there was nothing. */
static bool keep_nothing(struct device *device)
{
    struct given given;
    bool any;

    do {
        runtime_lock(device->runtime);
        go_on(device, true, &given);
        queue_settle(device->check->queue);
        if (given.count == 0)
            go_on(device, true, &given);
        if (given.count == 0) {
            queue_settle(device->check->queue);
            go_on(device, true, &given);
        }
        any = given.count > 0;
        runtime_unlock(device->runtime);
        give_all(device, &given);
    } while (given.count == GIVEN);
    return any;
}

/* ---- taking and giving ---------------------------------------------------------------------- */

/* A long queue is waited for, but not by callbacks, which must not wait. */
static void make_room(struct omprma_queue *queue)
{
    queue_flush(queue);
    if (queue_is_full(queue) && !queue->device->runtime->completions.running)
        queue_settle(queue);
}

static void begin_block(struct device *device, struct check_block *block)
{
    runtime_lock(device->runtime);
    check_insert(device->check, block);
    if (queue_is_full(device->check->queue))
        make_room(device->check->queue);
    fill(device, block->begin - REDZONES_BYTES, REDZONES_RED, REDZONES_BYTES);
    fill(device, block->begin, REDZONES_NEW, block->bytes);
    fill(device, block->begin + block->bytes, REDZONES_RED, REDZONES_BYTES);
    runtime_unlock(device->runtime);
}

omprma_status_t redzones_take(struct device *device, uint64_t bytes, struct fit fit,
                              omprma_addr_t *address, void *caller)
{
    uint64_t front = bytes >= ALLOCATOR_LARGE ? ALLOCATOR_PAGE : REDZONES_BYTES;
    struct check_block *block = calloc(1, sizeof(*block));
    omprma_status_t status;

    if (!block)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory to check a block");
    origin_take(&block->made, caller);
    redzones_advance(device);
    block->raw_bytes = front + bytes + REDZONES_BYTES;
    fit.residue = (fit.residue - front) & (fit.alignment - 1);
    do
        status = bytes > UINT64_MAX / 2
                     ? error_set(OMPRMA_ERR_DEVICE_MEMORY,
                                 "%s: %" PRIu64 " bytes are more than any machine has",
                                 device_name(device), bytes)
                     : blocks_alloc(device, block->raw_bytes, fit, &block->raw);
    while (status == OMPRMA_ERR_DEVICE_MEMORY && keep_nothing(device));
    if (status != OMPRMA_OK) {
        free(block);
        return status;
    }
    block->begin = *address = block->raw + front;
    block->bytes = bytes;
    begin_block(device, block);
    return OMPRMA_OK;
}

omprma_status_t redzones_give(struct device *device, omprma_addr_t address, void *caller)
{
    struct origin origin;
    struct check_block *block;
    omprma_status_t status = OMPRMA_OK;
    char words[CHECK_WORDS];

    origin_take(&origin, caller);
    runtime_lock(device->runtime);
    block = check_find(device->check, address);
    if (block && block->begin != address)
        block = NULL;
    if (block && block->state == CHECK_LIVE) {
        block->freed = origin;
        block->before = retired_note(device, block->raw, device->check->queue);
        check_free(device->check, block);
    } else if (block) {
        status =
            error_set(OMPRMA_ERR_ADDRESS, "%s: free of 0x%llx, which was freed before: %s",
                      device_name(device), (unsigned long long)address, check_words(block, words));
    } else {
        status = error_set(OMPRMA_ERR_ADDRESS, "%s: free of 0x%llx, which no block begins at",
                           device_name(device), (unsigned long long)address);
    }
    runtime_unlock(device->runtime);
    if (status == OMPRMA_OK)
        redzones_advance(device);
    return status;
}

/* ---- looking at all ------------------------------------------------------------------------- */

/* Looks at the zones of live blocks, some at a time. */
static void look_at_live(struct device *device)
{
    struct check *check = device->check;
    struct check_block *block, *begun[LOOKS];
    int count = 0;

    for (block = check_next(check, NULL); block; block = check_next(check, block)) {
        if (block->state == CHECK_LIVE) {
            look_begin(device, block, false);
            begun[count++] = block;
        }
        if (count < LOOKS && check_next(check, block))
            continue;
        queue_settle(check->queue);
        while (count > 0)
            look_end(device, begun[--count]);
    }
}

void redzones_crashed(struct device *device)
{
    struct check *check = device->check;

    if (device->lost || !device_is_one_sided(device) || device_is_staged(device))
        return;
    check->crashed = true;
    queue_settle(check->queue);
    if (check->queue->failed)
        queue_clear(check->queue);
    look_at_live(device);
}

static void name_leaks(struct device *device)
{
    struct check_block *block;
    char words[CHECK_WORDS];

    for (block = check_next(device->check, NULL); block; block = check_next(device->check, block))
        if (block->state == CHECK_LIVE)
            findings_add(FINDING_LEAK, block->number, 0,
                         "%s: %s was never freed; free it, or unmap it (target exit data), before "
                         "the program ends",
                         device_name(device), check_words(block, words));
}

static void drop_looks(struct device *device)
{
    struct check_block *block;

    for (block = check_next(device->check, NULL); block; block = check_next(device->check, block)) {
        retired_drop(device, block->before);
        if (block->look)
            operation_drop(&device->runtime->operations, block->look->mark);
        free(block->look);
        block->before = NULL;
        block->look = NULL;
    }
}

static void end_device(struct device *device)
{
    struct given given; /* the memory goes with the worker */

    if (!device_is_well(device)) {
        redzones_crashed(device);
    } else {
        do {
            go_on(device, true, &given);
            queue_settle(device->check->queue);
            go_on(device, true, &given);
            queue_settle(device->check->queue);
            go_on(device, true, &given);
        } while (device->check->first && device_is_well(device) && given.count > 0);
        look_at_live(device);
    }
    if (device_is_well(device))
        name_leaks(device);
    drop_looks(device);
}

void redzones_end(struct runtime *runtime)
{
    for (int i = 0; i < runtime->device_count; i++)
        if (runtime->devices[i]->check)
            end_device(runtime->devices[i]);
}
