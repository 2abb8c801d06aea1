/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_parallel.c: the counts of the parallel regions that threads are in. libomp is this
 * file: it calls the body.
 * Covers: task/parallel.c
 */
#include <pthread.h>

#include "tests/unit/test.h"
#include "openmp/task/parallel.h"

/* Of the thread, in regions that are known and in others. */
static _Thread_local int level;

int omp_get_level(void)
{
    return level;
}

typedef void body_t(int32_t *thread, int32_t *number, void **arguments);

static int invoke(microtask_t *body, int thread, int number, int count, void **arguments,
                  void **frame)
{
    assert_int_equal(count, 2);
    *frame = frame;
    ((body_t *)body)(&thread, &number, arguments);
    return 1;
}

static void run(struct parallel *parallel, body_t *body, void **arguments)
{
    int32_t thread = 7, number = 1;

    *parallel = (struct parallel){invoke, (microtask_t *)body, 2, arguments, .region = 0};
    parallel_begin(parallel);
    level++;
    parallel_run(parallel, &thread, &number);
}

static void leave(const struct parallel *parallel)
{
    level--;
    parallel_end(parallel);
}

static void two_in_turn(void)
{
    _Atomic int32_t *counts[2] = {parallel_count_here()};

    parallel_pass();
    counts[1] = parallel_count_here();
    assert_ptr_not_equal(counts[0], counts[1]);
    for (int i = 1; i < 5; i++) {
        assert_ptr_equal(parallel_count_here(), counts[i % 2]);
        parallel_pass();
    }
}

static void inner_body(int32_t *thread, int32_t *number, void **arguments)
{
    assert_int_equal(*thread, 7);
    assert_int_equal(*number, 1);
    two_in_turn();
    assert_null(arguments[1]);
}

static void outer_body(int32_t *thread, int32_t *number, void **arguments)
{
    struct parallel inner;
    _Atomic int32_t *before;

    (void)thread;
    (void)number;
    two_in_turn();
    before = parallel_count_here();
    run(&inner, inner_body, arguments);
    assert_ptr_not_equal(parallel_count_here(), before);
    leave(&inner);
    assert_ptr_equal(parallel_count_here(), before);
    level++; /* by if(0) */
    assert_null(parallel_count_here());
    level--;
}

/* Each region has its own, and who ends one is back in the one around it. */
TEST(regions_within_regions)
{
    for (int i = 0; i < 3; i++) {
        struct parallel outer;
        void *nothing[2] = {NULL};

        assert_null(parallel_count_here());
        run(&outer, outer_body, nothing);
        leave(&outer);
        assert_null(parallel_count_here());
    }
}

/* Where the place of its count goes, if it is not NULL. */
static void note_count(int32_t *thread, int32_t *number, void **arguments)
{
    (void)thread;
    (void)number;
    parallel_pass();
    if (arguments[0])
        *(_Atomic int32_t **)arguments[0] = parallel_count_here();
}

static void *be_of_the_team(void *data)
{
    struct parallel *parallel = data;
    int32_t thread = 8, number = 2;
    _Atomic int32_t *count = NULL;

    assert_null(parallel_count_here());
    level = 1;
    parallel->arguments[0] = &count;
    parallel_run(parallel, &thread, &number);
    assert_ptr_equal(parallel_count_here(), count);
    parallel_leave();
    /* Runs tasks of the region at its end. */
    assert_null(parallel_count_here());
    return count;
}

TEST(threads_of_a_team)
{
    struct parallel parallel;
    void *nothing[2] = {NULL}, *count;
    pthread_t thread;

    run(&parallel, note_count, nothing);
    assert_int_equal(pthread_create(&thread, NULL, be_of_the_team, &parallel), 0);
    assert_int_equal(pthread_join(thread, &count), 0);
    assert_ptr_equal(parallel_count_here(), count);
    parallel_leave();
    leave(&parallel);
    assert_null(parallel_count_here());
}

/* However many are begun while it lasts, none has its counts; but for more than there is room for.
 */
TEST(a_long_region_is_alone)
{
    enum { ROUNDS = 3000, ROOM = 512 };
    static struct parallel many[ROOM];
    struct parallel longest, other;
    void *nothing[2] = {NULL}, *noting[2] = {NULL};
    _Atomic int32_t *its_own, *count;

    noting[0] = &its_own;
    run(&longest, note_count, noting);
    noting[0] = &count;
    assert_false(longest.shares);
    for (int i = 0; i < ROUNDS; i++) {
        run(&other, note_count, noting);
        assert_false(other.shares);
        assert_ptr_not_equal(count, its_own);
        leave(&other);
    }
    for (int i = 0; i < ROOM; i++) {
        run(&many[i], note_count, nothing);
        assert_int_equal(many[i].shares, i == ROOM - 1);
    }
    for (int i = ROOM - 1; i >= 0; i--)
        leave(&many[i]);
    leave(&longest);
    run(&other, note_count, nothing);
    assert_false(other.shares);
    leave(&other);
}
