/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_schedule.c: the iterations of a loop are shared out exactly once, for generated counts,
 * chunks and numbers of threads, up to the largest counts.
 * Covers: schedule.h */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "device/schedule.h"

enum { SPANS_MOST = 4096, RANDOM_CASES = 20000 };

static struct {
    uint64_t begin, end;
} spans[SPANS_MOST];
static size_t spans_count;

static int span_compare(const void *a, const void *b)
{
    uint64_t left, right;

    memcpy(&left, a, sizeof(left));
    memcpy(&right, b, sizeof(right));
    return (left > right) - (left < right);
}

static void spans_of_thread(uint64_t count, uint64_t chunk, uint64_t threads, uint64_t thread)
{
    struct schedule schedule;
    uint64_t least = 0;

    if (!schedule_first(&schedule, count, chunk, threads, thread))
        return;
    do {
        assert_true(schedule.begin >= least && schedule.begin < schedule.end);
        assert_true(schedule.end <= count);
        assert_true(chunk == 0 || schedule.end - schedule.begin <= chunk);
        if (chunk > 0)
            assert_int_equal(schedule.begin / chunk % threads, thread);
        assert_true(spans_count < SPANS_MOST);
        spans[spans_count].begin = schedule.begin;
        spans[spans_count++].end = schedule.end;
        least = schedule.end;
    } while (schedule_next(&schedule));
}

/* All spans of all threads, put in order, lie end to end from 0 to count. */
static void check(uint64_t count, uint64_t chunk, uint64_t threads)
{
    uint64_t at = 0;

    spans_count = 0;
    for (uint64_t thread = 0; thread < threads; thread++)
        spans_of_thread(count, chunk, threads, thread);
    qsort(spans, spans_count, sizeof(spans[0]), span_compare);
    for (size_t i = 0; i < spans_count; i++) {
        assert_int_equal(spans[i].begin, at);
        at = spans[i].end;
    }
    assert_int_equal(at, count);
}

TEST(small_loops)
{
    for (uint64_t count = 0; count <= 40; count++)
        for (uint64_t chunk = 0; chunk <= 42; chunk++)
            for (uint64_t threads = 1; threads <= 9; threads++)
                check(count, chunk, threads);
}

/* Blocks stand in the order of threads, and their lengths differ by at most one. */
TEST(blocks_are_even)
{
    for (uint64_t count = 0; count <= 100; count++)
        for (uint64_t threads = 1; threads <= 17; threads++) {
            uint64_t at = 0;

            for (uint64_t thread = 0; thread < threads; thread++) {
                struct schedule schedule;

                if (!schedule_first(&schedule, count, 0, threads, thread)) {
                    assert_int_equal(at, count);
                    continue;
                }
                assert_int_equal(schedule.begin, at);
                at = schedule.end;
                assert_true(at - schedule.begin == count / threads ||
                            at - schedule.begin == count / threads + 1);
            }
            assert_int_equal(at, count);
        }
}

static uint64_t random_bits(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state ^ *state >> 31;
}

/* Any number of bits is as likely as any other. */
static uint64_t random_size(uint64_t *state)
{
    return random_bits(state) >> random_bits(state) % 64;
}

TEST(large_loops)
{
    uint64_t seed = 20240229;

    for (int i = 0; i < RANDOM_CASES; i++) {
        uint64_t count = random_size(&seed), threads = 1 + random_bits(&seed) % 64;
        uint64_t chunk = i % 4 ? random_size(&seed) : 0;

        if (chunk > 0 && count / chunk >= SPANS_MOST - 1)
            chunk = count / (SPANS_MOST / 2) + 1;
        check(count, chunk, threads);
    }
}

TEST(largest_loops)
{
    const uint64_t edges[] = {UINT64_MAX, UINT64_MAX - 1, INT64_MAX, (uint64_t)INT64_MAX + 1};

    for (size_t count = 0; count < 4; count++)
        for (size_t chunk = 0; chunk < 4; chunk++)
            for (uint64_t threads = 1; threads <= 64; threads++) {
                check(edges[count], edges[chunk], threads);
                check(edges[count], 0, threads);
                check(edges[count], edges[chunk] / threads, threads);
                check(edges[count], edges[chunk] / threads + 1, threads);
            }
}
