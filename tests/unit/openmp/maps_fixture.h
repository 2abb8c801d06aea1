/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * maps_fixture.h: for tests of what maps mean: lists of maps, and constructs with them, on a device
 * that is this process (tests/unit/fake/local_omprma.c).
 */
#ifndef OMPRMA_TESTS_MAPS_FIXTURE_H
#define OMPRMA_TESTS_MAPS_FIXTURE_H

#include <pthread.h>
#include <string.h>

#include "openmp/abi/exports.h"
#include "openmp/entry/region.h"
#include "openmp/image/choice.h"

enum { ITEMS = 8 };

/* A list under construction. */
struct list {
    void *bases[ITEMS], *begins[ITEMS], *mappers[ITEMS];
    int64_t sizes[ITEMS], types[ITEMS];
    int32_t count;
};

static inline void add(struct list *list, void *base, void *begin, size_t bytes, int64_t type)
{
    list->bases[list->count] = base;
    list->begins[list->count] = begin;
    list->sizes[list->count] = (int64_t)bytes;
    list->types[list->count++] = type;
}

static inline int64_t member_of(int index)
{
    return (int64_t)((uint64_t)(index + 1) << 48);
}

static inline struct list list_of(void *begin, size_t bytes, int64_t type)
{
    struct list list = {.count = 0};
    add(&list, begin, begin, bytes, type);
    return list;
}

/* Without mappers there may or may not be a list of them: they take turns. */
static inline struct maps maps_of(struct list *list)
{
    static _Thread_local unsigned turn;
    bool any = turn++ % 2;
    for (int i = 0; i < list->count; i++)
        any = any || list->mappers[i];
    return maps_make(list->count, list->bases, list->begins, list->sizes, list->types, NULL,
                     any ? list->mappers : NULL);
}

static struct device *device;

static inline int set_up(void **state)
{
    (void)state;
    return device_choose(0, NULL, &device) == CHOICE_DEVICE ? 0 : -1;
}

static inline int tear_down(void **state)
{
    (void)state;
    device_leave();
    return 0;
}

/* Runs one of the three, waits, and says whether it was right. */
static inline bool run(bool (*what)(struct work *, const struct maps *), struct list list)
{
    struct maps maps = maps_of(&list);
    struct work *work = work_begin(device, NULL, WORK_WAITED);
    pthread_mutex_lock(&device->space->lock);
    bool right = maps_are_valid(work, &maps) && what(work, &maps);
    pthread_mutex_unlock(&device->space->lock);
    return work_finish(work) && right;
}

/* The device's copy; its memory is ours. */
static inline void *copy_of(const void *host)
{
    return omp_get_mapped_ptr(host, 0);
}

static inline bool is_damaged(struct list list)
{
    struct maps maps = maps_of(&list);
    struct work *work = work_begin(device, NULL, WORK_WAITED);
    bool damaged = !maps_are_valid(work, &maps);
    assert_true(work_finish(work));
    return damaged;
}

static struct arguments built;

static inline void arguments_of(struct list list, size_t leading, struct work *work)
{
    struct maps maps = maps_of(&list);
    pthread_mutex_lock(&device->space->lock);
    assert_true(maps_enter(work, &maps));
    assert_true(arguments_build(work, &maps, leading, &built));
    pthread_mutex_unlock(&device->space->lock);
}

#endif
