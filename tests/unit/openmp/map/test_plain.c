/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_plain.c: the short way of plain items, see src/openmp/map/plain.c: when it is taken,
 * when not, and in random regions that it does what maps mean, with a plan and without one. Devices
 * are this process.
 * Covers: plain.c entry/region.c
 */
#include <stdlib.h>

#include "tests/unit/test.h"
#include "tests/unit/openmp/maps_fixture.h"

enum { VALUES = 24, MOST = ITEMS, TOFROM = MAP_TO | MAP_FROM, PARAM = MAP_TARGET_PARAM };

extern int local_omprma_submits; /* tests/unit/fake/local_omprma.c */

/* A whole variable. */
static void add_whole(struct list *list, void *begin, size_t bytes, int64_t type)
{
    add(list, begin, begin, bytes, type);
}

static unsigned begins; /* a bit for each parameter: the value begins now */
enum { BEGINS_AS = 7 };

/* Its parameters are the first words of what was mapped; NULL ends them. */
static void add_one(uint64_t *a, uint64_t *b, uint64_t *c, uint64_t *d, uint64_t *e, uint64_t *f,
                    uint64_t *g, uint64_t *h)
{
    uint64_t *all[] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < MOST && all[i]; i++)
        *all[i] = begins >> i & 1 ? BEGINS_AS : *all[i] + 1;
}

/* Of all regions, as if they were one: what it knows is mostly another's. */
static struct plan plan;

/* Issues a region that adds one to all that it maps, but for what `begins`. */
static struct work *begin_region(struct list *list, bool planned)
{
    static uint64_t nothing;
    struct plan new = {.kernel = (uintptr_t)add_one};
    struct region_call call = {.plan = planned ? &plan : &new};
    plan.kernel = new.kernel;
    struct work *work = work_begin(device, NULL, WORK_FLIGHT); /* all is issued at once */
    struct list whole = *list;
    struct launch launch;
    while (whole.count < MOST) /* the kernel's other words */
        add_whole(&whole, NULL, sizeof(nothing), PARAM | MAP_LITERAL);
    struct maps maps = maps_of(&whole);
    launch_begin(&launch);
    pthread_mutex_lock(&device->space->lock);
    assert_true(maps_are_valid(work, &maps) && region_issue(work, &call, &maps, &launch));
    pthread_mutex_unlock(&device->space->lock);
    launch_clear(&launch);
    return work;
}

static void region(struct list list)
{
    assert_true(work_finish(begin_region(&list, true)));
}

/* Whether a work that was begun enters the only item of the list, and leaves it, by the short way.
 */
static bool goes_plainly(struct work *work, struct list list)
{
    struct mapped *entered[MOST] = {0};
    struct maps maps = maps_of(&list);
    maps.entered = entered;
    maps.mappers = NULL;
    pthread_mutex_lock(&device->space->lock);
    bool plainly =
        maps_go_plainly(work, &maps) && map_is_plain(list.types[0]) && plain_enter(work, &maps, 0);
    if (plainly) { /* no kernel is to be launched, so nothing would come back with it */
        maps.types[0] &= ~(int64_t)MAP_FROM;
        assert_non_null(entered[0]);
        assert_true(plain_leave(work, &maps, 0));
    }
    pthread_mutex_unlock(&device->space->lock);
    return plainly;
}

static bool comes_plainly(struct list list)
{
    struct work *work = work_begin(device, NULL, WORK_WAITED);
    bool plainly = goes_plainly(work, list);
    assert_true(work_finish(work));
    return plainly;
}

static uint64_t values[VALUES];

/* What was mapped a moment ago, or is mapped. */
TEST(test_what_comes_again)
{
    values[0] = 5;
    for (int i = 0; i < 3; i++)
        region(list_of(values, 8, TOFROM | PARAM));
    assert_int_equal(values[0], 8);
    assert_true(comes_plainly(list_of(values, 8, TOFROM | PARAM)));
    assert_true(comes_plainly(list_of(values, 8, PARAM | MAP_IMPLICIT)));
    assert_true(run(maps_enter, list_of(values, 8, MAP_TO)));
    assert_true(comes_plainly(list_of(values, 8, TOFROM | PARAM)));
    assert_non_null(omp_get_mapped_ptr(values, 0));
    assert_true(run(maps_settle, list_of(values, 8, MAP_FROM)));
    assert_null(omp_get_mapped_ptr(values, 0));
}

TEST(test_what_does_not)
{
    static uint64_t other[4], large[1000];
    region(list_of(values, 8, TOFROM | PARAM));
    assert_false(comes_plainly(list_of(other, 8, TOFROM | PARAM)));   /* it is new */
    assert_false(comes_plainly(list_of(values, 16, TOFROM | PARAM))); /* it has grown */
    region(list_of(values, 8, TOFROM | PARAM));
    assert_false(comes_plainly(list_of(values, 4, TOFROM | PARAM)));
    region(list_of(values, 8, TOFROM | PARAM));
    assert_false(comes_plainly(list_of(values, 8, TOFROM | PARAM | MAP_ALWAYS)));
    assert_false(comes_plainly(list_of(values, 8, MAP_TO | MAP_HOLD)));
    assert_false(comes_plainly(list_of(values, 8, PARAM | MAP_PRIVATE | MAP_TO)));
    region(list_of(large, sizeof(large), TOFROM | PARAM)); /* its memory is given back */
    assert_false(comes_plainly(list_of(large, sizeof(large), TOFROM | PARAM)));
}

/* Others have moved its data, or still use it. Both works have entered something before. */
TEST(test_what_is_under_way)
{
    struct list list = list_of(values, 8, TOFROM | PARAM);
    values[0] = 1;
    for (int round = 1; round <= 2; round++) {
        struct work *first = begin_region(&list, true), *second = begin_region(&list, true);
        assert_true(work_finish(second)); /* waits for the first one, too */
        assert_true(work_finish(first));
        assert_int_equal(values[0], 1 + 2 * round);
        assert_null(omp_get_mapped_ptr(values, 0));
    }
    struct work *first = begin_region(&list, true);
    assert_false(comes_plainly(list)); /* its data came with the first */
    assert_true(work_finish(first));
}

/* The last one to leave brings back what others, that left before, are still computing. */
TEST(test_leaving_last)
{
    struct list list = list_of(values, 8, TOFROM | PARAM);
    values[0] = 1;
    assert_true(run(maps_enter, list_of(values, 8, MAP_TO)));
    struct work *first = begin_region(&list, true);
    assert_true(run(maps_settle, list_of(values, 8, 0)));
    struct work *second = begin_region(&list, true);
    assert_true(work_finish(second));
    assert_int_equal(values[0], 3);
    assert_true(work_finish(first));
    assert_int_equal(values[0], 3);
}

/* The same variable twice in a list is one; its value goes there though the first one only brings
 * it back. */
TEST(test_twice)
{
    struct list more = {.count = 0};
    for (int i = 0; i < MOST; i++)
        add_whole(&more, values + i, 8, TOFROM | PARAM);
    region(more); /* the work has what a third range needs, too */
    values[0] = values[1] = 0;
    for (int i = 0; i < 100; i++) {
        values[0] += 100;
        struct list list = list_of(values, 8, (i % 2 ? MAP_FROM : TOFROM) | PARAM);
        add_whole(&list, values + 1, 8, TOFROM | PARAM);
        add_whole(&list, values, 8, TOFROM | PARAM);
        region(list);
        assert_int_equal(values[0], 102 * (i + 1));
        assert_int_equal(values[1], i + 1);
    }
}

/* Where items overlap one is a part of the other, which is entered first wherever it stands, or
 * that is reported. What the whole brings back is not lost. */
TEST(test_overlapping)
{
    struct list list = list_of(values + 2, 32, MAP_TO);
    add_whole(&list, values, 32, MAP_FROM); /* neither has all of the other */
    assert_false(run(maps_enter, list));
    assert_true(run(maps_settle, list_of(values + 2, 32, MAP_DELETE)));
    list = list_of(values + 2, 32, MAP_TO);
    add_whole(&list, values, 64, MAP_FROM);
    assert_true(run(maps_enter, list));
    assert_non_null(omp_get_mapped_ptr(values, 0));
    assert_true(run(maps_settle, list_of(values, 64, MAP_DELETE)));
    list = list_of(values, 32, MAP_TO); /* both begin at the same place */
    add_whole(&list, values, 64, MAP_FROM);
    assert_true(run(maps_enter, list));
    assert_true(run(maps_settle, list_of(values, 64, MAP_DELETE)));
    assert_null(omp_get_mapped_ptr(values, 0));

    values[0] = values[2] = 1;
    list = list_of(values, 64, TOFROM | PARAM);
    add_whole(&list, values + 9, 8, MAP_TO);
    add_whole(&list, values + 2, 32, MAP_TO | PARAM);
    region(list);
    assert_int_equal(values[0], 2);
    assert_int_equal(values[2], 2);
    assert_null(omp_get_mapped_ptr(values, 0));
}

/* Variables of a frame come in any order, and lie on the device as they do there: one transfer is
 * enough for all of them, at first and again. */
TEST(test_any_order)
{
    enum { MANY = 60, STEP = 23 };
    static _Alignas(64) uint32_t frame[MANY];
    void *places[MANY];
    int64_t sizes[MANY], types[MANY];
    for (int i = 0; i < MANY; i++) {
        places[i] = &frame[i * STEP % MANY];
        sizes[i] = sizeof(frame[0]);
        types[i] = MAP_TO;
    }
    struct maps maps = maps_make(MANY, places, places, sizes, types, NULL, NULL);
    for (int round = 0; round < 3; round++) {
        struct work *work = work_begin(device, NULL, WORK_WAITED);
        int submits = local_omprma_submits;
        pthread_mutex_lock(&device->space->lock);
        bool right = maps_enter(work, &maps);
        submits = local_omprma_submits - submits;
        omprma_addr_t first = maps_look_up(work, &frame[0], sizeof(frame[0]));
        omprma_addr_t last = maps_look_up(work, &frame[MANY - 1], sizeof(frame[0]));
        right = maps_settle(work, &maps) && right;
        pthread_mutex_unlock(&device->space->lock);
        assert_true(work_finish(work) && right);
        assert_int_equal(submits, 1);
        assert_true(last - first == sizeof(frame) - sizeof(frame[0]));
    }
}

static int submits_of(struct list list)
{
    int before = local_omprma_submits;
    region(list);
    return local_omprma_submits - before;
}

/* When they are kept, small variables travel with the launch, though a large one stands between
 * them; and a private one always does. */
TEST(test_what_travels_together)
{
    static uint64_t large[1000];
    struct list list = list_of(values, 8, TOFROM | PARAM);
    int submits = 0;
    add_whole(&list, large, sizeof(large), TOFROM | PARAM);
    add_whole(&list, values + 1, 8, TOFROM | PARAM);
    for (int round = 0; round < 1 << 17 && submits != 2; round++)
        submits = submits_of(list);
    assert_int_equal(submits, 2);
    assert_int_equal(submits_of(list_of(values, 8, PARAM | MAP_PRIVATE | MAP_TO)), 1);
}

static uintptr_t seen[MOST];

static void look(uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, uintptr_t e, uintptr_t f,
                 uintptr_t g, uintptr_t h)
{
    const uintptr_t all[MOST] = {a, b, c, d, e, f, g, h};
    memcpy(seen, all, sizeof(seen));
}

/* Private copies of any size are aligned as what they are copies of. */
TEST(test_private)
{
    enum { PAGE = 4096, LENGTHS = 10 };
    static const size_t sizes[LENGTHS] = {1, 8, 63, 64, 96, 2048, 2049, 4095, 4096, 9000};
    static _Alignas(PAGE) char host[4 * PAGE];
    for (unsigned round = 0, seed = 1; round < 500; round++) {
        struct plan looks = {.kernel = (uintptr_t)look};
        struct region_call call = {.plan = &looks};
        struct list list = {.count = 0};
        for (int i = 0; i < MOST; i++)
            add_whole(&list, host + rand_r(&seed) % PAGE, sizes[rand_r(&seed) % LENGTHS],
                      PARAM | MAP_PRIVATE | (i % 2 ? MAP_TO : 0));
        struct maps maps = maps_of(&list);
        struct work *work = work_begin(device, NULL, WORK_WAITED);
        struct launch launch;
        launch_begin(&launch);
        pthread_mutex_lock(&device->space->lock);
        assert_true(region_issue(work, &call, &maps, &launch));
        assert_int_equal(work_end_locked(work), WORK_DONE);
        launch_clear(&launch);
        for (int i = 0; i < MOST; i++)
            assert_int_equal(
                ((uintptr_t)list.begins[i] - seen[i]) % (list.sizes[i] < PAGE ? 64 : PAGE), 0);
    }
}

/* ---- random regions against a model ---- */

/* Most lie side by side and travel together, some are too long for a block, and all of them for one
 * message. */
static const size_t lengths[VALUES] = {1, 1, 1, 1, 1, 1, 3, 1,  1, 30,  32, 1,
                                       1, 1, 1, 1, 1, 2, 1, 33, 1, 100, 1,  200};
static uint64_t room[600], *begin_of[VALUES];

/* What the first and the last word of each hold; `there` only counts while it is mapped. */
static struct {
    uint64_t host, there, host_last, there_last;
    int references;
} model[VALUES];

static size_t bytes_of(int i)
{
    return lengths[i] * sizeof(uint64_t);
}

static struct list list_of_value(int i, int64_t type)
{
    return list_of(begin_of[i], bytes_of(i), type);
}

static void host_set(int i, uint64_t first, uint64_t last)
{
    begin_of[i][lengths[i] - 1] = model[i].host_last = last;
    begin_of[i][0] = model[i].host = first;
    if (lengths[i] == 1)
        model[i].host_last = first;
}

static int drawn_of(unsigned *seed, int most)
{
    return (int)((unsigned)rand_r(seed) % (unsigned)most);
}

static int64_t type_of(unsigned *seed)
{
    static const int64_t types[] = {TOFROM, TOFROM, MAP_TO, MAP_FROM, 0, TOFROM | MAP_IMPLICIT};
    return types[drawn_of(seed, 6)];
}

static void model_enter(int i, int64_t type)
{
    if (model[i].references++ > 0 || !(type & MAP_TO))
        return;
    model[i].there = model[i].host;
    model[i].there_last = model[i].host_last;
}

static void model_leave(int i, int64_t type)
{
    if (model[i].references == 0 || --model[i].references > 0 || !(type & MAP_FROM))
        return;
    model[i].host = model[i].there;
    model[i].host_last = model[i].there_last;
}

/* Single words that are new there and not given a value begin in the kernel; of longer ones the
 * rest would come back as anything. */
static void random_region(unsigned *seed)
{
    struct list list = {.count = 0};
    int chosen[MOST], count = 1 + drawn_of(seed, MOST);
    int first = drawn_of(seed, VALUES), step = drawn_of(seed, 3) ? 1 : 5;
    begins = 0;
    for (int n = 0; n < count; n++) {
        int i = chosen[n] = (first + n * step) % VALUES;
        int64_t type = type_of(seed);
        bool is_unknown = model[i].references == 0 && !(type & MAP_TO);
        if (is_unknown && lengths[i] > 1)
            type = TOFROM;
        else if (is_unknown)
            begins |= 1u << n;
        if (drawn_of(seed, 8) == 0) /* a copy of its own, of which nobody hears */
            type = MAP_PRIVATE | MAP_TO;
        add_whole(&list, begin_of[i], bytes_of(i), PARAM | type);
    }
    bool planned = drawn_of(seed, 3) > 0;
    assert_true(work_finish(begin_region(&list, planned)));
    for (int n = 0; n < count; n++) {
        int i = chosen[n];
        if (list.types[n] & MAP_PRIVATE) {
            assert_true(!planned || !plan.entered[n]);
            continue;
        }
        model_enter(i, list.types[n]);
        model[i].there = begins >> n & 1 ? BEGINS_AS : model[i].there + 1;
        if (lengths[i] == 1)
            model[i].there_last = model[i].there;
    }
    for (int n = count - 1; n >= 0; n--)
        if (!(list.types[n] & MAP_PRIVATE))
            model_leave(chosen[n], list.types[n]);
    begins = 0;
}

static void random_step(unsigned *seed)
{
    int i = drawn_of(seed, VALUES), what = drawn_of(seed, 10);
    if (what == 0) {
        assert_true(run(maps_enter, list_of_value(i, MAP_TO)));
        model_enter(i, MAP_TO);
    } else if (what == 1) {
        assert_true(run(maps_settle, list_of_value(i, MAP_FROM)));
        model_leave(i, MAP_FROM);
    } else if (what == 2) {
        host_set(i, (uint64_t)rand_r(seed), (uint64_t)rand_r(seed));
    } else {
        unsigned again = *seed;
        for (int times = drawn_of(seed, 4); times >= 0; times--) {
            unsigned same = again;
            random_region(times ? &same : seed);
        }
    }
}

static bool is_as_modelled(int i)
{
    const uint64_t *copy = omp_get_mapped_ptr(begin_of[i], 0);
    size_t last = lengths[i] - 1;
    return begin_of[i][0] == model[i].host && begin_of[i][last] == model[i].host_last &&
           (copy != NULL) == (model[i].references > 0) &&
           (!copy || (copy[0] == model[i].there && copy[last] == model[i].there_last));
}

static void begin_anew(void)
{
    uint64_t *next = room;
    for (int i = 0; i < VALUES; i++) {
        begin_of[i] = next;
        next += lengths[i];
        assert_true(run(maps_settle, list_of_value(i, MAP_DELETE)));
        model[i].references = 0;
        host_set(i, (uint64_t)i * 1000, (uint64_t)i * 1000);
    }
}

TEST(test_random)
{
    enum { SEEDS = 1000, STEPS = 200 };
    for (unsigned first = 1; first <= SEEDS; first++) {
        unsigned seed = first;
        begin_anew();
        for (int s = 0; s < STEPS; s++) {
            random_step(&seed);
            for (int i = 0; i < VALUES; i++)
                if (!is_as_modelled(i))
                    fail_msg("seed %u, step %d: value %d is %llu .. %llu instead of %llu .. %llu",
                             first, s, i, (unsigned long long)begin_of[i][0],
                             (unsigned long long)begin_of[i][lengths[i] - 1],
                             (unsigned long long)model[i].host,
                             (unsigned long long)model[i].host_last);
        }
    }
}

TEST_GROUP(set_up, tear_down)
