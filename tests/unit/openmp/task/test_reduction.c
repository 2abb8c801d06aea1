/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_reduction.c: which reductions over tasks are open, and which constructs take part.
 * Covers: reduction.c */
#include <pthread.h>

#include "tests/unit/test.h"
#include "openmp/task/reduction.h"

enum { TASK = 7, OTHER = 8 };

/* What a program's taskgroup with a reduction calls. */
static void begin(uint64_t task)
{
    if (reduction_any())
        reduction_taskgroup_begin(task);
    reduction_begin(task, true);
}

TEST(ends_with_its_taskgroup)
{
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
TEST(ends_once)
{
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

TEST(one_in_the_other)
{
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
    reduction_ask(NULL, NULL, NULL);
    return NULL;
}

TEST(takes_part_when_asked)
{
    pthread_t thread;
    reduction_ask(NULL, NULL, NULL);
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
TEST(shares_what_it_asked_for)
{
    enum { VARIABLES = 16 };
    char group, copy[8], copies[VARIABLES][8];
    struct {
        char before[8], variables[VARIABLES][8];
    } shared;
    reduction_forget();
    for (int i = 0; i < VARIABLES; i++)
        reduction_ask(&group, shared.variables[i], copies[i]);
    assert_false(reduction_shares(copy, sizeof(copy)));
    assert_false(reduction_shares(shared.before, sizeof(shared.before)));
    assert_true(reduction_shares(shared.before, sizeof(shared.before) + 1));
    assert_true(reduction_shares(shared.variables[0], 8));
    assert_true(reduction_shares(shared.variables[VARIABLES - 1], 8));
    assert_ptr_equal(reduction_copy(shared.variables[3]), copies[3]);
    assert_ptr_equal(reduction_copy(shared.before), shared.before);
    assert_true(reduction_shares(&group, 0)); /* a region with in_reduction */
    for (int i = 0; i < VARIABLES; i++)
        reduction_ask(&group, copy, NULL);
    assert_false(reduction_shares(shared.variables, sizeof(shared.variables)));
    assert_true(reduction_shares(copy, sizeof(copy)));
    reduction_forget();
    assert_false(reduction_shares(copy, sizeof(copy)));
}

/* The reduction was begun by a function that calls this one. */
TEST(shares_anything_of_unknown_reductions)
{
    char variable, any;
    reduction_forget();
    reduction_ask(NULL, &variable, NULL);
    assert_true(reduction_shares(&any, sizeof(any)));
    reduction_forget();
}
