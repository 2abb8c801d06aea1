/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_host_call.c: functions of the program run in the order of their queues, one at a time, on
 * one thread, and their queue waits for them.
 * Covers: driver/host_call.c gate.c */
#include "tests/unit/test.h"

#include "tests/unit/core_fixture.h"
#include "face/driver/host_call.h"
#include "face/gate.h"

enum { CALLS = 20 };

struct test_call {
    struct host_call base;
    int number;
};

static struct {
    atomic_int runs, done, inside;
    atomic_bool proceed;
    omprma_status_t status;
} seen;

static void run(struct host_call *base, omprma_status_t status)
{
    const struct test_call *call = (const struct test_call *)base;

    assert_true(host_call_running());
    assert_int_equal(atomic_fetch_add(&seen.inside, 1), 0);
    while (!atomic_load(&seen.proceed))
        kernel_nap(100);
    assert_int_equal(atomic_load(&seen.runs), call->number);
    seen.status = status;
    atomic_fetch_add(&seen.runs, 1);
    atomic_fetch_sub(&seen.inside, 1);
}

static void done(struct host_call *base)
{
    (void)base;
    atomic_fetch_add(&seen.done, 1);
}

static void begin(bool proceed)
{
    atomic_store(&seen.runs, 0);
    atomic_store(&seen.done, 0);
    atomic_store(&seen.proceed, proceed);
}

static void wait_for(atomic_int *count, int value)
{
    while (atomic_load(count) < value)
        kernel_nap(100);
}

static void assert_busy(omprma_queue_t *queue)
{
    bool ended = true;

    for (int i = 0; i < CALLS; i++) {
        assert_ok(omprma_queue_query(queue, &ended));
        assert_false(ended);
    }
}

static int start(void **state)
{
    (void)state;
    gate_open();
    core_start(&(struct core_options){.workers = 2});
    return !host_calls_start();
}

static int stop(void **state)
{
    (void)state;
    host_calls_end();
    core_stop();
    return 0;
}

TEST_GROUP(start, stop)

TEST(its_queue_waits)
{
    struct test_call call = {.base = {.run = run, .done = done}};
    omprma_queue_t *queue = core_queue(0);

    begin(false);
    assert_ok(host_call_issue(queue, &call.base));
    assert_ok(omprma_queue_flush(queue));
    wait_for(&seen.inside, 1);
    assert_busy(queue);
    assert_false(host_call_running());
    atomic_store(&seen.proceed, true);
    assert_ok(omprma_queue_synchronize(queue));
    assert_int_equal(atomic_load(&seen.runs), 1);
    wait_for(&seen.done, 1);
}

TEST(calls_run_in_order)
{
    struct test_call calls[CALLS];
    omprma_queue_t *queues[2] = {core_queue(0), core_queue(1)};
    omprma_event_t *event;

    begin(false);
    assert_ok(omprma_event_create(&event));
    for (int i = 0; i < CALLS; i++) {
        omprma_queue_t *queue = queues[i % 2];
        calls[i] = (struct test_call){.base = {.run = run, .done = done}, .number = i};
        if (i > 0)
            assert_ok(omprma_event_wait(event, queue));
        assert_ok(host_call_issue(queue, &calls[i].base));
        assert_ok(omprma_event_record(event, queue));
    }
    assert_busy(queues[0]);
    assert_int_equal(atomic_load(&seen.runs), 0);
    atomic_store(&seen.proceed, true);
    assert_ok(omprma_queue_synchronize(queues[(CALLS - 1) % 2]));
    assert_int_equal(atomic_load(&seen.runs), CALLS);
    assert_int_equal(seen.status, OMPRMA_OK);
    wait_for(&seen.done, CALLS);
    omprma_event_destroy(event);
}

TEST(an_error_is_told)
{
    struct test_call call = {.base = {.run = run, .done = done}};
    omprma_queue_t *queue = core_queue(0);
    char byte;

    begin(true);
    core_make_hole();
    assert_ok(omprma_retrieve(queue, &byte, core_hole, 1));
    assert_ok(host_call_issue(queue, &call.base));
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_ADDRESS);
    wait_for(&seen.done, 1);
    assert_int_equal(seen.status, OMPRMA_ERR_ADDRESS);
}
