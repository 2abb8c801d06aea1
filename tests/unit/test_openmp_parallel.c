/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_openmp_parallel.c: the counts of the parallel regions that threads are in. libomp is this
 * file: it calls the body.
 */
#include <pthread.h>

#include "test.h"
#include "openmp/parallel.h"

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
    parallel_run(&thread, &number, parallel);
}

static void leave(const struct parallel *parallel)
{
    level--;
    parallel_end(parallel);
}

static void in_order(const struct parallel *parallel)
{
    for (int i = 0; i < 5; i++) {
        assert_ptr_equal(parallel_count_here(), parallel_count(parallel, i % 2));
        assert_ptr_not_equal(parallel_count(parallel, 0), parallel_count(parallel, 1));
        parallel_pass();
    }
}

static void inner_body(int32_t *thread, int32_t *number, void **arguments)
{
    assert_int_equal(*thread, 7);
    assert_int_equal(*number, 1);
    in_order(arguments[0]);
    assert_null(arguments[1]);
}

static void outer_body(int32_t *thread, int32_t *number, void **arguments)
{
    struct parallel inner;
    void *ours[] = {&inner, NULL};
    _Atomic int32_t *before;

    (void)thread;
    (void)number;
    in_order(arguments[0]);
    before = parallel_count_here();
    run(&inner, inner_body, ours);
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
        void *ours[] = {&outer, NULL};

        assert_null(parallel_count_here());
        run(&outer, outer_body, ours);
        leave(&outer);
        assert_null(parallel_count_here());
    }
}

static void note_place(int32_t *thread, int32_t *number, void **arguments)
{
    (void)thread;
    (void)number;
    (void)arguments;
    parallel_pass();
}

static void *be_of_the_team(void *data)
{
    struct parallel *parallel = data;
    int32_t thread = 8, number = 2;

    assert_null(parallel_count_here());
    level = 1;
    parallel_run(&thread, &number, parallel);
    /* Runs tasks of the region at its end. */
    assert_ptr_equal(parallel_count_here(), parallel_count(parallel, 1));
    return NULL;
}

TEST(threads_of_a_team)
{
    struct parallel parallel;
    void *nothing[2] = {NULL};
    pthread_t thread;

    run(&parallel, note_place, nothing);
    assert_int_equal(pthread_create(&thread, NULL, be_of_the_team, &parallel), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_ptr_equal(parallel_count_here(), parallel_count(&parallel, 1));
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
    void *nothing[2] = {NULL};

    run(&longest, note_place, nothing);
    assert_false(longest.shares);
    for (int i = 0; i < ROUNDS; i++) {
        run(&other, note_place, nothing);
        assert_false(other.shares);
        assert_ptr_not_equal(parallel_count(&other, 0), parallel_count(&longest, 0));
        leave(&other);
    }
    for (int i = 0; i < ROOM; i++) {
        run(&many[i], note_place, nothing);
        assert_int_equal(many[i].shares, i == ROOM - 1);
    }
    for (int i = ROOM - 1; i >= 0; i--)
        leave(&many[i]);
    leave(&longest);
    run(&other, note_place, nothing);
    assert_false(other.shares);
    leave(&other);
}
