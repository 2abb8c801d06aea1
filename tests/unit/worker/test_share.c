/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_share.c: tests share.c for all small numbers of ranks and slots.
 * Covers: worker/share.c */
#include <string.h>

#include "tests/unit/test.h"
#include "worker/share.h"

enum { MOST = 24 };

struct counts {
    int of_rank[MOST], of_slot[MOST], all;
};

/* Each rank asks; what it gets makes sense by itself. */
static struct counts ask_all(bool split, int size, int slots)
{
    struct counts counts = {0};
    for (int rank = 0; rank < size; rank++) {
        const struct share_wish wish = {.split = split, .rank = rank, .size = size, .slots = slots};
        int given[MOST], count = share_slots(&wish, given);
        assert_true(count >= 1);
        assert_true(count <= slots);
        for (int i = 0; i < count; i++) {
            assert_in_range(given[i], 0, slots - 1);
            assert_true(i == 0 || given[i] > given[i - 1]);
            counts.of_slot[given[i]]++;
        }
        counts.of_rank[rank] = count;
        counts.all += count;
        assert_int_equal(share_is_split(&wish), split);
    }
    return counts;
}

static void expect_even(const int *values, int count)
{
    int least = values[0], most = values[0];
    for (int i = 1; i < count; i++) {
        least = values[i] < least ? values[i] : least;
        most = values[i] > most ? values[i] : most;
    }
    assert_true(most - least <= 1);
}

TEST(split_gives_even_parts_and_uses_every_slot)
{
    for (int size = 1; size <= MOST; size++)
        for (int slots = 1; slots <= MOST; slots++) {
            struct counts counts = ask_all(true, size, slots);
            expect_even(counts.of_rank, size);
            expect_even(counts.of_slot, slots);
            /* No slot has two ranks while another has none, and no rank has two of a few. */
            assert_int_equal(counts.all, size > slots ? size : slots);
        }
}

/* Those of other hosts are for a program whose host has none, and where no launcher has brought
 * programs there. */
TEST(other_hosts_help_out)
{
    for (int slots = 0; slots <= MOST; slots++) {
        const struct share_wish told = {.split = true, .rank = 1, .size = 2, .slots = slots};
        const struct share_wish alone = {.split = true, .rank = -1, .size = -1, .slots = slots};
        int given[MOST];
        assert_int_equal(share_reaches_far(&told), slots == 0);
        assert_true(share_reaches_far(&alone));
        assert_int_equal(share_slots(&alone, given), slots);
    }
    const struct share_wish none = {.split = true, .rank = 1, .size = 2, .slots = 0};
    assert_int_equal(share_slots(&none, NULL), 0);
    assert_int_equal(share_processes(&none), 2);
}

TEST(all_gives_all)
{
    for (int size = 1; size <= MOST; size++)
        for (int slots = 1; slots <= MOST; slots++)
            assert_int_equal(ask_all(false, size, slots).all, size * slots);
}

TEST(what_is_not_told_gives_all)
{
    static const int bad[][2] = {{-1, -1}, {-1, 4}, {4, 4}, {0, 0}, {5, 4}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        const struct share_wish wish = {
            .split = true, .rank = bad[i][0], .size = bad[i][1], .slots = 3};
        int given[3];
        assert_false(share_is_split(&wish));
        assert_int_equal(share_slots(&wish, given), 3);
        assert_int_equal(share_processes(&wish), 0);
    }
}

TEST(processes_are_programs_and_their_workers)
{
    for (int split = 0; split <= 1; split++)
        for (int size = 1; size <= MOST; size++)
            for (int slots = 1; slots <= MOST; slots++) {
                const struct share_wish wish = {
                    .split = split, .rank = size - 1, .size = size, .slots = slots};
                assert_int_equal(share_processes(&wish), size + ask_all(split, size, slots).all);
            }
}
