/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * arguments.c: the words that a kernel is called with, see region.h. Private variables of a region
 * share one block of device memory; small ones are sent together, and with what is mapped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "openmp/device/losses.h"
#include "openmp/entry/region.h"
#include "openmp/run/stray.h"
#include "openmp/site/origin.h"
#include "openmp/site/report.h"
#include "openmp/tool/ompt.h"

/* Private variables up to this size are sent together; larger ones from where they are. */
enum { SMALL_BYTES = 2048, PAGE_BYTES = 4096 };

static bool is_argument(int64_t type)
{
    return (type & MAP_TARGET_PARAM) != 0;
}

static bool is_private(int64_t type)
{
    return is_argument(type) && (type & MAP_PRIVATE) && !(type & MAP_LITERAL);
}

/* A lambda's member that refers to something mapped: the lambda's copy on the device gets the
 * device's address of that. */
static bool is_lambda_member(int64_t type)
{
    const int64_t lambda = MAP_PTR_AND_OBJ | MAP_LITERAL | MAP_IMPLICIT;
    return !is_argument(type) && (type & lambda) == lambda && map_parent(type) >= 0;
}

/* ---- private variables ---------------------------------------------------------------------- */

/* Where each of them lies in the block. */
struct privates {
    size_t *offsets; /* by the item's index */
    size_t small;    /* bytes at the block's begin that are sent together */
    size_t total;
};

/* Behind the others, aligned as on the host: see omprma_alloc_like(), from which the block comes as
 * for an address 0. */
static size_t place(size_t *end, const void *host, size_t bytes)
{
    size_t alignment = bytes >= PAGE_BYTES ? PAGE_BYTES : SUBALLOC_ALIGNMENT;
    size_t offset = *end + ((uintptr_t)host - *end) % alignment;
    *end = offset + bytes;
    return offset;
}

static void privates_lay_out(struct privates *privates, const struct maps *maps)
{
    int64_t types = 0;
    for (int i = 0; i < maps->count; i++)
        types |= maps->types[i];
    for (int large = 0; large <= 1 && (types & MAP_PRIVATE); large++) {
        for (int i = 0; i < maps->count; i++) {
            size_t bytes = maps_bytes(maps, i);
            bool pointer = (maps->types[i] & MAP_ATTACH) != 0;
            const void *host = pointer ? maps->bases[i] : maps->begins[i];
            if (is_private(maps->types[i]) && (bytes > SMALL_BYTES) == large)
                privates->offsets[i] = place(&privates->total, host, bytes);
        }
        if (!large)
            privates->small = privates->total;
    }
}

/* A private copy of a pointer that points to device memory, if what it points to is mapped. */
static void private_pointer(struct work *work, const struct maps *maps, int i, unsigned char *copy)
{
    uintptr_t base;
    memcpy(copy, maps->bases[i], maps_bytes(maps, i));
    memcpy(&base, copy, sizeof(base));
    omprma_addr_t pointee = maps_look_up(work, maps->begins[i], 0);
    if (pointee) {
        pointee -= (uintptr_t)maps->begins[i] - base;
        memcpy(copy, &pointee, sizeof(pointee));
    }
}

/* `host`: where the variable is; NULL: several. */
static bool private_submit(struct work *work, size_t offset, const void *host, const void *from,
                           size_t bytes)
{
    omprma_addr_t to = work->privates.device + offset;
    struct ompt_op op = ompt_to(host, work->device->number, to, bytes);
    ompt_op_begin(&op);
    bool right = work_submit_beside(work, &work->privates, to, from, bytes);
    ompt_op_end(&op);
    return right;
}

static bool privates_send_small(struct work *work, const struct maps *maps,
                                const struct privates *privates)
{
    _Alignas(SUBALLOC_ALIGNMENT) unsigned char few[SMALL_BYTES];
    unsigned char *bytes = few;
    bool any = false;
    if (privates->small > sizeof(few))
        bytes = work_keep(work, privates->small);
    if (!bytes)
        return false;
    memset(bytes, 0, privates->small);
    for (int i = 0; i < maps->count; i++) {
        int64_t type = maps->types[i];
        if (!is_private(type) || maps_bytes(maps, i) > SMALL_BYTES)
            continue;
        if (type & MAP_ATTACH)
            private_pointer(work, maps, i, bytes + privates->offsets[i]);
        else if (type & MAP_TO)
            memcpy(bytes + privates->offsets[i], maps->begins[i], maps_bytes(maps, i));
        any = any || (type & (MAP_TO | MAP_ATTACH));
    }
    return !any || private_submit(work, 0, NULL, bytes, privates->small);
}

/* The frame that a variable lives in may be gone before a work in flight is over. */
static const void *private_lasting(struct work *work, const void *begin, size_t bytes)
{
    if (!work->in_flight || bytes <= OMPRMA_COPIED_SUBMIT)
        return begin;
    void *copy = work_keep(work, bytes);
    return copy ? memcpy(copy, begin, bytes) : NULL;
}

static bool privates_send_large(struct work *work, const struct maps *maps,
                                const struct privates *privates)
{
    for (int i = 0; i < maps->count; i++) {
        size_t bytes = maps_bytes(maps, i);
        if (!is_private(maps->types[i]) || bytes <= SMALL_BYTES || !(maps->types[i] & MAP_TO))
            continue;
        const void *from = private_lasting(work, maps->begins[i], bytes);
        if (!from || !private_submit(work, privates->offsets[i], maps->begins[i], from, bytes))
            return false;
    }
    return true;
}

static bool privates_send(struct work *work, const struct maps *maps, struct privates *privates)
{
    privates_lay_out(privates, maps);
    if (privates->total == 0)
        return true;
    omprma_addr_t block = work_private(work, privates->total);
    if (!block)
        return false;
    ompt_memory(OMPT_ALLOC, work->device->number, NULL, block, privates->total);
    ompt_gives(work->device->number, block, true);
    return privates_send_small(work, maps, privates) && privates_send_large(work, maps, privates);
}

/* ---- words ---------------------------------------------------------------------------------- */

static uintptr_t item_base(const struct maps *maps, int i)
{
    uintptr_t base = (uintptr_t)maps->bases[i];
    bool returned = maps->types[i] & MAP_RETURN_PARAM; /* no region has any: it is replaced */
    if ((maps->types[i] & MAP_PTR_AND_OBJ) && !returned)
        memcpy(&base, maps->bases[i], sizeof(base));
    return base;
}

/* A pointer to what is not mapped keeps its value, as OpenMP 5.1 says: it may be one to device
 * memory. But of the standard streams each process has its own. */
static uint64_t word_unmapped(struct work *work, const struct maps *maps, int i)
{
    const FILE *const streams[STREAMS] = {stdin, stdout, stderr};
    uintptr_t base = item_base(maps, i);
    for (int k = 0; k < STREAMS; k++)
        if (base == (uintptr_t)streams[k] && work->site->streams[k])
            return work->site->streams[k];
    stray_note(&work->strays, base, maps_name(maps, i));
    return base;
}

static uint64_t word_mapped(struct work *work, const struct maps *maps, int i,
                            omprma_addr_t *device_begin)
{
    uintptr_t begin = (uintptr_t)maps->begins[i];
    struct mapped *mapped = maps_entered(maps, i);
    if (!mapped && mapping_find(&work->device->space->mapping, begin, maps_bytes(maps, i),
                                &mapped) == OVERLAP_NONE)
        return word_unmapped(work, maps, i);
    *device_begin = mapped_address(mapped, begin);
    return *device_begin - (begin - item_base(maps, i));
}

/* Of the program, as it is: it may be a pointer. */
static uint64_t word_literal(struct work *work, const struct maps *maps, int i)
{
    uintptr_t word = (uintptr_t)maps->bases[i];
    if (word >> 32 != 0 && word >> 47 == 0)
        stray_note(&work->strays, word, maps_name(maps, i));
    return word;
}

/* The same for one that has been entered. */
static uint64_t word_plain(const struct maps *maps, int i)
{
    uintptr_t begin = (uintptr_t)maps->begins[i], base = (uintptr_t)maps->bases[i];
    return mapped_address(maps->entered[i], begin) - (begin - base);
}

static uint64_t word_private(struct work *work, const struct maps *maps, int i, size_t offset)
{
    omprma_addr_t address = work->privates.device + offset;
    if (maps->types[i] & MAP_ATTACH)
        return address;
    return address - ((uintptr_t)maps->begins[i] - (uintptr_t)maps->bases[i]);
}

/* For a captured `this` clang says where the pointer is, not where it points to. */
static bool lambda_attach(struct work *work, const struct maps *maps, int i, uint64_t lambda)
{
    bool itself = maps->begins[i] == maps->bases[i];
    omprma_addr_t pointee = itself ? maps_look_up(work, *(void **)maps->begins[i], 0)
                                   : maps_look_up(work, maps->begins[i], maps_bytes(maps, i));
    uintptr_t parent = (uintptr_t)maps->begins[map_parent(maps->types[i])];
    if (!pointee)
        return true;
    return work_submit(work, lambda + ((uintptr_t)maps->bases[i] - parent), &pointee,
                       sizeof(pointee), NULL);
}

static void place_argument(struct arguments *arguments, omprma_addr_t begin, const char *name)
{
    arguments->begins[arguments->count] = begin;
    if (arguments->names)
        arguments->names[arguments->count] = name;
}

static bool words_make(struct work *work, const struct maps *maps, const struct privates *privates,
                       struct arguments *arguments)
{
    size_t last = 0; /* the item that the last word belongs to */
    for (int i = 0; i < maps->count; i++) {
        int64_t type = maps->types[i];
        uint64_t word;
        omprma_addr_t begin = 0; /* of what the word stands for */
        if (map_is_plain(type) && is_argument(type) && !arguments->begins &&
            maps_entered(maps, i)) {
            arguments->words[arguments->count++] = word_plain(maps, i);
            last = (size_t)i;
            continue;
        }
        if (is_lambda_member(type)) {
            if ((size_t)map_parent(type) == last &&
                !lambda_attach(work, maps, i, arguments->words[arguments->count - 1]))
                return false;
            continue;
        }
        if (!is_argument(type))
            continue;
        if (type & MAP_LITERAL)
            word = word_literal(work, maps, i);
        else if (type & MAP_PRIVATE)
            word = word_private(work, maps, i, privates->offsets[i]);
        else
            word = word_mapped(work, maps, i, &begin);
        if ((type & MAP_PRIVATE) && !(type & MAP_LITERAL))
            begin = work->privates.device + privates->offsets[i];
        if (arguments->begins)
            place_argument(arguments, begin, maps_name(maps, i));
        arguments->words[arguments->count++] = word;
        last = (size_t)i;
    }
    return true;
}

/* Of what words stand for, if anybody wants to know. */
static bool begins_make(struct arguments *arguments, size_t room)
{
    enum { FEW = sizeof(arguments->few_begins) / sizeof(arguments->few_begins[0]) };
    if (!origin_wanted && !losses_matter())
        return true;
    arguments->begins =
        room > FEW ? calloc(room, sizeof(*arguments->begins)) : arguments->few_begins;
    if (origin_wanted)
        arguments->names = calloc(room + 1, sizeof(*arguments->names));
    if (!arguments->begins || (origin_wanted && !arguments->names))
        return false;
    memset(arguments->begins, 0, arguments->count * sizeof(*arguments->begins));
    return true;
}

bool arguments_build(struct work *work, const struct maps *maps, size_t leading,
                     struct arguments *arguments)
{
    enum { FEW = sizeof(arguments->few) / sizeof(arguments->few[0]) };
    size_t room = leading + (size_t)maps->count, few_offsets[FEW];
    struct privates privates = {.offsets = few_offsets};
    arguments_begin(arguments);
    arguments->count = leading;
    if (room > FEW) {
        arguments->words = calloc(room, sizeof(*arguments->words));
        privates.offsets = calloc(room, sizeof(*privates.offsets));
    }
    bool right = arguments->words && privates.offsets && begins_make(arguments, room);
    if (right)
        memset(arguments->words, 0, leading * sizeof(*arguments->words));
    else
        report(work->where, work->site, "no host memory for the arguments of a target region");
    right = right && privates_send(work, maps, &privates) &&
            words_make(work, maps, &privates, arguments);
    if (privates.offsets != few_offsets)
        free(privates.offsets);
    return right;
}

void arguments_clear(struct arguments *arguments)
{
    if (arguments->words != arguments->few)
        free(arguments->words);
    if (arguments->begins != arguments->few_begins)
        free(arguments->begins);
    free(arguments->names);
}
