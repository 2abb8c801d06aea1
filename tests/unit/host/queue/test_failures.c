/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_failures.c: what becomes of a queue whose operation failed, and of those that wait for it.
 * Covers: queue/queue.c */
#include <stdio.h>

#include "tests/unit/test.h"
#include "tests/unit/core_fixture.h"

enum { BYTES = 3 * CORE_PIECE };

static unsigned char out[BYTES], back[BYTES];
static unsigned char lost[BYTES]; /* of operations whose data nobody looks at */

/* Makes a queue fail in one of several ways. */
enum { FAILURES = 6 };

static void break_queue(omprma_queue_t *queue, int how, int devices)
{
    switch (how) {
    case 0:
        assert_ok(omprma_submit(queue, core_hole, lost, 100));
        break;
    case 1:
        assert_ok(omprma_retrieve(queue, lost, core_hole, 100));
        break;
    case 2:
        assert_ok(omprma_submit(queue, core_hole, lost, BYTES));
        break;
    case 3:
        assert_ok(omprma_retrieve(queue, lost, core_hole, BYTES));
        break;
    case 4:
        assert_ok(omprma_exchange(queue, core_hole, 0, core_hole + BYTES, 1000));
        break;
    default:
        assert_ok(omprma_exchange(queue, core_hole, devices - 1, core_hole + BYTES, BYTES));
        break;
    }
}

static void check_failed(omprma_queue_t *queue)
{
    omprma_status_t status = omprma_queue_synchronize(queue);

    if (status != OMPRMA_ERR_ADDRESS)
        fail_msg("%s: %s", omprma_status_string(status), omprma_error());
    assert_non_null(strstr(omprma_error(), "not mapped"));
    assert_ok(omprma_queue_synchronize(queue)); /* returned once */
}

static void check_well(omprma_queue_t *queue, omprma_addr_t there, uint64_t bytes)
{
    memset(out, 0x3c, bytes);
    memset(back, 0, bytes);
    assert_ok(omprma_submit(queue, there, out, bytes));
    assert_ok(launch(queue, KERNEL(kernel_add), there, bytes, 1));
    assert_ok(omprma_retrieve(queue, back, there, bytes));
    assert_ok(omprma_queue_synchronize(queue));
    assert_all(back, bytes, 0x3d);
}

/* Operations after the failing one, none of which may be run. They return the error when it is
 * known already. */
static void append_more(omprma_queue_t *queue, omprma_addr_t counter, omprma_addr_t there)
{
    for (int i = 0; i < 20; i++) {
        launch(queue, KERNEL(kernel_count), counter, 0, 0);
        omprma_submit(queue, there, lost, i % 2 ? 10 : BYTES);
        omprma_retrieve(queue, lost, there, i % 3 ? 10 : BYTES);
        if (i % 4 == 0)
            omprma_queue_flush(queue);
    }
}

static void failures(int devices, int lanes)
{
    omprma_queue_t *queue, *other;
    omprma_addr_t there, counter, other_there;
    uint64_t zero = 0, count;

    core_start(&(struct core_options){.workers = devices, .lanes = lanes});
    queue = core_queue(0);
    other = core_queue(0);
    there = core_alloc(0, BYTES);
    other_there = core_alloc(0, BYTES);
    counter = core_alloc(0, 8);
    assert_ok(omprma_submit(queue, counter, &zero, 8));
    assert_ok(omprma_queue_synchronize(queue));
    for (int round = 0; round < 4 * FAILURES; round++) {
        for (int i = 0; i < devices; i++)
            core_choose(i, round & 1 ? 0 : 8192, (round & 2) != 0);
        assert_ok(launch(queue, KERNEL(kernel_count), counter, 0, 0));
        break_queue(queue, round % FAILURES, devices);
        append_more(queue, counter, there);
        check_well(other, other_there, round % 3 ? BYTES : 100);
        check_failed(queue);
        check_well(queue, there, round % 2 ? BYTES : 100);
        assert_ok(omprma_retrieve(queue, &count, counter, 8));
        assert_ok(omprma_queue_synchronize(queue));
        assert_int_equal(count, round + 1); /* what came before the failure was run, no more */
    }
    break_queue(queue, 0, devices);
    assert_int_equal(omprma_queue_destroy(queue), OMPRMA_ERR_ADDRESS);
    queue = core_queue(0); /* the same again, and clean */
    check_well(queue, there, 100);
    core_end();
}

TEST(a_failed_queue_is_clean_after_synchronize)
{
    core_make_hole();
    failures(1, 1);
    failures(1, 3);
    failures(2, 1);
}

/* The destination's range is bad: the source's queue learns it, whatever came of the source. */
CORE_TEST(the_far_end_of_an_exchange_fails, 2)
{
    omprma_queue_t *queue = core_queue(0);
    omprma_addr_t from = core_alloc(0, BYTES);

    core_make_hole();
    for (int round = 0; round < 10; round++) {
        core_exchange_by(round < 5 ? EXCHANGE_SEND : EXCHANGE_APPLICATION);
        assert_ok(omprma_exchange(queue, from, 1, core_hole, round % 2 ? BYTES : 100));
        check_failed(queue);
        check_well(queue, from, 100);
    }
    assert_ok(omprma_queue_destroy(queue));
}

/* Who waits for an event of a queue that fails before it, fails too; a later event is none of it.
 */
TEST(failures_travel_along_events)
{
    omprma_queue_t *first, *second;
    omprma_event_t *event;
    omprma_addr_t there;

    core_make_hole();
    for (int devices = 1; devices <= 2; devices++) {
        core_start(&(struct core_options){.workers = devices});
        first = core_queue(0);
        second = core_queue(devices - 1);
        there = core_alloc(devices - 1, 100);
        event = core_event();
        for (int round = 0; round < 8; round++) {
            omprma_status_t status;

            assert_ok(launch(first, KERNEL(kernel_nap), 1000, 0, 0));
            break_queue(first, round % 4, 1);
            assert_ok(omprma_event_record(event, first));
            if (round & 4)
                assert_ok(omprma_queue_flush(first));
            assert_ok(omprma_event_wait(event, second));
            assert_ok(launch(second, KERNEL(kernel_nap), 1, 0, 0));
            status = omprma_queue_synchronize(second);
            if (status != OMPRMA_ERR_ADDRESS)
                fail_msg("%s: %s", omprma_status_string(status), omprma_error());
            assert_int_equal(omprma_event_synchronize(event), OMPRMA_ERR_ADDRESS);
            check_failed(first);
            assert_ok(omprma_event_record(event, first));
            assert_ok(omprma_event_wait(event, second));
            check_well(second, there, 100);
        }
        omprma_event_destroy(event);
        core_end();
    }
}

/* The worker learns only after the failed queue was reset that another waited for it: because that
 * one was busy, or because its message left later. */
CORE_TEST(failures_are_remembered_after_reset, 1)
{
    omprma_queue_t *first = core_queue(0), *second = core_queue(0);
    omprma_event_t *before = core_event(), *after = core_event();
    omprma_addr_t counter = core_alloc(0, 8);
    uint64_t count = 0;

    core_make_hole();
    core_choose(0, 8192, false);
    assert_ok(omprma_submit(second, counter, &count, 8));
    for (int round = 0; round < 8; round++) {
        struct gate gate;
        bool fails = round & 1, busy = round & 2;
        int resets = round & 4 ? 5 : 1;

        if (busy)
            core_close(second, &gate);
        assert_ok(omprma_retrieve(first, lost, counter, 8));
        assert_ok(omprma_event_record(before, first));
        break_queue(first, 0, 1);
        assert_ok(omprma_event_record(after, first));
        assert_ok(omprma_queue_flush(first));
        assert_ok(omprma_event_wait(fails ? after : before, second));
        assert_ok(launch(second, KERNEL(kernel_count), counter, 0, 0));
        if (busy)
            assert_ok(omprma_queue_flush(second));
        check_failed(first);
        for (int i = 1; i < resets; i++) {
            break_queue(first, 0, 1);
            check_failed(first);
        }
        assert_ok(omprma_retrieve(first, lost, counter, 8)); /* the reset was executed */
        assert_ok(omprma_queue_synchronize(first));
        if (busy)
            core_open(&gate);
        if (fails)
            check_failed(second);
        assert_ok(omprma_retrieve(second, &count, counter, 8));
        assert_ok(omprma_queue_synchronize(second));
        assert_int_equal(count, (round + 2) / 2); /* run in every other round */
        break_queue(first, 0, 1);
        assert_int_equal(omprma_queue_synchronize(first), OMPRMA_ERR_ADDRESS);
        assert_ok(omprma_event_record(after, first)); /* the reset itself is none of it */
        assert_ok(omprma_event_wait(after, second));
        assert_ok(omprma_queue_synchronize(second));
    }
    omprma_event_destroy(before);
    omprma_event_destroy(after);
}

/* An event that was complete stays complete when its queue fails later, however often. */
CORE_TEST(complete_events_stay_complete, 1)
{
    omprma_queue_t *first = core_queue(0), *second = core_queue(0);
    omprma_event_t *event = core_event(), *failed = core_event();
    omprma_addr_t there = core_alloc(0, 100);
    bool done = false;

    core_make_hole();
    check_well(first, there, 100);
    assert_ok(omprma_event_record(event, first));
    for (int i = 0; i < 4; i++) {
        break_queue(first, i, 1);
        assert_ok(omprma_event_record(failed, first));
        check_failed(first);
        assert_ok(omprma_event_query(event, &done));
        assert_true(done);
        assert_ok(omprma_event_synchronize(event));
        assert_ok(omprma_event_wait(event, second));
        check_well(second, there, 100);
        assert_int_equal(omprma_event_synchronize(failed), OMPRMA_ERR_ADDRESS);
    }
    omprma_event_destroy(event);
    omprma_event_destroy(failed);
    assert_ok(omprma_queue_destroy(first));
    assert_ok(omprma_queue_destroy(second));
}

/* MPI itself refuses a transfer. */
CORE_TEST(a_transfer_that_cannot_start, 1, .fail_start = 2000, .delay = CORE_NO_DELAY)
{
    omprma_queue_t *queue = core_queue(0);
    omprma_addr_t there = core_alloc(0, BYTES);
    int failed = 0;

    core_choose(0, 0, true);
    for (int i = 0; i < 2000; i++) {
        omprma_status_t status = omprma_submit(queue, there, out, i % 2 ? BYTES : 100);

        if (status == OMPRMA_OK)
            status = omprma_queue_synchronize(queue);
        else
            assert_int_equal(omprma_queue_synchronize(queue), status);
        failed += status != OMPRMA_OK;
        if (status != OMPRMA_OK)
            assert_int_equal(status, OMPRMA_ERR_MPI);
    }
    assert_int_equal(failed, 1);
    check_well(queue, there, BYTES);
}
