/* test_openmp_reduction.c: which reductions over tasks are open, and which constructs take part. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "openmp/reduction.h"

enum { TASK = 7, OTHER = 8 };

/* What a program's taskgroup with a reduction calls. */
static void begin(uint64_t task)
{
    if (reduction_any())
        reduction_taskgroup_begin(task);
    reduction_begin(task, true);
}

static void ends_with_its_taskgroup(void **state)
{
    (void)state;
    assert_false(reduction_any());
    begin(TASK);
    assert_true(reduction_any());
    reduction_taskgroup_begin(TASK);
    reduction_taskgroup_begin(TASK);
    reduction_taskgroup_end(TASK);
    reduction_taskgroup_end(TASK);
    assert_true(reduction_any());
    reduction_taskgroup_end(TASK);
    assert_false(reduction_any());
}

/* Taskgroups of the task that lie around it, or come later, are none of its business. */
static void ends_once(void **state)
{
    (void)state;
    begin(TASK);
    reduction_taskgroup_end(OTHER);
    assert_true(reduction_any());
    reduction_taskgroup_end(TASK);
    reduction_taskgroup_end(TASK);
    assert_false(reduction_any());
    begin(TASK);
    assert_true(reduction_any());
    reduction_taskgroup_end(TASK);
    assert_false(reduction_any());
}

static void one_in_the_other(void **state)
{
    (void)state;
    begin(TASK);
    begin(TASK);
    begin(OTHER);
    reduction_begin(TASK, false); /* its taskgroup is libomp's */
    for (int left = 3; left > 0; left--) {
        reduction_taskgroup_begin(TASK);
        reduction_taskgroup_end(TASK);
        reduction_taskgroup_end(TASK);
        assert_true(reduction_any());
    }
    reduction_taskgroup_end(TASK);
    assert_true(reduction_any());
    reduction_taskgroup_end(OTHER);
    assert_false(reduction_any());
}

static void *ask(void *state)
{
    (void)state;
    reduction_ask(NULL, NULL);
    return NULL;
}

static void takes_part_when_asked(void **state)
{
    pthread_t thread;
    (void)state;
    reduction_ask(NULL, NULL);
    assert_false(reduction_takes_part());
    begin(TASK);
    assert_true(reduction_takes_part());
    reduction_forget();
    assert_false(reduction_takes_part());
    assert_int_equal(pthread_create(&thread, NULL, ask, NULL), 0);
    pthread_join(thread, NULL);
    assert_false(reduction_takes_part());
    reduction_taskgroup_end(TASK);
}

/* A task of the host maps its thread's copy, which nobody else does. */
static void shares_what_it_asked_for(void **state)
{
    enum { VARIABLES = 16 };
    char group, copy[8];
    struct {
        char before[8], variables[VARIABLES][8];
    } shared;
    (void)state;
    reduction_forget();
    for (int i = 0; i < VARIABLES; i++)
        reduction_ask(&group, shared.variables[i]);
    assert_false(reduction_shares(copy, sizeof(copy)));
    assert_false(reduction_shares(shared.before, sizeof(shared.before)));
    assert_true(reduction_shares(shared.before, sizeof(shared.before) + 1));
    assert_true(reduction_shares(shared.variables[0], 8));
    assert_true(reduction_shares(shared.variables[VARIABLES - 1], 8));
    assert_true(reduction_shares(&group, 0)); /* a region with in_reduction */
    for (int i = 0; i < VARIABLES; i++)
        reduction_ask(&group, copy);
    assert_false(reduction_shares(shared.variables, sizeof(shared.variables)));
    assert_true(reduction_shares(copy, sizeof(copy)));
    reduction_forget();
    assert_false(reduction_shares(copy, sizeof(copy)));
}

/* The reduction was begun by a function that calls this one. */
static void shares_anything_of_unknown_reductions(void **state)
{
    char variable, any;
    (void)state;
    reduction_forget();
    reduction_ask(NULL, &variable);
    assert_true(reduction_shares(&any, sizeof(any)));
    reduction_forget();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_with_its_taskgroup),
        cmocka_unit_test(ends_once),
        cmocka_unit_test(one_in_the_other),
        cmocka_unit_test(takes_part_when_asked),
        cmocka_unit_test(shares_what_it_asked_for),
        cmocka_unit_test(shares_anything_of_unknown_reductions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
