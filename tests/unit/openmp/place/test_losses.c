/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_losses.c: constructs go to sites that are left, and find there what remains. Devices are
 * this process, and one is lost when this test says so.
 * Covers: device/losses.c
 */
#include <stdlib.h>

#include "openmp/device/devices.h"
#include "openmp/device/losses.h"
#include "openmp/place/copies.h"
#include "openmp/place/placement.h"
#include "openmp/place/recompute.h"
#include "tests/unit/test.h"
#include "tests/unit/openmp/maps_fixture.h"

extern unsigned local_omprma_lost; /* tests/unit/fake/local_omprma.c */
extern int local_omprma_exchanges;

enum { TOFROM = MAP_TO | MAP_FROM, SITES = 4 };

static double a[1000], b[1000], c[1000], d[1000];

__attribute__((constructor)) static void want_losses(void)
{
    setenv("OMPRMA_PLACEMENT", "auto", 1);
    setenv("OMPRMA_ON_LOSS", "continue", 1);
    setenv("LOCAL_OMPRMA_DEVICES", "4", 1);
}

static const void *in;

static bool depends(uintptr_t begin, uintptr_t end, bool by_in)
{
    return by_in && (uintptr_t)in >= begin && (uintptr_t)in < end;
}

/* Begins a construct; false in *right: what it needs is lost. */
static struct work *begin(enum construct_kind kind, struct list *list, struct device *site,
                          bool *right)
{
    static const char kernel;
    struct maps maps = maps_of(list);
    const struct placed placed = {kind, &maps, kind == CONSTRUCT_REGION ? &kernel : NULL, depends};
    pthread_mutex_lock(&device->space->lock);
    assert_true(recompute_lost(device, NULL));
    struct device *chosen = placement_choose(device, &placed);
    struct work *work = work_begin_locked(site ? site : chosen, NULL, WORK_SPARED);
    work->leaves = kind == CONSTRUCT_LEAVE;
    work->computes = kind == CONSTRUCT_REGION;
    *right = maps_are_valid(work, &maps) && placement_bring(work, &placed);
    if (*right)
        *right = kind == CONSTRUCT_LEAVE    ? maps_settle(work, &maps)
                 : kind == CONSTRUCT_UPDATE ? maps_update(work, &maps)
                                            : maps_enter(work, &maps);
    if (*right && kind == CONSTRUCT_REGION)
        *right = maps_settle(work, &maps);
    assert_true(placement_pin(work, &(struct placed){.kind = CONSTRUCT_ENTER}));
    pthread_mutex_unlock(&device->space->lock);
    return work;
}

/* All of one; the site that did it, -1: it failed, -2: its site was lost. */
static int go(enum construct_kind kind, double *data, int64_t type, struct device *site)
{
    struct list list = list_of(data, sizeof(a), type);
    bool right;
    struct work *work = begin(kind, &list, site, &right);
    int index = work->site->index;
    enum work_result result = work_end(work);
    return !right || result == WORK_FAILED ? -1 : result == WORK_LOST ? -2 : index;
}

static bool tell_nothing(void *context, int status)
{
    (void)context, (void)status;
    return false;
}

static void lose(int site)
{
    unsigned seen = losses_seen();
    local_omprma_lost |= 1u << device_of_site(site)->site.remote;
    assert_true(losses_explain(NULL, OMPRMA_ERR_DEVICE_LOST, seen, tell_nothing, NULL));
    assert_int_equal(losses_seen(), seen + 1);
    assert_true(device_is_lost(device_of_site(site)));
}

static struct mapped *range_of(const void *begin)
{
    struct mapped *mapped;
    mapping_find(&device->space->mapping, (uintptr_t)begin, 1, &mapped);
    return mapped;
}

/* No construct is ordered behind regions that are done again, and one may write what they read. */
TEST(test_what_is_done_again_is_followed)
{
    struct list list = list_of(d, sizeof(d), TOFROM);
    struct device *site = device_of_site(0);
    bool right;
    assert_int_equal(go(CONSTRUCT_ENTER, d, MAP_TO, site), 0);
    pthread_mutex_lock(&device->space->lock);
    struct work *again = work_begin_locked(site, NULL, WORK_FLIGHT);
    again->computes = again->repeats = true;
    assert_true(copies_use(again, range_of(d), false) && copies_pin(again));
    pthread_mutex_unlock(&device->space->lock);
    assert_null(again->event);
    struct work *writer = begin(CONSTRUCT_REGION, &list, site, &right);
    assert_non_null(again->event); /* that others wait for */
    assert_int_equal(work_end(again), WORK_DONE);
    assert_int_equal(work_end(writer), WORK_DONE);
    assert_int_equal(go(CONSTRUCT_LEAVE, d, MAP_FROM, NULL), 0);
}

/* Given by the program, read by others, written by a region: when a site is lost. */
TEST(test_regions_go_elsewhere)
{
    struct device *victim = device_of_site(1);
    double *all[] = {a, b, c, d};
    for (int i = 0; i < 4; i++)
        assert_int_equal(go(CONSTRUCT_ENTER, all[i], MAP_TO, victim), 1);
    in = b;
    assert_int_equal(go(CONSTRUCT_REGION, b, MAP_TO, device_of_site(2)), 2);
    in = NULL;
    assert_int_equal(go(CONSTRUCT_REGION, c, TOFROM, victim), 1);
    assert_int_equal(go(CONSTRUCT_REGION, d, TOFROM, victim), 1);
    lose(1);
    assert_true(losses_matter());
    assert_int_equal(go(CONSTRUCT_REGION, a, TOFROM, victim), -2);
    in = a;
    assert_int_equal(go(CONSTRUCT_REGION, a, MAP_TO, device_of_site(3)), 3);
    assert_int_equal(mapped_present(range_of(a)), 8);
    in = NULL;
    int before = local_omprma_exchanges, at = go(CONSTRUCT_REGION, a, TOFROM, device_of_site(3));
    assert_true(at >= 0 && at != 1); /* from the program's memory */
    assert_int_equal(mapped_present(range_of(a)), 1u << at);
    assert_int_equal(local_omprma_exchanges, before);
    assert_int_equal(mapped_present(range_of(b)), 4);
    assert_int_equal(go(CONSTRUCT_REGION, b, TOFROM, device_of_site(3)), 3);
    assert_int_equal(local_omprma_exchanges, before + 1);
    assert_int_equal(mapped_present(range_of(c)), 0);
    assert_int_equal(go(CONSTRUCT_UPDATE, c, MAP_TO, NULL) >= 0, 1); /* given anew */
    assert_int_equal(go(CONSTRUCT_LEAVE, c, MAP_FROM, NULL) >= 0, 1);
    assert_int_equal(go(CONSTRUCT_REGION, d, TOFROM, NULL), -1);
    assert_int_equal(go(CONSTRUCT_LEAVE, d, MAP_DELETE, NULL) >= 0, 1);
}

/* What a construct was to bring home comes from another site that has it. */
TEST(test_what_leaves_is_fetched)
{
    struct list list = list_of(b, sizeof(b), MAP_FROM);
    bool right;
    in = b;
    go(CONSTRUCT_REGION, b, MAP_TO, device_of_site(2));
    in = NULL;
    assert_int_equal(mapped_present(range_of(b)), 12);
    double *there = (double *)(uintptr_t)range_of(b)->device;
    struct work *work = begin(CONSTRUCT_LEAVE, &list, device_of_site(3), &right);
    there[7] = 42;
    lose(3);
    assert_true(right);
    assert_int_equal(work_end(work), WORK_DONE);
    assert_true(b[7] == 42);
}

/* The host is the device then, and has what it gave. */
TEST(test_none_is_left)
{
    assert_true(go(CONSTRUCT_UPDATE, a, MAP_TO, NULL) >= 0);
    assert_true(go(CONSTRUCT_ENTER, b, MAP_TO, NULL) >= 0);
    assert_true(go(CONSTRUCT_REGION, b, TOFROM, NULL) >= 0);
    lose(0);
    assert_ptr_equal(device_living(device), device_of_site(2));
    lose(2);
    assert_ptr_equal(device_living(device), device);
    assert_int_equal(go(CONSTRUCT_REGION, a, TOFROM, NULL), -2);
    assert_int_equal(go(CONSTRUCT_REGION, b, TOFROM, NULL), -1);
}

TEST_EACH(set_up, tear_down)
