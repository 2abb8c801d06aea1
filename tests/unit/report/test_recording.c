/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_recording.c: nothing that a run does is more than its recording has room for.
 * Covers: recording.c */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "report/recording.h"

static struct recording *recording;

static void make(void)
{
    recording = calloc(1, recording_bytes(2));
    assert_non_null(recording);
    recording_make(recording, 2);
}

static struct span *open_at(uint32_t slot, enum span_kind kind, int64_t begin_ns, int64_t end_ns)
{
    struct span *span = &recording->open[slot - 1];

    *span = (struct span){.number = ++recording->spans,
                          .kind = kind,
                          .begin_ns = begin_ns,
                          .end_ns = end_ns,
                          .name = recording_text(recording, "data")};
    return span;
}

TEST(rows_add_up)
{
    uint32_t name;

    make();
    name = recording_text(recording, "kernel");
    for (int64_t i = 1; i <= 10; i++)
        recording_count(recording, &(struct span){.name = name,
                                                  .device = 1,
                                                  .begin_ns = 100,
                                                  .end_ns = 100 + i,
                                                  .waited_ns = 1,
                                                  .to = 2,
                                                  .back = 3,
                                                  .failed = i == 4});
    assert_int_equal(recording->rows, 1);
    assert_int_equal(recording_row(recording, name, 1)->count, 10);
    assert_int_equal(recording_row(recording, name, 1)->total_ns, 55);
    assert_int_equal(recording_row(recording, name, 1)->most_ns, 10);
    assert_int_equal(recording_row(recording, name, 1)->waited_ns, 10);
    assert_int_equal(recording_row(recording, name, 1)->to, 20);
    assert_int_equal(recording_row(recording, name, 1)->back, 30);
    assert_int_equal(recording_row(recording, name, 1)->failed, 1);
    free(recording);
}

/* Nine calls of about 1 ms behind one of 100 ms. */
TEST(the_first_call_stands_apart_from_the_median)
{
    const struct recorded_region *row;

    make();
    for (int64_t i = 0; i < 10; i++)
        recording_count(recording,
                        &(struct span){.name = 1,
                                       .begin_ns = i * 1000000000,
                                       .end_ns = i * 1000000000 + (i ? 1000000 + i : 100000000),
                                       .kernel_ns = 7,
                                       .data_ns = 5});
    row = recording_row(recording, 1, 0);
    assert_int_equal(row->first_ns, 100000000);
    assert_in_range(recording_median(row), 950000, 1050000);
    assert_int_equal(row->kernel_ns, 70);
    assert_int_equal(row->data_ns, 50);
    free(recording);
}

TEST(medians_hold_for_any_duration)
{
    struct recorded_region *row;

    make();
    for (uint32_t name = 1; name < 40; name++) {
        int64_t ns = ((int64_t)1 << name) + ((int64_t)1 << name) / 3;

        for (int i = 0; i < 3; i++)
            recording_count(recording,
                            &(struct span){.name = name, .end_ns = i == 1 ? 2 * ns : ns});
        row = recording_row(recording, name, 0);
        assert_in_range(recording_median(row), name < 4 ? 0 : ns * 93 / 100,
                        ns < 20 ? 20 : ns * 107 / 100);
    }
    free(recording);
}

/* Three that were begun together, and one later: never more than the time that has passed. */
TEST(what_overlaps_is_covered_once)
{
    make();
    for (int64_t end = 100; end <= 300; end += 100)
        recording_count(recording, &(struct span){.name = 1, .end_ns = end});
    recording_count(recording, &(struct span){.name = 1, .begin_ns = 400, .end_ns = 450});
    recording_count(recording, &(struct span){.name = 1, .begin_ns = 410, .end_ns = 420});
    assert_int_equal(recording_row(recording, 1, 0)->total_ns, 660);
    assert_int_equal(recording_row(recording, 1, 0)->covered_ns, 350);
    free(recording);
}

/* More regions than the table has lines: all are counted somewhere. */
TEST(a_full_table_counts_on)
{
    uint64_t count = 0;

    make();
    for (uint32_t name = 1; name <= 2 * RECORDING_ROWS; name++)
        recording_count(recording, &(struct span){.name = name, .end_ns = 1});
    for (int i = 0; i < RECORDING_ROWS; i++)
        count += recording->row[i].count;
    assert_int_equal(count, 2 * RECORDING_ROWS);
    assert_true(recording->row[RECORDING_ROWS - 1].count > 0);
    free(recording);
}

TEST(a_full_pool_of_texts_gives_none)
{
    char text[1024];

    make();
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    for (int i = 0; i < 2 * RECORDING_TEXTS / (int)sizeof(text); i++)
        recording_text(recording, text);
    assert_int_equal(recording_text(recording, text), 0);
    assert_string_equal(recording_words(recording, 0), "?");
    assert_string_equal(recording_words(recording, 1), text);
    free(recording);
}

/* The program was killed: a region, a kernel in it and a thread that waits for both are not over.
 */
TEST(what_is_open_ends_with_the_program)
{
    struct span *region, *part;

    make();
    recording->traces = true;
    region = open_at(1, SPAN_REGION, 1000, 0);
    region->pending = 1;
    part = open_at(2, SPAN_KERNEL, 2000, 0);
    part->slot = 1;
    part->region = region->number;
    region->waits_ns = 3000;
    open_at(4, SPAN_REGION, 1000, 1500); /* it was idle, but nobody asked */
    recording_close(recording, 10000);
    assert_true(recording->cut);
    assert_int_equal(recording->ended, 3);
    for (int i = 0; i < 2; i++) {
        assert_true(recording->ring[i].unended);
        assert_int_equal(recording->ring[i].end_ns, 10000);
    }
    assert_int_equal(recording->ring[0].waited_ns, 7000);
    assert_false(recording->ring[2].unended);
    assert_int_equal(recording->ring[2].end_ns, 1500);
    free(recording);
}

TEST(an_end_in_order_is_no_cut)
{
    make();
    recording->end_ns = 500;
    recording_close(recording, 10000);
    assert_false(recording->cut);
    assert_int_equal(recording->end_ns, 500);
    free(recording);
}
