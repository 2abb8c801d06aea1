/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* place.c: a span without access is reserved once, and handed out in steps, first fit. See place.h.
 */
#define _GNU_SOURCE
#include "place.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

enum { STEP = 64 << 10, STEPS = 1 << 20 };

static struct place {
    pthread_mutex_t lock;
    uintptr_t at; /* 0: Linux chooses */
    bool used[STEPS];
} place = {.lock = PTHREAD_MUTEX_INITIALIZER};

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void reserve(void)
{
    const char *text = getenv("STANDIN_PLACE");
    uintptr_t at = text ? strtoull(text, NULL, 16) : 0;
    const void *start;

    if (at == 0)
        return;
    start = mmap((void *)at, (size_t)STEPS * STEP, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (start == (void *)at)
        place.at = at;
}

static size_t steps_of(size_t bytes)
{
    return (bytes + STEP - 1) / STEP;
}

/* Steps that follow each other and are free; STEPS: there are not so many. */
static size_t find_free(size_t count)
{
    size_t first = 0;

    for (size_t i = 0; i < STEPS && i - first < count; i++)
        if (place.used[i])
            first = i + 1;
    return STEPS - first < count ? STEPS : first;
}

static void *map_reserved(size_t bytes, int protection, int flags)
{
    size_t count = steps_of(bytes), first = find_free(count);
    void *memory = MAP_FAILED;

    errno = ENOMEM;
    if (first < STEPS)
        memory = mmap((void *)(place.at + first * STEP), bytes, protection,
                      flags | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (memory != MAP_FAILED)
        memset(place.used + first, true, count);
    return memory;
}

void *standin_map(size_t bytes, int protection, int flags)
{
    void *memory;

    pthread_once(&once, reserve);
    if (place.at == 0)
        return mmap(NULL, bytes, protection, flags | MAP_ANONYMOUS, -1, 0);
    pthread_mutex_lock(&place.lock);
    memory = map_reserved(bytes, protection, flags);
    pthread_mutex_unlock(&place.lock);
    return memory;
}

void standin_unmap(void *memory, size_t bytes)
{
    size_t first = ((uintptr_t)memory - place.at) / STEP;

    if (place.at == 0 || first >= STEPS) {
        munmap(memory, bytes);
        return;
    }
    pthread_mutex_lock(&place.lock);
    mmap(memory, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    memset(place.used + first, false, steps_of(bytes));
    pthread_mutex_unlock(&place.lock);
}
