/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_copies.c: where copies come from, of eight sites that read what one has written.
 * Covers: copies.c links.c
 */
#include <stdlib.h>

#include <omprma_private/common.h>

#include "openmp/device/devices.h"
#include "openmp/place/copies.h"
#include "openmp/place/links.h"
#include "tests/unit/test.h"
#include "tests/unit/openmp/maps_fixture.h"

extern omprma_exchange_cost_t local_omprma_cost; /* tests/unit/fake/local_omprma.c */
extern bool local_omprma_cost_of_all;

enum { SITES = 8 };

/* Links are so slow that what passes between two steps of a test is nothing. */
__attribute__((constructor)) static void want_placement(void)
{
    setenv("OMPRMA_PLACEMENT", "auto", 1);
    setenv("LOCAL_OMPRMA_DEVICES", "8", 1);
    local_omprma_cost = (omprma_exchange_cost_t){.round_trip_us = 100, .us_per_mib = 1e9};
    local_omprma_cost_of_all = true;
}

static double data[1000];

static struct mapped *range_find(void)
{
    struct mapped *mapped;
    assert_int_equal(mapping_find(&device->space->mapping, (uintptr_t)data, sizeof(data), &mapped),
                     OVERLAP_INSIDE);
    return mapped;
}

static void enter(void)
{
    struct list list = list_of(data, sizeof(data), MAP_TO);
    struct maps maps = maps_of(&list);
    pthread_mutex_lock(&device->space->lock);
    struct work *work = work_begin_locked(device_of_site(0), NULL, WORK_WAITED);
    assert_true(maps_enter(work, &maps) && copies_pin(work));
    pthread_mutex_unlock(&device->space->lock);
    assert_true(work_finish(work));
}

/* A work of the site that reads it, in flight. */
static struct work *reads(int site)
{
    pthread_mutex_lock(&device->space->lock);
    struct work *work = work_begin_locked(device_of_site(site), NULL, WORK_FLIGHT);
    assert_true(copies_use(work, range_find(), false) && copies_pin(work));
    pthread_mutex_unlock(&device->space->lock);
    assert_true(work_depart(work));
    return work;
}

/* From which site? */
static int source_of_work(const struct work *work)
{
    const struct pinned *pinned = LIST_FIRST(&range_find()->pins);
    assert_ptr_equal(pinned->work, work);
    assert_true(pinned->brings);
    assert_non_null(pinned->bringer);
    return pinned->bringer->site->index;
}

TEST(test_copies_are_handed_on)
{
    static const int wanted[SITES] = {-1, 0, 0, 1, 0, 1, 2, 3};
    struct work *works[SITES];
    enter();
    for (int site = 1; site < SITES; site++) {
        works[site] = reads(site);
        assert_int_equal(source_of_work(works[site]), wanted[site]);
    }
    assert_int_equal(mapped_present(range_find()), (1 << SITES) - 1);
    for (int site = 1; site < SITES; site++)
        assert_true(work_finish(works[site]));
}

TEST_EACH(set_up, tear_down)
