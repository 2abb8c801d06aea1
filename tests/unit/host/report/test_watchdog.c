/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_watchdog.c: a standstill that nobody is to blame for but omprma is described and ended;
 * kernels, data that moves slowly, programs that do not wait and silent workers are none. Most of
 * it by a clock of the test's own.
 * Covers: watchdog.c describe_queue.c */
#include "tests/unit/test.h"
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "tests/unit/core_fixture.h"
#include "host/queue/incoming.h"
#include "host/report/describe_queue.h"
#include "host/report/watchdog.h"

enum { BYTES = 4 * CORE_PIECE, LOOK_NS = 5000000, LONG_S = 20 };

static unsigned char data[BYTES];
static int ends[2];
static char said[1 << 16]; /* by the log, so far */

/* The number of the operation that was appended last. */
static unsigned long long last(const omprma_queue_t *queue)
{
    return queue->ordinal;
}

/* A hang is an error, too. */
static int begin(void **state)
{
    (void)state;
    alarm(60);
    if (pipe2(ends, O_NONBLOCK))
        return -1;
    log_to(ends[1]);
    said[0] = '\0';
    setenv("OMPRMA_TIMEOUT", "1", 1);
    return 0;
}

static int end(void **state)
{
    (void)state;
    unsetenv("OMPRMA_TIMEOUT");
    log_to(STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    return 0;
}

TEST_EACH(begin, end)

static void hear(void)
{
    size_t used = strlen(said);
    ssize_t bytes = read(ends[0], said + used, sizeof(said) - 1 - used);

    said[used + (bytes > 0 ? (size_t)bytes : 0)] = '\0';
}

static void check_said(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void check_said(const char *format, ...)
{
    char text[400];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    hear();
    if (!strstr(said, text))
        fail_msg("\"%s\" is not in:\n%s", text, said);
}

static void check_silent(void)
{
    hear();
    assert_string_equal(said, "");
}

static void check_stuck(omprma_status_t status)
{
    if (status != OMPRMA_ERR_STUCK ||
        !strstr(omprma_error(), "nothing has moved for 1 s although no kernel runs: this is a "
                                "defect of omprma or of MPI"))
        fail_msg("%s: %s", omprma_status_string(status), omprma_error());
}

static bool all_have_answered(const struct runtime *runtime)
{
    for (int rank = 1; rank < runtime->world.size; rank++)
        if ((int32_t)(runtime->peers[rank]->acked - runtime->peers[rank]->question) < 0)
            return false;
    return true;
}

/* Somebody waits for so long, by the clock of the test. `answers`: all workers take part. */
static void pass(double seconds, bool answers)
{
    struct runtime *runtime = runtime_get();

    for (int64_t left = (int64_t)(seconds * 1e9); left > 0; left -= LOOK_NS) {
        runtime_lock(runtime);
        incoming_look(runtime);
        watchdog_wait(runtime, LOOK_NS);
        while (answers && !all_have_answered(runtime)) {
            incoming_look(runtime);
            runtime_unlock(runtime);
            sched_yield();
            runtime_lock(runtime);
        }
        runtime_unlock(runtime);
    }
}

static void hold(omprma_queue_t *queue, bool held)
{
    runtime_lock(queue->device->runtime);
    queue->held = held;
    runtime_unlock(queue->device->runtime);
}

/* ---- it is told ---- */

CORE_TEST(who_waits_gets_an_error, 1)
{
    omprma_queue_t *queue = core_queue(0);
    omprma_addr_t counter = core_alloc(0, 8);
    uint64_t count = 0;

    assert_ok(omprma_submit(queue, counter, &count, 8));
    assert_ok(omprma_queue_synchronize(queue));
    hold(queue, true);
    assert_ok(launch(queue, KERNEL(kernel_count), counter, 0, 0));
    check_stuck(omprma_queue_synchronize(queue));
    check_said(
        "omprma: error: nothing has moved for 1 s although no kernel runs; what waits for what:\n");
    check_said("device 0 (here), queue %u: operation %llu, launch of 0x%llx, not issued, waits for "
               "the other half of its exchange\n",
               queue->number, last(queue), (unsigned long long)KERNEL(kernel_count));
    hold(queue, false); /* and the queue is as good as new */
    assert_ok(launch(queue, KERNEL(kernel_count), counter, 0, 0));
    assert_ok(omprma_retrieve(queue, &count, counter, 8));
    assert_ok(omprma_queue_destroy(queue));
    assert_int_equal(count, 1);
}

/* Who only asks learns of it as well. */
CORE_TEST(who_asks_gets_an_error, 1)
{
    omprma_queue_t *queue = core_queue(0);
    bool done = false;

    hold(queue, true);
    assert_ok(launch(queue, KERNEL(kernel_nap), 1, 0, 0));
    while (!done) {
        assert_ok(omprma_queue_query(queue, &done));
        kernel_nap(1000);
    }
    check_stuck(omprma_queue_synchronize(queue));
    hold(queue, false);
}

/* Each queue that somebody wants something of, and what it waits for; no other. */
CORE_TEST(chains_are_named, 2)
{
    omprma_queue_t *stuck = core_queue(0), *behind = core_queue(1), *other = core_queue(0);
    omprma_event_t *event = core_event();
    omprma_addr_t there = core_alloc(1, BYTES);
    char none[64];

    core_choose(1, 0, true);
    hold(stuck, true);
    assert_ok(launch(stuck, KERNEL(kernel_nap), 1, 0, 0));
    assert_ok(omprma_event_record(event, stuck));
    assert_ok(omprma_event_wait(event, behind));
    assert_ok(omprma_retrieve(behind, data, there, BYTES));
    assert_ok(omprma_queue_flush(behind));
    assert_ok(launch(other, KERNEL(kernel_nap), 1, 0, 0)); /* nobody has asked for it */
    pass(3, true);
    check_said("device 1 (here), queue %u: operation %llu, wait, issued, waits for device 0, queue "
               "%u, operation %llu, launch of 0x%llx (not issued)\n",
               behind->number, last(behind) - 1, stuck->number, last(stuck),
               (unsigned long long)KERNEL(kernel_nap));
    check_said("device 1 (here), queue %u: operation %llu, get of 262144 bytes at 0x%llx, not "
               "issued, waits for its turn behind operation %llu\n",
               behind->number, last(behind), (unsigned long long)there, last(behind) - 1);
    snprintf(none, sizeof(none), "device 0 (here), queue %u", other->number);
    assert_null(strstr(said, none));
    check_stuck(omprma_queue_synchronize(stuck));
    check_stuck(omprma_queue_synchronize(behind));
    assert_ok(omprma_queue_destroy(other));
    hold(stuck, false);
    omprma_event_destroy(event);
}

/* Data that this side moves, and what must not pass it. */
CORE_TEST(data_that_stands_still, 1)
{
    omprma_queue_t *queue = core_queue(0);
    omprma_addr_t there = core_alloc(0, BYTES);

    core_choose(0, 0, true);
    null_path_stop_peer(runtime_get()->one_sided, 1);
    assert_ok(omprma_submit(queue, there, data, BYTES));
    assert_ok(launch(queue, KERNEL(kernel_nap), 1, 0, 0));
    assert_ok(omprma_queue_flush(queue));
    pass(3, true);
    check_said("operation %llu, put of 262144 bytes at 0x%llx, issued, waits for its data, 0 of "
               "262144 bytes have moved\n",
               last(queue) - 1, (unsigned long long)there);
    check_said("operation %llu, launch of 0x%llx, not issued, waits for device 0, queue %u, "
               "operation %llu, put of 262144 bytes at 0x%llx (issued)\n",
               last(queue), (unsigned long long)KERNEL(kernel_nap), queue->number, last(queue) - 1,
               (unsigned long long)there);
    check_stuck(omprma_queue_synchronize(queue));
    assert_true(core_device(0)->memory->keeps);
    null_path_stop_peer(runtime_get()->one_sided, -1);
}

/* Half of a two-sided transfer, while the worker waits for it. */
CORE_TEST(data_that_does_not_come, 1)
{
    omprma_queue_t *queue = core_queue(0);
    omprma_addr_t there = core_alloc(0, BYTES);

    core_choose(0, 0, false);
    core_hold(0);
    null_path_hold_data(core.worker[0].server.two_sided, true);
    core_release(0);
    assert_ok(omprma_submit(queue, there, data, BYTES));
    check_stuck(omprma_queue_synchronize(queue));
    check_said(
        "operation %llu, two-sided transfer of 262144 bytes at 0x%llx, issued, waits for its "
        "data, 0 of 262144 bytes have moved, and the worker's half\n",
        last(queue), (unsigned long long)there);
}

/* A result that the worker owes. */
CORE_TEST(a_worker_that_forgets, 1)
{
    omprma_queue_t *queue = core_queue(0);

    assert_ok(launch(queue, KERNEL(kernel_nap), 1, 0, 0));
    assert_ok(omprma_queue_synchronize(queue));
    runtime_lock(queue->device->runtime);
    queue->asked += 1; /* as if the next one had been asked for */
    runtime_unlock(queue->device->runtime);
    assert_ok(launch(queue, KERNEL(kernel_nap), 1, 0, 0));
    check_stuck(omprma_queue_synchronize(queue));
    check_said(", issued, waits for a result of the worker, which was asked for\n");
}

/* Without a standstill, and without an end of it. */
CORE_TEST(a_queue_can_be_described_at_any_time, 1)
{
    omprma_queue_t *queue = core_queue(0);

    runtime_lock(queue->device->runtime);
    assert_int_equal(describe_queue(queue), 0);
    runtime_unlock(queue->device->runtime);
    check_silent();
    hold(queue, true);
    for (int i = 0; i < 6; i++)
        assert_ok(launch(queue, KERNEL(kernel_nap), 1, 0, 0));
    runtime_lock(queue->device->runtime);
    assert_int_equal(describe_queue(queue), 4); /* the first three, and the last one */
    runtime_unlock(queue->device->runtime);
    check_said("operation %llu, launch of 0x%llx, not issued, waits for the other half of its "
               "exchange\n",
               last(queue) - 5, (unsigned long long)KERNEL(kernel_nap));
    check_said("operation %llu, launch of 0x%llx, not issued, waits for its turn behind operation "
               "%llu\n",
               last(queue), (unsigned long long)KERNEL(kernel_nap), last(queue) - 5);
    hold(queue, false);
    assert_ok(omprma_queue_destroy(queue));
}

/* ---- it is none ---- */

TEST(kernels_take_their_time)
{
    static const struct core_options options[] = {
        {.lanes = 1}, {.lanes = 2}, {.devices = 2, .lanes = 1}};

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        omprma_queue_t *queue, *waits;
        struct gate gate;

        core_start(&options[i]);
        queue = core_queue(0);
        waits = core_queue(0);
        core_close(queue, &gate);
        assert_ok(launch(waits, KERNEL(kernel_nap), 1, 0, 0));
        assert_ok(omprma_queue_flush(waits));
        pass(LONG_S, true);
        core_open(&gate);
        assert_ok(omprma_queue_destroy(queue));
        assert_ok(omprma_queue_destroy(waits));
        check_silent();
        core_stop();
    }
}

static void note_hold(omprma_hold_t *held, void *data_of, omprma_status_t status)
{
    assert_int_equal(status, OMPRMA_OK);
    *(omprma_hold_t **)data_of = held;
}

CORE_TEST(the_program_may_hold_a_queue, 1)
{
    omprma_queue_t *queue = core_queue(0);
    omprma_hold_t *held = NULL;

    assert_ok(omprma_queue_hold(queue, note_hold, &held));
    assert_ok(launch(queue, KERNEL(kernel_nap), 1, 0, 0));
    assert_ok(omprma_queue_flush(queue));
    pass(LONG_S, true);
    check_silent();
    omprma_hold_end(held);
    assert_ok(omprma_queue_destroy(queue));
}

CORE_TEST(a_long_kernel_is_waited_for, 1)
{
    omprma_queue_t *queue = core_queue(0);

    assert_ok(launch(queue, KERNEL(kernel_nap), 2500000, 0, 0));
    assert_ok(omprma_queue_destroy(queue));
    check_silent();
}

/* A program that has ended says what it waits for. */
TEST(the_end_says_what_it_waits_for)
{
    omprma_queue_t *queue;

    core_start(&(struct core_options){0});
    queue = core_queue(0);
    assert_ok(launch(queue, KERNEL(kernel_nap), 2500000, 0, 0));
    assert_ok(omprma_queue_flush(queue));
    core_stop();
    check_said("the program has come to its end, and waits for kernels that still run");
    check_said(", launch of");
    assert_null(strstr(strstr(said, "come to its end") + 1, "come to its end"));
    said[0] = '\0';
}

/* A worker that was told to exit is asked for nothing more, however long it takes: it would not
 * read that. */
TEST(who_exits_is_not_asked)
{
    struct runtime *runtime;
    struct peer *peer;
    uint32_t last_serial;

    core_start(&(struct core_options){.workers = 2});
    runtime = runtime_get();
    runtime_lock(runtime);
    peer = core_device(1)->peer;
    peer_exit(peer);
    last_serial = peer->sent;
    for (int64_t later = 1; later < 1000000000; later += 100000000)
        peer_watch(peer, clock_ns() + later, 0, 1000000000);
    runtime_unlock(runtime);
    pass(LONG_S, false);
    assert_int_equal(peer->sent, last_serial);
    peer->lost = true; /* it has exited already */
    core_stop();
    check_silent();
}

/* Data between workers that does not move is for them to tell. */
CORE_TEST(workers_exchange, 2)
{
    omprma_queue_t *queue = core_queue(0);
    omprma_addr_t from = core_alloc(0, BYTES), to = core_alloc(1, BYTES);

    core_exchange_by(EXCHANGE_SEND);
    core_hold(1);
    null_path_hold_data(core.worker[1].server.two_sided, true);
    core_release(1);
    assert_ok(omprma_exchange(queue, from, 1, to, BYTES));
    assert_ok(omprma_queue_flush(queue));
    pass(LONG_S, true);
    core_hold(1);
    null_path_hold_data(core.worker[1].server.two_sided, false);
    core_release(1);
    assert_ok(omprma_queue_destroy(queue));
    check_silent();
}

/* A piece now and then. */
CORE_TEST(slow_data, 1, .delay = CORE_NO_DELAY)
{
    struct datapath *path;
    omprma_queue_t *queue;
    omprma_addr_t there;

    core_choose(0, 0, true);
    path = runtime_get()->one_sided;
    queue = core_queue(0);
    there = core_alloc(0, BYTES);
    null_path_stop_peer(path, 1);
    assert_ok(omprma_submit(queue, there, data, BYTES));
    for (int pieces = 1; pieces < BYTES / CORE_PIECE; pieces++) {
        pass(0.9, true);
        null_path_stop_peer(path, -1);
        pass(LOOK_NS / 1e9, true);
        assert_int_equal(queue->first->move.transfer.completed, pieces * CORE_PIECE);
        null_path_stop_peer(path, 1);
    }
    null_path_stop_peer(path, -1);
    assert_ok(omprma_queue_destroy(queue));
    check_silent();
}

CORE_TEST(silent_workers, 2)
{
    omprma_queue_t *queue = core_queue(0);

    core_hold(1);
    assert_ok(launch(queue, KERNEL(kernel_nap), 1, 0, 0));
    hold(queue, true);
    assert_ok(omprma_queue_flush(queue));
    pass(LONG_S, false);
    check_silent();
    core_release(1);
    hold(queue, false);
    assert_ok(omprma_queue_destroy(queue));
}

CORE_TEST(nobody_waits, 1)
{
    omprma_queue_t *queue = core_queue(0);
    bool done;

    hold(queue, true);
    assert_ok(launch(queue, KERNEL(kernel_nap), 1, 0, 0));
    for (int i = 0; i < 40; i++) { /* long enough, if the time between counted */
        assert_ok(omprma_queue_query(queue, &done));
        assert_false(done);
        kernel_nap(50000);
    }
    check_silent();
    hold(queue, false);
    assert_ok(omprma_queue_destroy(queue));
}

/* What was appended and neither flushed nor asked for is not stuck. */
CORE_TEST(nobody_wants_anything, 1)
{
    omprma_queue_t *queue = core_queue(0), *sent = core_queue(0);

    assert_ok(launch(queue, KERNEL(kernel_nap), 1, 0, 0));
    assert_ok(launch(sent, KERNEL(kernel_nap), 1, 0, 0));
    assert_ok(omprma_queue_flush(sent));
    pass(LONG_S, true);
    assert_ok(omprma_queue_destroy(queue));
    assert_ok(omprma_queue_destroy(sent));
    check_silent();
}

TEST(without_a_limit)
{
    omprma_queue_t *queue;

    setenv("OMPRMA_TIMEOUT", "0", 1);
    core_start(&(struct core_options){0});
    queue = core_queue(0);
    hold(queue, true);
    assert_ok(launch(queue, KERNEL(kernel_nap), 1, 0, 0));
    assert_ok(omprma_queue_flush(queue));
    pass(LONG_S, false);
    check_silent();
    hold(queue, false);
    core_end();
}
