/*
 * test_mpi_yield.c: MPI is kept from yielding, and allowed to again, where the launcher had asked
 * for it, and left alone elsewhere. Nothing here starts MPI.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "control/mpi_yield.h"

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
    mpi_yield_find();
    mpi_yield_allow(false);
    assert_false(*setting());
    mpi_yield_allow(true);
    assert_true(*setting());
}

static void what_does_not_yield_is_left_alone(void **state)
{
    (void)state;
    *setting() = false;
    mpi_yield_find();
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(yields_only_while_allowed),
        cmocka_unit_test(what_does_not_yield_is_left_alone),
        cmocka_unit_test(not_found_not_touched),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
