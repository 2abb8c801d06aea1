/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_hold.c: a queue that the program holds: what is behind waits for it, the calls do not; holds
 * come in order; failures, lost devices and the end reach them.
 * Covers: hold.c */
#include <semaphore.h>

#include "tests/unit/test.h"
#include "tests/unit/core_fixture.h"

enum { ROUNDS = 20 };

static struct {
    omprma_hold_t *hold;
    omprma_status_t status;
    int calls;
    sem_t reached;
} seen;

static void note(omprma_hold_t *hold, void *data, omprma_status_t status)
{
    assert_int_equal((int)(intptr_t)data, seen.calls);
    seen.calls++;
    seen.hold = hold;
    seen.status = status;
    sem_post(&seen.reached);
}

static void start(void)
{
    memset(&seen, 0, sizeof(seen));
    sem_init(&seen.reached, 0, 0);
    core_start(&(struct core_options){.workers = 2});
}

static void stop(void)
{
    core_stop();
    sem_destroy(&seen.reached);
}

static bool is_done(omprma_queue_t *queue)
{
    bool done;

    assert_ok(omprma_queue_query(queue, &done));
    return done;
}

static void wait_until_reached(omprma_queue_t *queue)
{
    while (sem_trywait(&seen.reached) != 0)
        assert_false(is_done(queue));
}

/* Another queue that waits for an event behind the hold waits, too; a third one does not. */
TEST(what_is_behind_waits)
{
    omprma_queue_t *queue, *other, *free_one;
    omprma_event_t *event;
    omprma_addr_t there;
    uint64_t count = 0, seen_count = 77;

    start();
    queue = core_queue(0);
    other = core_queue(1);
    free_one = core_queue(0);
    there = core_alloc(0, 8);
    assert_ok(omprma_event_create(&event));
    assert_ok(omprma_submit(queue, there, &count, 8));
    assert_ok(omprma_queue_hold(queue, note, (void *)0));
    assert_ok(launch(queue, KERNEL(kernel_count), there, 0, 0));
    assert_ok(omprma_event_record(event, queue));
    assert_ok(omprma_event_wait(event, other));
    assert_ok(launch(other, KERNEL(kernel_nap), 1, 0, 0));
    wait_until_reached(queue);
    assert_string_equal(operation_name(queue->first), "hold");
    assert_int_equal(seen.status, OMPRMA_OK);
    for (int i = 0; i < ROUNDS; i++) {
        assert_ok(omprma_retrieve(free_one, &seen_count, there, 8));
        assert_ok(omprma_queue_synchronize(free_one));
        assert_int_equal(seen_count, 0);
        assert_false(is_done(queue));
        assert_false(is_done(other));
    }
    omprma_hold_end(seen.hold);
    assert_ok(omprma_queue_synchronize(other));
    assert_ok(omprma_retrieve(queue, &seen_count, there, 8));
    assert_ok(omprma_queue_synchronize(queue));
    assert_int_equal(seen_count, 1);
    omprma_event_destroy(event);
    stop();
}

static void *let_go(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        while (sem_wait(&seen.reached) != 0)
            ;
        kernel_nap(3000); /* until who waits sleeps */
        omprma_hold_end(seen.hold);
    }
    return unused;
}

/* The one that waits is woken. */
TEST(another_thread_lets_go)
{
    omprma_queue_t *queue;
    pthread_t thread;

    start();
    queue = core_queue(0);
    assert_int_equal(pthread_create(&thread, NULL, let_go, NULL), 0);
    for (int i = 0; i < ROUNDS; i++) {
        assert_ok(omprma_queue_hold(queue, note, (void *)(intptr_t)i));
        if (i % 3 == 0)
            assert_ok(omprma_queue_synchronize(queue));
    }
    assert_ok(omprma_queue_synchronize(queue));
    assert_int_equal(seen.calls, ROUNDS);
    pthread_join(thread, NULL);
    stop();
}

TEST(failures_reach_it)
{
    omprma_queue_t *queue;
    char byte;

    start();
    core_make_hole();
    queue = core_queue(0);
    assert_ok(omprma_retrieve(queue, &byte, core_hole, 1));
    assert_ok(omprma_queue_hold(queue, note, (void *)0));
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_ADDRESS);
    assert_int_equal(seen.calls, 1);
    assert_int_equal(seen.status, OMPRMA_ERR_ADDRESS);
    omprma_hold_end(seen.hold);
    assert_int_equal(omprma_queue_hold(queue, NULL, NULL), OMPRMA_ERR_ARGUMENT);
    stop();
}

/* One that was reached, when its device is lost. */
TEST(a_lost_device_lets_go)
{
    omprma_queue_t *queue;

    start();
    queue = core_queue(0);
    assert_ok(omprma_queue_hold(queue, note, (void *)0));
    assert_int_equal(seen.calls, 1);
    runtime_lock(runtime_get());
    peer_lose(core_device(0)->peer, "made up");
    runtime_unlock(runtime_get());
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_DEVICE_LOST);
    omprma_hold_end(seen.hold);
    core_device(0)->peer->lost = core_device(0)->lost = runtime_get()->unresponsive = false;
    stop();
}

TEST(the_end_drops_it)
{
    omprma_queue_t *queue;

    start();
    queue = core_queue(0);
    assert_ok(omprma_queue_hold(queue, note, (void *)0));
    assert_ok(launch(queue, KERNEL(kernel_nap), 1, 0, 0));
    assert_ok(omprma_queue_hold(queue, note, (void *)1));
    stop();
    assert_int_equal(seen.calls, 1);
}
