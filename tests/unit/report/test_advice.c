/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_advice.c: what is said follows from the numbers, and nothing is said of what costs little.
 * Covers: advice.c */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "report/advice.h"

static struct recording *recording;
static char *text;
static size_t text_bytes;

/* A run of one second. */
static void make(int devices)
{
    recording = calloc(1, recording_bytes(2));
    assert_non_null(recording);
    recording_make(recording, 2);
    recording->device_count = devices;
    recording->end_ns = 1000000000;
}

static struct recorded_region *region(uint64_t count, int64_t kernel_ns, int64_t data_ns)
{
    uint32_t name = recording_text(recording, "kernel");
    struct recorded_region *row = recording_row(recording, name, 0);

    row->count = count;
    row->kernel_ns = kernel_ns;
    row->data_ns = data_ns;
    return row;
}

static const char *said(void)
{
    FILE *out = open_memstream(&text, &text_bytes);

    advice_print(recording, out);
    fclose(out);
    return text;
}

static void end(void)
{
    free(text);
    free(recording);
}

TEST(data_that_moves_again_and_again)
{
    make(1);
    region(20, 100000000, 300000000)->to = 1 << 30;
    assert_non_null(strstr(said(), "20 calls moved 1024 MiB in 0.300 s"));
    end();
}

TEST(nothing_of_what_costs_little)
{
    make(1);
    region(20, 10000000, 30000000);
    assert_string_equal(said(), "");
    end();
}

TEST(nothing_where_kernels_take_the_time)
{
    make(1);
    region(20, 500000000, 300000000);
    assert_string_equal(said(), "");
    end();
}

TEST(many_short_kernels)
{
    make(1);
    region(10000, 10000000, 0)->waited_ns = 300000000;
    assert_non_null(strstr(said(), "a kernel of 1.0 us was waited for 30.0 us, 10000 times"));
    end();
}

TEST(a_first_call_that_takes_long)
{
    struct recorded_region *row;

    make(1);
    row = region(3, 0, 0);
    row->first_ns = row->most_ns = 400000000;
    row->durations[100] = 3;
    assert_non_null(strstr(said(), "the first call took 400.0 ms"));
    end();
}

TEST(devices_that_do_little)
{
    make(2);
    recording->device[0].kernel_ns = 500000000;
    assert_non_null(strstr(said(), "device 1 ran nothing"));
    free(text);
    recording->device[1].kernel_ns = 100000000;
    recording->device[1].stats.launches = 1;
    assert_non_null(strstr(said(), "device 0 was in kernels for 0.500 s, device 1 for 0.100"));
    free(text);
    recording->device[1].kernel_ns = 400000000;
    assert_string_equal(said(), "");
    end();
}
