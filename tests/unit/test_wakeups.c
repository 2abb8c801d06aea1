/* test_wakeups.c: nobody is woken before the lock is released, and then everybody is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "host/core/wakeups.h"

enum { MANY = WAKEUPS_BELLS + 3 };

static struct doorbell *make_bell(bool asleep)
{
    struct doorbell_address address;
    struct doorbell *bell;

    assert_int_equal(doorbell_create(&bell, 0, &address), OMPRMA_OK);
    if (asleep)
        doorbell_prepare(bell);
    return bell;
}

static void who_is_awake_is_not_rung(void **state)
{
    struct wakeups wakeups = {0};
    struct doorbell *bell = make_bell(false);

    (void)state;
    wakeups_add_bell(&wakeups, bell);
    wakeups_add_bell(&wakeups, NULL);
    assert_false(wakeups.any);
    doorbell_close(bell);
}

static void bells_ring_when_run(void **state)
{
    struct wakeups wakeups = {0};
    struct doorbell *bell = make_bell(true);

    (void)state;
    wakeups_add_bell(&wakeups, bell);
    assert_true(wakeups.any);
    assert_true(doorbell_is_asleep(bell));
    wakeups_run(&wakeups);
    assert_false(doorbell_is_asleep(bell));
    doorbell_close(bell);
}

static void none_of_many_is_forgotten(void **state)
{
    struct wakeups wakeups = {0};
    struct doorbell *bells[MANY];

    (void)state;
    for (int i = 0; i < MANY; i++)
        wakeups_add_bell(&wakeups, bells[i] = make_bell(true));
    wakeups_run(&wakeups);
    for (int i = 0; i < MANY; i++) {
        assert_false(doorbell_is_asleep(bells[i]));
        doorbell_close(bells[i]);
    }
}

static void threads_are_woken_when_run(void **state)
{
    struct wakeups wakeups = {0};
    struct waiter waiters[3];
    int value;

    (void)state;
    for (int i = 0; i < 3; i++) {
        sem_init(&waiters[i].wake, 0, 0);
        wakeups_add_waiter(&wakeups, &waiters[i]);
        sem_getvalue(&waiters[i].wake, &value);
        assert_int_equal(value, 0);
    }
    assert_true(wakeups.any);
    wakeups_run(&wakeups);
    for (int i = 0; i < 3; i++) {
        sem_getvalue(&waiters[i].wake, &value);
        assert_int_equal(value, 1);
        sem_destroy(&waiters[i].wake);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_awake_is_not_rung),
        cmocka_unit_test(bells_ring_when_run),
        cmocka_unit_test(none_of_many_is_forgotten),
        cmocka_unit_test(threads_are_woken_when_run),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
