/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * access.c: /proc/self/maps says what may be done where. To read it takes longer than a transfer of
 * many kilobytes, so what it said is kept. It may be out of date, so the kernel is asked for pages
 * as well, as a copy would ask. If it refuses one, the file is read again. If it grants all of a
 * short range that the file did not have, that is enough. Only the kernel knows whether files have
 * pages: of a file that is shared and written to it is asked for all of them.
 */
#define _GNU_SOURCE
#include "base/access.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_READ /* Linux 5.14 */
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

enum {
    PAGE_SHIFT = 12,
    PAGE = 1 << PAGE_SHIFT,
    WHOLE_MOST = 64 << 10, /* the kernel is asked for all pages of it, */
    NEW_MOST = 1 << 20,    /* and of this where the file said nothing of it */
    NOTES = 256,
    FIRST_LOOKS = 256,
    USES = ACCESS_READ | ACCESS_WRITE
};

/* ---- what the file says --------------------------------------------------------------------- */

struct area {
    uint64_t begin, end;
    int uses;
    bool fills_file;
    bool special; /* memory of devices, in which the kernel finds no pages */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct area *areas;
static size_t area_count, area_room;
static bool outdated; /* there is memory that the file did not say when it was read */

static void area_add(const struct area *area)
{
    if (area_count == area_room) {
        size_t room = area_room ? 2 * area_room : 256;
        struct area *longer = reallocarray(areas, room, sizeof(*longer));

        if (!longer)
            return;
        areas = longer;
        area_room = room;
    }
    areas[area_count++] = *area;
}

static void areas_read(void)
{
    FILE *file = fopen("/proc/self/maps", "re");
    char *line = NULL;
    size_t room = 0;

    area_count = 0;
    outdated = false;
    while (file && getline(&line, &room, file) > 0) {
        unsigned long long begin, end, node;
        char rights[8];

        if (sscanf(line, "%llx-%llx %7s %*x %*x:%*x %llu", &begin, &end, rights, &node) != 4)
            continue;
        area_add(&(struct area){
            .begin = begin,
            .end = end,
            .uses = (rights[0] == 'r' ? ACCESS_READ : 0) | (rights[1] == 'w' ? ACCESS_WRITE : 0),
            .fills_file = rights[1] == 'w' && rights[3] == 's' && node != 0,
        });
    }
    free(line);
    if (file)
        fclose(file);
}

/* The first one that ends behind the address. */
static struct area *area_at(uint64_t at)
{
    size_t low = 0, high = area_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (areas[middle].end > at)
            high = middle;
        else
            low = middle + 1;
    }
    return areas + low;
}

static enum access_answer areas_answer(uint64_t at, uint64_t end, enum access_use use,
                                       uint64_t *bad)
{
    for (const struct area *area = area_at(at); at < end; at = area++->end) {
        *bad = at;
        if (area == areas + area_count || area->begin > at)
            return ACCESS_ABSENT;
        if (!(area->uses & use))
            return area->uses & ACCESS_READ ? ACCESS_CONSTANT : ACCESS_FORBIDDEN;
    }
    return ACCESS_GRANTED;
}

/* ---- what the kernel says ------------------------------------------------------------------- */

/* 0, or the error. */
static int pages_ask(uint64_t begin, uint64_t end, enum access_use use)
{
    uint64_t first = begin & -(uint64_t)PAGE;
    int code = madvise((void *)(uintptr_t)first, end - first,
                       use == ACCESS_WRITE ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);

    return code ? errno : 0;
}

/* Kernels before 5.14 do not. */
static bool pages_answer(void)
{
    static atomic_int known; /* 1: they do, -1 */
    char here = 0;
    uint64_t at = (uintptr_t)&here;

    if (atomic_load_explicit(&known, memory_order_relaxed) == 0)
        atomic_store_explicit(&known, pages_ask(at, at + 1, ACCESS_READ) == EINVAL ? -1 : 1,
                              memory_order_relaxed);
    return atomic_load_explicit(&known, memory_order_relaxed) > 0;
}

/* The program may have got the memory since: where the kernel has all of it the file need not be
 * read. */
static bool is_new(uint64_t begin, uint64_t end, enum access_use use)
{
    bool all = end - begin <= NEW_MOST && pages_answer() && pages_ask(begin, end, use) == 0;

    outdated |= all;
    return all;
}

/* Of a long one the last page: what is freed or turns out too short has lost that. */
static int end_ask(uint64_t begin, uint64_t end, enum access_use use)
{
    return pages_ask(end - begin <= WHOLE_MOST ? begin : end - 1, end, use);
}

/* The parts of the range that are written to a file. */
static int files_ask(uint64_t begin, uint64_t end)
{
    int code = 0;

    for (const struct area *area = area_at(begin);
         !code && area < areas + area_count && area->begin < end; area++)
        if (area->fills_file)
            code = pages_ask(area->begin > begin ? area->begin : begin,
                             area->end < end ? area->end : end, ACCESS_WRITE);
    return code;
}

static bool is_special(uint64_t begin, uint64_t end)
{
    bool special = false;

    for (const struct area *area = area_at(begin); area < areas + area_count && area->begin < end;
         area++)
        special |= area->special;
    return special;
}

static int kernel_ask(uint64_t begin, uint64_t end, enum access_use use)
{
    int code;

    if (!pages_answer() || is_special(begin, end))
        return 0;
    code = end_ask(begin, end, use);
    return code || use == ACCESS_READ || end - begin <= WHOLE_MOST ? code : files_ask(begin, end);
}

/* ---- both ----------------------------------------------------------------------------------- */

/* The file has just been read, and allows what the kernel refuses. */
static enum access_answer settle(uint64_t at, uint64_t end, enum access_use use, int code,
                                 uint64_t *bad)
{
    *bad = at;
    if (code == EFAULT) {
        while (*bad + PAGE < end && pages_ask(*bad, *bad + 1, use) == 0)
            *bad = (*bad | (PAGE - 1)) + 1;
        return ACCESS_NO_PAGE;
    }
    if (code == EINVAL)
        for (struct area *area = area_at(at); area < areas + area_count && area->begin < end;
             area++)
            area->special = true;
    return ACCESS_GRANTED;
}

static enum access_answer look(uint64_t at, uint64_t end, enum access_use use, uint64_t *bad)
{
    enum access_answer answer = areas_answer(at, end, use, bad);
    int code = answer == ACCESS_GRANTED ? kernel_ask(at, end, use) : 0;

    if (answer == ACCESS_GRANTED ? !code : is_new(at, end, use))
        return ACCESS_GRANTED;
    areas_read();
    answer = area_count == 0 ? ACCESS_GRANTED : areas_answer(at, end, use, bad);
    if (answer == ACCESS_GRANTED && (code = kernel_ask(at, end, use)) != 0)
        answer = settle(at, end, use, code, bad);
    return answer;
}

enum access_answer access_look(const void *at, size_t bytes, enum access_use use, uint64_t *bad)
{
    uint64_t begin = (uintptr_t)at, end;
    enum access_answer answer = ACCESS_ABSENT;

    *bad = begin;
    if (__builtin_add_overflow(begin, bytes, &end))
        return ACCESS_ABSENT;
    pthread_mutex_lock(&lock);
    if (bytes > 0)
        answer = look(begin, end, use, bad);
    pthread_mutex_unlock(&lock);
    return bytes > 0 ? answer : ACCESS_GRANTED;
}

/* `renews`: by the file as it is now, if it is known to be another. */
static bool was_granted(const void *at, size_t bytes, enum access_use use, bool renews)
{
    uint64_t begin = (uintptr_t)at, end, bad;
    bool granted;

    if (__builtin_add_overflow(begin, bytes, &end))
        return false;
    pthread_mutex_lock(&lock);
    granted = areas_answer(begin, end, use, &bad) == ACCESS_GRANTED;
    if (!granted && renews && outdated) {
        areas_read();
        granted = areas_answer(begin, end, use, &bad) == ACCESS_GRANTED;
    }
    pthread_mutex_unlock(&lock);
    return granted;
}

bool access_was_granted(const void *at, size_t bytes, enum access_use use)
{
    return was_granted(at, bytes, use, true);
}

/* ---- a few bytes ---------------------------------------------------------------------------- */

/* By page: its number, and the uses that were granted. */
static _Atomic uint64_t notes[NOTES];

static bool is_noted(uint64_t page, enum access_use use)
{
    uint64_t note = atomic_load_explicit(&notes[page % NOTES], memory_order_relaxed);

    return note >> 2 == page && (note & use);
}

static void note(uint64_t page, enum access_use use)
{
    uint64_t old = atomic_load_explicit(&notes[page % NOTES], memory_order_relaxed);

    atomic_store_explicit(&notes[page % NOTES],
                          page << 2 | (old >> 2 == page ? old & USES : 0) | use,
                          memory_order_relaxed);
}

static bool all_noted(uint64_t first, uint64_t last, enum access_use use)
{
    while (first <= last && is_noted(first, use))
        first++;
    return first > last;
}

static atomic_int looks; /* at small pieces, up to the first FIRST_LOOKS */

void access_start(void)
{
    atomic_store_explicit(&looks, 0, memory_order_relaxed);
}

/* A program that copies small pieces again and again is not to make a system call for each of them.
 * The first of them are looked at as they are, which also finds what changes between them. */
static bool is_among_the_first(void)
{
    return atomic_load_explicit(&looks, memory_order_relaxed) < FIRST_LOOKS &&
           atomic_fetch_add_explicit(&looks, 1, memory_order_relaxed) < FIRST_LOOKS;
}

enum access_answer access_look_small(const void *at, size_t bytes, enum access_use use,
                                     uint64_t *bad)
{
    uint64_t first = (uintptr_t)at >> PAGE_SHIFT;
    uint64_t last = ((uintptr_t)at + (bytes > 0 ? bytes - 1 : 0)) >> PAGE_SHIFT;
    bool exact = is_among_the_first();
    enum access_answer answer = ACCESS_GRANTED;

    if (bytes == 0 || (!exact && all_noted(first, last, use)))
        return ACCESS_GRANTED;
    if (exact || !was_granted(at, bytes, use, false))
        answer = access_look(at, bytes, use, bad);
    for (uint64_t page = first; answer == ACCESS_GRANTED && page <= last; page++)
        note(page, use);
    return answer;
}

/* ---- words ---------------------------------------------------------------------------------- */

const char *access_words(enum access_answer answer, enum access_use use)
{
    bool write = use == ACCESS_WRITE;

    switch (answer) {
    case ACCESS_GRANTED:
        return "may be used";
    case ACCESS_ABSENT:
        return "is not there: the range reaches beyond what was allocated, or was freed";
    case ACCESS_FORBIDDEN:
        return write ? "may not be written: it is protected" : "may not be read: it is protected";
    case ACCESS_CONSTANT:
        return "may not be written: it is read-only, as constants are";
    case ACCESS_NO_PAGE:
        return write ? "cannot be written: its file ends before, or its file system is full"
                     : "cannot be read: its file ends before";
    }
    return "";
}
