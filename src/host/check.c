/*
 * check.c: see check.h. Public functions of omprma.h.
 *
 * What was written is known from the calls, not from the memory. Kernels write what they please, so
 * a launch counts as a write of all that it can reach: blocks among its arguments, and blocks whose
 * addresses lie in memory. Those are found by looking through all data that is submitted; where an
 * address is near the device's blocks, but in none, it may be the shifted base of any of them, and
 * then all count.
 */
#include "host/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "host/append.h"
#include "host/blame.h"
#include "host/findings.h"
#include "host/image.h"
#include "host/issue.h"

enum { PAST_MOST = 4096, SMALL_BYTES = 4096, LOW_ADDRESS = 4096 };
static const uint64_t near_bytes = UINT64_C(1) << 32;

static int compare(const struct check_block *a, const struct check_block *b)
{
    return a->raw < b->raw ? -1 : a->raw > b->raw;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
RB_GENERATE_INTERNAL(check_tree, check_block, link, compare, static)
#pragma GCC diagnostic pop

/* ---- what the faces know -------------------------------------------------------------------- */

static _Thread_local struct {
    const omprma_addr_t *begins;
    const char *const *names;
    size_t count;
} arguments_note;

bool omprma_check_wanted(void)
{
    const struct runtime *runtime = runtime_get();

    return runtime && runtime->config.check == CHECK_FULL;
}

void omprma_check_begins(const omprma_addr_t *begins, const char *const *names, size_t count)
{
    arguments_note.begins = begins;
    arguments_note.names = names;
    arguments_note.count = count;
}

static void make_reachable(struct check *check, omprma_addr_t address)
{
    struct check_block *block = address ? check_find(check, address) : NULL;

    check->any_reachable = true;
    if (!block)
        check->all_reachable = true;
    else
        block->reachable = true;
}

void omprma_check_reaches(int number, omprma_addr_t address)
{
    struct device *device;

    if (device_require(number, &device) != OMPRMA_OK || !device->check)
        return;
    runtime_lock(device->runtime);
    make_reachable(device->check, address);
    runtime_unlock(device->runtime);
}

/* ---- blocks --------------------------------------------------------------------------------- */

struct check_block *check_find(const struct check *check, omprma_addr_t address)
{
    struct check_block *each = RB_ROOT(&check->blocks), *before = NULL;

    while (each) {
        if (each->raw <= address)
            before = each;
        each = each->raw <= address ? RB_RIGHT(each, link) : RB_LEFT(each, link);
    }
    return before && address - before->raw < before->raw_bytes ? before : NULL;
}

struct check_block *check_next(const struct check *check, struct check_block *block)
{
    return block ? RB_NEXT(check_tree, NULL, block)
                 : RB_MIN(check_tree, (struct check_tree *)&check->blocks);
}

static void settle_parts(struct check *check, struct check_block *block)
{
    if (!block->written && block->state == CHECK_LIVE)
        check->unwritten--;
    block->written = true;
    free(block->parts);
    block->parts = NULL;
    block->part_count = 0;
}

void check_insert(struct check *check, struct check_block *block)
{
    static uint64_t numbers;

    block->number = ++numbers;
    RB_INSERT(check_tree, &check->blocks, block);
    check->unwritten++;
    if (!check->lowest || block->raw < check->lowest)
        check->lowest = block->raw;
    if (block->raw + block->raw_bytes > check->most)
        check->most = block->raw + block->raw_bytes;
}

void check_free(struct check *check, struct check_block *block)
{
    settle_parts(check, block);
    block->state = CHECK_FREED;
    block->next = NULL;
    if (check->last)
        check->last->next = block;
    else
        check->first = block;
    check->last = block;
}

void check_past(struct check *check, struct check_block *block)
{
    RB_REMOVE(check_tree, &check->blocks, block);
    block->next = NULL;
    if (check->past_last)
        check->past_last->next = block;
    else
        check->past = block;
    check->past_last = block;
    if (++check->past_count > PAST_MOST) {
        struct check_block *oldest = check->past;

        check->past = oldest->next;
        check->past_count--;
        free(oldest);
    }
}

void check_close(struct device *device)
{
    struct check *check = device->check;
    struct check_block *each, *next;

    if (!check)
        return;
    while ((each = RB_ROOT(&check->blocks)) != NULL) {
        RB_REMOVE(check_tree, &check->blocks, each);
        free(each->parts);
        free(each);
    }
    for (each = check->past; each; each = next) {
        next = each->next;
        free(each);
    }
    free(check);
    device->check = NULL;
}

/* The block that was last there. */
static const struct check_block *find_past(const struct check *check, omprma_addr_t address)
{
    const struct check_block *found = NULL;

    for (const struct check_block *each = check->past; each; each = each->next)
        if (address - each->raw < each->raw_bytes)
            found = each;
    return found;
}

const char *check_words(const struct check_block *block, char words[CHECK_WORDS])
{
    char made[ORIGIN_WORDS], freed[ORIGIN_WORDS];
    bool is_freed = block->state != CHECK_LIVE;

    snprintf(words, CHECK_WORDS, "block of %" PRIu64 " bytes at 0x%" PRIx64 " (allocated %s%s%s)",
             block->bytes, block->begin, origin_words(&block->made, made),
             is_freed ? ", freed " : "", is_freed ? origin_words(&block->freed, freed) : "");
    return words;
}

enum allocator_range check_classify(struct device *device, omprma_addr_t address, uint64_t bytes,
                                    omprma_addr_t *begin, uint64_t *block_bytes)
{
    const struct check_block *block = check_find(device->check, address);
    uint64_t at;

    if (!block)
        return device_classify(device, address, bytes, begin, block_bytes);
    at = address - block->begin;
    if (block->state != CHECK_LIVE || at >= block->bytes)
        return RANGE_FREE;
    *begin = block->begin;
    *block_bytes = block->bytes;
    return bytes <= block->bytes - at ? RANGE_LIVE : RANGE_OVERRUN;
}

omprma_status_t check_order(struct omprma_queue *queue, struct device *device)
{
    struct omprma_queue *filler = device->check->queue;
    /* a failure takes the wait with it */
    uint64_t seen = filler->ordinal ^ queue->failures << 48;
    struct operation *mark = NULL;
    omprma_status_t status;

    if (queue == filler || queue_is_idle(filler) ||
        (queue->device == device && queue->check_seen == seen))
        return OMPRMA_OK;
    status = queue_mark(filler, &mark);
    if (status == OMPRMA_OK) {
        queue_flush(filler);
        status = queue_wait(queue, mark, WAIT_ORDER);
    }
    operation_drop(&device->runtime->operations, mark);
    if (status == OMPRMA_OK && queue->device == device)
        queue->check_seen = seen;
    return status;
}

/* ---- what was written ----------------------------------------------------------------------- */

/* Puts [from, to) among the parts. So many parts that there is no room for them count as all: what
 * is not known must not be blamed. */
static void add_part(struct check *check, struct check_block *block, uint64_t from, uint64_t to)
{
    uint32_t first = 0, last;

    if (!block->parts)
        block->parts = malloc(CHECK_PARTS * sizeof(*block->parts));
    while (first < block->part_count && block->parts[first].to < from)
        first++;
    for (last = first; last < block->part_count && block->parts[last].from <= to; last++) {
        if (block->parts[last].from < from)
            from = block->parts[last].from;
        if (block->parts[last].to > to)
            to = block->parts[last].to;
    }
    if (!block->parts || (first == last && block->part_count == CHECK_PARTS) ||
        (from == 0 && to == block->bytes)) {
        settle_parts(check, block);
        return;
    }
    memmove(block->parts + first + 1, block->parts + last,
            (block->part_count - last) * sizeof(*block->parts));
    block->part_count += 1 - (last - first);
    block->parts[first] = (struct check_part){from, to};
}

static void note_written(struct device *device, omprma_addr_t to, uint64_t bytes)
{
    struct check_block *block = check_find(device->check, to);

    if (!block || block->state != CHECK_LIVE || block->written)
        return;
    add_part(device->check, block, to - block->begin, to - block->begin + bytes);
}

/* Offset of the first byte of [from, to) that was never written; `to`: none. */
static uint64_t find_gap(const struct check_block *block, uint64_t from, uint64_t to)
{
    for (uint32_t i = 0; i < block->part_count && from < to; i++)
        if (block->parts[i].from <= from && from < block->parts[i].to)
            from = block->parts[i].to;
    return from < to ? from : to;
}

void check_read(struct device *device, const char *what, omprma_addr_t from, uint64_t bytes)
{
    const struct check_block *block = check_find(device->check, from);
    uint64_t at, gap, end;
    char words[CHECK_WORDS];

    if (!block || block->state != CHECK_LIVE || block->written)
        return;
    at = from - block->begin;
    gap = find_gap(block, at, at + bytes);
    if (gap == at + bytes)
        return;
    end = at + bytes;
    for (uint32_t i = block->part_count; i-- > 0;)
        if (block->parts[i].from > gap && block->parts[i].from < end)
            end = block->parts[i].from;
    findings_add(FINDING_UNKNOWN, block->number, 0,
                 "%s: %s of %" PRIu64 " bytes reads bytes %" PRIu64 " to %" PRIu64
                 " of the %s, which nothing has written since it was allocated; write them before, "
                 "or do not read them",
                 device_name(device), what, bytes, gap, end - 1, check_words(block, words));
}

/* ---- what kernels can reach ----------------------------------------------------------------- */

/* Addresses in data that is written. In small data they may lie anywhere (packed structures). */
static void scan(struct check *check, const void *data, uint64_t bytes)
{
    const char *at = data;
    uint64_t step = bytes <= SMALL_BYTES ? 1 : 4, value;
    uint64_t low = check->lowest > near_bytes ? check->lowest - near_bytes : LOW_ADDRESS;
    uint64_t span = check->most + near_bytes - low;

    if (check->unwritten == 0)
        return;
    for (uint64_t i = 0; i + sizeof(value) <= bytes; i += step) {
        memcpy(&value, at + i, sizeof(value));
        if (value - low < span)
            make_reachable(check, value);
    }
}

/* Devices of one worker share its address space. */
static void scan_all(const struct device *device, const void *data, uint64_t bytes)
{
    for (int i = 0; i < device->peer->device_count; i++)
        scan(peer_device(device->peer, i)->check, data, bytes);
}

static void write_reachable(struct check *check)
{
    struct check_block *block;

    if (!check->any_reachable || check->unwritten == 0)
        return;
    for (block = check_next(check, NULL); block; block = check_next(check, block))
        if (block->state == CHECK_LIVE && (block->reachable || check->all_reachable))
            settle_parts(check, block);
}

static void write_all_reachable(const struct device *device)
{
    for (int i = 0; i < device->peer->device_count; i++)
        write_reachable(peer_device(device->peer, i)->check);
}

void check_write(struct device *device, omprma_addr_t to, const void *data, uint64_t bytes)
{
    note_written(device, to, bytes);
    if (data)
        scan_all(device, data, bytes);
}

/* ---- launches ------------------------------------------------------------------------------- */

struct argument {
    omprma_addr_t kernel;
    size_t index;
    uint64_t word, address;
    bool expected;  /* it stands for something mapped */
    char words[96]; /* "argument 1 ("x", 0x7f00)" */
};

static const char *argument_words(struct argument *a)
{
    const char *name = arguments_note.names && a->index < arguments_note.count
                           ? arguments_note.names[a->index]
                           : NULL;
    int length;

    if (name && *name == ';')
        name++;
    length = name ? (int)strcspn(name, ";") : 0;
    snprintf(a->words, sizeof(a->words), "argument %zu (%s%.*s%s0x%" PRIx64 ")", a->index,
             length ? "\"" : "", length < 48 ? length : 48, name ? name : "", length ? "\", " : "",
             a->word);
    return a->words;
}

static void argument_freed(struct device *device, struct argument *a,
                           const struct check_block *block)
{
    char words[CHECK_WORDS] = "device memory that was never allocated";

    if (block)
        check_words(block, words);
    findings_add(FINDING_FREED, a->kernel + a->index, block ? block->number : 0,
                 "%s: kernel %s: %s points to %s%s; launch before the memory is freed, or allocate "
                 "it first",
                 device_name(device), image_kernel_of(device, a->kernel), argument_words(a),
                 block ? "freed memory, the " : "", words);
}

/* The live block of another device that an address lies in. */
static struct check_block *find_elsewhere(const struct device *device, omprma_addr_t address,
                                          struct device **owner)
{
    const struct runtime *runtime = device->runtime;

    for (int i = 0; i < runtime->device_count; i++) {
        struct device *other = runtime->devices[i];
        struct check_block *block = other == device ? NULL : check_find(other->check, address);

        *owner = other;
        if (block && block->state == CHECK_LIVE)
            return block;
    }
    return NULL;
}

static void argument_outside(struct device *device, struct argument *a)
{
    struct device *owner;
    struct check_block *block = find_elsewhere(device, a->address, &owner);
    char words[CHECK_WORDS], where[300];

    if (block) {
        settle_parts(owner->check, block);
        if (owner->peer != device->peer)
            findings_add(FINDING_NOWHERE, a->kernel + a->index, block->number,
                         "%s: kernel %s: %s points to memory of device %d, the %s; copy it to this "
                         "device before",
                         device_name(device), image_kernel_of(device, a->kernel), argument_words(a),
                         owner->number, check_words(block, words));
    } else if (a->expected && blame_program_has(a->address, where, sizeof(where))) {
        findings_add(FINDING_NOWHERE, a->kernel + a->index, 0,
                     "%s: kernel %s: %s points to memory that the device does not have%s: it is "
                     "not mapped; map it before, or pass no pointer to it",
                     device_name(device), image_kernel_of(device, a->kernel), argument_words(a),
                     where);
    }
}

static void check_argument(struct device *device, struct argument *a)
{
    struct check *check = device->check;
    struct check_block *block = check_find(check, a->address);

    if (block && block->state == CHECK_LIVE) {
        block->kernel = a->kernel;
        settle_parts(check, block);
        return;
    }
    if (block) {
        argument_freed(device, a, block);
        return;
    }
    switch (device_classify(device, a->address, 1, NULL, NULL)) {
    case RANGE_FREE:
        argument_freed(device, a, find_past(check, a->address));
        break;
    case RANGE_OUTSIDE:
        argument_outside(device, a);
        break;
    case RANGE_LIVE: /* omprma's own */
    case RANGE_OVERRUN:
        break;
    }
}

void check_launch(struct device *device, omprma_addr_t kernel, const uint64_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct argument a = {.kernel = kernel, .index = i, .word = words[i], .address = words[i]};

        if (i < arguments_note.count && arguments_note.begins[i]) {
            a.address = arguments_note.begins[i];
            a.expected = true;
        }
        if (a.address >= LOW_ADDRESS)
            check_argument(device, &a);
    }
    omprma_check_begins(NULL, NULL, 0);
    write_all_reachable(device);
}

void check_command(struct device *device, omprma_addr_t kernel, const void *data, size_t bytes)
{
    uint64_t word;

    for (size_t i = 0; kernel && i + sizeof(word) <= bytes; i += sizeof(word)) {
        struct argument a = {.kernel = kernel, .index = i / sizeof(word)};

        memcpy(&word, (const char *)data + i, sizeof(word));
        a.word = a.address = word;
        if (word >= LOW_ADDRESS)
            check_argument(device, &a);
    }
    scan_all(device, data, bytes);
    write_all_reachable(device);
}
