/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_completion.c: callbacks of queues come once, in order, one at a time, with the right status,
 * outside the lock, and may start further work.
 * Covers: completion.c */
#include <stdatomic.h>

#include "tests/unit/test.h"
#include "tests/unit/core_fixture.h"

enum { BYTES = 100000, ROUNDS = 300 };

static struct {
    _Atomic int calls, inside, ok, failed;
    int last;
} seen;

static void note(void *data, omprma_status_t status)
{
    int number = (int)(intptr_t)data;

    assert_int_equal(atomic_fetch_add(&seen.inside, 1), 0);
    assert_true(number > seen.last);
    seen.last = number;
    atomic_fetch_add(status == OMPRMA_OK ? &seen.ok : &seen.failed, 1);
    atomic_fetch_add(&seen.calls, 1);
    atomic_fetch_sub(&seen.inside, 1);
}

static void start(int workers)
{
    memset(&seen, 0, sizeof(seen));
    core_start(&(struct core_options){.workers = workers});
}

static void wait_for_calls(omprma_queue_t *queue, int calls)
{
    bool done;

    while (seen.calls < calls) {
        assert_ok(omprma_queue_query(queue, &done));
        kernel_nap(10);
    }
}

/* Without a flush, without a wait: whatever the queue holds. */
TEST(they_come_by_themselves)
{
    static unsigned char data[BYTES];
    omprma_queue_t *queue;
    omprma_addr_t there;

    start(1);
    queue = core_queue(0);
    there = core_alloc(0, BYTES);
    assert_ok(omprma_queue_notify(queue, note, (void *)1)); /* nothing to wait for: at once */
    assert_int_equal(seen.calls, 1);
    for (int i = 2; i <= ROUNDS; i++) {
        core_choose(0, i % 3 ? 512 : 0, i % 2);
        if (i % 5)
            assert_ok(omprma_submit(queue, there, data, i % 4 ? 64 : BYTES));
        if (i % 7 == 0)
            assert_ok(launch(queue, KERNEL(kernel_add), there, 8, 1));
        assert_ok(omprma_queue_notify(queue, note, (void *)(intptr_t)i));
    }
    wait_for_calls(queue, ROUNDS);
    assert_int_equal(seen.ok, ROUNDS);
    core_end();
}

/* Each shares the fate of what was before it, and of nothing else. */
TEST(they_tell_how_it_ended)
{
    char byte;
    omprma_queue_t *queue;
    omprma_addr_t there;

    start(1);
    core_make_hole();
    queue = core_queue(0);
    there = core_alloc(0, 8);
    assert_ok(launch(queue, KERNEL(kernel_count), there, 0, 0));
    assert_ok(omprma_queue_notify(queue, note, (void *)1));
    assert_ok(omprma_retrieve(queue, &byte, core_hole, 1));
    assert_ok(omprma_queue_notify(queue, note, (void *)2));
    wait_for_calls(queue, 2);
    assert_int_equal(seen.ok, 1);
    assert_int_equal(seen.failed, 1);
    assert_ok(omprma_queue_notify(queue, note, (void *)3)); /* the queue is still failed */
    assert_int_equal(seen.failed, 2);
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_ADDRESS);
    assert_ok(omprma_queue_notify(queue, note, (void *)4));
    wait_for_calls(queue, 4);
    assert_int_equal(seen.ok, 2);
    core_end();
}

struct links {
    omprma_queue_t *queue;
    omprma_addr_t there;
    int left;
    _Atomic bool over;
};

/* A callback that starts the next step. */
static void next_step(void *data, omprma_status_t status)
{
    struct links *chain = data;

    assert_int_equal(status, OMPRMA_OK);
    if (chain->left-- == 0) {
        chain->over = true;
        return;
    }
    assert_ok(launch(chain->queue, KERNEL(kernel_count), chain->there, 0, 0));
    assert_ok(omprma_queue_notify(chain->queue, next_step, chain));
}

TEST(they_may_go_on)
{
    uint64_t count = 0;
    struct links chain = {.left = ROUNDS};
    bool done;

    start(1);
    chain.queue = core_queue(0);
    chain.there = core_alloc(0, 8);
    assert_ok(omprma_submit(chain.queue, chain.there, &count, 8));
    next_step(&chain, OMPRMA_OK);
    while (!chain.over)
        assert_ok(omprma_queue_query(chain.queue, &done));
    assert_ok(omprma_retrieve(chain.queue, &count, chain.there, 8));
    assert_ok(omprma_queue_synchronize(chain.queue));
    assert_int_equal(count, ROUNDS);
    core_end();
}

/* Nothing is left out when the runtime ends, or when the device is lost. */
TEST(none_is_forgotten)
{
    omprma_queue_t *queue;
    omprma_addr_t there;

    start(2);
    queue = core_queue(0);
    there = core_alloc(0, 8);
    for (int i = 1; i <= 10; i++) {
        assert_ok(launch(queue, KERNEL(kernel_nap), 1000, 0, 0));
        assert_ok(omprma_queue_notify(queue, note, (void *)(intptr_t)i));
    }
    assert_ok(omprma_submit(queue, there, &there, 8));
    assert_ok(omprma_queue_notify(queue, note, (void *)11));
    core_stop();
    assert_int_equal(seen.ok, 11);
    start(2);
    queue = core_queue(0);
    core_hold(0);
    for (int i = 1; i <= 10; i++) {
        assert_ok(launch(queue, KERNEL(kernel_nap), 1, 0, 0));
        assert_ok(omprma_queue_notify(queue, note, (void *)(intptr_t)i));
    }
    runtime_lock(runtime_get());
    peer_lose(core_device(0)->peer, "made up");
    runtime_unlock(runtime_get());
    assert_int_equal(seen.failed, 10);
    core_release(0);
    core_device(0)->peer->lost = core_device(0)->lost = runtime_get()->unresponsive = false;
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_DEVICE_LOST);
    core_stop();
}
