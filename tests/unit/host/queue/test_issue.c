/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_issue.c: how operations end when something fails beside them: events keep their fate,
 * nothing is left without an end, and callbacks may go on.
 * Covers: issue.c native/fault.c */
#include <stdatomic.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "tests/unit/core_fixture.h"
#include "tests/null/null_channel.h"

enum { BIG = 3 << 20 };

static unsigned char data[BIG];

/* ---- events */

/* Of one device, behind a small submit that is not answered; the other's event has failed. */
CORE_TEST(a_cleared_failure_is_past, 2)
{
    omprma_event_t *failed = core_event(), *before = core_event(), *after = core_event();
    omprma_queue_t *queue = core_queue(0), *bad = core_queue(1);
    omprma_addr_t there = core_alloc(0, 64);

    core_make_hole();
    core_choose(0, 512, false);
    assert_ok(omprma_retrieve(bad, data, core_hole, 8));
    assert_ok(omprma_event_record(failed, bad));
    assert_ok(omprma_submit(queue, there, data, 1));
    assert_ok(omprma_queue_flush(queue));
    assert_ok(omprma_event_wait(failed, queue));
    assert_ok(omprma_event_record(before, queue));
    assert_int_equal(omprma_queue_synchronize(bad), OMPRMA_ERR_ADDRESS);
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_ADDRESS);
    assert_ok(omprma_event_record(after, queue));
    assert_ok(omprma_event_synchronize(after));
    assert_int_equal(omprma_event_synchronize(before), OMPRMA_ERR_ADDRESS);
    omprma_event_destroy(failed);
    omprma_event_destroy(before);
    omprma_event_destroy(after);
}

/* Its queue is gone, and another one in its place. */
CORE_TEST(a_failed_event_outlives_its_queue, 1)
{
    omprma_event_t *event = core_event();
    omprma_queue_t *queue = core_queue(0);

    core_make_hole();
    assert_ok(omprma_retrieve(queue, data, core_hole, 8));
    assert_ok(omprma_event_record(event, queue));
    assert_int_equal(omprma_queue_destroy(queue), OMPRMA_ERR_ADDRESS);
    queue = core_queue(0);
    assert_int_equal(omprma_event_wait(event, queue), OMPRMA_ERR_ADDRESS);
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_ADDRESS);
    omprma_event_destroy(event);
}

/* An exchange is on its way when the next one is refused: who waits for the first, on the worker,
 * is not disturbed. */
CORE_TEST(what_went_well_before_stays_so, 2, .delay = 5000)
{
    omprma_queue_t *queue = core_queue(0), *waits = core_queue(0);
    omprma_event_t *event = core_event();
    omprma_addr_t from = core_alloc(0, BIG), to = core_alloc(1, BIG);

    core_make_hole();
    core_choose(0, 512, true);
    core_choose(1, 512, true);
    assert_ok(omprma_exchange(queue, from, 1, to, BIG));
    assert_ok(omprma_event_record(event, queue));
    assert_ok(omprma_event_wait(event, waits));
    assert_ok(omprma_queue_flush(waits));
    assert_ok(omprma_exchange(queue, core_hole, 1, to, 10000));
    assert_ok(omprma_queue_flush(queue));
    assert_ok(omprma_queue_synchronize(waits));
    assert_ok(omprma_event_synchronize(event));
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_ADDRESS);
    omprma_event_destroy(event);
}

/* ---- failures */

/* The memory that it uses is free only when both halves are over. */
CORE_TEST(a_refused_transfer_ends_on_both_sides, 1, .delay = CORE_NO_DELAY)
{
    struct operation *half;
    struct runtime *runtime;
    omprma_queue_t *queue, *other;

    core_make_hole();
    core_choose(0, 512, false);
    runtime = runtime_get();
    queue = core_queue(0);
    other = core_queue(0);
    assert_ok(omprma_submit(queue, core_hole, data, 3 * CORE_PIECE));
    runtime_lock(runtime);
    half = operation_hold(queue->active);
    queue_want(queue, queue->appended);
    runtime_unlock(runtime);
    kernel_nap(50000); /* the answer is there before anybody looks */
    assert_ok(launch(other, KERNEL(kernel_nap), 1, 0, 0));
    assert_ok(omprma_queue_synchronize(other));
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_ADDRESS);
    assert_true(operation_has_ended(half));
    runtime_lock(runtime);
    operation_drop(&runtime->operations, half);
    runtime_unlock(runtime);
}

static void kernel_bad(uint64_t at)
{
    *(volatile char *)(uintptr_t)at = 1;
}

/* Nobody waits for a small submit, but an event behind one that was refused has failed. */
TEST(a_small_submit_after_a_crash)
{
    omprma_queue_t *crashes, *queue;
    omprma_event_t *event;
    omprma_addr_t there;

#ifdef __SANITIZE_THREAD__
    skip(); /* it misses the thread that is parked */
#endif
    core_start(&(struct core_options){.lanes = 2});
    core_make_hole();
    crashes = core_queue(0);
    queue = core_queue(0);
    event = core_event();
    there = core_alloc(0, 64);
    core_choose(0, 512, false);
    assert_ok(launch(crashes, KERNEL(kernel_bad), core_hole, 0, 0));
    assert_int_equal(omprma_queue_synchronize(crashes), OMPRMA_ERR_KERNEL);
    assert_ok(omprma_submit(queue, there, data, 1));
    assert_ok(omprma_event_record(event, queue));
    assert_int_equal(omprma_event_synchronize(event), OMPRMA_ERR_DEVICE_LOST);
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_DEVICE_LOST);
    omprma_event_destroy(event);
    core_stop();
}

/* Whatever the call appends after the connection has failed in it ends, too. */
TEST(a_worker_is_lost_in_a_broadcast)
{
    for (int way = EXCHANGE_PUT; way <= EXCHANGE_SEND; way++) {
        omprma_queue_t *queue[3];
        omprma_addr_t to[3];

        core_start(&(struct core_options){.workers = 3});
        for (int i = 0; i < 3; i++) {
            queue[i] = core_queue(i);
            to[i] = core_alloc(i, 1 << 20);
            core_choose(i, 512, way != EXCHANGE_SEND);
        }
        core_exchange_by((enum config_exchange)way);
        assert_ok(launch(queue[1], KERNEL(kernel_nap), 1000, 0, 0));
        null_channel_fail_sends(runtime_get()->channel, 2);
        omprma_broadcast(queue, to, 3, data, 1 << 20);
        for (int i = 0; i < 3; i++)
            assert_int_equal(omprma_queue_synchronize(queue[i]), OMPRMA_ERR_DEVICE_LOST);
        for (int i = 0; i < 3; i++)
            if (core_device(i)->lost)
                core_let_go(i);
        core_stop();
    }
}

/* ---- callbacks */

static struct {
    omprma_queue_t *queue[2];
    omprma_addr_t there;
    int left;
    _Atomic int calls;
} chain;

/* The data may still be under way when the call would return, and then it waits. */
static void submit_small(void *unused, omprma_status_t status)
{
    static unsigned char small[OMPRMA_COPIED_SUBMIT];

    (void)unused;
    assert_int_equal(status, OMPRMA_OK);
    assert_ok(omprma_submit(chain.queue[0], chain.there, small, sizeof(small)));
    chain.calls++;
}

CORE_TEST(a_callback_submits, 1, .delay = 50)
{
    omprma_queue_t *queue;

    chain.calls = 0;
    queue = core_queue(0);
    chain.queue[0] = core_queue(0);
    chain.there = core_alloc(0, OMPRMA_COPIED_SUBMIT);
    core_choose(0, 512, true);
    assert_ok(launch(queue, KERNEL(kernel_nap), 1000, 0, 0));
    assert_ok(omprma_queue_notify(queue, submit_small, NULL));
    assert_ok(launch(queue, KERNEL(kernel_nap), 30000, 0, 0));
    assert_ok(omprma_queue_synchronize(queue));
    assert_int_equal(chain.calls, 1);
}

static void go_on(void *unused, omprma_status_t status)
{
    omprma_queue_t *next = chain.queue[chain.left % 2];

    (void)unused;
    assert_int_equal(status, OMPRMA_OK);
    chain.calls++;
    if (--chain.left == 0)
        return;
    assert_ok(launch(next, KERNEL(kernel_nap), 2000, 0, 0));
    assert_ok(omprma_queue_notify(next, go_on, NULL));
}

/* What callbacks begin while the runtime ends is finished as well. */
TEST(a_chain_ends_before_the_runtime)
{
    core_start(&(struct core_options){0});
    for (int i = 0; i < 2; i++)
        chain.queue[i] = core_queue(0);
    chain.left = 6;
    chain.calls = 0;
    assert_ok(launch(chain.queue[0], KERNEL(kernel_nap), 1000, 0, 0));
    assert_ok(omprma_queue_notify(chain.queue[0], go_on, NULL));
    core_stop();
    assert_int_equal(chain.calls, 6);
}
