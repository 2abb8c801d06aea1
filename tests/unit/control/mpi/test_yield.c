/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_yield.c: MPI is kept from yielding, and allowed to again, where the launcher had asked
 * for it, and left alone elsewhere; calls that wait for long nap. Nothing here starts more of MPI
 * than its loop.
 * Covers: yield.c
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/resource.h>
#include "tests/unit/cmocka_both.h"

#include "base/clock.h"
#include "control/mpi/yield.h"

/* Of Open MPI: starts what is below its calls, and looks once for what has come in. */
static int (*opal_init)(int *count, char ***arguments);
static void (*opal_progress)(void);

/* What Open MPI keeps its setting in. */
static volatile bool *setting(void)
{
    volatile bool *yields = dlsym(RTLD_DEFAULT, "opal_progress_yield_when_idle");

    assert_non_null(yields);
    return yields;
}

static void yields_only_while_allowed(void **state)
{
    (void)state;
    *setting() = true;
    mpi_yield_find(false);
    mpi_yield_allow(false);
    assert_false(*setting());
    mpi_yield_allow(true);
    assert_true(*setting());
}

static void what_does_not_yield_is_left_alone(void **state)
{
    (void)state;
    *setting() = false;
    mpi_yield_find(false);
    mpi_yield_allow(true);
    assert_false(*setting());
}

static void not_found_not_touched(void **state)
{
    (void)state;
    *setting() = true;
    mpi_yield_allow(false); /* the test before found that there is nothing to do */
    assert_true(*setting());
}

static void who_always_yields_goes_on(void **state)
{
    (void)state;
    *setting() = true;
    mpi_yield_find(true);
    mpi_yield_allow(false);
    assert_true(*setting());
}

/* ---- naps ---- */

static const int64_t second = 1000000000;
static atomic_bool over;

static void *yield_until_over(void *unused)
{
    while (!over)
        sched_yield();
    return unused;
}

/* How often this thread has slept. Yields do not count. */
static long count_sleeps(void)
{
    struct rusage usage;

    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

/* Whether this thread sleeps so often while MPI looks for so long. */
static bool naps_while_looking(int naps, int64_t ns)
{
    int64_t end = clock_ns() + ns;
    long before = count_sleeps();

    while (clock_ns() < end && count_sleeps() - before < naps)
        for (int i = 0; i < 100; i++)
            opal_progress();
    return count_sleeps() - before >= naps;
}

/* Somebody else wants the same processor, and both yield. */
static void calls_that_wait_nap(void **state)
{
    pthread_t other;
    cpu_set_t before, one;

    (void)state;
    pthread_getaffinity_np(pthread_self(), sizeof(before), &before);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
    assert_int_equal(pthread_create(&other, NULL, yield_until_over, NULL), 0);
    *setting() = true;
    mpi_yield_find(false);
    mpi_yield_allow(true);
    assert_true(naps_while_looking(20, 10 * second));
    mpi_yield_allow(false);
    assert_false(naps_while_looking(20, second / 20));
    over = true;
    pthread_join(other, NULL);
    pthread_setaffinity_np(pthread_self(), sizeof(before), &before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(yields_only_while_allowed),
        cmocka_unit_test(what_does_not_yield_is_left_alone),
        cmocka_unit_test(not_found_not_touched),
        cmocka_unit_test(who_always_yields_goes_on),
        cmocka_unit_test(calls_that_wait_nap),
    };

    *(void **)&opal_init = dlsym(RTLD_DEFAULT, "opal_init");
    *(void **)&opal_progress = dlsym(RTLD_DEFAULT, "opal_progress");
    if (!opal_init) {
        print_message("skipped: the MPI library is not Open MPI\n");
        return 0;
    }
    if (opal_init(NULL, NULL) != 0)
        return 1;

    return cmocka_run_group_tests(tests, NULL, NULL);
}
