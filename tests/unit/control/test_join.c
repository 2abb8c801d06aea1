/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_join.c: what follows from the roles of all processes: who is the head, places on hosts, and
 * whether workers must do without each other.
 * Covers: join.c */
#include <stdio.h>
#include <string.h>

#include "tests/unit/test.h"
#include "control/join.h"

enum { MOST = 8 };

static struct join_role roles[MOST];
static struct join_answer answers[MOST];

/* One letter per process: its host, capital for a head. Everybody hears the same in common. */
static void decide(const char *hosts, int star)
{
    int size = (int)strlen(hosts);

    memset(answers, 0xee, sizeof(answers));
    for (int i = 0; i < size; i++) {
        roles[i] = (struct join_role){.version = 7, .is_head = hosts[i] < 'a'};
        roles[i].star = roles[i].is_head && star;
        snprintf(roles[i].host, sizeof(roles[i].host), "host-%c", hosts[i] | 0x20);
    }
    join_decide(roles, size, answers);
    for (int i = 1; i < size; i++) {
        assert_int_equal(answers[i].verdict, answers[0].verdict);
        assert_int_equal(answers[i].heads, answers[0].heads);
        assert_int_equal(answers[i].head, answers[0].head);
        assert_int_equal(answers[i].star, answers[0].star);
    }
}

static void expect_place(int rank, int index, int workers, int processes)
{
    assert_int_equal(answers[rank].local_index, index);
    assert_int_equal(answers[rank].local_workers, workers);
    assert_int_equal(answers[rank].local_processes, processes);
}

TEST(places)
{
    decide("Aaabbc", 0);
    assert_int_equal(answers[0].verdict, JOIN_GOES);
    assert_int_equal(answers[0].head, 0);
    expect_place(0, 0, 2, 3);
    expect_place(1, 0, 2, 3);
    expect_place(2, 1, 2, 3);
    expect_place(3, 0, 2, 2);
    expect_place(4, 1, 2, 2);
    expect_place(5, 0, 1, 1);
    decide("babaBa", 0); /* hosts take turns, the head stands between */
    assert_int_equal(answers[0].head, 4);
    expect_place(0, 0, 2, 3);
    expect_place(1, 0, 3, 3);
    expect_place(2, 1, 2, 3);
    expect_place(3, 1, 3, 3);
    expect_place(5, 2, 3, 3);
}

TEST(heads)
{
    decide("Aa", 0);
    assert_int_equal(answers[0].verdict, JOIN_GOES);
    decide("AA", 0);
    assert_int_equal(answers[0].verdict, JOIN_HEADS);
    assert_int_equal(answers[0].heads, 2);
    decide("ab", 0);
    assert_int_equal(answers[0].verdict, JOIN_HEADS);
    assert_int_equal(answers[0].heads, 0);
    decide("A", 0);
    assert_int_equal(answers[0].verdict, JOIN_ALONE);
}

TEST(versions)
{
    for (int odd = 0; odd < 3; odd++) {
        decide("Aaa", 0);
        roles[odd].version = 8;
        join_decide(roles, 3, answers);
        assert_int_equal(answers[0].verdict, JOIN_VERSION);
    }
}

/* Workers of one host reach each other, and those beside the head reach whom the head reaches. */
TEST(stars)
{
    static const struct {
        const char *hosts;
        int star;
    } cases[] = {{"Abc", 1}, {"Aabbcc", 1}, {"Aaaa", 0}, {"Abbb", 0}, {"Aab", 0}, {"Aabab", 0}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        decide(cases[i].hosts, 1);
        assert_int_equal(answers[0].star, cases[i].star);
        assert_int_equal(answers[0].verdict, JOIN_GOES);
        decide(cases[i].hosts, 0);
        assert_int_equal(answers[0].star, 0);
    }
    decide("bAc", 1);
    assert_int_equal(answers[0].verdict, JOIN_STAR_RANK);
    decide("bAc", 0);
    assert_int_equal(answers[0].verdict, JOIN_GOES);
    decide("bAb", 1);
    assert_int_equal(answers[0].verdict, JOIN_GOES);
}

/* Hosts as above; the processors of each as bits of a digit. */
static void decide_places(const char *hosts, const char *cpus, struct join_place *seats)
{
    struct join_cpus mine[MOST] = {0};

    decide(hosts, 0);
    for (int i = 0; hosts[i]; i++) {
        mine[i].first = answers[i].first;
        mine[i].is_head = roles[i].is_head;
        mine[i].words[15] = (uint64_t)(cpus[i] - '0');
    }
    memset(seats, 0xee, MOST * sizeof(*seats));
    join_places(mine, (int)strlen(hosts), seats);
}

static void expect_seat(struct join_place seat, int group, int index, int count, int overlaps)
{
    assert_int_equal(seat.group, group);
    assert_int_equal(seat.index, index);
    assert_int_equal(seat.count, count);
    assert_int_equal(seat.overlaps, overlaps);
}

TEST(processors)
{
    struct join_place seats[MOST];

    decide_places("Aaabb", "33333", seats); /* all the same: they divide them */
    expect_seat(seats[1], 1, 0, 2, 0);
    expect_seat(seats[2], 1, 1, 2, 0);
    expect_seat(seats[3], 3, 0, 2, 0);
    expect_seat(seats[4], 3, 1, 2, 0);
    decide_places("Aaaaa", "71214", seats); /* bound apart before, two of them to the same */
    expect_seat(seats[1], 1, 0, 2, 0);
    expect_seat(seats[2], 2, 0, 1, 0);
    expect_seat(seats[3], 1, 1, 2, 0);
    expect_seat(seats[4], 4, 0, 1, 0);
    decide_places("aAaab", "17341", seats); /* the third has one that the first one has */
    expect_seat(seats[0], 0, 0, 1, 1);
    expect_seat(seats[2], 2, 0, 1, 1);
    expect_seat(seats[3], 3, 0, 1, 0);
    expect_seat(seats[4], 4, 0, 1, 0);
}
