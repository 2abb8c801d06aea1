/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_wakeups.c: nobody is woken before the lock is released, and then everybody is.
 * Covers: wakeups.c */
#include "tests/unit/test.h"
#include "host/core/wakeups.h"

enum { MANY = WAKEUPS_BELLS + 3 };

static struct doorbell *make_bell(void)
{
    struct shm_address address;
    struct doorbell *bell;

    assert_int_equal(doorbell_create(&bell, 0, &address), OMPRMA_OK);
    doorbell_prepare(bell);
    return bell;
}

TEST(bells_ring_when_run)
{
    struct wakeups wakeups = {0};
    struct doorbell *bell = make_bell();

    wakeups_add_bell(&wakeups, bell);
    assert_true(wakeups.any);
    assert_true(doorbell_is_asleep(bell));
    wakeups_run(&wakeups);
    assert_false(doorbell_is_asleep(bell));
    doorbell_close(bell);
}

TEST(none_of_many_is_forgotten)
{
    struct wakeups wakeups = {0};
    struct doorbell *bells[MANY];

    for (int i = 0; i < MANY; i++)
        wakeups_add_bell(&wakeups, bells[i] = make_bell());
    wakeups_run(&wakeups);
    for (int i = 0; i < MANY; i++) {
        assert_false(doorbell_is_asleep(bells[i]));
        doorbell_close(bells[i]);
    }
}

TEST(threads_are_woken_when_run)
{
    struct wakeups wakeups = {0};
    struct waiter waiters[3];
    int value;

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
