/* test_guard.c: a call that does not return is noticed, and others are not. */
#include <semaphore.h>

#include "test.h"
#include "base/guard.h"

static const int64_t moment = 1000000, hour = 3600 * INT64_C(1000000000);

struct found {
    sem_t expired;
    int peer, times;
};

static void note(void *data, int peer)
{
    struct found *found = data;

    found->peer = peer;
    found->times++;
    sem_post(&found->expired);
}

TEST(a_call_that_stays_is_found_once)
{
    struct found found = {.peer = -1};
    struct guard *guard;

    sem_init(&found.expired, 0, 0);
    assert_int_equal(guard_create(moment, note, &found, &guard), OMPRMA_OK);
    for (int i = 0; i < 1000; i++) {
        guard_enter(guard, 1);
        guard_leave(guard);
    }
    guard_enter(guard, 3);
    sem_wait(&found.expired);
    assert_int_equal(found.peer, 3);
    guard_leave(guard);
    guard_destroy(guard);
    assert_int_equal(found.times, 1);
}

TEST(calls_in_time_are_not)
{
    struct found found = {0};
    struct guard *guard;

    assert_int_equal(guard_create(hour, note, &found, &guard), OMPRMA_OK);
    guard_enter(guard, 1);
    guard_leave(guard);
    guard_enter(guard, 1);
    guard_destroy(guard); /* at once, whatever the limit */
    assert_int_equal(found.times, 0);
}

TEST(none_guards_nothing)
{
    guard_enter(NULL, 1);
    guard_leave(NULL);
    guard_destroy(NULL);
}
