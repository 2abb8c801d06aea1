/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * variables.c: each range has a copy of its common value beside it, and is compared with that, at
 * first as a whole. Words are those of aligned memory, and at the ends of a range a mask says which
 * bytes are its. Kernels may run meanwhile and write other bytes: so a word is read once, and
 * nothing is written but the bytes that are meant.
 */
#define _GNU_SOURCE
#include "worker/native/variables.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <omprma_private/variables.h>

enum {
    PAGE_BYTES = 4096,
    RECORD_WORDS = 64, /* most of one */
    ADDRESS_BITS = 47
};

/* Nothing of a process that can lie anywhere is mapped below, and pairs of small numbers are. */
static const uint64_t lowest = UINT64_C(1) << 40;

struct watched {
    char *at; /* of its first word */
    uint64_t words, *known;
    uint8_t first_mask, last_mask;
};

static struct watch {
    pthread_mutex_t lock;
    struct watched *ranges;
    size_t count;
    bool torn; /* two have written the same byte */
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t word_read(const char *at)
{
    return __atomic_load_n((const uint64_t *)(const void *)at, __ATOMIC_RELAXED);
}

/* ---- addresses ------------------------------------------------------------------------------ */

static bool is_mapped(uint64_t word)
{
    unsigned char resident;
    void *page = (void *)(uintptr_t)(word / PAGE_BYTES * PAGE_BYTES);
    return word >= lowest && word >> ADDRESS_BITS == 0 && mincore(page, 1, &resident) == 0;
}

/* Made by the process while it ran: no part of a program or library. */
static bool is_own(uint64_t word)
{
    Dl_info info;
    return is_mapped(word) && dladdr((void *)(uintptr_t)word, &info) == 0;
}

/* ---- watching ------------------------------------------------------------------------------- */

static void watch_forget(void)
{
    for (size_t i = 0; i < watch.count; i++)
        free(watch.ranges[i].known);
    watch.count = 0;
    watch.torn = false;
}

static uint8_t word_mask(const struct watched *range, uint64_t word)
{
    return (word == 0 ? range->first_mask : 0xff) &
           (word == range->words - 1 ? range->last_mask : 0xff);
}

/* False: no memory. */
static bool range_take(struct watched *range, const omprma_variables_range_t *from)
{
    uint64_t before = from->at % 8, end = (before + from->bytes) % 8;
    *range = (struct watched){.at = (char *)(uintptr_t)(from->at - before),
                              .words = (before + from->bytes + 7) / 8,
                              .first_mask = (uint8_t)(0xff << before),
                              .last_mask = (uint8_t)(end ? 0xff >> (8 - end) : 0xff)};
    range->known = malloc(8 * range->words);
    for (uint64_t i = 0; range->known && i < range->words; i++)
        range->known[i] = word_read(range->at + 8 * i);
    return range->known != NULL;
}

/* An address of the process's own memory in it; 0: there is none. */
static uint64_t range_own(const struct watched *range)
{
    for (uint64_t i = 0; i < range->words; i++)
        if (word_mask(range, i) == 0xff && is_own(range->known[i]))
            return range->known[i];
    return 0;
}

static uint64_t watch_begin(omprma_variables_range_t *list, uint64_t count, bool first)
{
    uint64_t own = 0;
    if (first)
        watch_forget();
    struct watched *longer = reallocarray(watch.ranges, watch.count + count, sizeof(*longer));
    if (!longer)
        abort(); /* as an allocation of a kernel's would */
    watch.ranges = longer;
    for (uint64_t i = 0; i < count; i++) {
        struct watched *range = &watch.ranges[watch.count++];
        if (!range_take(range, &list[i]))
            abort();
        own = own ? own : range_own(range);
    }
    return own;
}

/* ---- what was written ----------------------------------------------------------------------- */

struct note {
    omprma_variables_log_t *log;
    char *data;
    uint64_t bytes, read; /* room, and what of it need not stay */
};

static void note_write(struct note *note, const void *from, uint64_t bytes)
{
    const char *at = from;
    for (uint64_t part; bytes > 0; at += part, bytes -= part) {
        uint64_t offset = note->log->end % note->bytes;
        part = bytes < note->bytes - offset ? bytes : note->bytes - offset;
        memcpy(note->data + offset, at, part);
        note->log->end += part;
    }
}

static bool note_has_room(const struct note *note, uint64_t bytes)
{
    return note->bytes - (note->log->end - note->read) >= bytes;
}

/* Bytes of a word that are not as they are known. */
static uint8_t word_differs(uint64_t one, uint64_t other)
{
    uint8_t mask = 0;
    for (int i = 0; i < 8; i++)
        mask |= (uint8_t)(((one ^ other) >> 8 * i & 0xff) != 0) << i;
    return mask;
}

/* Words that have changed, one behind the other. */
struct run {
    omprma_variables_record_t head;
    uint8_t masks[RECORD_WORDS];
    uint64_t words[RECORD_WORDS];
};

static void run_end(struct note *note, struct watched *range, struct run *run)
{
    uint32_t count = run->head.words;
    run->head.words = 0;
    if (count == 0)
        return;
    if (!note_has_room(note, omprma_variables_bytes(count))) {
        note->log->more |= OMPRMA_VARIABLES_LEFT;
        return;
    }
    omprma_variables_record_t head = run->head;
    head.words = count;
    memset(run->masks + count, 0, omprma_variables_masks(count) - count);
    note_write(note, &head, sizeof(head));
    note_write(note, run->masks, omprma_variables_masks(count));
    note_write(note, run->words, 8 * (uint64_t)count);
    memcpy(range->known + head.first, run->words, 8 * (size_t)count);
}

static void run_add(struct note *note, struct watched *range, struct run *run, uint64_t at,
                    uint8_t mask, uint64_t word)
{
    bool is_address = word_mask(range, at) == 0xff && is_mapped(word);
    if (run->head.words == RECORD_WORDS || is_address || run->head.is_address)
        run_end(note, range, run);
    if (run->head.words == 0) {
        run->head.first = (uint32_t)at;
        run->head.is_address = is_address;
    }
    run->masks[run->head.words] = mask;
    run->words[run->head.words++] = word;
}

static void range_note(struct note *note, uint32_t number)
{
    struct watched *range = &watch.ranges[number];
    struct run run = {.head = {.range = number}};
    if (memcmp(range->at, range->known, 8 * range->words) == 0)
        return;
    for (uint64_t i = 0; i < range->words; i++) {
        uint64_t word = word_read(range->at + 8 * i);
        uint8_t mask = word_differs(word, range->known[i]) & word_mask(range, i);
        if (mask && word_mask(range, i) == 0xff && is_mapped(range->known[i]))
            mask = 0xff; /* the address is another one elsewhere */
        if (mask)
            run_add(note, range, &run, i, mask, word);
        else
            run_end(note, range, &run);
    }
    run_end(note, range, &run);
}

static void note_all(struct note *note)
{
    note->log->more = watch.torn ? OMPRMA_VARIABLES_TORN : 0;
    for (size_t i = 0; i < watch.count; i++)
        range_note(note, (uint32_t)i);
}

/* ---- what others have written --------------------------------------------------------------- */

static void word_write(char *to, uint64_t word, uint8_t mask)
{
    if (mask == 0xff) {
        __atomic_store_n((uint64_t *)(void *)to, word, __ATOMIC_RELAXED);
        return;
    }
    for (int i = 0; i < 8; i++)
        if (mask >> i & 1)
            __atomic_store_n(to + i, (char)(word >> 8 * i), __ATOMIC_RELAXED);
}

static void record_write(const omprma_variables_record_t *record)
{
    const uint8_t *masks = (const void *)(record + 1);
    const uint64_t *words = (const void *)(masks + omprma_variables_masks(record->words));
    struct watched *range = &watch.ranges[record->range];
    for (uint32_t i = 0; i < record->words; i++) {
        uint64_t at = record->first + (uint64_t)i;
        watch.torn |= word_differs(word_read(range->at + 8 * at), range->known[at]) & masks[i];
        word_write(range->at + 8 * at, words[i], masks[i]);
        word_write((char *)&range->known[at], words[i], masks[i]);
    }
}

static void write_all(const char *records, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes;) {
        const omprma_variables_record_t *record = (const void *)(records + at);
        record_write(record);
        at += omprma_variables_bytes(record->words);
    }
}

/* ---- addresses in other memory --------------------------------------------------------------- */

/* Can it lead to the process's heap, or to what it maps? It costs a system call to be sure, and
 * pairs of small numbers are words like that. */
static bool is_near(uint64_t word)
{
    enum { NEAR_BITS = 40 };
    const uint64_t heap = (uintptr_t)sbrk(0), stack = (uintptr_t)&heap;
    return word >> NEAR_BITS == heap >> NEAR_BITS || word >> NEAR_BITS == stack >> NEAR_BITS;
}

/* Does it mean anything else, or nothing, in another worker? So does an address in an image or a
 * library: that of a function, of a string, of what an object with virtual functions begins with.
 * Regions know nothing in the worker's own program. */
static bool is_only_here(uint64_t word)
{
    Dl_info info, program;
    return is_mapped(word) && (dladdr((void *)(uintptr_t)word, &info) == 0 ||
                               dladdr((void *)(uintptr_t)is_near, &program) == 0 ||
                               info.dli_fbase != program.dli_fbase);
}

/* That counts; 0: there is none. Words are aligned, as pointers are. */
static uint64_t place_search(const omprma_variables_search_t *search,
                             const omprma_variables_place_t *place)
{
    uint64_t end = place->at + place->bytes;
    for (uint64_t at = (place->at + 7) / 8 * 8; at + 8 <= end; at += 8) {
        uint64_t word = word_read((const char *)(uintptr_t)at);
        bool within = word >= place->begin && word < place->end;
        bool there = word >= search->low && word < search->high;
        if (!within && (there || (is_near(word) && is_only_here(word))))
            return word;
    }
    return 0;
}

static void search_all(omprma_variables_search_t *search)
{
    const omprma_variables_place_t *places = (const void *)(search + 1);
    search->found = 0;
    for (uint64_t i = 0; i < search->count && !search->found; i++)
        search->found = place_search(search, &places[i]);
}

/* ---- sums of memory that is only read -------------------------------------------------------- */

static uint64_t sum_of(const omprma_variables_sum_t *place)
{
    const char *at = (const char *)(uintptr_t)place->at, *end = at + place->bytes;
    uint64_t sum = place->bytes, word;
    for (; at < end; at += sizeof(word)) {
        size_t bytes = (size_t)(end - at) < sizeof(word) ? (size_t)(end - at) : sizeof(word);
        word = 0;
        memcpy(&word, at, bytes);
        sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        sum ^= sum >> 29;
    }
    return sum;
}

static void sum_all(omprma_variables_sums_t *sums, bool again)
{
    omprma_variables_sum_t *list = (void *)(sums + 1);
    sums->changed = 0;
    for (uint64_t i = 0; i < sums->count && !sums->changed; i++) {
        uint64_t sum = sum_of(&list[i]);
        sums->changed = again && sum != list[i].sum ? i + 1 : 0;
        list[i].sum = sum;
    }
}

void variables_serve(uint64_t demand, uint64_t at, uint64_t words, uint64_t more)
{
    void *there = (void *)(uintptr_t)at;
    omprma_variables_log_t *log = there;
    if (demand == OMPRMA_VARIABLES_SEARCH) {
        search_all(there);
        return;
    }
    if (demand == OMPRMA_VARIABLES_SUM) {
        sum_all(there, words != 0);
        return;
    }
    pthread_mutex_lock(&watch.lock);
    if (demand == OMPRMA_VARIABLES_WATCH)
        *(uint64_t *)there = watch_begin(there, words, more != 0);
    else if (demand == OMPRMA_VARIABLES_NOTE)
        note_all(&(struct note){log, (char *)(log + 1), words, more});
    else
        write_all(there, words);
    pthread_mutex_unlock(&watch.lock);
}
