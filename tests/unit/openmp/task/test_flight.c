/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_flight.c: constructs in flight, on devices that are this process
 * (tests/unit/fake/local_omprma.c) and that do nothing before somebody asks.
 * Covers: flight.c gate.c
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "tests/unit/test.h"
#include "openmp/image/choice.h"
#include "openmp/abi/exports.h"
#include "openmp/task/flight.h"

enum { MANY = 400, THREADS = 4, ROUNDS = 200 };

/* One number on its way to a device and back, in a queue of its own or not. */
struct trip {
    struct flight flight; /* the first */
    int from, to;
    atomic_int *overs;
};

static char *memory; /* of device 0 */

static int set_up(void **state)
{
    (void)state;
    memory = omp_target_alloc(MANY * THREADS * sizeof(int), 0);
    return memory ? 0 : -1;
}

static void over(struct flight *flight)
{
    struct trip *trip = (struct trip *)flight;
    if (trip->to == trip->from)
        atomic_fetch_add(trip->overs, 1);
}

static atomic_int thens;

static void then(void)
{
    atomic_fetch_add(&thens, 1);
}

static const struct flight_calls calls = {.over = over, .then = then};

static void depart(struct trip *trip, int place, enum work_kind kind)
{
    struct device *device;
    assert_int_equal(device_choose_bare(0, NULL, &device), CHOICE_DEVICE);
    struct work *work = work_begin(device, NULL, kind);
    omprma_addr_t there = (omprma_addr_t)(uintptr_t)memory + (size_t)place * sizeof(int);
    assert_non_null(work);
    trip->to = -1;
    assert_true(work_submit(work, there, &trip->from, sizeof(int), NULL));
    assert_true(work_retrieve(work, &trip->to, there, sizeof(int), NULL));
    assert_true(work_depart(work));
    device_leave();
    flight_begin(&trip->flight, work);
}

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

/* In queues that are shared, and every third one in a queue of its own. */
TEST(test_all_land_once)
{
    static struct trip trips[MANY];
    atomic_int overs = 0;
    assert_false(flight_any());
    assert_false(flight_look());
    for (int i = 0; i < MANY; i++) {
        trips[i] = (struct trip){.flight.calls = &calls, .from = i, .overs = &overs};
        depart(&trips[i], i, i % 3 ? WORK_SMALL : WORK_FLIGHT);
    }
    while (flight_any())
        flight_look();
    assert_int_equal(overs, MANY);
    assert_in_range(thens, 1, MANY);
}

/* A thread of the runtime's looks. */
TEST(test_lands_while_nobody_looks)
{
    for (int i = 0; i < 20; i++) {
        atomic_int overs = 0;
        struct trip trip = {.flight.calls = &calls, .from = i, .overs = &overs};
        depart(&trip, 0, WORK_SMALL);
        while (flight_any()) /* its memory is ours until it is over */
            nap();
        assert_int_equal(overs, 1);
        assert_false(flight_is_watched_here());
        if (i == 10) /* that thread has fallen asleep */
            nanosleep(&(struct timespec){.tv_nsec = 120000000}, NULL);
    }
}

/* ---- those that begin others ---------------------------------------------------------------- */

static struct trip link, late;
static atomic_int links, late_overs;
static atomic_bool holds, held, over_then;

static void link_next(void)
{
    if (atomic_load(&links) < MANY && link.to == link.from) {
        link.from++;
        depart(&link, 1, WORK_SMALL);
    }
}

static const struct flight_calls link_calls = {.over = over, .then = link_next};

TEST(test_one_begins_the_next)
{
    link = (struct trip){.flight.calls = &link_calls, .overs = &links};
    depart(&link, 1, WORK_SMALL);
    while (atomic_load(&links) < MANY)
        if (!flight_look())
            sched_yield();
    while (flight_any())
        nap();
    assert_int_equal(link.from, MANY - 1);
}

static void hold_on(void)
{
    atomic_store(&held, true);
    while (atomic_load(&holds))
        nap();
    atomic_store(&over_then, true);
}

static const struct flight_calls hold_calls = {.over = over, .then = hold_on};

/* What one begins may take long; others land meanwhile. */
TEST(test_long_ones_hold_nobody_up)
{
    atomic_int overs = 0;
    struct trip trip = {.flight.calls = &hold_calls, .from = 3, .overs = &overs};
    atomic_store(&holds, true);
    depart(&trip, 2, WORK_SMALL);
    while (!atomic_load(&held)) /* the runtime's thread */
        nap();
    late = (struct trip){.flight.calls = &calls, .from = 4, .overs = &late_overs};
    depart(&late, 3, WORK_SMALL);
    while (flight_any())
        if (!flight_look())
            nap();
    assert_int_equal(late_overs, 1);
    atomic_store(&holds, false);
    while (!atomic_load(&over_then))
        nap();
    assert_int_equal(overs, 1);
}

/* ---- threads -------------------------------------------------------------------------------- */

static atomic_int right;

static void *fly(void *context)
{
    int first = (int)(uintptr_t)context * MANY;
    struct trip trips[16];
    for (int round = 0; round < ROUNDS; round++) {
        atomic_int overs = 0;
        for (int i = 0; i < 16; i++) {
            trips[i] = (struct trip){.flight.calls = &calls, .from = round + i, .overs = &overs};
            depart(&trips[i], first + i, i % 4 ? WORK_SMALL : WORK_FLIGHT);
        }
        while (atomic_load(&overs) < 16)
            if (!flight_look())
                sched_yield();
        atomic_fetch_add(&right, 1);
    }
    return NULL;
}

TEST(test_threads)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, fly, (void *)i), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(right, THREADS * ROUNDS);
}

static void *count_down(void *context)
{
    (void)context;
    nap();
    flight_count(-1);
    return NULL;
}

/* The end waits for what is counted, but for what the caller is in itself. */
TEST(test_the_end_waits)
{
    pthread_t thread;
    flight_count(2);
    assert_int_equal(pthread_create(&thread, NULL, count_down, NULL), 0);
    flight_end_begins();
    flight_end(1);
    pthread_join(thread, NULL);
    flight_count(-1);
    flight_end_begins();
    flight_end(0);
}

TEST_GROUP(set_up, NULL)
