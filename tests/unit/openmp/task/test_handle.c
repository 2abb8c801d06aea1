/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_handle.c: nowait constructs that libomp asks about, on devices that are this process
 * (tests/unit/fake/local_omprma.c) and that do nothing before somebody asks. libomp is this file:
 * it offers a place for a handle, or none.
 * Covers: handle.c construct.c late.c
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "openmp/entry/construct.h"
#include "openmp/abi/exports.h"
#include "openmp/abi/libomp.h"

/* ---- libomp --------------------------------------------------------------------------------- */

static _Thread_local void *place;
static _Thread_local int untied_met; /* begun, then completed */
static bool has_team = true;

int32_t __kmpc_global_thread_num(void *location)
{
    (void)location;
    return 3;
}

bool __kmpc_omp_has_task_team(int32_t thread)
{
    assert_int_equal(thread, 3);
    return has_team;
}

void **__kmpc_omp_get_target_async_handle_ptr(int32_t thread)
{
    assert_int_equal(thread, 3);
    return &place;
}

struct task *__kmpc_omp_task_alloc(void *location, int32_t thread, int32_t flags, size_t task_bytes,
                                   size_t shared_bytes, int32_t (*routine)(int32_t, struct task *))
{
    (void)location, (void)thread, (void)shared_bytes;
    static _Thread_local struct task task;
    assert_int_equal(flags & 1, 0); /* untied */
    assert_true(task_bytes >= 40);
    task.routine = routine;
    return &task;
}

void __kmpc_omp_task_begin_if0(void *location, int32_t thread, struct task *task)
{
    (void)location, (void)thread, (void)task;
    untied_met += 1;
}

void __kmpc_omp_task_complete_if0(void *location, int32_t thread, struct task *task)
{
    (void)location, (void)thread, (void)task;
    untied_met += 10;
}

/* ---- constructs ----------------------------------------------------------------------------- */

enum { LARGE = 20000, MANY = 500, THREADS = 4 };
static const int64_t in = MAP_TO, out = MAP_FROM;

static void data(void (*call)(struct location *, int64_t, int32_t, void **, void **, int64_t *,
                              int64_t *, void **, void **, int32_t, void *, int32_t, void *),
                 void *begin, int64_t bytes, int64_t type)
{
    call(NULL, 0, 1, &begin, &begin, &bytes, &type, NULL, NULL, 0, NULL, 0, NULL);
}

/* As libomp does with a task that it has put back. */
static void arrive(void **handle)
{
    while (*handle)
        __tgt_target_nowait_query(handle);
}

TEST(test_nothing_is_waited_for)
{
    int x = 1;
    data(__tgt_target_data_begin_nowait_mapper, &x, sizeof(x), in);
    void *begin = place;
    assert_non_null(begin);
    assert_int_equal(untied_met, 11);
    arrive(&begin);
    x = 2;
    data(__tgt_target_data_end_nowait_mapper, &x, sizeof(x), out);
    assert_non_null(place);
    assert_int_equal(x, 2); /* not before somebody asks */
    arrive(&place);
    assert_int_equal(x, 1);
    assert_int_equal(untied_met, 11); /* once per thread */
    assert_false(omp_target_is_present(&x, 0));
}

TEST(test_waits_without_a_team)
{
    int x = 1;
    has_team = false;
    data(__tgt_target_data_begin_nowait_mapper, &x, sizeof(x), in);
    x = 2;
    data(__tgt_target_data_end_nowait_mapper, &x, sizeof(x), out);
    has_team = true;
    assert_null(place);
    assert_int_equal(x, 1);
}

/* Small ones share a queue, a large one has its own; they are asked about in any order. */
TEST(test_many)
{
    static int x[MANY];
    static char large[LARGE];
    static void *handles[MANY], *other;
    for (int i = 0; i < MANY; i++) {
        x[i] = i;
        data(__tgt_target_data_begin_nowait_mapper, &x[i], sizeof(x[i]), in);
        handles[i] = place;
        assert_non_null(handles[i]);
    }
    memset(large, 5, sizeof(large));
    data(__tgt_target_data_begin_nowait_mapper, large, sizeof(large), in);
    other = place;
    arrive(&other);
    for (int i = MANY - 1; i >= 0; i--)
        arrive(&handles[i]);
    memset(x, 0, sizeof(x));
    memset(large, 0, sizeof(large));
    for (int i = 0; i < MANY; i++) {
        data(__tgt_target_data_end_nowait_mapper, &x[i], sizeof(x[i]), out);
        handles[i] = place;
    }
    data(__tgt_target_data_end_nowait_mapper, large, sizeof(large), out);
    arrive(&place);
    for (int i = 0; i < MANY; i += 2)
        arrive(&handles[i]);
    for (int i = 1; i < MANY; i += 2)
        arrive(&handles[i]);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(x[i], i);
    assert_int_equal(large[LARGE - 1], 5);
}

/* What one has under way, another one that waits finds done. */
TEST(test_waited_after_flight)
{
    int x = 1;
    data(__tgt_target_data_begin_nowait_mapper, &x, sizeof(x), in);
    void *first = place;
    void *begin = &x;
    int64_t bytes = sizeof(x), type = MAP_FROM;
    x = 2;
    __tgt_target_data_update_mapper(NULL, 0, 1, &begin, &begin, &bytes, &type, NULL, NULL);
    assert_int_equal(x, 1);
    arrive(&first);
    data(__tgt_target_data_end_nowait_mapper, &x, sizeof(x), MAP_DELETE);
    arrive(&place);
}

static atomic_int wrong;

static void *fly_alone(void *context)
{
    (void)context;
    int own[16];
    void *handles[16];
    for (int round = 0; round < 200; round++) {
        for (int i = 0; i < 16; i++) {
            own[i] = round + i;
            data(__tgt_target_data_begin_nowait_mapper, &own[i], sizeof(int), in);
            handles[i] = place;
        }
        for (int i = 0; i < 16; i++)
            arrive(&handles[(i + round) % 16]);
        for (int i = 0; i < 16; i++) {
            own[i] = -1;
            data(__tgt_target_data_end_nowait_mapper, &own[i], sizeof(int), out);
            handles[i] = place;
        }
        for (int i = 0; i < 16; i++)
            arrive(&handles[(i + round) % 16]);
        for (int i = 0; i < 16; i++)
            wrong += own[i] != round + i;
    }
    return NULL;
}

TEST(test_threads)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, fly_alone, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(wrong, 0);
}
