/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_addressed.c: which blocks and ranges a region has an address of, which site copies go to,
 * and what is brought for both. Devices are this process, so an exchange changes nothing, and is
 * counted.
 * Covers: addressed.c device/allocated.c
 */
#include <stdlib.h>

#include "openmp/device/allocated.h"
#include "openmp/device/devices.h"
#include "openmp/place/addressed.h"
#include "openmp/place/copies.h"
#include "openmp/place/placement.h"
#include "tests/unit/test.h"
#include "tests/unit/openmp/maps_fixture.h"

extern int local_omprma_exchanges; /* tests/unit/fake/local_omprma.c */

enum { SITES = 3, ALL = 7, BYTES = 4096 };

__attribute__((constructor)) static void want_placement(void)
{
    setenv("OMPRMA_PLACEMENT", "named", 1);
    setenv("LOCAL_OMPRMA_DEVICES", "3", 1);
}

static char *block_new(void)
{
    return omp_target_alloc(BYTES, 0);
}

static uint64_t present(const void *address)
{
    pthread_mutex_lock(&device->space->lock);
    uint64_t sites = mapped_present(range_of_address(device->space, (uintptr_t)address));
    pthread_mutex_unlock(&device->space->lock);
    return sites;
}

static int exchanges(void)
{
    static int before;
    int count = local_omprma_exchanges - before;
    before = local_omprma_exchanges;
    return count;
}

/* What regions depend on in another way than `in`. */
static const void *depends_on;

static bool depends(uintptr_t begin, uintptr_t end, bool by_in)
{
    return !by_in && (uintptr_t)depends_on >= begin && (uintptr_t)depends_on < end;
}

/* A region with this list on a site, in flight. */
static struct work *region_begin(struct list list, int site)
{
    struct maps maps = maps_of(&list);
    const struct placed placed = {CONSTRUCT_REGION, &maps, NULL, depends};
    pthread_mutex_lock(&device->space->lock);
    struct work *work = work_begin_locked(device_of_site(site), NULL, WORK_FLIGHT);
    assert_true(maps_are_valid(work, &maps) && placement_bring(work, &placed));
    assert_true(maps_enter(work, &maps) && maps_settle(work, &maps) &&
                placement_pin(work, &(struct placed){.kind = CONSTRUCT_ENTER}));
    pthread_mutex_unlock(&device->space->lock);
    assert_true(work_depart(work));
    return work;
}

static void region(struct list list, int site)
{
    assert_true(work_finish(region_begin(list, site)));
}

static struct list list_of_value(void *value)
{
    struct list list = {.count = 0};
    add(&list, value, value, 0, MAP_LITERAL | MAP_TARGET_PARAM);
    return list;
}

static void copy_there(char *to, size_t bytes)
{
    static char from[BYTES];
    assert_int_equal(omp_target_memcpy(to, from, bytes, 0, 0, 0, omp_get_initial_device()), 0);
}

TEST(test_addresses_come_without_an_end)
{
    assert_true(devices_are_named());
    assert_true(placement_give("a test"));
    assert_true(placement_is_on());
}

/* What has not been written is as good everywhere. Bytes are spread. */
TEST(test_new_blocks_are_everywhere)
{
    char *block[SITES];
    uint64_t sites = 0;
    exchanges();
    for (int i = 0; i < SITES; i++) {
        block[i] = block_new();
        assert_int_equal(present(block[i]), ALL);
        copy_there(block[i] + 8, 8);
        sites |= present(block[i]);
    }
    assert_int_equal(sites, ALL);
    assert_int_equal(exchanges(), 0);
    for (int i = 0; i < SITES; i++)
        omp_target_free(block[i], 0);
}

static void check_reaches(struct list list, char *block)
{
    exchanges();
    copy_there(block, 8);
    for (int site = 0; site < SITES; site++) {
        region(list, site);
        assert_int_equal(present(block), 1 << site);
    }
    assert_in_range(exchanges(), SITES - 1, SITES);
}

TEST(test_regions_reach_what_they_have_an_address_of)
{
    char *block = block_new();
    struct {
        int64_t other;
        char *pointer;
    } inner = {7, block + 16};
    check_reaches(list_of_value(block), block);
    check_reaches(list_of_value(block + BYTES - 1), block);
    check_reaches(list_of(block + 8, 0, MAP_IMPLICIT | MAP_TARGET_PARAM), block);
    check_reaches(list_of(&inner, sizeof(inner), MAP_TO | MAP_IMPLICIT), block);
    check_reaches(list_of(&inner, sizeof(inner), MAP_TO | MAP_PRIVATE | MAP_TARGET_PARAM), block);
    omp_target_free(block, 0);
}

TEST(test_other_words_reach_nothing)
{
    char *block = block_new();
    static char *far[1000]; /* not by value */
    far[0] = block;
    copy_there(block, 8);
    int site = __builtin_ctzll(present(block)), other = (site + 1) % SITES;
    exchanges();
    region(list_of_value((void *)(uintptr_t)42), other);
    region(list_of_value(block + BYTES), other);
    region(list_of(far, sizeof(far), MAP_TO), other);
    assert_int_equal(exchanges(), 0);
    assert_int_equal(present(block), 1 << site);
    omp_target_free(block, 0);
}

/* A mapped range by its device address, as by a map. */
TEST(test_ranges_are_reached_too)
{
    static double a[100];
    assert_true(run(maps_enter, list_of(a, sizeof(a), MAP_TO)));
    check_reaches(list_of_value(copy_of(&a[50])), copy_of(a));
    assert_true(run(maps_settle, list_of(a, sizeof(a), MAP_FROM)));
}

/* The program promises that, too. */
TEST(test_what_is_mapped_to_is_only_read)
{
    static double a[100];
    const struct list to = list_of(a, sizeof(a), MAP_TO);
    assert_true(run(maps_enter, to));
    char *there = copy_of(a);
    for (int site = 0; site < SITES; site++)
        region(to, site);
    assert_int_equal(present(there), ALL);
    depends_on = &a[99];
    region(to, 1);
    depends_on = NULL;
    assert_int_equal(present(there), 2);
    assert_true(run(maps_settle, to));
}

TEST(test_copies_read_and_write)
{
    char *one = block_new(), *two = block_new(), out[8];
    region(list_of_value(one), 1);
    region(list_of_value(two), 2);
    exchanges();
    assert_int_equal(omp_target_memcpy(out, one, 8, 0, 8, omp_get_initial_device(), 0), 0);
    assert_int_equal(present(one), 2);
    assert_int_equal(exchanges(), 0);
    assert_int_equal(omp_target_memcpy(two, one, 8, 0, 8, 0, 0), 0); /* there, and then across */
    assert_int_equal(exchanges(), 2);
    assert_int_equal(present(one), 6);
    assert_int_equal(present(two), 4);
    omp_target_memset(one, 1, 8, 0);
    assert_int_equal(__builtin_popcountll(present(one)), 1);
    omp_target_free(one, 0);
    omp_target_free(two, 0);
}

/* Who uses it may be under way still. */
TEST(test_a_block_that_is_freed_is_forgotten)
{
    char *block = block_new();
    struct work *work = region_begin(list_of_value(block), 1);
    assert_false(LIST_EMPTY(&allocated_at(device->space, (uintptr_t)block)->pins));
    allocated_remove(device->space, (uintptr_t)block + 1); /* is none */
    assert_non_null(allocated_at(device->space, (uintptr_t)block));
    omp_target_free(block, 0);
    assert_null(allocated_at(device->space, (uintptr_t)block));
    assert_false(LIST_EMPTY(&device->space->freed.pins));
    assert_true(work_finish(work));
    assert_true(LIST_EMPTY(&device->space->freed.pins));
}

/* Last: nothing is placed any more, and blocks come to the first, too. */
TEST(test_the_end_brings_blocks)
{
    char *block = block_new();
    region(list_of_value(block), 2);
    exchanges();
    assert_true(placement_end("a test says so"));
    assert_int_equal(exchanges(), 1);
    assert_int_equal(present(block), 1);
    copy_there(block, 8);
    assert_int_equal(present(block), 1);
    omp_target_free(block, 0);
}

TEST_EACH(set_up, tear_down)
