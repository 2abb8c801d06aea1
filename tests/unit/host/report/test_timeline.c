/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_timeline.c: the file of --trace: tests/tools/trace.jq finds nothing wrong, and all is there.
 * Covers: timeline.c timeline_arrows.c timeline_counters.c timeline_file.c record.c record_events.c
 * recorded_names.c clocks.c regions.c notes.c */
#include "tests/unit/test.h"
#include <stdio.h>
#include <unistd.h>

#include <omprma_private/notes.h>

#include "host/device/kernel_names.h"
#include "tests/unit/core_fixture.h"

enum { DEVICES = 4, QUEUES = 3, ROUNDS = 4, BYTES = 3 * CORE_PIECE };

static unsigned char data[DEVICES][QUEUES][BYTES], back[DEVICES][QUEUES][BYTES];

static char file[] = "/tmp/omprma-trace-XXXXXX";

/* What jq prints. */
static void assert_jq_of(const char *path, const char *program, const char *wanted)
{
    char command[1024], got[1024] = "";
    FILE *pipe;
    size_t bytes;

    snprintf(command, sizeof(command), "jq -r %s %s 2>&1", program, path);
    pipe = popen(command, "r"); /* NOLINT(cert-env33-c) */
    assert_non_null(pipe);
    bytes = fread(got, 1, sizeof(got) - 1, pipe);
    got[bytes] = '\0';
    assert_string_equal(got, wanted);
    assert_int_equal(pclose(pipe), 0);
}

static void assert_jq(const char *program, const char *wanted)
{
    assert_jq_of(file, program, wanted);
}

static void assert_sound(void)
{
    const char *source = getenv("SOURCE_DIR");
    char program[512];

    snprintf(program, sizeof(program), "-f %s/tests/tools/trace.jq", source ? source : ".");
    assert_jq(program, "");
}

static void start(const struct core_options *options)
{
    struct core_options put = *options;

    put.exchange = EXCHANGE_PUT; /* else the measurement decides whose part it is */
    setenv("OMPRMA_TRACE", file, 1);
    core_start(&put);
    unsetenv("OMPRMA_TRACE");
}

static void noted(void *count, omprma_status_t status)
{
    assert_int_equal(status, OMPRMA_OK);
    ++*(int *)count;
}

/* Who knows that a queue is idle begins another region. */
static void make_regions_of_data(omprma_queue_t *queue, omprma_addr_t there)
{
    for (int i = 0; i < 2; i++) {
        bool done = false;

        assert_ok(omprma_retrieve(queue, data[0][0], there, BYTES));
        while (!done)
            assert_ok(omprma_queue_query(queue, &done));
    }
    assert_ok(omprma_retrieve(queue, data[0][0], there, BYTES));
    assert_ok(omprma_queue_synchronize(queue));
}

static int begin(void **state)
{
    int descriptor = mkstemp(file);

    (void)state;
    return descriptor < 0 || close(descriptor) != 0;
}

static int end(void **state)
{
    (void)state;
    return unlink(file);
}

TEST_GROUP(begin, end)

TEST(tell_of_all_devices_and_queues)
{
    omprma_queue_t *queue[DEVICES][QUEUES];
    omprma_addr_t there[DEVICES][QUEUES];
    omprma_event_t *event;
    char numbers[64];
    int notes = 0;

    snprintf(numbers, sizeof(numbers), "%s.json", file);
    setenv("OMPRMA_STATS_FILE", numbers, 1);
    start(&(struct core_options){.workers = 2, .devices = 2, .lanes = 2});
    unsetenv("OMPRMA_STATS_FILE");
    event = core_event();
    for (int d = 0; d < DEVICES; d++)
        for (int q = 0; q < QUEUES; q++) {
            queue[d][q] = core_queue(d);
            there[d][q] = core_alloc(d, BYTES);
            memset(data[d][q], 1, BYTES);
        }
    make_regions_of_data(queue[0][0], there[0][0]);
    for (int round = 0; round < ROUNDS; round++) {
        core_hold(0); /* else a queue that is idle between two calls begins another region */
        core_hold(1);
        for (int q = 0; q < QUEUES; q++)
            for (int d = 0; d < DEVICES; d++) { /* they overlap */
                uint64_t bytes = q == 0 ? 8 : BYTES;

                assert_ok(omprma_submit(queue[d][q], there[d][q], data[d][q], bytes));
                assert_ok(launch(queue[d][q], KERNEL(kernel_add), there[d][q], bytes, 1));
                /* into memory that no submit still reads, for whose end it would have to wait */
                assert_ok(omprma_retrieve(queue[d][q], back[d][q], there[d][q], bytes));
            }
        assert_ok(omprma_event_record(event, queue[0][0]));
        assert_ok(omprma_event_wait(event, queue[3][1]));
        assert_ok(omprma_exchange(queue[3][1], there[3][1], 0, there[0][2], BYTES));
        assert_ok(omprma_queue_notify(queue[1][0], noted, &notes));
        core_release(0);
        core_release(1);
        for (int d = 0; d < DEVICES; d++)
            for (int q = 0; q < QUEUES; q++) {
                assert_ok(omprma_queue_synchronize(queue[d][q]));
                memcpy(data[d][q], back[d][q], q == 0 ? 8 : BYTES);
            }
    }
    assert_int_equal(notes, ROUNDS);
    omprma_note_wait(true);
    omprma_note_wait(false);
    omprma_note_repeated(2);
    omprma_note_repeated(1);
    omprma_note_graph(5, 4, 100);
    assert_all(data[2][2], BYTES, 1 + ROUNDS);
    omprma_event_destroy(event);
    for (int d = 0; d < DEVICES; d++)
        for (int q = 0; q < QUEUES; q++)
            assert_ok(omprma_queue_destroy(queue[d][q]));
    core_stop();
    assert_sound();
    assert_jq("'[.traceEvents[] | select(.cat == \"kernel\") | .pid] | group_by(.) | map(length) "
              "| join(\" \")'",
              "12 12 12 12\n");
    assert_jq("'[.traceEvents[] | select(.cat == \"region\" and .args.launches == 1)] | length'",
              "48\n");
    assert_jq("'[.traceEvents[] | select(.cat == \"region\" and .name == \"data\")] | length'",
              "3\n");
    assert_jq("'[.traceEvents[] | select(.cat == \"transfer\") | .name] | group_by(.) "
              "| map(\"\\(.[0]) \\(length)\") | join(\" \")'",
              "exchange 4 retrieve 51 submit 48\n");
    assert_jq("'[.traceEvents[] | select(.name == \"exchange\") | .args.with] | unique[]'", "0\n");
    assert_jq_of(numbers, "'[.devices[].received] | join(\" \")'", "4 0 0 0\n");
    assert_jq_of(numbers, "'\"\\(.repeated) \\(.placed | tojson)\"'",
                 "3 {\"regions\":5,\"longest_chain\":4,\"least_bytes\":100}\n");
    assert_jq_of(numbers, "'.critical_path | .kernels > 0 and .kernels_us > 0'", "true\n");
    unlink(numbers);
    assert_jq("'[.traceEvents[] | select(.name == \"submit\") | .args.bytes] | add'", "6291584\n");
    assert_jq("'[.traceEvents[] | select(.cat == \"host\") | .name] | unique[]'",
              "wait for ?\nwait for data\n");
    assert_jq("'[.traceEvents[] | select(.args.message_bytes) | .pid] | unique | length'", "4\n");
    assert_jq(
        "'[.traceEvents[] | select(.ph == \"C\") | \"\\(.pid) \\(.name)\"] | unique | length'",
        "12\n");
    assert_jq(
        "'[.traceEvents[] | select(.name == \"bytes under way\") | .args.value] | max >= 65536'",
        "true\n");
}

/* From the exchange to who waits for it, and none to who waits for a kernel. */
TEST(arrows_where_data_comes_from)
{
    omprma_queue_t *queue[2];
    omprma_addr_t there[2];
    omprma_event_t *event;

    start(&(struct core_options){.workers = 2});
    event = core_event();
    for (int d = 0; d < 2; d++) {
        queue[d] = core_queue(d);
        there[d] = core_alloc(d, BYTES);
    }
    for (int way = 0; way < 2; way++) {
        core_hold(0);
        assert_ok(launch(queue[0], KERNEL(kernel_nap), 1, 0, 0));
        if (way == 0)
            assert_ok(omprma_exchange(queue[0], there[0], 1, there[1], BYTES));
        assert_ok(omprma_event_record(event, queue[0]));
        assert_ok(omprma_event_wait(event, queue[1]));
        assert_ok(launch(queue[1], KERNEL(kernel_nap), 1, 0, 0));
        core_release(0);
        for (int d = 0; d < 2; d++)
            assert_ok(omprma_queue_synchronize(queue[d]));
    }
    omprma_event_destroy(event);
    core_stop();
    assert_sound();
    assert_jq("'[.traceEvents[] | select(.ph == \"s\" or .ph == \"f\") | \"\\(.ph)\\(.pid)\"] "
              "| join(\" \")'",
              "s2 f3\n");
}

/* A queue that nobody synchronizes: a region ends where it is idle behind a launch. */
TEST(part_regions_by_launches)
{
    omprma_queue_t *queue;
    omprma_event_t *event;

    start(&(struct core_options){.workers = 1});
    queue = core_queue(0);
    event = core_event();
    for (int i = 0; i < 3; i++) {
        assert_ok(launch(queue, KERNEL(kernel_nap), 1, 0, 0));
        assert_ok(launch(queue, KERNEL(kernel_nap), 1, 0, 0));
        assert_ok(omprma_event_record(event, queue));
        assert_ok(omprma_event_synchronize(event));
    }
    omprma_event_destroy(event);
    core_stop();
    assert_sound();
    assert_jq("'[.traceEvents[] | select(.cat == \"region\") | .args.launches] | join(\" \")'",
              "2 2 2\n");
}

/* A kernel of the worker's own moves data: it is no launch of the program, and names no region. */
TEST(kernels_of_the_worker_are_data)
{
    struct image_record *record = calloc(1, sizeof(*record));
    omprma_symbol_t own = {.name = "__omprma_own", .address = KERNEL(kernel_nap)};
    omprma_queue_t *queue;

    start(&(struct core_options){.workers = 1});
    assert_ok(kernel_names_add(record, &own));
    record->next = core_device(0)->images;
    core_device(0)->images = record;
    queue = core_queue(0);
    assert_ok(launch(queue, own.address, 1, 0, 0));
    assert_ok(omprma_queue_synchronize(queue));
    assert_ok(omprma_queue_destroy(queue));
    core_stop();
    assert_sound();
    assert_jq("'[.traceEvents[] | select(.cat == \"region\") | \"\\(.name) \\(.args.launches)\"] "
              "| join(\" \")'",
              "data null\n");
}

/* What fails is there, too, and what was left behind. */
TEST(tell_of_failures)
{
    omprma_queue_t *queue;
    omprma_addr_t there;
    unsigned char byte = 0;

    start(&(struct core_options){.workers = 1});
    queue = core_queue(0);
    there = core_alloc(0, 8);
    assert_ok(omprma_retrieve(queue, &byte, UINT64_C(1) << 50, 1));
    assert_ok(launch(queue, KERNEL(kernel_count), there, 0, 0));
    assert_int_not_equal(omprma_queue_synchronize(queue), OMPRMA_OK);
    assert_ok(launch(queue, KERNEL(kernel_count), there, 0, 0));
    core_stop();
    assert_sound();
    assert_jq("'[.traceEvents[] | select(.args.failed) | .cat] | unique | join(\" \")'",
              "kernel region transfer\n");
}

/* By its own name. */
TEST(tell_by_which_path)
{
    omprma_queue_t *queue;
    omprma_addr_t from, to[2];

    start(&(struct core_options){.workers = 2, .devices = 2});
    queue = core_queue(0);
    from = core_alloc(0, BYTES);
    to[0] = core_alloc(1, BYTES); /* of the same worker */
    to[1] = core_alloc(2, BYTES);
    for (int rma = 0; rma < 2; rma++) {
        core_choose(0, 512, rma);
        assert_ok(omprma_submit(queue, from, data[0][0], BYTES));
        assert_ok(omprma_retrieve(queue, back[0][0], from, 8));
    }
    assert_ok(omprma_exchange(queue, from, 1, to[0], BYTES));
    for (enum config_exchange way = EXCHANGE_PUT; way < EXCHANGE_WAYS; way++) {
        core_exchange_by(way);
        assert_ok(omprma_exchange(queue, from, 2, to[1], BYTES));
    }
    assert_ok(omprma_queue_synchronize(queue));
    core_end();
    assert_sound();
    assert_jq("'[.traceEvents[] | select(.name == \"submit\") | .args.path] | unique[]'",
              "rma\ntwo-sided\n");
    assert_jq("'[.traceEvents[] | select(.name == \"retrieve\") | .args.path] | unique[]'",
              "inline\nrma\n"); /* the latter: pieces through the application */
    assert_jq("'[.traceEvents[] | select(.name == \"exchange\") | .args.path] | unique | "
              "join(\" \")'",
              "application copy get put send\n");
}

/* ---- data that comes late ---- */

static omprma_queue_t *late;
static omprma_status_t (*test)(struct datapath *path, struct transfer *transfer, bool *done);

/* Not before the command of the retrieve has ended, as that of a small one may. */
static omprma_status_t test_late(struct datapath *path, struct transfer *transfer, bool *done)
{
    return operation_is_command(late->first) ? OMPRMA_OK : test(path, transfer, done);
}

TEST(a_retrieve_ends_with_its_data)
{
    omprma_addr_t there;

    start(&(struct core_options){.workers = 1});
    late = core_queue(0);
    there = core_alloc(0, CORE_DIRECT);
    core_choose(0, 0, false);
    test = runtime_get()->two_sided->test;
    runtime_get()->two_sided->test = test_late;
    assert_ok(omprma_retrieve(late, back[0][0], there, CORE_DIRECT));
    assert_ok(omprma_queue_synchronize(late));
    runtime_get()->two_sided->test = test;
    core_end();
    assert_sound();
    assert_jq("'[.traceEvents[] | select(.name == \"send\" or .name == \"retrieve\")] | "
              "sort_by(.ts + .dur) | map(\"\\(.cat) \\(.name) \\(.args.bytes)\") | .[]'",
              "command send null\ntransfer retrieve 4096\n");
}

/* Of a long run: as many as are kept, and those before are counted. */
TEST(keep_the_last_ones)
{
    omprma_queue_t *queue;
    omprma_addr_t there;
    char wanted[64];

    start(&(struct core_options){.workers = 1});
    queue = core_queue(0);
    there = core_alloc(0, 8);
    for (int i = 0; i < RECORDING_SPANS + 1000; i++) {
        assert_ok(launch(queue, KERNEL(kernel_count), there, 0, 0));
        if (i % 1000 == 999)
            assert_ok(omprma_queue_synchronize(queue));
    }
    assert_ok(omprma_submit(queue, there, data[0][0], 8));
    assert_ok(omprma_queue_synchronize(queue));
    core_stop();
    snprintf(wanted, sizeof(wanted), "%d true\n", RECORDING_SPANS);
    assert_jq("'[([.traceEvents[] | select(.ph == \"X\" and .cat != \"host\")] | length), "
              "(.otherData[\"earlier spans that are not kept\"] | tonumber > 1000)] | join(\" \")'",
              wanted);
    assert_jq("'[.traceEvents[] | select(.cat == \"transfer\") | .name] | join(\" \")'",
              "submit\n");
}

CORE_TEST(write_nothing_without_being_asked, 1)
{
    assert_null(runtime_get()->recorder);
}
