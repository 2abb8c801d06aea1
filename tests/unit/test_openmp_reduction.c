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
    reduction_ask(true);
    return NULL;
}

static void takes_part_once(void **state)
{
    pthread_t thread;
    (void)state;
    reduction_ask(true);
    assert_false(reduction_takes_part());
    begin(TASK);
    reduction_ask(false);
    assert_false(reduction_takes_part());
    assert_int_equal(pthread_create(&thread, NULL, ask, NULL), 0);
    pthread_join(thread, NULL);
    assert_false(reduction_takes_part());
    reduction_ask(true);
    assert_true(reduction_takes_part());
    assert_false(reduction_takes_part());
    reduction_taskgroup_end(TASK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_with_its_taskgroup),
        cmocka_unit_test(ends_once),
        cmocka_unit_test(one_in_the_other),
        cmocka_unit_test(takes_part_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
