/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_lost.c: connections that fail, workers that die, and data that gets lost: an error of that
 * device, and never a hang, be it in a wait, when a queue is destroyed, or at the end.
 * Covers: peer.c core/device.c server.c reply.c worker/worker.c */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "tests/unit/core_fixture.h"
#include "host/report/watchdog.h"

enum { BYTES = 3 * CORE_PIECE, LIMIT_S = 60 };

static unsigned char data[BYTES];

static int be_impatient(void **state)
{
    (void)state;
    alarm(LIMIT_S);
    return 0;
}

static void check_lost(omprma_status_t status, const char *text)
{
    if (status != OMPRMA_ERR_DEVICE_LOST || !strstr(omprma_error(), text))
        fail_msg("%s: %s, not %s", omprma_status_string(status), omprma_error(), text);
}

static void check_well(int number)
{
    omprma_queue_t *queue = core_queue(number);
    omprma_addr_t counter = core_alloc(number, 8);
    uint64_t count = 0;

    assert_ok(omprma_submit(queue, counter, &count, 8));
    assert_ok(launch(queue, KERNEL(kernel_count), counter, 0, 0));
    assert_ok(omprma_retrieve(queue, &count, counter, 8));
    assert_ok(omprma_queue_destroy(queue));
    assert_int_equal(count, 1);
}

static void fail_sends_to(int number)
{
    struct runtime *runtime = runtime_get();

    runtime_lock(runtime);
    null_channel_fail_sends(runtime->channel, number + 1);
    runtime_unlock(runtime);
}

/* Something that needs a message, of several kinds. */
static omprma_status_t use(omprma_queue_t *queue, int how, omprma_addr_t there)
{
    omprma_event_t *event;
    omprma_status_t status;

    if (how == 0)
        return launch(queue, KERNEL(kernel_nap), 1, 0, 0);
    if (how == 1)
        return omprma_submit(queue, there, data, 100);
    if (how == 2)
        return omprma_retrieve(queue, data, there, BYTES);
    if (how == 3)
        return omprma_exchange(queue, there, 1, there, BYTES);
    if (how == 4)
        return omprma_exchange(queue, there, 0, there, 8);
    event = core_event();
    status = launch(queue, KERNEL(kernel_nap), 1, 0, 0);
    if (status == OMPRMA_OK)
        status = omprma_event_record(event, queue);
    if (status == OMPRMA_OK)
        status = omprma_event_synchronize(event);
    omprma_event_destroy(event);
    return status;
}

TEST(a_message_that_cannot_be_sent)
{
    for (int round = 0; round < 12; round++) {
        omprma_queue_t *queue, *other;
        omprma_addr_t there;
        omprma_status_t status;

        core_start(&(struct core_options){.workers = 2});
        core_choose(0, round < 6 ? 0 : 8192, false);
        queue = core_queue(0);
        other = core_queue(0);
        there = core_alloc(0, BYTES);
        assert_ok(launch(other, KERNEL(kernel_nap), 1000, 0, 0));
        assert_ok(omprma_queue_flush(other)); /* under way when the connection fails */
        fail_sends_to(0);
        status = use(queue, round % 6, there);
        if (status == OMPRMA_OK)
            status = omprma_queue_synchronize(queue);
        else
            omprma_queue_synchronize(queue);
        check_lost(status, "device 0 (here): sending a control message");
        check_lost(launch(queue, KERNEL(kernel_nap), 1, 0, 0), "device 0 (here)");
        check_lost(omprma_queue_destroy(queue), "device 0 (here)");
        check_lost(omprma_queue_synchronize(other), "device 0 (here)");
        check_lost(omprma_alloc(0, 20 << 20, &there), "device 0 (here)");
        assert_ok(omprma_queue_destroy(other));
        check_well(1);
        core_let_go(0);
        core_stop();
    }
}

CORE_TEST(nothing_can_be_received, 2)
{
    omprma_queue_t *queue = core_queue(0);
    struct runtime *runtime;

    assert_ok(launch(queue, KERNEL(kernel_nap), 1000, 0, 0));
    runtime = runtime_get();
    runtime_lock(runtime);
    null_channel_fail_receives(runtime->channel);
    runtime_unlock(runtime);
    check_lost(omprma_queue_synchronize(queue), "device 0 (here): receiving a control message");
    assert_ok(omprma_queue_destroy(queue));
    queue = core_queue(1);
    check_lost(launch(queue, KERNEL(kernel_nap), 1, 0, 0), "device 1 (here): receiving");
    check_lost(omprma_queue_destroy(queue), "device 1 (here)");
    core_let_go(0);
    core_let_go(1);
}

/* One end of an exchange was told, the other cannot be: the one that waits gives it up. */
TEST(half_an_exchange)
{
    for (int source = 0; source < 2; source++) {
        omprma_queue_t *queue, *spare;
        omprma_addr_t from, to;

        core_start(&(struct core_options){.workers = 2});
        queue = core_queue(source);
        spare = core_queue(1 - source);
        from = core_alloc(source, BYTES);
        to = core_alloc(1 - source, BYTES);
        core_exchange_by(EXCHANGE_SEND);
        assert_ok(omprma_exchange(queue, from, 1 - source, to, BYTES));
        assert_ok(omprma_queue_synchronize(queue));
        fail_sends_to(1);
        assert_ok(omprma_exchange(queue, from, 1 - source, to, BYTES));
        if (source == 0) { /* its worker gives the exchange up and goes on */
            check_lost(omprma_queue_synchronize(queue),
                       "exchange from device 0 to device 1: device 1 (here): sending");
            assert_ok(launch(queue, KERNEL(kernel_nap), 1, 0, 0));
            assert_ok(omprma_queue_destroy(queue));
            check_lost(omprma_queue_destroy(spare), "device 1 (here)");
        } else {
            check_lost(omprma_queue_synchronize(queue),
                       "exchange from device 1 to device 0: device 1 (here): sending");
            check_lost(launch(queue, KERNEL(kernel_nap), 1, 0, 0), "device 1 (here)");
            check_lost(omprma_queue_destroy(queue), "device 1 (here)");
            assert_ok(omprma_queue_destroy(spare));
        }
        for (int i = 0; i < 3; i++)
            check_well(0);
        core_let_go(1);
        core_stop();
    }
}

/* Data that MPI refuses on this side: the worker waits for the other half. */
TEST(a_two_sided_transfer_that_cannot_start)
{
    for (int out = 0; out < 2; out++) {
        struct runtime *runtime;
        omprma_queue_t *queue;
        omprma_addr_t there;
        omprma_status_t status;

        core_start(&(struct core_options){.workers = 2});
        core_choose(0, 0, false);
        queue = core_queue(0);
        there = core_alloc(0, BYTES);
        runtime = runtime_get();
        runtime_lock(runtime);
        null_path_fail_next(runtime->two_sided);
        runtime_unlock(runtime);
        status = out ? omprma_submit(queue, there, data, BYTES)
                     : omprma_retrieve(queue, data, there, BYTES);
        if (status == OMPRMA_OK)
            status = omprma_queue_synchronize(queue);
        check_lost(status, "device 0 (here): this transfer was to fail");
        omprma_queue_synchronize(queue);
        check_lost(launch(queue, KERNEL(kernel_nap), 1, 0, 0), "device 0 (here): ");
        check_lost(omprma_queue_destroy(queue), "device 0 (here): ");
        check_well(1);
        core_let_go(0);
        core_stop();
    }
}

/* A worker that cannot answer, or not go on with what the other end waits for, ends: and so, with
 * MPI, do all. */
TEST(workers_end)
{
    for (int how = 0; how < 4; how++) {
        omprma_queue_t *queue;
        omprma_addr_t there;

        core_start(&(struct core_options){0});
        core_choose(0, how < 3 ? 8192 : 0, false);
        queue = core_queue(0);
        there = core_alloc(0, BYTES);
        if (how == 0)
            usleep(20000); /* it sleeps */
        core_hold(0);
        if (how < 2)
            null_channel_fail_sends(core.worker[0].server.channel, 0);
        else if (how == 2)
            null_channel_fail_receives(core.worker[0].server.channel);
        else
            null_path_fail_next(core.worker[0].server.two_sided);
        core_release(0);
        assert_ok(omprma_retrieve(queue, data, there, how < 3 ? 100 : BYTES));
        assert_ok(omprma_queue_flush(queue));
        assert_int_equal(core_ended(0), OMPRMA_ERR_MPI);
        fail_sends_to(0);
        omprma_queue_flush(queue);
        launch(queue, KERNEL(kernel_nap), 1, 0, 0);
        check_lost(omprma_queue_destroy(queue), "device 0 (here): sending");
        core_stop();
    }
}

/* What is missing does not come any more: whoever finds it out goes on with nothing. */
TEST(a_message_is_missing)
{
    for (int at_worker = 0; at_worker < 2; at_worker++) {
        omprma_queue_t *queue;
        omprma_status_t status;

        core_start(&(struct core_options){.workers = 2});
        queue = core_queue(0);
        core_hold(0);
        runtime_lock(runtime_get());
        if (at_worker)
            core.worker[0].server.session->in_serial--;
        else
            core_device(0)->peer->received--;
        runtime_unlock(runtime_get());
        core_release(0);
        assert_ok(launch(queue, KERNEL(kernel_nap), 1, 0, 0));
        assert_ok(omprma_queue_flush(queue));
        if (at_worker) {
            assert_int_equal(core_ended(0), OMPRMA_ERR_PROTOCOL);
            fail_sends_to(0);
            omprma_queue_flush(queue);
            launch(queue, KERNEL(kernel_nap), 1, 0, 0);
            check_lost(omprma_queue_destroy(queue), "device 0 (here): sending");
        } else {
            status = omprma_queue_destroy(queue);
            check_lost(status, "device 0 (here): control message");
            check_lost(status, "was due");
            core_let_go(0);
        }
        check_well(1);
        core_stop();
    }
}

/* Those that have been told already have nothing to say to its loss. */
TEST(the_last_one_cannot_be_told_to_exit)
{
    int64_t began = clock_ns();

    core_start(&(struct core_options){.workers = 2});
    fail_sends_to(1);
    core_let_go(1);
    core_stop();
    assert_true(clock_ns() - began < INT64_C(30000000000));
}

/* A worker that looks again says what was wrong at first. */
CORE_TEST(the_first_reason_stays, 1)
{
    struct server *server = &core.worker[0].server;
    bool progressed;

    core_hold(0);
    null_channel_fail_receives(server->channel);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(server_step(server, false, &progressed), OMPRMA_ERR_MPI);
        assert_string_equal(error_text(), "receiving a control message: told to fail, 0 before");
    }
    core_release(0);
    assert_int_equal(core_ended(0), OMPRMA_ERR_MPI);
    fail_sends_to(0);
}

/* The page of the worker's doorbell says that its process is gone, and nobody ends this one. */
TEST(a_worker_that_has_died)
{
    struct shm_address *address;
    struct runtime *runtime;
    omprma_queue_t *queue;
    struct doorbell *own;
    pid_t child;

    address =
        mmap(NULL, sizeof(*address), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(address != MAP_FAILED);
    child = fork();
    if (child == 0) {
        if (doorbell_create(&own, 0, address) == OMPRMA_OK && doorbell_stay(own) == OMPRMA_OK)
            raise(SIGSTOP);
        for (;;)
            pause();
    }
    assert_int_equal(waitpid(child, NULL, WUNTRACED), child);
    core_start(&(struct core_options){0});
    queue = core_queue(0);
    runtime = runtime_get();
    runtime_lock(runtime);
    runtime->bells = calloc(2, sizeof(*runtime->bells));
    runtime->bells[1] = doorbell_open(address, 0);
    assert_non_null(runtime->bells[1]);
    core_device(0)->peer->can_ring = true;
    runtime_unlock(runtime);
    check_well(0);
    assert_int_equal(kill(child, SIGKILL), 0);
    core_hold(0);
    assert_ok(launch(queue, KERNEL(kernel_nap), 1, 0, 0));
    check_lost(omprma_queue_destroy(queue), "has died");
    core_release(0);
    core_let_go(0);
    core_stop();
    waitpid(child, NULL, 0);
    munmap(address, sizeof(*address));
}

/* ---- networks between workers ---- */

enum { TIMEOUT_S = 3 };

/* What device 1 is sent by device 0 gets lost, or not. */
static void lose_data(bool lose)
{
    core_hold(1);
    null_path_hold_data(core.worker[1].server.two_sided, lose);
    core_release(1);
}

static omprma_queue_t *start_sending(omprma_addr_t *from, omprma_addr_t *to)
{
    char text[8];

    snprintf(text, sizeof(text), "%d", TIMEOUT_S);
    setenv("OMPRMA_TIMEOUT", text, 1);
    core_start(&(struct core_options){.workers = 2});
    unsetenv("OMPRMA_TIMEOUT");
    for (int i = 0; i < 2; i++) {
        core_hold(i);
        core.worker[i].server.session->stall_ns = TIMEOUT_S * INT64_C(1000000000);
        core_release(i);
    }
    core_exchange_by(EXCHANGE_SEND);
    *from = core_alloc(0, BYTES);
    *to = core_alloc(1, BYTES);
    return core_queue(0);
}

/* Of little data the sender does not see that it gets lost. */
TEST(data_that_gets_lost)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {
        {BYTES, "device 0 (here) and device 1 (here): no data has moved"},
        {100, "device 0 to device 1: device 1 (here) and device 0 (here): no data has moved"}};

    for (int i = 0; i < 2; i++) {
        omprma_queue_t *queue;
        omprma_addr_t from, to;

        queue = start_sending(&from, &to);
        lose_data(true);
        assert_ok(omprma_exchange(queue, from, 1, to, cases[i].bytes));
        check_lost(omprma_queue_destroy(queue), cases[i].text);
        assert_non_null(strstr(omprma_error(), "OMPRMA_EXCHANGE=application"));
        check_well(1 - i);
        lose_data(false);
        core_let_go(i);
        core_stop();
    }
}

/* Several at once, which tell of themselves in turns. */
TEST(much_data_that_gets_lost)
{
    enum { MANY = 5 };
    omprma_queue_t *queues[MANY];
    omprma_addr_t from, to;

    queues[0] = start_sending(&from, &to);
    for (int i = 1; i < MANY; i++)
        queues[i] = core_queue(0);
    lose_data(true);
    for (int i = 0; i < MANY; i++) {
        assert_ok(omprma_exchange(queues[i], from, 1, to, BYTES));
        assert_ok(omprma_queue_flush(queues[i]));
    }
    for (int i = 0; i < MANY; i++)
        check_lost(omprma_queue_destroy(queues[i]), "device 0 (here) and device 1 (here): no data");
    check_well(1);
    lose_data(false);
    core_let_go(0);
    core_stop();
}

/* What had begun may still go on, so nobody else gets the memory. */
TEST(memory_of_the_other_end_is_kept)
{
    omprma_addr_t from, to, next;
    omprma_queue_t *queue;

    queue = start_sending(&from, &to);
    lose_data(true);
    assert_ok(omprma_exchange(queue, from, 1, to, BYTES));
    check_lost(omprma_queue_destroy(queue), "no data has moved");
    assert_ok(omprma_free(1, to));
    next = core_alloc(1, BYTES);
    assert_true(next + BYTES <= to || to + BYTES <= next);
    assert_int_not_equal(omprma_free(1, to + 1), OMPRMA_OK);
    lose_data(false);
    core_let_go(0);
    core_stop();
}

/* An exchange through the application waits for a small submit to a device that is lost then. */
CORE_TEST(a_destination_that_is_lost, 2)
{
    omprma_queue_t *queue = core_queue(0), *writer = core_queue(1), *other = core_queue(1);
    omprma_addr_t from = core_alloc(0, BYTES), to = core_alloc(1, BYTES);

    core_choose(1, 8192, false);
    core_exchange_by(EXCHANGE_APPLICATION);
    core_hold(1); /* it does not answer */
    assert_ok(omprma_submit(writer, to, data, 8));
    assert_ok(omprma_queue_flush(writer));
    assert_ok(omprma_exchange(queue, from, 1, to, BYTES));
    assert_ok(omprma_queue_flush(queue));
    fail_sends_to(1);
    launch(other, KERNEL(kernel_nap), 1, 0, 0);
    omprma_queue_flush(other);
    check_lost(omprma_queue_synchronize(queue),
               "exchange from device 0 to device 1: device 1 (here)");
    core_release(1);
    check_well(0);
    core_let_go(1);
}

/* The other end waits as long as the kernel before the send takes. */
TEST(kernels_may_be_long)
{
    omprma_queue_t *queue;
    omprma_addr_t from, to;
    struct gate gate;

    queue = start_sending(&from, &to);
    core_close(queue, &gate);
    assert_ok(omprma_exchange(queue, from, 1, to, BYTES));
    assert_ok(omprma_queue_flush(queue));
    for (int i = 0; i < 2 * TIMEOUT_S * 100; i++) {
        check_well(1);
        kernel_nap(10000);
    }
    core_open(&gate);
    core_end();
}

/* Nor does it matter how long the application is away. */
TEST(applications_may_be_away)
{
    omprma_queue_t *queue;
    omprma_addr_t from, to;

    queue = start_sending(&from, &to);
    lose_data(true);
    assert_ok(omprma_exchange(queue, from, 1, to, BYTES));
    assert_ok(omprma_queue_flush(queue));
    kernel_nap(2 * TIMEOUT_S * 1000000 + 500000); /* it was told of three times */
    lose_data(false);
    assert_ok(omprma_queue_destroy(queue));
    check_well(0);
    core_stop();
}

/* Whoever was asked for a sign of life has as long for it as this process was there to see it. */
CORE_TEST(time_without_looks_does_not_count, 1)
{
    const int64_t second = 1000000000;
    struct runtime *runtime;
    const struct peer *peer;
    int64_t now, limit;

    runtime = core_device(0)->runtime;
    peer = core_device(0)->peer;
    limit = runtime->config.timeout_s * second;
    core_hold(0); /* it does not answer */
    runtime_lock(runtime);
    now = clock_ns();
    watchdog_look(runtime, now);
    watchdog_look(runtime, now += limit / 4 + 1); /* asks */
    assert_true(peer->probed_ns == now);
    watchdog_look(runtime, now += 10 * limit);
    assert_false(peer->lost);
    for (int64_t looked = 0; looked <= limit; looked += second / 4) {
        assert_false(peer->lost);
        watchdog_look(runtime, now += second / 4);
    }
    assert_true(peer->lost);
    runtime_unlock(runtime);
    core_release(0);
    core_let_go(0);
}

/* Nobody waits: the program asks now and then, as it does for regions in flight. */
CORE_TEST(silence_is_noticed_by_who_only_asks, 1)
{
    int64_t limit = clock_ns() + 60 * INT64_C(1000000000);
    omprma_queue_t *queue = core_queue(0);
    omprma_event_t *event = core_event();
    omprma_addr_t there = core_alloc(0, 8);
    bool done = false;

    core_device(0)->runtime->config.timeout_s = 1;
    core_hold(0); /* it does not answer */
    assert_ok(omprma_launch(queue, KERNEL(kernel_add), NULL, (uint64_t[]){there, 8, 1}, 3));
    assert_ok(omprma_event_record(event, queue));
    while (!done && clock_ns() < limit) {
        assert_ok(omprma_event_query(event, &done));
        usleep(1000);
    }
    assert_true(done);
    assert_int_equal(omprma_event_synchronize(event), OMPRMA_ERR_DEVICE_LOST);
    assert_non_null(strstr(omprma_error(), "has not answered"));
    omprma_event_destroy(event);
    core_release(0);
    core_let_go(0);
}

TEST_EACH(be_impatient, NULL)
