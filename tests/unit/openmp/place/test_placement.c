/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_placement.c: which site a construct goes to, and what is brought there. Devices are this
 * process, so an exchange changes nothing, and is counted.
 * Covers: copies.c place/end.c place/placement.c place/stored.c site/load.c
 */
#include <stdlib.h>

#include <omprma_private/common.h>
#include <omprma_private/variables.h>

#include "base/clock.h"
#include "openmp/device/devices.h"
#include "openmp/place/copies.h"
#include "openmp/place/placement.h"
#include "tests/unit/test.h"
#include "tests/unit/openmp/maps_fixture.h"

extern int local_omprma_exchanges; /* tests/unit/fake/local_omprma.c */
extern omprma_exchange_cost_t local_omprma_cost;

enum { TOFROM = MAP_TO | MAP_FROM, SITES = 3 };

__attribute__((constructor)) static void want_placement(void)
{
    setenv("OMPRMA_PLACEMENT", "auto", 1);
    setenv("LOCAL_OMPRMA_DEVICES", "3", 1);
    local_omprma_cost = (omprma_exchange_cost_t){.round_trip_us = 100, .us_per_mib = 1e8};
}

/* What the constructs depend on. */
static const void *in, *out;

static bool depends(uintptr_t begin, uintptr_t end, bool by_in)
{
    uintptr_t address = (uintptr_t)(by_in ? in : out);
    return address >= begin && address < end;
}

static struct placed placed_of(enum construct_kind kind, const struct maps *maps)
{
    static const char kernel;
    return (struct placed){kind, maps, kind == CONSTRUCT_REGION ? &kernel : NULL, depends};
}

/* Stands for the kernel that looks behind a region: how many places it was given, and what it says
 * that it has found. */
static uint64_t searched, found;

static void search(uint64_t demand, uint64_t at, uint64_t words, uint64_t more)
{
    omprma_variables_search_t *list = (void *)(uintptr_t)at;
    (void)words, (void)more;
    assert_int_equal(demand, OMPRMA_VARIABLES_SEARCH);
    searched = list->count;
    list->found = found;
}

static void search_behind_regions(bool wanted)
{
    for (int i = 0; i < SITES; i++)
        device_of_site(i)->site.variables = wanted ? (uintptr_t)search : 0;
}

/* Begins a construct on a site, NULL: where it is placed, without a kernel. */
static struct work *begin(enum construct_kind kind, struct list *list, struct device *site)
{
    struct maps maps = maps_of(list);
    const struct placed placed = placed_of(kind, &maps);
    pthread_mutex_lock(&device->space->lock);
    struct device *chosen = site ? site : placement_choose(device, &placed);
    struct work *work = work_begin_locked(chosen, NULL, WORK_FLIGHT);
    assert_true(maps_are_valid(work, &maps) && placement_bring(work, &placed));
    assert_true(kind == CONSTRUCT_LEAVE    ? maps_settle(work, &maps)
                : kind == CONSTRUCT_UPDATE ? maps_update(work, &maps)
                                           : maps_enter(work, &maps));
    assert_true(kind != CONSTRUCT_REGION || maps_settle(work, &maps));
    work->computes = kind == CONSTRUCT_REGION;
    assert_true(placement_pin(work, &(struct placed){.kind = CONSTRUCT_ENTER}));
    pthread_mutex_unlock(&device->space->lock);
    assert_true(work_depart(work));
    return work;
}

static int end(struct work *work)
{
    int site = work->site->index;
    assert_true(work_finish(work));
    return site;
}

static int go(enum construct_kind kind, struct list list, struct device *site)
{
    return end(begin(kind, &list, site));
}

static uint64_t present(const void *begin)
{
    struct mapped *mapped;
    pthread_mutex_lock(&device->space->lock);
    assert_int_equal(mapping_find(&device->space->mapping, (uintptr_t)begin, 1, &mapped),
                     OVERLAP_INSIDE);
    uint64_t sites = mapped_present(mapped);
    pthread_mutex_unlock(&device->space->lock);
    return sites;
}

static int exchanges_since(int *before)
{
    int count = local_omprma_exchanges - *before;
    *before = local_omprma_exchanges;
    return count;
}

static double a[1000], b[1000], c[1000], d[10];

TEST(test_one_device_has_all_sites)
{
    assert_int_equal(devices_made(), 1);
    assert_int_equal(devices_sites(), SITES);
    assert_int_equal(device->space->sites, SITES);
    for (int i = 0; i < SITES; i++) {
        assert_ptr_equal(device_of_site(i)->space, device->space);
        assert_int_equal(device_of_site(i)->number, 0);
    }
}

/* Mapped anew: round the sites. Regions go where their data is. */
TEST(test_data_is_spread_and_regions_follow_it)
{
    double *all[] = {a, b, c};
    int before = local_omprma_exchanges, site[3];
    for (int i = 0; i < 3; i++)
        site[i] = go(CONSTRUCT_ENTER, list_of(all[i], sizeof(a), MAP_TO), NULL);
    assert_true(site[0] != site[1] && site[1] != site[2] && site[0] != site[2]);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(present(all[i]), 1 << site[i]);
        assert_int_equal(go(CONSTRUCT_REGION, list_of(all[i], sizeof(a), TOFROM), NULL), site[i]);
        assert_int_equal(go(CONSTRUCT_UPDATE, list_of(all[i], sizeof(a), MAP_FROM), NULL), site[i]);
        assert_int_equal(go(CONSTRUCT_LEAVE, list_of(all[i], sizeof(a), MAP_FROM), NULL), site[i]);
    }
    assert_int_equal(exchanges_since(&before), 0);
}

/* Readers have a copy each, a writer the only one. */
/* One after the other on one worker, which then has all cores of the host; else on several. */
TEST(test_regions_that_map_all_themselves_stay_while_nobody_is_busy)
{
    struct list list = list_of(b, sizeof(b), TOFROM);
    int first = go(CONSTRUCT_REGION, list_of(a, sizeof(a), TOFROM), NULL);
    for (int i = 0; i < 3; i++)
        assert_int_equal(go(CONSTRUCT_REGION, list_of(a, sizeof(a), TOFROM), NULL), first);
    struct work *work = begin(CONSTRUCT_REGION, &list, NULL);
    assert_int_not_equal(go(CONSTRUCT_REGION, list_of(a, sizeof(a), TOFROM), NULL),
                         work->site->index);
    end(work);
}

TEST(test_readers_share_and_a_writer_is_alone)
{
    int before = local_omprma_exchanges;
    go(CONSTRUCT_ENTER, list_of(a, sizeof(a), MAP_TO), device_of_site(1));
    in = a;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < SITES; i++)
            go(CONSTRUCT_REGION, list_of(a, sizeof(a), MAP_TO), device_of_site(i));
    assert_int_equal(exchanges_since(&before), SITES - 1);
    assert_int_equal(present(a), 7);
    in = NULL;
    go(CONSTRUCT_REGION, list_of(a, sizeof(a), TOFROM), device_of_site(2));
    assert_int_equal(exchanges_since(&before), 0);
    assert_int_equal(present(a), 4);
    go(CONSTRUCT_REGION, list_of(a, sizeof(a), MAP_IMPLICIT), device_of_site(0)); /* may write */
    assert_int_equal(exchanges_since(&before), 1);
    assert_int_equal(present(a), 1);
    go(CONSTRUCT_UPDATE, list_of(a, 8, MAP_TO), device_of_site(1)); /* of a part */
    assert_int_equal(exchanges_since(&before), 1);
    assert_int_equal(present(a), 2);
    go(CONSTRUCT_LEAVE, list_of(a, sizeof(a), MAP_FROM), device_of_site(1));
    assert_int_equal(exchanges_since(&before), 0);
}

static void assert_reads(const void *depends_in, const void *depends_out, struct list list,
                         bool reads)
{
    int now = __builtin_ctzll(present(a)), next = (now + 1) % SITES;
    in = depends_in, out = depends_out;
    go(CONSTRUCT_REGION, list, device_of_site(next));
    in = out = NULL;
    assert_int_equal(present(a), 1 << next | (reads ? 1 << now : 0));
    go(CONSTRUCT_REGION, list_of(a, sizeof(a), TOFROM), device_of_site(now));
}

/* Legal programs write what they map to, and read it in a later region. */
TEST(test_what_is_only_read_is_said_by_a_dependence)
{
    const struct list to = list_of(a + 10, 80, MAP_TO), named = list_of(a + 10, 0, MAP_IMPLICIT);
    go(CONSTRUCT_ENTER, list_of(a, sizeof(a), MAP_TO), device_of_site(0));
    assert_reads(NULL, NULL, to, false);
    assert_reads(a + 10, NULL, to, true);
    assert_reads(a + 19, NULL, to, true);
    assert_reads(a + 20, NULL, to, false); /* behind it, */
    assert_reads(a, NULL, to, false);      /* and before */
    assert_reads(b, NULL, to, false);
    assert_reads(NULL, a + 10, to, false);
    assert_reads(a + 10, a + 10, to, false);
    assert_reads(a + 10, a + 500, to, false); /* it writes another part of the range */
    assert_reads(a + 10, b, to, true);
    assert_reads(a + 10, NULL, named, true);
    assert_reads(a + 11, NULL, named, false);
    assert_reads(a + 10, NULL, list_of(a + 10, 80, TOFROM), false);
    assert_reads(a + 10, NULL, list_of(a + 10, 80, MAP_TO | MAP_ALWAYS), false);
    go(CONSTRUCT_LEAVE, list_of(a, sizeof(a), MAP_FROM), NULL);
}

/* What a pointer in a range leads to is used with it, and by nobody else's leave. */
TEST(test_pointers_lead_on)
{
    static struct {
        double *next;
    } head = {b};
    struct list list = list_of(&head, sizeof(head), MAP_TO);
    int before = local_omprma_exchanges;
    go(CONSTRUCT_ENTER, list, device_of_site(0));
    add(&list, &head.next, b, sizeof(b), MAP_TO | MAP_PTR_AND_OBJ);
    go(CONSTRUCT_ENTER, list, device_of_site(0));
    in = &head;
    go(CONSTRUCT_REGION, list_of(&head, sizeof(head), MAP_TO), device_of_site(1));
    in = NULL;
    assert_int_equal(exchanges_since(&before), 2);
    assert_int_equal(present(&head), 3);
    assert_int_equal(present(b), 2);
    go(CONSTRUCT_LEAVE, list, device_of_site(1));
    go(CONSTRUCT_LEAVE, list_of(&head, sizeof(head), MAP_FROM), device_of_site(1));
}

static void *device_copy(const void *begin)
{
    struct mapped *mapped;
    pthread_mutex_lock(&device->space->lock);
    mapping_find(&device->space->mapping, (uintptr_t)begin, 1, &mapped);
    void *copy = (void *)mapped_address(mapped, (uintptr_t)begin);
    pthread_mutex_unlock(&device->space->lock);
    return copy;
}

/* A region that may find it through a pointer keeps it, and yet it is mapped anew. */
TEST(test_what_is_left_over_is_new)
{
    static struct {
        double *next;
    } head = {b};
    struct list list = list_of(&head, sizeof(head), MAP_TO);
    go(CONSTRUCT_ENTER, list, device_of_site(0));
    add(&list, &head.next, b, sizeof(b), MAP_TO | MAP_PTR_AND_OBJ);
    go(CONSTRUCT_ENTER, list, device_of_site(0));
    struct list head_alone = list_of(&head, sizeof(head), MAP_TO);
    struct work *work = begin(CONSTRUCT_REGION, &head_alone, device_of_site(1));
    go(CONSTRUCT_LEAVE, list_of(b, sizeof(b), MAP_DELETE), device_of_site(0));
    for (int kind = 0; kind < 2; kind++) {
        b[7] = 42 + kind;
        go(CONSTRUCT_REGION, list_of(b, sizeof(b), MAP_TO | (kind ? MAP_CLOSE : 0)),
           device_of_site(2));
        assert_true(((double *)device_copy(b))[7] == b[7]);
        assert_int_equal(present(b), 4);
    }
    b[7] = 0;
    end(work);
    go(CONSTRUCT_LEAVE, list_of(&head, sizeof(head), MAP_DELETE), device_of_site(1));
}

static void mapper_of_b(void *handle, void *base, void *begin, int64_t size, int64_t type,
                        void *name)
{
    (void)base, (void)begin, (void)size;
    __tgt_push_mapper_component(handle, b, b, sizeof(b), type & TOFROM, name);
}

/* Nothing else that is mapped. */
TEST(test_what_a_mapper_names_is_used)
{
    void (*mapper)(void *, void *, void *, int64_t, int64_t, void *) = mapper_of_b;
    struct list list = list_of(c, 8, TOFROM);
    memcpy(&list.mappers[0], &mapper, sizeof(mapper));
    go(CONSTRUCT_ENTER, list_of(a, sizeof(a), MAP_TO), device_of_site(0));
    go(CONSTRUCT_ENTER, list_of(b, sizeof(b), MAP_TO), device_of_site(1));
    go(CONSTRUCT_REGION, list, device_of_site(2));
    assert_int_equal(present(a), 1);
    assert_int_equal(present(b), 4);
    go(CONSTRUCT_LEAVE, list_of(a, sizeof(a), MAP_FROM), NULL);
    go(CONSTRUCT_LEAVE, list_of(b, sizeof(b), MAP_FROM), NULL);
}

/* A writer in flight: who comes to another site waits for it. */
TEST(test_writers_in_flight_are_followed)
{
    struct list list = list_of(a, sizeof(a), TOFROM);
    go(CONSTRUCT_ENTER, list_of(a, sizeof(a), MAP_TO), device_of_site(0));
    struct work *first = begin(CONSTRUCT_REGION, &list, device_of_site(0));
    struct work *second = begin(CONSTRUCT_REGION, &list, device_of_site(1));
    assert_non_null(second->bringers);
    assert_non_null(first->event); /* recorded for the bringer */
    end(second);
    end(first);
    go(CONSTRUCT_LEAVE, list_of(a, sizeof(a), MAP_FROM), NULL);
}

/* What is queued counts by what is known of its kernels now, less what the first has done. */
TEST(test_queues_are_estimated)
{
    enum { MS = 1000000 };
    struct load load = {.under_way = 0};
    struct loaded loaded[LOAD_KERNELS + 2];
    int64_t usual[LOAD_KERNELS + 2] = {10 * MS, 0}, unknown;
    assert_int_equal(load_wait(&load, 5 * MS), 0);
    load_begin(&load, &loaded[0], &usual[0], 5 * MS);
    load_begin(&load, &loaded[1], &usual[0], 7 * MS);
    assert_int_equal(loaded[1].until_ns, 25 * MS);
    assert_int_equal(load_wait(&load, 9 * MS), 16 * MS);
    assert_int_equal(load_wait(&load, 90 * MS), 10 * MS); /* the first is late, the second waits */
    load_end(&load, &loaded[0], 11 * MS);
    assert_int_equal(usual[0], 9 * MS);
    assert_int_equal(load_wait(&load, 13 * MS), 7 * MS);
    unknown = load_usual(&usual[1]);
    load_begin(&load, &loaded[0], &usual[1], 13 * MS);
    assert_true(unknown > 0);
    assert_int_equal(load_wait(&load, 11 * MS), 9 * MS + unknown);
    usual[1] = 3 * MS; /* seen elsewhere */
    assert_int_equal(load_wait(&load, 11 * MS), 12 * MS);
    load_end(&load, &loaded[1], 20 * MS);
    assert_int_equal(load_idle(&load, 21 * MS), 0);
    load_end(&load, &loaded[0], 23 * MS);
    assert_int_equal(usual[1], 3 * MS);
    assert_int_equal(load_wait(&load, 24 * MS), 0);
    assert_int_equal(load_idle(&load, 24 * MS), 1 * MS);
    assert_int_equal(load.regions, 3);
    for (int i = 0; i < LOAD_KERNELS + 2; i++) {
        usual[i] = MS;
        load_begin(&load, &loaded[i], &usual[i], 30 * MS);
    }
    assert_int_equal(load_wait(&load, 30 * MS), (LOAD_KERNELS + 2) * MS);
    for (int i = 0; i < LOAD_KERNELS + 2; i++)
        load_end(&load, &loaded[i], 31 * MS);
    assert_int_equal(load.under_way, 0);
}

/* A site that takes longer for the same gets less; what a kernel usually takes is as elsewhere. */
TEST(test_slow_sites_are_known)
{
    enum { MS = 1000000, SLOW = 4 };
    struct load loads[2] = {{.under_way = 0}, {.under_way = 0}};
    struct loaded loaded;
    int64_t usual = 0, now = MS;
    for (int i = 0; i < 120; i++) {
        struct load *load = &loads[i % 2];
        load_begin(load, &loaded, &usual, now);
        now += i % 2 ? 5 * SLOW * MS : 5 * MS;
        load_end(load, &loaded, now);
    }
    assert_in_range(load_time(&loads[0], usual), 4 * MS, 6 * MS);
    assert_in_range(load_time(&loads[1], usual), 17 * MS, 23 * MS);
    load_begin(&loads[1], &loaded, &usual, now);
    assert_in_range(load_wait(&loads[1], now), 17 * MS, 23 * MS);
    load_end(&loads[1], &loaded, now + 20 * MS);
    for (int i = 0; i < 40; i++) { /* short ones tell nothing */
        int64_t brief = 10000;
        load_begin(&loads[0], &loaded, &brief, now);
        load_end(&loads[0], &loaded, now + MS);
    }
    assert_in_range(load_time(&loads[0], usual), 4 * MS, 6 * MS);
}

/* Where its data goes over a slow link, a region waits rather for a site that has it. */
TEST(test_slow_links_cost)
{
    enum { LARGE = 1 << 20 };
    static char large[LARGE];
    int before = local_omprma_exchanges;
    int64_t usual = 10000000000; /* far more than 1 MiB to site 1 takes, and less than to site 2 */
    struct loaded loaded[2];
    go(CONSTRUCT_ENTER, list_of(large, LARGE, MAP_TO), device_of_site(0));
    load_begin(&device_of_site(0)->site.load, &loaded[0], &usual, clock_ns());
    load_begin(&device_of_site(1)->site.load, &loaded[1], &usual, clock_ns());
    assert_int_not_equal(go(CONSTRUCT_REGION, list_of(large, LARGE, MAP_TO), NULL), 2);
    assert_int_equal(exchanges_since(&before), 0);
    load_end(&device_of_site(1)->site.load, &loaded[1], clock_ns());
    assert_int_equal(go(CONSTRUCT_REGION, list_of(large, LARGE, MAP_TO), NULL), 1);
    assert_int_equal(exchanges_since(&before), 1);
    load_end(&device_of_site(0)->site.load, &loaded[0], clock_ns());
    go(CONSTRUCT_LEAVE, list_of(large, LARGE, MAP_FROM), device_of_site(0));
}

/* What uses data that a long region still writes could begin no earlier elsewhere. What lies beside
 * that could. */
TEST(test_data_that_is_being_written_is_waited_for)
{
    struct list written = list_of(a, sizeof(a), TOFROM), again = written;
    struct list beside = list_of(b, sizeof(b), TOFROM);
    struct device *first_site = device_of_site(0);
    struct work *first, *second, *other;
    struct loaded third;
    go(CONSTRUCT_ENTER, list_of(a, sizeof(a), MAP_TO), first_site);
    go(CONSTRUCT_ENTER, list_of(b, sizeof(b), MAP_TO), first_site);
    first = begin(CONSTRUCT_REGION, &written, first_site);
    pthread_mutex_lock(&device->space->lock);
    *first->loaded.usual = 10000000000; /* far more than it takes to bring either */
    first->loaded.until_ns += 10000000000;
    pthread_mutex_unlock(&device->space->lock);
    second = begin(CONSTRUCT_REGION, &again, NULL);
    load_begin(&first_site->site.load, &third, first->loaded.usual, clock_ns());
    other = begin(CONSTRUCT_REGION, &beside, NULL);
    assert_int_not_equal(end(other), 0);
    assert_int_equal(end(second), 0);
    load_end(&first_site->site.load, &third, clock_ns());
    end(first);
    go(CONSTRUCT_LEAVE, list_of(a, sizeof(a), MAP_FROM), NULL);
    go(CONSTRUCT_LEAVE, list_of(b, sizeof(b), MAP_FROM), NULL);
}

/* A region that left for once comes back to what regions wrote and it reads, even if it waits
 * there. */
TEST(test_regions_come_to_what_regions_wrote)
{
    int64_t second = 1000000000;
    struct list list = list_of(a, 80, TOFROM), own = list, read = list_of(b, sizeof(b), TOFROM);
    struct loaded loaded;
    go(CONSTRUCT_ENTER, list_of(a, 80, MAP_TO), device_of_site(0));
    go(CONSTRUCT_ENTER, list_of(b, sizeof(b), MAP_TO), device_of_site(0));
    go(CONSTRUCT_REGION, read, device_of_site(1));
    struct work *work = begin(CONSTRUCT_REGION, &own, device_of_site(2));
    int64_t *usual = work->loaded.usual;
    end(work);
    *usual = 100 * second; /* what keeps it from sites that have less */
    load_begin(&device_of_site(1)->site.load, &loaded, &second, clock_ns());
    add(&list, b, b, sizeof(b), MAP_TO);
    in = b;
    assert_int_equal(go(CONSTRUCT_REGION, list, NULL), 1);
    in = NULL;
    assert_int_equal(present(a), 2);
    load_end(&device_of_site(1)->site.load, &loaded, clock_ns());
    go(CONSTRUCT_LEAVE, list_of(a, 80, MAP_FROM), NULL);
    go(CONSTRUCT_LEAVE, list_of(b, sizeof(b), MAP_FROM), NULL);
}

/* Where it was entered does not count once regions have used it elsewhere. */
TEST(test_what_regions_have_read_is_written_there)
{
    int64_t second = 1000000000;
    struct list to_b = list_of(b, 80, TOFROM), to_c = list_of(c, 80, TOFROM);
    struct list to_a = list_of(a, 80, TOFROM);
    struct loaded loaded;
    go(CONSTRUCT_ENTER, list_of(a, 80, MAP_TO), device_of_site(0));
    go(CONSTRUCT_ENTER, list_of(b, 80, MAP_TO), device_of_site(1));
    go(CONSTRUCT_ENTER, list_of(c, 80, MAP_TO), device_of_site(0));
    in = a;
    add(&to_b, a, a, 80, MAP_TO);
    go(CONSTRUCT_REGION, to_b, device_of_site(1));
    assert_int_equal(present(a), 3);
    struct work *work = begin(CONSTRUCT_REGION, &to_c, device_of_site(0));
    int64_t *usual = work->loaded.usual;
    end(work);
    *usual = 100 * second; /* what keeps it from sites that have less */
    load_begin(&device_of_site(1)->site.load, &loaded, &second, clock_ns());
    add(&to_a, b, b, 80, MAP_TO);
    add(&to_a, c, c, 80, MAP_TO);
    in = b;
    assert_int_equal(go(CONSTRUCT_REGION, to_a, NULL), 1);
    in = NULL;
    load_end(&device_of_site(1)->site.load, &loaded, clock_ns());
    go(CONSTRUCT_LEAVE, list_of(a, 80, MAP_FROM), NULL);
    go(CONSTRUCT_LEAVE, list_of(b, 80, MAP_FROM), NULL);
    go(CONSTRUCT_LEAVE, list_of(c, 80, MAP_FROM), NULL);
}

/* What the program has entered and all read does not draw them, however large it is. */
TEST(test_what_was_entered_is_read_anywhere)
{
    struct list list = list_of(a, 80, TOFROM);
    int64_t usual = 10000000000;
    struct loaded loaded;
    go(CONSTRUCT_ENTER, list_of(b, sizeof(b), MAP_TO), device_of_site(0));
    go(CONSTRUCT_ENTER, list_of(a, 80, MAP_TO), device_of_site(1));
    add(&list, b, b, sizeof(b), MAP_TO);
    in = b;
    load_begin(&device_of_site(0)->site.load, &loaded, &usual, clock_ns());
    assert_int_equal(go(CONSTRUCT_REGION, list, NULL), 1);
    in = NULL;
    load_end(&device_of_site(0)->site.load, &loaded, clock_ns());
    go(CONSTRUCT_LEAVE, list_of(b, sizeof(b), MAP_FROM), NULL);
    go(CONSTRUCT_LEAVE, list_of(a, 80, MAP_FROM), NULL);
}

/* Behind a region, in small ranges that can hold one; what leads nowhere is no matter. */
TEST(test_addresses_are_looked_for)
{
    static int number;
    struct list list = list_of(a, 80, TOFROM);
    struct mapped *last;
    go(CONSTRUCT_ENTER, list_of(a, 80, MAP_TO), device_of_site(0));
    go(CONSTRUCT_ENTER, list_of(b, 80, MAP_TO), device_of_site(0));
    go(CONSTRUCT_ENTER, list_of(c, sizeof(c), MAP_TO), device_of_site(0));
    search_behind_regions(true);
    go(CONSTRUCT_REGION, list_of(&number, sizeof(number), TOFROM), device_of_site(0));
    assert_int_equal(searched, 0);
    go(CONSTRUCT_REGION, list, device_of_site(0));
    assert_int_equal(searched, 1);
    add(&list, c, c, sizeof(c), TOFROM);
    go(CONSTRUCT_REGION, list, device_of_site(0));
    assert_int_equal(searched, 1);
    add(&list, b, b, 0, 0);
    mapping_find(&device->space->mapping, (uintptr_t)c, 1, &last);
    found = last->device + sizeof(c) / 2;
    go(CONSTRUCT_LEAVE, list_of(c, sizeof(c), MAP_FROM), NULL);
    list.count = 1;
    add(&list, b, b, 0, 0);
    go(CONSTRUCT_REGION, list, device_of_site(0));
    assert_int_equal(searched, 2);
    assert_true(placement_is_on());
    search_behind_regions(false);
    go(CONSTRUCT_LEAVE, list_of(a, 80, MAP_FROM), NULL);
    go(CONSTRUCT_LEAVE, list_of(b, 80, MAP_FROM), NULL);
}

/* What was a pointer when the memory was another range's, or this one's before, is no address that
 * a region has left. */
TEST(test_what_is_made_holds_no_address)
{
    static struct {
        double *next;
        char rest[100];
    } node, others[200];
    struct list alone = list_of(&node, sizeof(node), MAP_FROM);
    node.next = b;
    go(CONSTRUCT_ENTER, list_of(b, sizeof(b), MAP_TO), device_of_site(0));
    for (int i = 0; i < 200; i++) {
        struct list list = list_of(&others[i], sizeof(node), 0);
        others[i].next = b;
        add(&list, &others[i].next, b, sizeof(b), MAP_TO | MAP_PTR_AND_OBJ);
        go(CONSTRUCT_REGION, list, device_of_site(0));
        go(CONSTRUCT_ENTER, alone, device_of_site(0));
        for (size_t at = 0; at < sizeof(node); at++)
            assert_int_equal(((char *)device_copy(&node))[at], 0);
        go(CONSTRUCT_LEAVE, list_of(&node, sizeof(node), MAP_DELETE), device_of_site(0));
        list = list_of(&node, sizeof(node), 0);
        add(&list, &node.next, b, sizeof(b), MAP_TO | MAP_PTR_AND_OBJ);
        go(CONSTRUCT_REGION, list, device_of_site(0));
    }
    go(CONSTRUCT_LEAVE, list_of(b, sizeof(b), MAP_DELETE), device_of_site(0));
}

/* Last: nothing is placed any more, as a region keeps the address of a range in another one. One
 * under way that keeps what only another site knows fails. */
TEST(test_the_end_brings_all_to_the_first)
{
    int before = local_omprma_exchanges;
    struct list list = list_of(c, 80, TOFROM), apart = list_of(d, 80, TOFROM);
    struct mapped *to;
    search_behind_regions(true);
    struct work *other = begin(CONSTRUCT_REGION, &apart, device_of_site(1));
    search_behind_regions(false);
    go(CONSTRUCT_ENTER, list_of(a, sizeof(a), MAP_TO), device_of_site(1));
    go(CONSTRUCT_ENTER, list_of(b, sizeof(b), MAP_TO), device_of_site(2));
    go(CONSTRUCT_ENTER, list_of(c, 80, MAP_TO), device_of_site(0));
    add(&list, b, b, 0, 0);
    mapping_find(&device->space->mapping, (uintptr_t)b, 1, &to);
    found = to->device + 8;
    search_behind_regions(true);
    go(CONSTRUCT_REGION, list, device_of_site(0));
    assert_false(placement_is_on());
    assert_true(placement_end("it is said once"));
    found = UINT64_C(1) << 46; /* no range's */
    assert_false(work_finish(other));
    assert_int_equal(exchanges_since(&before), 2);
    assert_int_equal(present(a), 1);
    assert_int_equal(present(b), 1);
    assert_int_equal(go(CONSTRUCT_REGION, list_of(a, sizeof(a), TOFROM), NULL), 0);
    assert_int_equal(exchanges_since(&before), 0);
}

/* Nothing is known of how fast sites are, by what tests before have made of the time. */
static int begin_test(void **state)
{
    int status = set_up(state);
    for (int i = 0; status == 0 && i < SITES; i++)
        device_of_site(i)->site.load.paced = 0;
    return status;
}

TEST_EACH(begin_test, tear_down)
