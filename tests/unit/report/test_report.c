/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_report.c: what went from device to device is said at both ends, and in all; what
 * a run waited for.
 * Covers: src/report/report.c report_json.c */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "report/report.h"

static struct recording *recording;
static char *text;

static void make(int devices)
{
    recording = calloc(1, recording_bytes(devices));
    assert_non_null(recording);
    recording_make(recording, devices);
    recording->device_count = devices;
    recording->end_ns = 1000000000;
}

static const char *said(void (*print)(FILE *out))
{
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    print(out);
    fclose(out);
    return text;
}

static void print_tables(FILE *out)
{
    report_print(recording, false, out);
}

static void print_json(FILE *out)
{
    report_json(recording, out);
}

static void end(void)
{
    free(text);
    free(recording);
}

TEST(what_devices_received)
{
    make(3);
    recording->device[0].given = (struct stats_cell){.operations = 2, .bytes = 1000};
    recording->device[2].given = (struct stats_cell){.operations = 5, .bytes = 24};
    said(print_tables);
    assert_non_null(strstr(text, "received"));
    assert_non_null(strstr(text, "2 times    1000 B"));
    assert_non_null(strstr(text, "between devices: 7 times, 1024 B"));
    free(text);
    said(print_json);
    assert_non_null(strstr(text, "\"received\":5,\"received_bytes\":24,"));
    end();
}

TEST(what_a_run_waited_for)
{
    make(2);
    recording->device[0].stats.launches = 3;
    recording->device[1].stats.launches = 4;
    recording->device[1].given = (struct stats_cell){.operations = 5, .bytes = 24};
    recording->chain = (struct chain){.end_ns = 9, .kernels = 5};
    for (int part = 0; part < CHAIN_PARTS; part++)
        recording->chain.ns[part] = (part + 1) * INT64_C(1000000000);
    recording->graph = (struct recorded_graph){.regions = 7, .longest = 4, .least_bytes = 16};
    said(print_tables);
    assert_non_null(strstr(text, "omprma: critical path: kernels 1.000 s (5 of 7), data 2.000 s, "
                                 "program 3.000 s, messages 4.000 s\n"));
    assert_non_null(strstr(text, "omprma: placed: 7 regions, of which at most 4 depend on"));
    assert_non_null(strstr(text, "between devices: 5 times, 24 B; 16 B if each range stayed"));
    free(text);
    said(print_json);
    assert_non_null(strstr(text, "\"critical_path\":{\"kernels_us\":1000000.000,\"kernels\":5,"));
    assert_non_null(strstr(text, "\"placed\":{\"regions\":7,\"longest_chain\":4,"
                                 "\"least_bytes\":16}"));
    end();
}

TEST(nothing_of_it_where_there_was_nothing)
{
    make(1);
    assert_null(strstr(said(print_tables), "received"));
    assert_null(strstr(text, "between devices"));
    assert_null(strstr(text, "critical path"));
    assert_null(strstr(text, "placed"));
    end();
}
