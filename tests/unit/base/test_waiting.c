/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_waiting.c: polls, then yields, then sleeps; and a lock that others get.
 * Covers: waiting.h */
#include "tests/unit/test.h"
#include "base/waiting.h"

static const int64_t hour = 3600 * INT64_C(1000000000);

/* What comes after the polls, for somebody who has waited for so long. */
static enum waiting_step step_after(int64_t waited_ns, bool shared, int64_t hogged_for_ns,
                                    int64_t awake_for_ns)
{
    const struct waiting_limits limits = {hour, 3 * hour, 2 * hour, 0, false};
    int64_t before = clock_ns(), now = 0;
    struct yield_history history = {.hogged_until_ns = before + hogged_for_ns};
    struct waiting waiting = {.since_ns = before - waited_ns, .shared = shared};
    enum waiting_step step;

    for (int i = 1; i < WAITING_POLLS_PER_LOOK; i++)
        assert_int_equal(waiting_next(&waiting, &limits, &history, 0, &now), WAITING_POLL);
    step = waiting_next(&waiting, &limits, &history, before + awake_for_ns, &now);
    assert_true(now >= before);
    return step;
}

TEST(time_decides)
{
    assert_int_equal(step_after(0, false, 0, 0), WAITING_LOOK);
    assert_int_equal(step_after(hour + hour / 2, false, 0, 0), WAITING_YIELD);
    assert_int_equal(step_after(2 * hour + hour / 2, false, 0, 0), WAITING_YIELD);
    assert_int_equal(step_after(3 * hour, false, 0, 0), WAITING_SLEEP);
}

TEST(others_are_seen)
{
    assert_int_equal(step_after(hour + hour / 2, true, 0, 0), WAITING_YIELD);
    assert_int_equal(step_after(2 * hour, true, 0, 0), WAITING_SLEEP);
    assert_int_equal(step_after(hour, false, hour, 0), WAITING_SLEEP);
    assert_int_equal(step_after(0, false, hour, 0), WAITING_LOOK);
}

TEST(whoever_is_needed_does_not_sleep)
{
    assert_int_equal(step_after(3 * hour, false, 0, hour), WAITING_YIELD);
    assert_int_equal(step_after(3 * hour, true, 0, hour), WAITING_NAP);
    assert_int_equal(step_after(3 * hour, true, hour, hour), WAITING_NAP);
    assert_int_equal(step_after(0, true, hour, hour), WAITING_LOOK);
}

TEST(until_then_it_polls)
{
    struct waiting_limits limits = {0, hour, hour, clock_ns() + hour, false};
    const struct yield_history history = {0};
    struct waiting waiting = {.rounds = WAITING_POLLS_PER_LOOK - 1};
    int64_t now = 0;

    assert_int_equal(waiting_next(&waiting, &limits, &history, 0, &now), WAITING_LOOK);
    limits.spin_until_ns = now - 1;
    waiting.rounds = WAITING_POLLS_PER_LOOK - 1;
    assert_int_equal(waiting_next(&waiting, &limits, &history, 0, &now), WAITING_YIELD);
}

TEST(the_first_look_begins_it)
{
    const struct waiting_limits limits = {hour, hour, hour, 0, false};
    const struct yield_history history = {0};
    struct waiting waiting = {0};
    int64_t now = 0;

    for (int i = 0; i < WAITING_POLLS_PER_LOOK; i++)
        waiting_next(&waiting, &limits, &history, 0, &now);
    assert_true(now > 0);
    assert_true(waiting.since_ns == now);
}

/* One long yield is somebody's slice; only two in a row are somebody who does not yield. */
TEST(hogs_are_those_who_stay)
{
    struct yield_history history = {0};
    int64_t now = hour;

    assert_true(yield_lasted(&history, now, now + YIELD_ALONE_NS - 1));
    for (int i = 0; i < 10; i++) {
        assert_false(yield_lasted(&history, now, now + YIELD_HOGGED_NS));
        assert_true(history.hogged_until_ns == 0);
        assert_false(yield_lasted(&history, now, now + YIELD_HOGGED_NS - 1));
    }
    for (int64_t most = YIELD_HOGGED_FOR_MOST, held = YIELD_HOGGED_FOR_NS; held < 4 * most;
         held *= 2) {
        assert_false(yield_lasted(&history, now, now + YIELD_HOGGED_NS));
        if (held == YIELD_HOGGED_FOR_NS)
            assert_false(yield_lasted(&history, now, now + YIELD_HOGGED_NS));
        now += YIELD_HOGGED_NS;
        assert_true(history.hogged_until_ns == now + (held < most ? held : most));
    }
    assert_false(yield_lasted(&history, now, now + YIELD_ALONE_NS));
    assert_false(yield_lasted(&history, now, now + YIELD_HOGGED_NS));
    assert_true(history.hogged_for_ns == 0);
}

/* Two threads that take it in turns, the first of which would keep it. */
static struct waiting_lock lock = {PTHREAD_MUTEX_INITIALIZER, 0};
static _Atomic int got;

static void *want(void *data)
{
    for (int i = 0; i < 100; i++) {
        waiting_lock_take(&lock);
        atomic_fetch_add(&got, 1);
        waiting_lock_give(&lock);
    }
    return data;
}

TEST(the_lock_is_let_go)
{
    struct yield_history history = {0};
    pthread_t thread;

    waiting_lock_take(&lock);
    assert_int_equal(pthread_create(&thread, NULL, want, NULL), 0);
    while (atomic_load(&got) < 100) {
        if (!waiting_lock_is_wanted(&lock) && atomic_load(&got) == 0)
            continue;
        waiting_lock_give(&lock);
        yield_lets_in(&history, &lock);
        waiting_lock_take(&lock);
    }
    waiting_lock_give(&lock);
    pthread_join(thread, NULL);
    assert_false(waiting_lock_is_wanted(&lock));
}
