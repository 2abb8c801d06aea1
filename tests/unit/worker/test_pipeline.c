/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_pipeline.c: commands of a queue begin and end as their device allows, and each is answered
 * once. The device is the test itself, and so is the channel.
 * Covers: pipeline.c worker/command.c
 */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "worker/command.h"
#include "worker/worker.h"

enum { QUEUE = 3, MOST = 16 };

static struct {
    struct server server;
    struct worker_device device;
    struct channel channel;
    struct session *session;
    uint32_t serial, op;
    struct channel_message *message; /* that is being written */

    _Alignas(16) char memory[64]; /* staging memory of the device */
    bool arrives;                 /* a transfer that is under way */

    enum backend_step says;          /* what the device says when something begins */
    bool crashes;                    /* while a kernel runs */
    struct backend_job *begun[MOST]; /* by the device, in this order */
    int begins;
    uint32_t done[MOST], failed[MOST]; /* operations that were answered */
    int dones, fails;
} it;

/* ---- the channel ---- */

static omprma_status_t take_answers(struct channel *channel, struct channel_message *message)
{
    struct wire_reader reader;
    struct wire_record record;

    assert_int_equal(wire_open(&reader, message->data, message->bytes), OMPRMA_OK);
    while (wire_next(&reader, &record))
        if (record.code == WIRE_DONE)
            it.done[it.dones++] = record.op;
        else if (record.code == WIRE_FAILED)
            it.failed[it.fails++] = record.op;
    channel_drop(channel, message);
    return OMPRMA_OK;
}

static const struct channel_ops channel_ops = {.send = take_answers};

/* ---- the path ---- */

static omprma_status_t transfer_start(struct datapath *path, struct transfer *transfer)
{
    (void)path, (void)transfer;
    return OMPRMA_OK;
}

static omprma_status_t transfer_test(struct datapath *path, struct transfer *transfer, bool *done)
{
    (void)path, (void)transfer;
    *done = it.arrives;
    return OMPRMA_OK;
}

static struct datapath path = {.one_sided = true, .start = transfer_start, .test = transfer_test};

/* ---- the device ---- */

static enum backend_step begin(struct backend_job *job)
{
    it.begun[it.begins++] = job;
    return it.says;
}

static enum backend_step copy(struct worker_device *device, struct backend_job *job,
                              const struct backend_copy *what)
{
    (void)device, (void)what;
    return begin(job);
}

static enum backend_step fill(struct worker_device *device, struct backend_job *job,
                              const struct backend_fill *what)
{
    (void)device, (void)what;
    return begin(job);
}

/* The lock may be released here, and then others may find that the device is lost. */
static enum backend_step launch(struct worker_device *device, struct backend_job *job,
                                const struct backend_launch *what)
{
    (void)what;
    if (it.crashes) {
        device->lost = true;
        stream_lose_device(it.session, device, "the kernel has crashed");
    }
    return begin(job);
}

static const char *fault(struct worker_device *device)
{
    return device->lost ? "the kernel has crashed" : NULL;
}

static bool poll(struct worker_device *device, struct backend_job *job)
{
    (void)device, (void)job;
    return false;
}

static const struct backend one_by_one = {
    .name = "test", .copy = copy, .fill = fill, .launch = launch, .fault = fault};
static const struct backend in_order = {.name = "test",
                                        .copy = copy,
                                        .fill = fill,
                                        .launch = launch,
                                        .fault = fault,
                                        .poll = poll,
                                        .keeps_order = true};

static void start(const struct backend *backend)
{
    memset(&it, 0, sizeof(it));
    it.channel.ops = &channel_ops;
    it.device.backend = backend;
    it.device.server = &it.server;
    it.server.channel = &it.channel;
    it.server.devices = &it.device;
    it.server.device_count = 1;
    it.server.one_sided = &path;
    it.device.staging = it.memory;
    it.device.staging_bytes = sizeof(it.memory);
    assert_int_equal(session_open(&it.server, &it.session), OMPRMA_OK);
    it.server.session = it.session;
    it.says = BACKEND_PENDING;
}

static void stop(void)
{
    session_close(it.session);
    while (it.channel.spare) {
        struct channel_message *message = it.channel.spare;

        it.channel.spare = message->next;
        free(message);
    }
}

/* ---- commands ---- */

static void add_to(uint16_t device, uint16_t code, uint16_t flags, uint64_t word2, uint64_t word3)
{
    static const uint64_t tail;
    const struct wire_record record = {
        .code = code,
        .flags = flags,
        .device = device,
        .queue = QUEUE,
        .op = ++it.op,
        .word = {(uint64_t)(uintptr_t)it.memory, 0, word2, word3},
        .tail = &tail,
        .tail_bytes = code == WIRE_WRITE ? 8 : 0,
    };
    struct wire_buffer buffer;

    if (!it.message)
        it.message = channel_take(&it.channel);
    assert_non_null(it.message);
    buffer = channel_buffer(it.message);
    assert_non_null(wire_append(&buffer, &record));
    it.message->bytes = buffer.used;
}

static void add(uint16_t code, uint16_t flags, uint64_t word2, uint64_t word3)
{
    add_to(0, code, flags, word2, word3);
}

static void look(void)
{
    stream_progress(it.session);
    if (it.session->out)
        assert_int_equal(reply_flush(it.session), OMPRMA_OK);
}

static void send_all(void)
{
    struct wire_buffer buffer = channel_buffer(it.message);
    struct channel_message *message = it.message;

    it.message = NULL;
    wire_seal(&buffer, WIRE_COMMANDS, ++it.serial, 0, false);
    assert_int_equal(stream_accept(it.session, message), OMPRMA_OK);
    if (it.session->out)
        assert_int_equal(reply_flush(it.session), OMPRMA_OK);
}

/* ---- tests ---- */

/* Of the device or of the worker, and not of both. */
TEST(each_code_has_a_row)
{
    struct worker_device device = {0};
    const struct stream own = {0}, other = {.device = &device};
    const struct command_kind *misplaced = command_kind_of(&own, WIRE_WRITE);

    for (unsigned code = WIRE_WRITE; code < WIRE_COMMAND_END; code++) {
        bool here = command_kind_of(&own, code) != misplaced;

        assert_true(here != (command_kind_of(&other, code) != misplaced));
        assert_non_null(command_kind_of(here ? &own : &other, code)->begin);
    }
}

TEST(a_device_without_order_gets_one_at_a_time)
{
    start(&one_by_one);
    for (int i = 0; i < 3; i++)
        add(WIRE_WRITE, WIRE_REPLY, 0, 0);
    send_all();
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(it.begins, i);
        look(); /* the device will say when it is done */
        assert_int_equal(it.begins, i);
        backend_end(it.begun[i - 1], OMPRMA_OK);
        look();
        assert_int_equal(it.dones, i);
        assert_int_equal(it.done[i - 1], i);
    }
    stop();
}

TEST(a_device_that_keeps_order_gets_all)
{
    start(&in_order);
    add(WIRE_WRITE, 0, 0, 0);
    add(WIRE_LAUNCH, 0, 0, 0);
    add(WIRE_FILL, WIRE_REPLY, 4, 100);
    add(WIRE_FILL, WIRE_REPLY, 4, 4 * COMMAND_PIECE); /* is several jobs */
    add(WIRE_WRITE, 0, 0, 0);
    send_all();
    assert_int_equal(it.begins, 3);
    assert_null(it.begun[0]->behind);
    assert_ptr_equal(it.begun[1]->behind, it.begun[0]);
    assert_ptr_equal(it.begun[2]->behind, it.begun[1]);
    for (int i = 2; i >= 0; i--) { /* they end in their order, whatever is over first */
        assert_int_equal(it.dones, 0);
        it.begun[i]->over = true;
        look();
    }
    assert_int_equal(it.dones, 1);
    assert_int_equal(it.done[0], 3);
    assert_int_equal(it.begins, 4);
    assert_null(it.begun[3]->behind);
    stop();
}

/* Others have their turn between them. */
TEST(a_long_fill_goes_piece_by_piece)
{
    start(&one_by_one);
    it.says = BACKEND_OVER;
    add(WIRE_FILL, WIRE_REPLY, 1, 3 * COMMAND_PIECE);
    add(WIRE_FENCE, WIRE_REPLY, 0, 0);
    send_all();
    for (int i = 1; i < 3; i++) {
        assert_int_equal(it.begins, i);
        assert_int_equal(it.dones, 0);
        look();
    }
    assert_int_equal(it.begins, 3);
    assert_int_equal(it.dones, 2);
    stop();
}

static uint32_t done_op(void)
{
    return stream_find(it.session, 0, QUEUE)->done_op;
}

/* Other queues that wait for a transfer do not take it for done because one behind it has failed.
 */
TEST(a_transfer_outlasts_what_fails_behind_it)
{
    start(&one_by_one);
    add(WIRE_PUT, WIRE_STAGED, 8, 1);
    add(WIRE_PUT, WIRE_STAGED, 0, 1); /* of no bytes */
    add(WIRE_FENCE, WIRE_REPLY, 0, 0);
    send_all();
    assert_int_equal(done_op(), 0);
    it.arrives = true;
    look();
    assert_int_equal(done_op(), 3);
    assert_int_equal(it.dones, 0);
    assert_int_equal(it.fails, 1);
    stop();
}

/* A transfer that somebody waits for ends with those before it, and lets no other begin. */
TEST(a_transfer_that_is_waited_for_ends_with_all)
{
    start(&one_by_one);
    add(WIRE_PUT, WIRE_STAGED, 8, 1);
    add(WIRE_PUT, WIRE_STAGED | WIRE_REPLY, 8, 2); /* of the same bytes */
    send_all();
    look();
    assert_int_equal(it.dones, 0);
    it.arrives = true;
    look();
    assert_int_equal(it.dones, 1);
    assert_int_equal(it.done[0], 2);
    assert_int_equal(done_op(), 2);
    stop();
}

/* Both are refused once, and whoever comes back from the kernel leaves everything as it is. */
static void lose_while_a_kernel_runs(enum backend_step says)
{
    start(&one_by_one);
    it.crashes = true;
    it.says = says;
    add(WIRE_LAUNCH, WIRE_REPLY, 0, 0);
    add(WIRE_WRITE, WIRE_REPLY, 0, 0);
    send_all();
    look();
    look();
    assert_int_equal(it.begins, 1);
    assert_int_equal(it.dones, 0);
    assert_int_equal(it.fails, 2);
    assert_int_equal(it.failed[0], 1);
    assert_int_equal(it.failed[1], 2);
    assert_null(stream_find(it.session, 0, QUEUE)->behind);
    stop();
}

TEST(a_device_is_lost_while_its_kernel_runs)
{
    lose_while_a_kernel_runs(BACKEND_OVER);
    lose_while_a_kernel_runs(BACKEND_PENDING);
}

/* Its end is said by a thread that did not learn of the loss. */
TEST(a_job_of_a_lost_device_may_still_end)
{
    start(&one_by_one);
    add(WIRE_LAUNCH, WIRE_REPLY, 0, 0);
    send_all();
    it.device.lost = true;
    stream_lose_device(it.session, &it.device, "the kernel has crashed");
    backend_end(it.begun[0], OMPRMA_OK);
    look();
    if (it.session->out)
        assert_int_equal(reply_flush(it.session), OMPRMA_OK);
    assert_int_equal(it.dones, 0);
    assert_int_equal(it.fails, 1);
    stop();
}

/* Nothing is counted for a device that there is not. */
TEST(a_write_to_no_device_ends_the_connection)
{
    start(&one_by_one);
    add_to(WIRE_NO_DEVICE, WIRE_WRITE, 0, 0, 0);
    send_all();
    assert_int_equal(it.server.broken, OMPRMA_ERR_PROTOCOL);
    assert_non_null(strstr(it.server.broken_text, "a command that needs a device names none"));
    stop();
}
