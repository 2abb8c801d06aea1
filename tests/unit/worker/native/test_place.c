/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_place.c: workers and lanes divide synthetic machines without overlap, and this one.
 * Covers: native/place.c */
#include <hwloc.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "base/clock.h"
#include "base/error.h"
#include "worker/native/place.h"

static struct place *create(const char *machine, int index, int count, int lanes)
{
    struct place *place = NULL;
    omprma_status_t status = place_create(
        machine, &(struct place_wish){.index = index, .count = count, .lanes = lanes}, &place);
    if (status)
        print_error("%s\n", error_text());
    assert_int_equal(status, OMPRMA_OK);
    return place;
}

/* Checks what each of `count` workers gets: cpus of lane 0 of 1, number of cpus, NUMA node. */
struct share {
    const char *cpus;
    int cores, node;
};

static void check_shares(const char *machine, int count, const struct share *shares)
{
    for (int i = 0; i < count; i++) {
        char cpus[128];
        struct place *place = create(machine, i, count, 1);
        const struct place_description *description = place_describe(place);
        place_lane_list(place, 0, cpus, sizeof(cpus));
        assert_string_equal(cpus, shares[i].cpus);
        assert_int_equal(description->cores, shares[i].cores);
        assert_int_equal(description->numa_node, shares[i].node);
        assert_false(description->shared);
        place_destroy(place);
    }
}

static const char two_nodes[] = "node:2 core:4 pu:2";

TEST(divides_by_cores_and_nodes)
{
    check_shares(two_nodes, 1, (struct share[]){{"0-15", 16, -1}});
    check_shares(two_nodes, 2, (struct share[]){{"0-7", 8, 0}, {"8-15", 8, 1}});
    check_shares(two_nodes, 3, (struct share[]){{"0-3", 4, 0}, {"4-7", 4, 0}, {"8-15", 8, 1}});
    check_shares(two_nodes, 5,
                 (struct share[]){
                     {"0-1", 2, 0}, {"2-3", 2, 0}, {"4-7", 4, 0}, {"8-11", 4, 1}, {"12-15", 4, 1}});
    check_shares("node:4 core:2 pu:1", 3,
                 (struct share[]){{"0-1", 2, 0}, {"2-3", 2, 1}, {"4-7", 4, -1}});
    check_shares("core:1 pu:1", 1, (struct share[]){{"0", 1, 0}});
    check_shares("core:7 pu:1", 2, (struct share[]){{"0-2", 3, 0}, {"3-6", 4, 0}});
    /* no cores shown, only processing units */
    check_shares("node:2 pu:3", 2, (struct share[]){{"0-2", 3, 0}, {"3-5", 3, 1}});
    /* a second kind of memory beside each package's own */
    check_shares("package:2 [numa] [numa] core:2 pu:1", 2,
                 (struct share[]){{"0-1", 2, 0}, {"2-3", 2, 2}});
    /* one node for two packages */
    check_shares("[numa] package:2 core:2 pu:1", 2, (struct share[]){{"0-1", 2, 0}, {"2-3", 2, 0}});
}

TEST(every_count_is_disjoint_and_complete)
{
    for (int count = 1; count <= 24; count++) {
        hwloc_bitmap_t seen = hwloc_bitmap_alloc(), one = hwloc_bitmap_alloc();
        for (int i = 0; i < count; i++) {
            char cpus[128];
            struct place *place = create("node:3 core:8 pu:2", i, count, 1);
            place_lane_list(place, 0, cpus, sizeof(cpus));
            place_destroy(place);
            hwloc_bitmap_list_sscanf(one, cpus);
            assert_false(hwloc_bitmap_iszero(one));
            assert_false(hwloc_bitmap_intersects(seen, one));
            hwloc_bitmap_or(seen, seen, one);
        }
        assert_int_equal(hwloc_bitmap_weight(seen), 48);
        hwloc_bitmap_free(seen);
        hwloc_bitmap_free(one);
    }
}

TEST(shares_when_there_are_too_many)
{
    char cpus[128];
    struct place *place = create(two_nodes, 8, 9, 1);
    assert_true(place_describe(place)->shared);
    assert_int_equal(place_describe(place)->cores, 1);
    place_lane_list(place, 0, cpus, sizeof(cpus));
    assert_string_equal(cpus, "0-15");
    place_destroy(place);
    place = create(two_nodes, 7, 8, 1);
    assert_false(place_describe(place)->shared);
    assert_int_equal(place_describe(place)->cores, 2);
    place_destroy(place);
}

static void check_parts(const struct place *whole, int count, const struct share *expected)
{
    for (int i = 0; i < count; i++) {
        char cpus[128];
        struct place *part;

        assert_int_equal(place_part(whole, i, count, &part), OMPRMA_OK);
        place_lane_list(part, 0, cpus, sizeof(cpus));
        assert_string_equal(cpus, expected[i].cpus);
        assert_int_equal(place_describe(part)->cores, expected[i].cores);
        assert_int_equal(place_describe(part)->numa_node, expected[i].node);
        place_destroy(part);
    }
}

/* Devices get parts of their worker's share by the same rules. */
TEST(parts_of_a_share)
{
    struct place *whole = create("node:4 core:2 pu:1", 0, 2, 1), *part;

    assert_int_equal(place_nodes(whole), 2);
    check_parts(whole, 1, (struct share[]){{"0-3", 4, -1}});
    check_parts(whole, 2, (struct share[]){{"0-1", 2, 0}, {"2-3", 2, 1}});
    check_parts(whole, 3, (struct share[]){{"0", 1, 0}, {"1", 1, 0}, {"2-3", 2, 1}});
    assert_int_equal(place_part(whole, 4, 5, &part), OMPRMA_OK);
    assert_true(place_describe(part)->shared);
    assert_int_equal(place_describe(part)->cores, 1);
    place_destroy(part);
    assert_int_equal(place_part(whole, 2, 2, &part), OMPRMA_ERR_ARGUMENT);
    place_destroy(whole);
    whole = create("node:2 core:4 pu:1", 1, 3, 1); /* a worker inside one node */
    assert_int_equal(place_nodes(whole), 1);
    place_destroy(whole);
}

/* Checks workers that get so many cores each: their cpus. */
static void check_wishes(const char *machine, struct place_wish wish, const char *const *cpus)
{
    for (wish.index = 0; wish.index < wish.count; wish.index++) {
        struct place *place = NULL;
        assert_int_equal(place_create(machine, &wish, &place), OMPRMA_OK);
        assert_string_equal(place_describe(place)->cpus, cpus[wish.index]);
        assert_false(place_describe(place)->shared);
        place_destroy(place);
    }
}

static void refuses_cores(const char *machine, struct place_wish wish, const char *why)
{
    struct place *place = NULL;
    assert_int_equal(place_create(machine, &wish, &place), OMPRMA_ERR_CONFIG);
    if (!strstr(error_text(), why))
        print_error("%s\n", error_text());
    assert_non_null(strstr(error_text(), why));
    assert_null(place);
}

TEST(gives_what_was_asked_for)
{
    struct place_wish two = {.count = 2, .lanes = 1, .cores = 1};
    check_wishes(two_nodes, two, (const char *[]){"0-1", "2-3"});
    two.by_numa = true;
    check_wishes(two_nodes, two, (const char *[]){"0-1", "8-9"});
    struct place_wish four = {.count = 4, .lanes = 1, .cores = 2, .by_numa = true};
    check_wishes(two_nodes, four, (const char *[]){"0-3", "8-11", "4-7", "12-15"});
    four.by_numa = false;
    check_wishes(two_nodes, four, (const char *[]){"0-3", "4-7", "8-11", "12-15"});
    four.cores = 0;
    check_wishes(two_nodes, four, (const char *[]){"0-3", "4-7", "8-11", "12-15"});
    four.by_numa = true;
    check_wishes(two_nodes, four, (const char *[]){"0-3", "8-11", "4-7", "12-15"});
    struct place_wish three = {.count = 3, .lanes = 1, .cores = 3};
    check_wishes("node:3 core:4 pu:1", three, (const char *[]){"0-2", "4-6", "8-10"});
    check_wishes("node:2 core:5 pu:1", three, (const char *[]){"0-2", "3-5", "6-8"});
    refuses_cores(two_nodes, three, "3 workers with 3 cores each need 9 cores");
    three.by_numa = true;
    refuses_cores("node:2 core:5 pu:1", three, "2 NUMA nodes");
}

/* What number `index` of `count` may use of a machine that has two workers. */
static void check_now(const char *machine, int index, int count, const char *cpus, int threads)
{
    struct place *whole = create(machine, 0, 2, 1), *now = NULL;
    assert_int_equal(place_now(whole, index, count, &now), OMPRMA_OK);
    assert_string_equal(place_describe(now)->cpus, cpus);
    assert_int_equal(place_threads(now, 1), threads);
    place_destroy(now);
    place_destroy(whole);
}

TEST(divides_between_those_in_use)
{
    check_now(two_nodes, 0, 1, "0-15", 16);
    check_now(two_nodes, 0, 2, "0-7", 8);
    check_now(two_nodes, 1, 2, "8-15", 8);
    check_now("core:2 pu:1", 2, 3, "0-1", 1);
}

static void check_lanes(const char *machine, int index, int count, int lanes,
                        const char *const *expected)
{
    struct place *place = create(machine, index, count, lanes);
    for (int lane = 0; lane < lanes; lane++) {
        char cpus[128];
        place_lane_list(place, lane, cpus, sizeof(cpus));
        assert_string_equal(cpus, expected[lane]);
    }
    assert_int_equal(place_apply_lane(place, lanes), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(place_apply_lane(place, -1), OMPRMA_ERR_ARGUMENT);
    place_destroy(place);
}

TEST(divides_a_share_by_lanes)
{
    check_lanes(two_nodes, 1, 2, 2, (const char *[]){"8-11", "12-15"});
    check_lanes(two_nodes, 1, 2, 3, (const char *[]){"8-9", "10-11", "12-15"});
    check_lanes("core:2 pu:2", 0, 1, 4, (const char *[]){"0", "1", "2", "3"});
    check_lanes("core:2 pu:1", 0, 1, 3, (const char *[]){"0-1", "0-1", "0-1"});
    check_lanes("core:2 pu:1", 0, 3, 2, (const char *[]){"0-1", "0-1"});
}

TEST(reads_recorded_machines)
{
    char path[] = "/tmp/omprma-test-XXXXXX";
    hwloc_topology_t topology;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    hwloc_topology_init(&topology);
    hwloc_topology_set_synthetic(topology, "node:2 core:3 pu:1");
    hwloc_topology_load(topology);
    assert_int_equal(hwloc_topology_export_xml(topology, path, 0), 0);
    hwloc_topology_destroy(topology);
    check_shares(path, 2, (struct share[]){{"0-2", 3, 0}, {"3-5", 3, 1}});
    unlink(path);
}

TEST(refuses_nonsense)
{
    struct place *place = NULL;
    assert_int_equal(place_create("no such machine",
                                  &(struct place_wish){.index = 0, .count = 1, .lanes = 1}, &place),
                     OMPRMA_ERR_ARGUMENT);
    assert_non_null(strstr(error_text(), "no such machine"));
    assert_int_equal(
        place_create(two_nodes, &(struct place_wish){.index = 1, .count = 1, .lanes = 1}, &place),
        OMPRMA_ERR_ARGUMENT);
    assert_int_equal(
        place_create(two_nodes, &(struct place_wish){.index = -1, .count = 1, .lanes = 1}, &place),
        OMPRMA_ERR_ARGUMENT);
    assert_int_equal(
        place_create(two_nodes, &(struct place_wish){.index = 0, .count = 0, .lanes = 1}, &place),
        OMPRMA_ERR_ARGUMENT);
    assert_int_equal(
        place_create(two_nodes, &(struct place_wish){.index = 0, .count = 1, .lanes = 0}, &place),
        OMPRMA_ERR_ARGUMENT);
    assert_null(place);
    place_destroy(NULL);
}

static void check_environment(const char *machine, int count, int lanes, const char *threads,
                              const char *spin)
{
    struct place *place = create(machine, 0, count, lanes);
    int given = place_threads(place, 1);
    assert_int_equal(place_environment(place, &given), OMPRMA_OK);
    place_destroy(place);
    assert_string_equal(getenv("OMP_NUM_THREADS"), threads);
    if (spin)
        assert_string_equal(getenv("KMP_BLOCKTIME"), spin);
    else
        assert_null(getenv("KMP_BLOCKTIME"));
    assert_string_equal(getenv("OMP_TARGET_OFFLOAD"), "disabled");
    unsetenv("OMP_NUM_THREADS");
    unsetenv("KMP_BLOCKTIME");
}

/* They mean processors of the host, of which a worker may have a part. */
TEST(lists_of_processors_are_for_who_has_all_of_them)
{
    static const char *const settings[][3] = {
        {"GOMP_CPU_AFFINITY", "0-1", ""},       {"OMP_PLACES", "{0},{1}", ""},
        {"OMP_PLACES", "cores(2)", "cores(2)"}, {"KMP_AFFINITY", "explicit,proclist=[0,1]", ""},
        {"KMP_AFFINITY", "compact", "compact"},
    };

    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
        for (int workers = 1; workers <= 3; workers++) {
            struct place *place = create("core:2 pu:1", 0, workers, 1);
            int threads = 1;
            const char *left;

            setenv(settings[i][0], settings[i][1], 1);
            assert_int_equal(place_environment(place, &threads), OMPRMA_OK);
            left = getenv(settings[i][0]);
            assert_string_equal(left ? left : "", settings[i][workers == 1 ? 1 : 2]);
            unsetenv(settings[i][0]);
            place_destroy(place);
        }
    unsetenv("OMP_NUM_THREADS");
    unsetenv("KMP_BLOCKTIME");
}

TEST(sets_the_environment)
{
    unsetenv("OMP_NUM_THREADS");
    unsetenv("KMP_BLOCKTIME");
    unsetenv("OMP_WAIT_POLICY");
    setenv("OMP_TARGET_OFFLOAD", "mandatory", 1);
    check_environment(two_nodes, 1, 1, "16", "1");
    check_environment(two_nodes, 2, 2, "4", "1");
    check_environment("core:2 pu:1", 1, 4, "1", "1");
    check_environment("core:2 pu:1", 3, 1, "1", "0");
    setenv("OMP_NUM_THREADS", "5", 1);
    setenv("KMP_BLOCKTIME", "7", 1);
    check_environment(two_nodes, 1, 1, "5", "7");
    setenv("OMP_WAIT_POLICY", "active", 1);
    check_environment(two_nodes, 1, 1, "16", NULL);
    unsetenv("OMP_WAIT_POLICY");
}

/* ---- this machine ---- */

static bool bound_to(const char *cpus)
{
    cpu_set_t set;
    hwloc_bitmap_t mine = hwloc_bitmap_alloc(), expected = hwloc_bitmap_alloc();
    sched_getaffinity(0, sizeof(set), &set);
    for (unsigned i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set))
            hwloc_bitmap_set(mine, i);
    hwloc_bitmap_list_sscanf(expected, cpus);
    bool equal = hwloc_bitmap_isequal(mine, expected);
    hwloc_bitmap_free(mine);
    hwloc_bitmap_free(expected);
    return equal;
}

/* The second of two lanes binds itself. */
static int bind_lane(void)
{
    char all[256], lane[256];
    struct place *place = create(NULL, 0, 1, 1);
    int cores = place_describe(place)->cores;
    place_lane_list(place, 0, all, sizeof(all));
    place_destroy(place);
    place = create(NULL, 0, 1, 2);
    place_lane_list(place, 1, lane, sizeof(lane));
    place_bind(place);
    if (!bound_to(all))
        return 1;
    if (place_apply_lane(place, 1) || !bound_to(lane) || (cores > 1 && !strcmp(lane, all)))
        return 2;
    place_destroy(place);
    return 0;
}

/* The second of two workers binds itself; what is allowed from then on is its share only. */
static int bind_worker(void)
{
    char share[256], allowed[256];
    struct place *place = create(NULL, 1, 2, 1);
    place_lane_list(place, 0, share, sizeof(share));
    place_bind(place);
    if (!bound_to(share))
        return 1;
    place_destroy(place);
    place = create(NULL, 0, 1, 1);
    place_lane_list(place, 0, allowed, sizeof(allowed));
    place_destroy(place);
    return strcmp(allowed, share) ? 2 : 0;
}

static void check_child(int (*body)(void))
{
    fflush(NULL);
    pid_t child = fork();
    if (!child)
        _exit(body());
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

TEST(binds_on_this_machine)
{
    check_child(bind_lane);
    check_child(bind_worker);
}

TEST(describes_this_machine)
{
    int64_t start = clock_ns();
    struct place *place = create(NULL, 0, 1, 1);
    print_message("place_create: %.2f ms\n", (double)(clock_ns() - start) / 1e6);
    const struct place_description *description = place_describe(place);
    assert_in_range(description->cores, 1, sysconf(_SC_NPROCESSORS_CONF));
    assert_true(description->cpu[0]);
    assert_true(description->memory_bytes > 1 << 20);
    place_destroy(place);
}

static bool is_mapped(const char *page)
{
    unsigned char in_core;
    return !mincore((void *)(uintptr_t)page, 1, &in_core);
}

static size_t pages_mapped(void)
{
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%zu", &pages), 1);
    fclose(file);
    return pages;
}

TEST(maps_memory)
{
    enum { HUGE_PAGE = 2 << 20 };
    static const uint64_t sizes[] = {1, 4096, 5000, HUGE_PAGE, 3 * HUGE_PAGE + 100};
    struct place *place = create(NULL, 0, 1, 1);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (int i = 0; i < 10; i++) {
        uint64_t bytes = sizes[i / 2], rounded = (bytes + page - 1) / page * page;
        void *base = NULL;
        size_t before = pages_mapped();
        assert_int_equal(
            place_map(place, bytes, &(struct place_memory){.huge_pages = i % 2}, &base), OMPRMA_OK);
        assert_int_equal(pages_mapped() - before, rounded / page + 1);
        char *memory = base;
        memset(memory, 1, bytes);
        memory[rounded] = 1; /* the page beyond */
        if (i % 2 && bytes >= HUGE_PAGE)
            assert_int_equal((uintptr_t)base % HUGE_PAGE, 0);
        assert_true(is_mapped(memory) && is_mapped(memory + rounded));
        place_unmap(base, bytes, NULL);
        assert_false(is_mapped(memory) || is_mapped(memory + rounded));
    }
    void *none = NULL;
    const struct place_memory huge = {.huge_pages = true};
    assert_int_equal(place_map(place, UINT64_C(1) << 60, &huge, &none), OMPRMA_ERR_DEVICE_MEMORY);
    assert_int_equal(place_map(place, UINT64_MAX, &huge, &none), OMPRMA_ERR_DEVICE_MEMORY);
    assert_int_equal(place_map(place, 0, &huge, &none), OMPRMA_ERR_DEVICE_MEMORY);
    assert_null(none);
    place_unmap(NULL, 1, NULL);
    place_destroy(place);
}

TEST(memory_at_a_wished_address)
{
    enum { HUGE_PAGE = 2 << 20, BYTES = 3 * HUGE_PAGE };
    struct place *place = create(NULL, 0, 1, 1);
    struct place_memory where = {.huge_pages = true};
    void *base = NULL, *other = NULL;

    assert_int_equal(place_map(place, BYTES, &where, &where.wish), OMPRMA_OK);
    place_unmap(where.wish, BYTES, NULL); /* an address that is free, and a huge page's */

    for (int i = 0; i < 2; i++) {
        where.huge_pages = i;
        where.below = NULL;
        assert_int_equal(place_map(place, BYTES, &where, &base), OMPRMA_OK);
        assert_ptr_equal(base, where.wish);
        assert_int_equal(place_map(place, 1, &where, &other), OMPRMA_ERR_ADDRESS);
        place_unmap(base, BYTES, NULL);
        where.below = (char *)where.wish + BYTES; /* the page beyond is not */
        assert_int_equal(place_map(place, BYTES, &where, &other), OMPRMA_ERR_ADDRESS);
        where.below = (char *)where.wish - HUGE_PAGE;
        assert_int_equal(place_map(place, 1, &where, &other), OMPRMA_ERR_ADDRESS);
        assert_null(other);
    }
    place_destroy(place);
}
