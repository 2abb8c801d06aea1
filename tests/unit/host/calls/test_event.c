/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_event.c: places in queues, and who waits for them.
 * Covers: calls/event.c */
#include <stdio.h>

#include "tests/unit/test.h"
#include "tests/unit/core_fixture.h"

enum { BYTES = 3 * CORE_PIECE };

static unsigned char out[BYTES], back[BYTES];

static void slow_fill(uint64_t at, uint64_t bytes, uint64_t value)
{
    kernel_nap(2000);
    memset((void *)(uintptr_t)at, (int)value, bytes);
}

/* A queue fills memory slowly, the other reads it after an event. */
static void check_order(int lanes, bool rma, uint32_t inline_most, uint64_t bytes)
{
    omprma_queue_t *first, *second;
    omprma_addr_t there;
    omprma_event_t *event;

    core_start(&(struct core_options){.lanes = lanes});
    core_choose(0, inline_most, rma);
    first = core_queue(0);
    second = core_queue(0);
    there = core_alloc(0, bytes);
    event = core_event();
    for (int round = 1; round < 20; round++) {
        memset(back, 0, bytes);
        memset(out, 100 + round, bytes);
        assert_ok(launch(first, KERNEL(slow_fill), there, bytes, (uint64_t)round));
        if (round % 3 == 0) /* something of each kind may stand before the event */
            assert_ok(omprma_submit(first, there, out, bytes));
        assert_ok(omprma_event_record(event, first));
        if (round % 4 == 1)
            assert_ok(omprma_queue_flush(first));
        assert_ok(omprma_event_wait(event, second));
        if (round % 2) { /* neither moves the wait */
            assert_ok(launch(first, KERNEL(kernel_nap), 100, 0, 0));
            assert_ok(omprma_event_record(event, first));
        } else {
            omprma_event_destroy(event);
            event = core_event();
        }
        assert_ok(omprma_retrieve(second, back, there, bytes));
        assert_ok(omprma_queue_synchronize(second));
        assert_all(back, bytes, round % 3 == 0 ? 100 + round : round);
        assert_ok(omprma_queue_synchronize(first));
    }
    omprma_event_destroy(event);
    core_end();
}

TEST(order_queues_of_one_device)
{
    for (int lanes = 1; lanes <= 3; lanes += 2) {
        check_order(lanes, true, 16384, 64);
        check_order(lanes, true, 0, 64);
        check_order(lanes, true, 0, BYTES);
        check_order(lanes, false, 0, BYTES);
    }
}

CORE_TEST(order_queues_of_two_devices, 2)
{
    omprma_queue_t *first = core_queue(0), *second = core_queue(1);
    omprma_addr_t from = core_alloc(0, BYTES), to = core_alloc(1, BYTES);
    omprma_event_t *sent = core_event(), *read = core_event();

    for (int round = 1; round < 40; round++) { /* one fills the other, round after round */
        for (int i = 0; i < 2; i++)
            core_choose(i, round & 1 ? 0 : 16384, (round & 2) != 0);
        assert_ok(omprma_event_wait(read, first));
        assert_ok(launch(first, KERNEL(slow_fill), from, BYTES, (uint64_t)round));
        assert_ok(omprma_exchange(first, from, 1, to, BYTES));
        assert_ok(omprma_event_record(sent, first));
        assert_ok(omprma_event_wait(sent, second));
        assert_ok(omprma_retrieve(second, back, to, BYTES));
        assert_ok(launch(second, KERNEL(slow_fill), to, BYTES, 0));
        assert_ok(omprma_event_record(read, second));
        if (round % 3 == 0) {
            assert_ok(omprma_queue_synchronize(second));
            assert_all(back, BYTES, round);
        }
    }
    omprma_event_destroy(sent);
    omprma_event_destroy(read);
    assert_ok(omprma_queue_destroy(first));
}

CORE_TEST(never_recorded_is_complete, 1)
{
    omprma_queue_t *queue = core_queue(0);
    omprma_event_t *event = core_event();
    bool done = false;

    assert_ok(omprma_event_query(event, &done));
    assert_true(done);
    assert_ok(omprma_event_synchronize(event));
    assert_ok(omprma_event_wait(event, queue));
    assert_ok(omprma_queue_synchronize(queue));
    assert_ok(omprma_event_record(event, queue)); /* of an empty queue */
    assert_ok(omprma_event_synchronize(event));
    omprma_event_destroy(event);
    omprma_event_destroy(NULL);
}

/* Waits and queries make sure by themselves that the place will be passed, wherever it lies. */
TEST(places_are_passed_without_synchronize)
{
    for (int variant = 0; variant < 24; variant++) {
        omprma_queue_t *queue;
        omprma_event_t *event;
        omprma_addr_t there;
        bool done = false;

        core_start(&(struct core_options){.delay = 40});
        core_choose(0, 64, variant % 2);
        queue = core_queue(0);
        there = core_alloc(0, BYTES);
        event = core_event();
        if (variant / 2 % 3 == 1) /* keeps what follows from leaving */
            assert_ok(omprma_submit(queue, there, out, BYTES));
        else if (variant / 2 % 3 == 2)
            assert_ok(launch(queue, KERNEL(kernel_nap), 1000, 0, 0));
        assert_ok(omprma_submit(queue, there, out, 8));
        if (variant / 6 % 2)
            assert_ok(omprma_queue_flush(queue));
        assert_ok(omprma_event_record(event, queue));
        if (variant / 12 % 2)
            assert_ok(omprma_event_synchronize(event));
        else
            while (!done)
                assert_ok(omprma_event_query(event, &done));
        assert_ok(omprma_event_query(event, &done));
        assert_true(done);
        omprma_event_destroy(event);
        core_end();
    }
}

/* A host buffer may be reused, and read, when a later event of its queue is complete. */
TEST(buffers_are_free_after_the_event)
{
    omprma_queue_t *queue;
    omprma_event_t *event;
    omprma_addr_t there;

    for (int variant = 0; variant < 4; variant++) {
        uint64_t bytes = variant & 2 ? 3000 : BYTES; /* a small send ends before it is received */

        core_start(&(struct core_options){.delay = 20});
        core_choose(0, 0, variant & 1);
        queue = core_queue(0);
        there = core_alloc(0, BYTES);
        event = core_event();
        for (int round = 1; round < 30; round++) {
            bool done = false;

            memset(out, round, bytes);
            assert_ok(omprma_submit(queue, there, out, bytes));
            assert_ok(omprma_event_record(event, queue));
            if (round % 2)
                assert_ok(omprma_event_synchronize(event));
            else
                while (!done)
                    assert_ok(omprma_event_query(event, &done));
            memset(out, 255, bytes);
            assert_ok(omprma_retrieve(queue, back, there, bytes));
            assert_ok(omprma_event_record(event, queue));
            assert_ok(omprma_event_synchronize(event));
            assert_all(back, bytes, round);
        }
        omprma_event_destroy(event);
        core_end();
    }
}

/* Many queues in a chain of events: each adds one to the same memory. */
CORE_TEST(chain_of_many_queues, 1, .lanes = 3)
{
    enum { QUEUES = 24, ROUNDS = 6 };
    omprma_queue_t *queue[QUEUES];
    omprma_event_t *event = core_event();
    omprma_addr_t there = core_alloc(0, 8);
    uint64_t zero = 0, count = 0;

    core_choose(0, 16384, true);
    for (int i = 0; i < QUEUES; i++)
        queue[i] = core_queue(0);
    assert_ok(omprma_submit(queue[0], there, &zero, 8));
    assert_ok(omprma_event_record(event, queue[0]));
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < QUEUES; i++) {
            assert_ok(omprma_event_wait(event, queue[i]));
            assert_ok(launch(queue[i], KERNEL(kernel_count), there, 0, 0));
            assert_ok(omprma_event_record(event, queue[i]));
        }
    }
    assert_ok(omprma_event_wait(event, queue[0]));
    assert_ok(omprma_retrieve(queue[0], &count, there, 8));
    assert_ok(omprma_queue_synchronize(queue[0]));
    assert_int_equal(count, QUEUES * ROUNDS);
    omprma_event_destroy(event);
}

/* Numbers of operations in messages wrap around: an event stays complete all the same, and queues
 * that pass the edge go on in order. */
CORE_TEST(events_of_old_queues, 1)
{
    static const uint64_t ages[] = {UINT64_C(1) << 31, UINT64_C(3) << 30, UINT64_C(7) << 29};
    omprma_queue_t *first = core_queue(0), *second = core_queue(0);
    omprma_event_t *event = core_event();
    omprma_addr_t there = core_alloc(0, 8);
    uint64_t count = 0;
    bool done = false;

    assert_ok(omprma_submit(first, there, &count, 8));
    assert_ok(omprma_event_record(event, first));
    assert_ok(omprma_event_synchronize(event));
    for (size_t i = 0; i < sizeof(ages) / sizeof(ages[0]); i++) {
        core_age(first, ages[i]);
        assert_ok(omprma_event_query(event, &done));
        assert_true(done);
    }
    core_age(first, UINT32_MAX - (uint32_t)first->appended - 50);
    core_age(second, UINT32_MAX - (uint32_t)second->appended - 50);
    for (int round = 0; round < 200; round++) {
        omprma_queue_t *queue = round % 2 ? first : second;

        assert_ok(omprma_event_wait(event, queue));
        assert_ok(launch(queue, KERNEL(kernel_count), there, 0, 0));
        assert_ok(omprma_event_record(event, queue));
    }
    assert_true((uint32_t)first->appended < 1000);
    assert_ok(omprma_event_wait(event, first));
    assert_ok(omprma_retrieve(first, &count, there, 8));
    assert_ok(omprma_queue_synchronize(first));
    assert_int_equal(count, 200);
    omprma_event_destroy(event);
    assert_ok(omprma_queue_destroy(second));
}

/* Events behind commands only are those commands; behind what this side moves they are marks, and
 * several at one place are the same. A small submit that was sent is waited for as any other. */
CORE_TEST(events_need_no_operations, 1, .delay = 40)
{
    omprma_queue_t *first = core_queue(0), *second = core_queue(0);
    omprma_event_t *event = core_event(), *another = core_event();
    omprma_addr_t there = core_alloc(0, BYTES);
    uint64_t value = 7, before;

    core_choose(0, 64, true);
    assert_ok(launch(first, KERNEL(slow_fill), there, 8, 1));
    assert_ok(omprma_submit(first, there, &value, 8));
    before = first->ordinal;
    assert_ok(omprma_event_record(event, first));
    assert_ok(omprma_queue_flush(first)); /* the submit leaves the list; the launch stays */
    assert_ok(omprma_event_record(another, first));
    assert_int_equal(first->ordinal, before);
    assert_ok(omprma_event_wait(event, second));
    value = 0;
    assert_ok(omprma_retrieve(second, &value, there, 8));
    assert_ok(omprma_queue_synchronize(second));
    assert_int_equal(value, 7);
    assert_ok(omprma_event_synchronize(another));
    assert_ok(omprma_submit(first, there, out, BYTES));
    before = first->ordinal;
    assert_ok(omprma_event_record(event, first));
    assert_ok(omprma_event_record(another, first));
    assert_int_equal(first->ordinal, before + 1);
    assert_ok(omprma_event_synchronize(event));
    omprma_event_destroy(event);
    omprma_event_destroy(another);
    assert_ok(omprma_queue_destroy(first));
}

CORE_TEST(wrong_arguments, 1)
{
    omprma_queue_t *queue = core_queue(0);
    omprma_event_t *event = core_event();
    bool done;

    assert_int_equal(omprma_event_create(NULL), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_event_record(NULL, queue), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_event_record(event, NULL), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_event_wait(NULL, queue), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_event_wait(event, NULL), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_event_query(NULL, &done), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_event_query(event, NULL), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_event_synchronize(NULL), OMPRMA_ERR_ARGUMENT);
    omprma_event_destroy(event);
    assert_ok(omprma_queue_destroy(queue));
}
