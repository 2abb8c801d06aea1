/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_exchange.c: device to device, both ways, in the order of the queue.
 * Covers: exchange.c subqueue.c shm/neighbours.c host/core/told.c */
#include <stdio.h>

#include <omprma_private/common.h>

#include "tests/unit/test.h"
#include "control/shm/neighbours.h"
#include "tests/unit/core_fixture.h"
#include "host/calls/exchange.h"

enum {
    DEVICES = 3,
    BYTES = 3 * CORE_PIECE,
    SLOTS = 16,   /* of the program: pieces of exchanges through it */
    AT_A_TIME = 6 /* exchanges that have some, at the least */
};

static unsigned char host[DEVICES][BYTES], wanted[DEVICES][BYTES];

/* Random copies between all pairs, one queue per device, synchronized before the next touches the
 * same memory. */
static void random_copies(const struct core_options *options, enum config_exchange way, bool rma,
                          uint32_t inline_most)
{
    struct draw random = {.state = 5};
    omprma_queue_t *queue[DEVICES];
    omprma_addr_t there[DEVICES];
    bool copies;

    core_start(options);
    copies = runtime_get()->exchange[0].copies;
    for (int i = 0; i < DEVICES; i++) {
        queue[i] = core_queue(i);
        there[i] = core_alloc(i, BYTES);
        core_choose(i, inline_most, rma);
        core_exchange_by(way);
        draw_fill(&random, wanted[i], BYTES);
        assert_ok(omprma_submit(queue[i], there[i], wanted[i], BYTES));
        assert_ok(omprma_queue_synchronize(queue[i]));
    }
    runtime_get()->exchange[0].copies = copies;
    for (int round = 0; round < 300; round++) {
        uint64_t bytes = draw_size(&random, BYTES);
        uint64_t at = draw_below(&random, BYTES - bytes + 1);
        uint64_t to_at = draw_below(&random, BYTES - bytes + 1);
        int from = (int)draw_below(&random, DEVICES), to = (int)draw_below(&random, DEVICES);

        if (draw(&random) & 1) {
            assert_ok(launch(queue[from], KERNEL(kernel_add), there[from] + at, bytes, 1));
            kernel_add((uint64_t)(uintptr_t)wanted[from] + at, bytes, 1);
        }
        memmove(wanted[to] + to_at, wanted[from] + at, bytes);
        assert_ok(omprma_exchange(queue[from], there[from] + at, to, there[to] + to_at, bytes));
        if (draw(&random) & 1) {
            assert_ok(launch(queue[from], KERNEL(kernel_add), there[from] + at, bytes, 1));
            kernel_add((uint64_t)(uintptr_t)wanted[from] + at, bytes, 1);
        }
        assert_ok(omprma_queue_synchronize(queue[from]));
    }
    for (int i = 0; i < DEVICES; i++) {
        assert_ok(omprma_retrieve(queue[i], host[i], there[i], BYTES));
        assert_ok(omprma_queue_synchronize(queue[i]));
        assert_memory_equal(host[i], wanted[i], BYTES);
        assert_ok(omprma_queue_destroy(queue[i]));
    }
    core_stop();
}

/* Of the destination's memory, which arena the source has mapped. */
static bool has_mapped(int worker, int other, omprma_addr_t at)
{
    bool holds;

    core_hold(worker);
    holds = neighbours_hold(core.worker[worker].server.neighbours, other + 1, at, 1);
    core_release(worker);
    return holds;
}

static void exchange_to(omprma_queue_t *queue, omprma_addr_t from, omprma_addr_t to, int add)
{
    for (int i = 0; i < BYTES; i++)
        wanted[0][i] = (unsigned char)(i * 7 + add);
    assert_ok(omprma_submit(queue, from, wanted[0], BYTES));
    assert_ok(omprma_exchange(queue, from, 1, to, BYTES));
    assert_ok(omprma_queue_synchronize(queue));
}

static void check_there(omprma_queue_t *queue, omprma_addr_t at)
{
    assert_ok(omprma_retrieve(queue, host[1], at, BYTES));
    assert_ok(omprma_queue_synchronize(queue));
    assert_memory_equal(host[1], wanted[0], BYTES);
}

/* The source is told of an arena when it first copies there, and when that goes. */
TEST(workers_copy_to_each_other)
{
    const uint64_t more = 12 << 20;
    omprma_queue_t *queue, *targets;
    omprma_addr_t from, to[2];

    core_start(&(struct core_options){.workers = 2, .shared = true, .arena = 4 << 20});
    if (!runtime_get()->exchange[0].copies) { /* a container may not have name spaces */
        core_end();
        skip();
    }
    queue = core_queue(0);
    targets = core_queue(1);
    from = core_alloc(0, BYTES);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 2; i++) {
            to[i] = core_alloc(1, more);
            exchange_to(queue, from, to[i] + more - BYTES, round + i);
            check_there(targets, to[i] + more - BYTES);
            assert_true(has_mapped(0, 1, to[i]));
        }
        assert_ok(omprma_free(1, to[0]));
        assert_ok(omprma_free(1, to[1]));
        assert_ok(launch(queue, KERNEL(kernel_nap), 0, 0, 0)); /* behind what the worker was told */
        assert_ok(omprma_queue_synchronize(queue));
        assert_true(round > 0 || has_mapped(0, 1, to[0]) + has_mapped(0, 1, to[1]) == 1);
    }
    core_end();
}

TEST(copies_between_all_pairs)
{
    const struct core_options apart = {.workers = DEVICES};

    random_copies(&(struct core_options){.workers = DEVICES, .shared = true}, EXCHANGE_PUT, true,
                  0);
    for (enum config_exchange way = EXCHANGE_PUT; way < EXCHANGE_WAYS; way++) {
        random_copies(&apart, way, true, 0);
        random_copies(&apart, way, true, 8192);
        random_copies(&apart, way, false, 8192);
    }
}

/* Devices of one worker; of two, one of which has two. */
TEST(copies_within_workers)
{
    random_copies(&(struct core_options){.devices = DEVICES}, EXCHANGE_PUT, true, 512);
    random_copies(&(struct core_options){.devices = DEVICES}, EXCHANGE_SEND, false, 8192);
    random_copies(&(struct core_options){.workers = 2, .devices = 2}, EXCHANGE_PUT, true, 512);
    random_copies(&(struct core_options){.workers = 2, .devices = 2}, EXCHANGE_GET, true, 0);
    random_copies(&(struct core_options){.workers = 2, .devices = 2}, EXCHANGE_APPLICATION, true,
                  0);
}

/* Of two copies to the same place the later one wins, however long the first takes. */
TEST(later_copies_win)
{
    omprma_queue_t *queue;
    omprma_addr_t a, b, there;

    for (enum config_exchange way = EXCHANGE_PUT; way < EXCHANGE_WAYS; way++) {
        core_start(&(struct core_options){.workers = 2, .delay = 10});
        for (int i = 0; i < 2; i++)
            core_choose(i, 0, way != EXCHANGE_SEND);
        core_exchange_by(way);
        queue = core_queue(0);
        a = core_alloc(0, BYTES);
        b = core_alloc(0, BYTES);
        there = core_alloc(1, BYTES);
        for (int round = 0; round < 30; round++) {
            uint64_t some = round % 2 ? BYTES / 2 : 100;

            memset(wanted[0], 1, BYTES);
            memset(wanted[1], 2, BYTES);
            assert_ok(omprma_submit(queue, a, wanted[0], BYTES));
            assert_ok(omprma_submit(queue, b, wanted[1], BYTES));
            assert_ok(omprma_exchange(queue, a, 1, there, BYTES));
            assert_ok(omprma_exchange(queue, b, 1, there + 50, some));
            assert_ok(omprma_queue_synchronize(queue));
            memset(wanted[0] + 50, 2, some);
            omprma_queue_t *reader = core_queue(1);
            assert_ok(omprma_retrieve(reader, host[0], there, BYTES));
            assert_ok(omprma_queue_destroy(reader));
            assert_memory_equal(host[0], wanted[0], BYTES);
        }
        core_end();
    }
}

/* What was measured of the way that is taken, and of who sends. */
CORE_TEST(what_an_exchange_takes, 2)
{
    omprma_exchange_cost_t cost;
    struct exchange_paths *paths = exchange_paths_of(core_device(0), core_device(1));

    core_exchange_by(EXCHANGE_PUT);
    paths->us[EXCHANGE_PUT] = 80;
    paths->us[EXCHANGE_GET] = 90;
    core_device(0)->paths.round_trip_us = 5;
    core_device(1)->paths.round_trip_us = 6;
    assert_ok(omprma_exchange_cost(0, 1, &cost));
    assert_true(cost.us_per_mib == 80 && cost.round_trip_us == 5);
    paths->way = EXCHANGE_GET;
    assert_ok(omprma_exchange_cost(1, 0, &cost));
    assert_true(cost.us_per_mib == 90 && cost.round_trip_us == 6);
    assert_int_equal(omprma_exchange_cost(0, 7, &cost), OMPRMA_ERR_ARGUMENT);
}

/* Small submits to the destination, synchronized but not taken by its worker yet, come first, from
 * however many queues they are. */
CORE_TEST(small_submits_come_first, 2, .delay = CORE_NO_DELAY)
{
    enum { QUEUES = 5 };
    omprma_queue_t *queue, *writer[QUEUES];
    omprma_addr_t from, there;

    for (int i = 0; i < 2; i++)
        core_choose(i, 64, true);
    queue = core_queue(0);
    from = core_alloc(0, BYTES);
    there = core_alloc(1, BYTES);
    for (int i = 0; i < QUEUES; i++)
        writer[i] = core_queue(1);
    memset(wanted[0], 3, BYTES);
    assert_ok(omprma_submit(queue, from, wanted[0], BYTES));
    assert_ok(omprma_queue_synchronize(queue));
    for (int round = 0; round < 12; round++) {
        core_exchange_by(EXCHANGE_PUT + (enum config_exchange)round % EXCHANGE_APPLICATION);
        core_hold(1);
        for (int i = 0; i < QUEUES; i++) {
            assert_ok(omprma_submit(writer[i], there + 1000 * (unsigned)i, &round, 4));
            assert_ok(omprma_queue_synchronize(writer[i]));
        }
        assert_ok(omprma_exchange(queue, from, 1, there, BYTES));
        for (int i = 0; i < 300; i++) {
            bool done = false;

            assert_ok(omprma_queue_query(queue, &done));
            kernel_nap(10);
        }
        core_release(1);
        assert_ok(omprma_queue_synchronize(queue));
        assert_ok(omprma_retrieve(writer[0], host[0], there, BYTES));
        assert_ok(omprma_queue_synchronize(writer[0]));
        assert_memory_equal(host[0], wanted[0], BYTES);
    }
}

/* The same for small submits to the source, which its worker has not taken when somebody could
 * already get from its memory. */
CORE_TEST(small_submits_to_the_source_come_first, 2, .delay = CORE_NO_DELAY)
{
    omprma_queue_t *queue, *writer, *reader;
    omprma_addr_t from, there;

    for (int i = 0; i < 2; i++)
        core_choose(i, 64, true);
    queue = core_queue(0);
    writer = core_queue(0);
    reader = core_queue(1);
    from = core_alloc(0, BYTES);
    there = core_alloc(1, BYTES);
    for (int round = 0; round < 12; round++) {
        memset(wanted[0], round, BYTES);
        assert_ok(omprma_submit(queue, from, wanted[0], BYTES));
        assert_ok(omprma_queue_synchronize(queue));
        core_exchange_by(EXCHANGE_PUT + (enum config_exchange)round % EXCHANGE_APPLICATION);
        wanted[0][7000] = 200;
        core_hold(0);
        assert_ok(omprma_submit(writer, from + 7000, &wanted[0][7000], 1));
        assert_ok(omprma_queue_synchronize(writer));
        assert_ok(omprma_exchange(queue, from, 1, there, BYTES));
        for (int i = 0; i < 300; i++) {
            bool done = false;

            assert_ok(omprma_queue_query(queue, &done));
            kernel_nap(10);
        }
        core_release(0);
        assert_ok(omprma_queue_synchronize(queue));
        assert_ok(omprma_retrieve(reader, host[0], there, BYTES));
        assert_ok(omprma_queue_synchronize(reader));
        assert_memory_equal(host[0], wanted[0], BYTES);
    }
}

/* More at once than memory for parts is given; and what it takes is given back. */
CORE_TEST(many_through_the_application, 2)
{
    enum { COPIES = 3 * AT_A_TIME };
    omprma_queue_t *queue[COPIES], *reader = core_queue(1);
    omprma_addr_t from = core_alloc(0, BYTES), to[COPIES];

    core_exchange_by(EXCHANGE_APPLICATION);
    for (int i = 0; i < COPIES; i++) {
        queue[i] = core_queue(0);
        to[i] = core_alloc(1, BYTES);
    }
    memset(wanted[0], 7, BYTES);
    assert_ok(omprma_submit(queue[0], from, wanted[0], BYTES));
    assert_ok(omprma_queue_synchronize(queue[0]));
    for (int i = 0; i < COPIES; i++) {
        assert_ok(omprma_exchange(queue[i], from, 1, to[i], BYTES));
        assert_in_range(slots_used(&runtime_get()->memory), 0, SLOTS);
    }
    for (int i = 0; i < COPIES; i++) {
        assert_ok(omprma_queue_destroy(queue[i]));
        assert_ok(omprma_retrieve(reader, host[0], to[i], BYTES));
        assert_ok(omprma_queue_synchronize(reader));
        assert_memory_equal(host[0], wanted[0], BYTES);
    }
    assert_ok(omprma_queue_destroy(reader));
    assert_int_equal(slots_used(&runtime_get()->memory), 0);
}

/* Behind kernels that last until the program says so: the calls return, others go on, and none has
 * memory before it can use it. One of them fails. */
CORE_TEST(many_behind_kernels, 2)
{
    enum { COPIES = 3 * AT_A_TIME };
    static struct gate gate;
    omprma_queue_t *closed = core_queue(0), *queue[COPIES], *free_queue = core_queue(1);
    omprma_event_t *event = core_event();
    omprma_addr_t from[2], to[COPIES];

    core_exchange_by(EXCHANGE_APPLICATION);
    core_make_hole();
    memset(wanted[0], 9, BYTES);
    for (int i = 0; i < 2; i++)
        from[i] = core_alloc(i, BYTES);
    core_close(closed, &gate);
    assert_ok(omprma_submit(closed, from[0], wanted[0], BYTES));
    assert_ok(omprma_event_record(event, closed));
    for (int i = 0; i < COPIES; i++) {
        queue[i] = core_queue(0);
        to[i] = core_alloc(1, BYTES);
        assert_ok(omprma_event_wait(event, queue[i]));
        assert_ok(omprma_exchange(queue[i], from[0], 1, i == 2 ? core_hole : to[i], BYTES));
    }
    for (int round = 0; round < 20; round++) {
        memset(wanted[1], round, BYTES);
        assert_ok(omprma_submit(free_queue, from[1], wanted[1], BYTES));
        assert_ok(omprma_exchange(free_queue, from[1], 0, core_alloc(0, BYTES), BYTES));
        assert_ok(omprma_queue_synchronize(free_queue));
        assert_int_equal(slots_used(&runtime_get()->memory), 0);
    }
    core_open(&gate);
    for (int i = 0; i < COPIES; i++) {
        omprma_status_t status = omprma_queue_synchronize(queue[i]);

        assert_in_range(slots_used(&runtime_get()->memory), 0, SLOTS);
        if (i == 2) {
            assert_int_equal(status, OMPRMA_ERR_ADDRESS);
            assert_ptr_equal(strstr(omprma_error(), "exchange from device 0 to device 1: device 1"),
                             omprma_error());
            assert_ok(omprma_queue_synchronize(queue[i]));
            continue;
        }
        assert_int_equal(status, OMPRMA_OK);
        assert_ok(omprma_retrieve(free_queue, host[0], to[i], BYTES));
        assert_ok(omprma_queue_synchronize(free_queue));
        assert_memory_equal(host[0], wanted[0], BYTES);
    }
    for (int i = 0; i < COPIES; i++)
        assert_ok(omprma_queue_destroy(queue[i]));
    omprma_event_destroy(event);
    assert_ok(omprma_queue_destroy(closed));
    assert_ok(omprma_queue_destroy(free_queue));
    assert_int_equal(slots_used(&runtime_get()->memory), 0);
    assert_null(runtime_get()->turns.first);
}

/* A queue fails while its exchange waits for its turn: the turn goes to the next. */
CORE_TEST(turn_is_passed_on, 2, .delay = 200)
{
    enum { COPIES = AT_A_TIME + 3 };
    omprma_queue_t *queue[COPIES];
    omprma_addr_t from = core_alloc(0, BYTES), to[COPIES];
    int failed = AT_A_TIME + 1;

    core_exchange_by(EXCHANGE_APPLICATION);
    memset(wanted[0], 4, BYTES);
    for (int i = 0; i < COPIES; i++) {
        queue[i] = core_queue(0);
        to[i] = core_alloc(1, BYTES);
    }
    assert_ok(omprma_submit(queue[0], from, wanted[0], BYTES));
    assert_ok(omprma_queue_synchronize(queue[0]));
    for (int i = 0; i < COPIES; i++)
        assert_ok(omprma_exchange(queue[i], from, 1, to[i], BYTES));
    runtime_lock(runtime_get());
    assert_int_equal(slots_used(&runtime_get()->memory), SLOTS);
    assert_non_null(runtime_get()->turns.first);
    queue_fail(queue[failed], NULL, OMPRMA_ERR_MPI, "made up");
    queue_fail(queue[0], NULL, OMPRMA_ERR_MPI, "made up as well");
    runtime_unlock(runtime_get());
    for (int i = COPIES - 1; i >= 0; i--)
        assert_int_equal(omprma_queue_synchronize(queue[i]),
                         i == 0 || i == failed ? OMPRMA_ERR_MPI : OMPRMA_OK);
    for (int i = 1; i < COPIES; i++) {
        omprma_queue_t *reader = core_queue(1);

        if (i != failed) {
            assert_ok(omprma_retrieve(reader, host[0], to[i], BYTES));
            assert_ok(omprma_queue_synchronize(reader));
            assert_memory_equal(host[0], wanted[0], BYTES);
        }
        assert_ok(omprma_queue_destroy(reader));
        assert_ok(omprma_queue_destroy(queue[i]));
    }
    assert_ok(omprma_queue_destroy(queue[0]));
    assert_int_equal(slots_used(&runtime_get()->memory), 0);
    assert_null(runtime_get()->turns.first);
}

/* Both directions at once, and the devices busy with kernels. */
TEST(crossing_copies)
{
    omprma_queue_t *queue[2];
    omprma_addr_t from[2], to[2];

    for (enum config_exchange way = EXCHANGE_PUT; way < EXCHANGE_WAYS; way++) {
        core_start(&(struct core_options){.workers = 2});
        for (int i = 0; i < 2; i++) {
            core_choose(i, 0, way != EXCHANGE_SEND);
            core_exchange_by(way);
            queue[i] = core_queue(i);
            from[i] = core_alloc(i, BYTES);
            to[i] = core_alloc(i, BYTES);
            memset(wanted[i], 10 + i, BYTES);
            assert_ok(omprma_submit(queue[i], from[i], wanted[i], BYTES));
        }
        for (int round = 0; round < 20; round++)
            for (int i = 0; i < 2; i++) {
                assert_ok(launch(queue[i], KERNEL(kernel_nap), 300, 0, 0));
                assert_ok(omprma_exchange(queue[i], from[i], 1 - i, to[1 - i], BYTES));
            }
        for (int i = 0; i < 2; i++)
            assert_ok(omprma_queue_synchronize(queue[i]));
        for (int i = 0; i < 2; i++) {
            assert_ok(omprma_retrieve(queue[i], host[i], to[i], BYTES));
            assert_ok(omprma_queue_destroy(queue[i]));
            assert_memory_equal(host[i], wanted[1 - i], BYTES);
        }
        core_stop();
    }
}

/* At once, and with a text that names both devices. */
static void refuse(omprma_queue_t *queue, omprma_addr_t from, omprma_addr_t to, uint64_t bytes,
                   const char *why)
{
    assert_int_equal(omprma_exchange(queue, from, 1, to, bytes), OMPRMA_ERR_ADDRESS);
    assert_non_null(strstr(omprma_error(), "exchange from device 0 to device 1: device "));
    assert_non_null(strstr(omprma_error(), why));
}

CORE_TEST(wrong_arguments, 2)
{
    omprma_queue_t *queue = core_queue(0);
    omprma_addr_t from = core_alloc(0, 100), to = core_alloc(1, 100),
                  from_freed = core_alloc(0, 100), to_freed = core_alloc(1, 100);

    assert_ok(omprma_free(0, from_freed));
    assert_ok(omprma_free(1, to_freed));
    assert_int_equal(omprma_exchange(queue, from, 2, to, 100), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_exchange(queue, from, -1, to, 100), OMPRMA_ERR_ARGUMENT);
    refuse(queue, from, to, 101, "runs past");
    refuse(queue, from + 1, to, 100, "exchange from");
    refuse(queue, from, to + 1, 100, "exchange to");
    refuse(queue, from, to, UINT64_MAX, "runs past");
    refuse(queue, from_freed, to, 100, "freed");
    refuse(queue, from, to_freed, 100, "freed");
    refuse(queue, 0, to, 100, "not a device address");
    refuse(queue, from, 0, 100, "not a device address");
    refuse(queue, UINT64_MAX - 9, to, 100, "exchange from");
    refuse(queue, UINT64_MAX - 9, to, 100, "not a device address");
    refuse(queue, from, UINT64_MAX - 9, 100, "exchange to");
    assert_ok(omprma_exchange(queue, from, 1, to, 0));
    assert_ok(omprma_exchange(queue, 0, 1, to_freed, 0));
    assert_int_equal(omprma_exchange(queue, from, 2, to, 0), OMPRMA_ERR_ARGUMENT);
    assert_ok(omprma_queue_synchronize(queue)); /* the queue itself has not failed */
}

/* What cannot be read leaves the destination as it is, also where the data stops in the program. */
CORE_TEST(a_failed_source_brings_nothing, 2, .delay = 10)
{
    omprma_queue_t *queue = core_queue(0), *other = core_queue(1);
    omprma_addr_t to = core_alloc(1, BYTES);

    core_make_hole();
    memset(wanted[0], 7, BYTES);
    for (int round = 0; round < 40; round++) {
        core_choose(0, 512, false);
        core_choose(1, 512, round & 1);
        core_exchange_by(EXCHANGE_APPLICATION);
        assert_ok(omprma_submit(other, to, wanted[0], BYTES));
        assert_ok(omprma_queue_synchronize(other));
        assert_ok(omprma_exchange(queue, core_hole, 1, to, BYTES));
        assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_ADDRESS);
        assert_ok(omprma_retrieve(other, host[0], to, BYTES));
        assert_ok(omprma_queue_synchronize(other));
        assert_memory_equal(host[0], wanted[0], BYTES);
    }
}
