/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_background.c: the progress thread: there when it is asked for and needed, asleep else; what
 * is under way goes on by it while no other thread is inside omprma.
 * Covers: background.c */
#include <dirent.h>
#include <stdatomic.h>

#include "tests/unit/test.h"
#include "tests/unit/core_fixture.h"
#include "host/queue/background.h"

enum { BYTES = 60000, TURN_US = 100, LONG_US = 5000000 };

static int threads(void)
{
    DIR *folder = opendir("/proc/self/task");
    int count = 0;

    while (readdir(folder))
        count++;
    closedir(folder);
    return count - 2;
}

static bool is_asleep(void)
{
    return atomic_load(&runtime_get()->background.asleep);
}

/* Without a call of omprma's. */
static bool comes_true(bool (*condition)(void))
{
    for (int us = 0; us < LONG_US && !condition(); us += TURN_US)
        kernel_nap(TURN_US);
    return condition();
}

static atomic_int calls;

static void note(void *data, omprma_status_t status)
{
    (void)data;
    assert_int_equal(status, OMPRMA_OK);
    atomic_fetch_add(&calls, 1);
}

static bool was_called(void)
{
    return atomic_load(&calls) > 0;
}

TEST(it_is_made_on_demand)
{
    int before;

    core_start(&(struct core_options){0});
    before = threads();
    core_stop();
    core_start(&(struct core_options){.progress_thread = true});
    assert_int_equal(threads(), before + 1);
    assert_ok(omprma_progress_thread(1));
    assert_int_equal(threads(), before + 1);
    core_stop();
    core_start(&(struct core_options){0});
    assert_int_equal(threads(), before);
    assert_ok(omprma_progress_thread(1));
    assert_int_equal(threads(), before + 1);
    assert_int_equal(omprma_progress_thread(2), OMPRMA_ERR_ARGUMENT);
    core_stop();
    assert_int_equal(omprma_progress_thread(1), OMPRMA_ERR_CLOSED);
    assert_int_equal(omprma_progress(), OMPRMA_ERR_CLOSED);
}

/* On every way, again after it has fallen asleep, and not when it is not asked for any more. */
CORE_TEST(what_is_under_way_goes_on, 1)
{
    static unsigned char data[BYTES];
    omprma_queue_t *queue = core_queue(0);
    omprma_addr_t there = core_alloc(0, BYTES);

    assert_ok(omprma_progress_thread(1));
    for (int way = 0; way < 3; way++) {
        assert_true(comes_true(is_asleep));
        core_choose(0, way == 0 ? BYTES : 0, way == 1);
        atomic_store(&calls, 0);
        assert_ok(omprma_submit(queue, there, data, BYTES));
        assert_ok(omprma_retrieve(queue, data, there, BYTES));
        assert_ok(omprma_queue_notify(queue, note, NULL));
        assert_true(comes_true(was_called));
    }
    assert_ok(omprma_progress_thread(-1));
    assert_true(comes_true(is_asleep));
    atomic_store(&calls, 0);
    assert_ok(launch(queue, KERNEL(kernel_nap), 100, 0, 0));
    assert_ok(omprma_queue_notify(queue, note, NULL));
    kernel_nap(20000);
    assert_false(was_called());
    assert_ok(omprma_queue_synchronize(queue));
    assert_true(was_called());
}

static atomic_int ran;

static void kernel_ran(uint64_t unused)
{
    (void)unused;
    atomic_fetch_add(&ran, 1);
}

static bool has_run(void)
{
    return atomic_load(&ran) == 2;
}

/* Small operations of two queues, one of which another thread waits for, or nobody. */
static void *wait_for(void *queue)
{
    return (void *)(intptr_t)omprma_queue_synchronize(queue);
}

CORE_TEST(what_nobody_asks_for_is_sent, 1, .lanes = 3, .progress_thread = true)
{
    for (int waits = 0; waits < 2; waits++) {
        omprma_queue_t *queue[3] = {core_queue(0), core_queue(0), core_queue(0)};
        struct gate gate;
        pthread_t thread;

        atomic_store(&ran, 0);
        core_close(queue[2], &gate);
        if (waits)
            assert_int_equal(pthread_create(&thread, NULL, wait_for, queue[2]), 0);
        for (int i = 0; i < 2; i++)
            assert_ok(launch(queue[i], KERNEL(kernel_ran), 0, 0, 0));
        assert_true(comes_true(has_run));
        core_open(&gate);
        if (waits)
            pthread_join(thread, NULL);
        for (int i = 0; i < 3; i++)
            assert_ok(omprma_queue_destroy(queue[i]));
    }
}

/* Nobody has asked for the end of what was sent either, and it is not looked for for ever. */
CORE_TEST(it_sleeps_when_all_is_over, 1, .progress_thread = true)
{
    omprma_queue_t *queue = core_queue(0);
    uint64_t looks;

    assert_ok(launch(queue, KERNEL(kernel_nap), 100, 0, 0));
    assert_ok(omprma_queue_flush(queue));
    assert_true(comes_true(is_asleep));
    looks = atomic_load(&runtime_get()->looks);
    kernel_nap(20000);
    assert_int_equal(atomic_load(&runtime_get()->looks), looks);
    assert_ok(omprma_queue_destroy(queue));
}

/* One that asks, and asks no more, while others use queues. */
static void *ask(void *over)
{
    while (!atomic_load((atomic_bool *)over)) {
        omprma_progress_thread(1);
        kernel_nap(20);
        omprma_progress_thread(-1);
        kernel_nap(20);
        omprma_progress();
    }
    return NULL;
}

CORE_TEST(it_may_be_asked_for_at_any_time, 1)
{
    omprma_queue_t *queue = core_queue(0);
    omprma_addr_t there = core_alloc(0, 8);
    uint64_t count = 0;
    atomic_bool over = false;
    pthread_t thread[2];

    assert_ok(omprma_submit(queue, there, &count, 8));
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, ask, &over), 0);
    atomic_store(&calls, 0);
    for (int i = 0; i < 500; i++) {
        assert_ok(launch(queue, KERNEL(kernel_count), there, 0, 0));
        assert_ok(omprma_queue_notify(queue, note, NULL));
        if (i % 50 == 0)
            kernel_nap(1000);
    }
    assert_ok(omprma_retrieve(queue, &count, there, 8));
    assert_ok(omprma_queue_synchronize(queue));
    assert_int_equal(count, 500);
    assert_int_equal(calls, 500);
    atomic_store(&over, true);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
}
