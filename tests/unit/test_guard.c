/* test_guard.c: a call that does not return is noticed, and others are not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <semaphore.h>

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

static void a_call_that_stays_is_found_once(void **state)
{
    struct found found = {.peer = -1};
    struct guard *guard;

    (void)state;
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

static void calls_in_time_are_not(void **state)
{
    struct found found = {0};
    struct guard *guard;

    (void)state;
    assert_int_equal(guard_create(hour, note, &found, &guard), OMPRMA_OK);
    guard_enter(guard, 1);
    guard_leave(guard);
    guard_enter(guard, 1);
    guard_destroy(guard); /* at once, whatever the limit */
    assert_int_equal(found.times, 0);
}

static void none_guards_nothing(void **state)
{
    (void)state;
    guard_enter(NULL, 1);
    guard_leave(NULL);
    guard_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_that_stays_is_found_once),
        cmocka_unit_test(calls_in_time_are_not),
        cmocka_unit_test(none_guards_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
