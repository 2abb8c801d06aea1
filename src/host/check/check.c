/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * check.c: blocks stand in a tree by their address, from their allocation until the allocator gets
 * them back. Then the last few thousand stay in a list, so that a late use can be told by name.
 *
 * A launch looks each of its words up there. A word may point beside what it stands for, as those
 * of array sections do; who launches says where that begins (omprma_check_begins()). Functions of
 * omprma_private/check.h.
 */
#include "host/check/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <omprma_private/check.h>

#include "base/kernel_name.h"
#include "host/check/findings.h"
#include "host/device/kernel_names.h"
#include "host/queue/append.h"
#include "host/queue/issue.h"

enum { PAST_MOST = 4096, LOW_ADDRESS = 4096 };

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
} begins_note;

bool omprma_check_wanted(void)
{
    const struct runtime *runtime = runtime_get();

    return runtime && runtime->config.check == CHECK_FULL;
}

void omprma_check_found(uint64_t what, uint64_t which, const char *text)
{
    findings_add(FINDING_TOLD, what, which, "%s", text);
}

void omprma_check_begins(const omprma_addr_t *begins, const char *const *names, size_t count)
{
    begins_note.begins = begins;
    begins_note.names = names;
    begins_note.count = count;
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

void check_insert(struct check *check, struct check_block *block)
{
    static uint64_t numbers;

    block->number = ++numbers;
    RB_INSERT(check_tree, &check->blocks, block);
}

void check_free(struct check *check, struct check_block *block)
{
    block->state = CHECK_FREED;
    block->next = NULL;
    if (check->last)
        check->last->next = block;
    else
        check->first = block;
    check->last = block;
    if (!check->fresh)
        check->fresh = block;
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

/* ---- launches ------------------------------------------------------------------------------- */

struct argument {
    omprma_addr_t kernel;
    size_t index;
    uint64_t word, address;
    char words[96]; /* "argument 1 ("x", 0x7f00)" */
};

static const char *argument_words(struct argument *a)
{
    const char *name =
        begins_note.names && a->index < begins_note.count ? begins_note.names[a->index] : NULL;
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
    char words[CHECK_WORDS] = "device memory that was never allocated", kernel[KERNEL_NAME_WORDS];

    if (block)
        check_words(block, words);
    findings_add(FINDING_FREED, a->kernel + a->index, block ? block->number : 0,
                 "%s: kernel %s: %s points to %s%s; launch before the memory is freed, or allocate "
                 "it first",
                 device_name(device),
                 kernel_name_words(kernel_names_find(device, a->kernel), kernel), argument_words(a),
                 block ? "freed memory, the " : "", words);
}

/* The live block of another device that an address lies in. */
static const struct check_block *find_elsewhere(const struct device *device, omprma_addr_t address,
                                                struct device **owner)
{
    const struct runtime *runtime = device->runtime;

    for (int i = 0; i < runtime->device_count; i++) {
        struct device *other = runtime->devices[i];
        const struct check_block *block =
            other == device ? NULL : check_find(other->check, address);

        *owner = other;
        if (block && block->state == CHECK_LIVE)
            return block;
    }
    return NULL;
}

/* Devices of one worker share its address space. */
static void argument_outside(struct device *device, struct argument *a)
{
    struct device *owner;
    const struct check_block *block = find_elsewhere(device, a->address, &owner);
    char words[CHECK_WORDS], kernel[KERNEL_NAME_WORDS];

    if (block && owner->peer != device->peer)
        findings_add(FINDING_ELSEWHERE, a->kernel + a->index, block->number,
                     "%s: kernel %s: %s points to memory of device %d, the %s; copy it to this "
                     "device before",
                     device_name(device),
                     kernel_name_words(kernel_names_find(device, a->kernel), kernel),
                     argument_words(a), owner->number, check_words(block, words));
}

static void check_argument(struct device *device, struct argument *a)
{
    struct check_block *block = check_find(device->check, a->address);

    if (block && block->state == CHECK_LIVE) {
        block->kernel = a->kernel;
        return;
    }
    if (block) {
        argument_freed(device, a, block);
        return;
    }
    switch (device_classify(device, a->address, 1, NULL, NULL)) {
    case RANGE_FREE:
        argument_freed(device, a, find_past(device->check, a->address));
        break;
    case RANGE_OUTSIDE:
        argument_outside(device, a);
        break;
    case RANGE_LIVE: /* omprma's own */
    case RANGE_OVERRUN:
        break;
    }
}

void check_launch(struct device *device, omprma_addr_t kernel, const void *arguments, size_t bytes)
{
    for (size_t i = 0; i < bytes / sizeof(uint64_t); i++) {
        struct argument a = {.kernel = kernel, .index = i};

        memcpy(&a.word, (const char *)arguments + i * sizeof(a.word), sizeof(a.word));
        a.address = i < begins_note.count && begins_note.begins[i] ? begins_note.begins[i] : a.word;
        if (a.address >= LOW_ADDRESS)
            check_argument(device, &a);
    }
    omprma_check_begins(NULL, NULL, 0);
}
