/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_path.c: which path takes which hop, and which one is given to it; and a path that only this
 * file knows is ordered, named, counted, failed and abandoned as the others are.
 * Covers: path.c inline.c two_sided.c */
#include "tests/unit/test.h"
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "tests/unit/core_fixture.h"
#include "host/path/path.h"
#include "host/queue/append.h"

enum { BYTES = 4 * CORE_PIECE, PIECE = CORE_PIECE };

static unsigned char data[BYTES], back[BYTES];

/* ---- a path of our own: it copies, for the worker's memory is here, too ---- */

static struct {
    bool stops; /* before the next piece */
    bool fails; /* at its start */
    int begun, abandoned;
} path;

static bool takes(const struct hop *hop)
{
    return hop_is_of_program(hop);
}

static const struct path_ops made_up;

static omprma_status_t append(const struct hop *hop, struct operation **operation)
{
    struct transfer transfer = hop_transfer(hop, 0);

    return queue_append_transfer(hop->queue, &made_up, &transfer, operation);
}

static omprma_status_t start(struct operation *move)
{
    path.begun++;
    move->move.transfer.completed = 0;
    return path.fails ? error_set(OMPRMA_ERR_MPI, "the made-up path is out of order") : OMPRMA_OK;
}

static omprma_status_t progress(struct operation *move, bool *done)
{
    struct transfer *t = &move->move.transfer;
    char *here = (char *)t->local + t->completed;
    char *there = (char *)(uintptr_t)t->remote + t->completed;

    if (!path.stops) {
        memcpy(move->fills_host ? here : there, move->fills_host ? there : here, PIECE);
        t->completed += PIECE;
    }
    *done = t->completed == t->bytes;
    return OMPRMA_OK;
}

static void abandon(struct operation *move)
{
    (void)move;
    path.abandoned++;
}

static const struct path_ops made_up = {
    .name = "made up",
    .path = PATH_RMA,
    .moves = {"made-up submit", "made-up retrieve"},
    .takes = takes,
    .append = append,
    .start = start,
    .progress = progress,
    .abandon = abandon,
};

/* Returns a reference. */
static struct operation *append_made_up(omprma_queue_t *queue, bool submit, omprma_addr_t there,
                                        void *host)
{
    struct hop hop = hop_of_program(queue, submit, there, host, BYTES, true);
    struct operation *operation;

    assert_true(path_pick(&made_up, &hop) == &made_up);
    assert_ok(made_up.append(&hop, &operation));
    return operation_hold(operation);
}

static omprma_queue_t *queue;
static omprma_addr_t there;

static void begin(void)
{
    memset(&path, 0, sizeof(path));
    core_start(&(struct core_options){.workers = 2});
    core_choose(0, 0, true);
    queue = core_queue(0);
    there = core_alloc(0, BYTES);
}

static void let_go(struct operation *operation)
{
    operation_drop(&runtime_get()->operations, operation);
}

static int be_impatient(void **state)
{
    (void)state;
    alarm(60);
    return 0;
}

TEST_GROUP(be_impatient, NULL)

TEST(what_is_behind_follows_it)
{
    struct operation *submit, *retrieve;

    begin();
    core_count();
    memset(data, 7, BYTES);
    path.stops = true;
    runtime_lock(runtime_get());
    submit = append_made_up(queue, true, there, data);
    assert_string_equal(operation_name(submit), "made-up submit");
    runtime_unlock(runtime_get());
    assert_ok(launch(queue, KERNEL(kernel_add), there, BYTES, 2));
    assert_ok(omprma_queue_flush(queue));
    runtime_lock(runtime_get());
    queue_advance(queue);
    assert_int_equal(submit->state, OPERATION_ISSUED);
    assert_int_equal(queue->last->state, OPERATION_APPENDED); /* the launch */
    path.stops = false;
    retrieve = append_made_up(queue, false, there, back);
    assert_string_equal(operation_name(retrieve), "made-up retrieve");
    runtime_unlock(runtime_get());
    assert_ok(omprma_queue_synchronize(queue));
    assert_all(back, BYTES, 9);
    assert_true(operation_has_ended(submit) && operation_has_ended(retrieve));
    assert_int_equal(path.begun, 2);
    assert_int_equal(path.abandoned, 0);
    for (enum data_kind kind = DATA_SUBMIT; kind <= DATA_RETRIEVE; kind++) {
        const struct stats_cell *cell = &stats_of(runtime_get(), 0)->cell[kind][PATH_RMA];

        assert_int_equal(cell->operations, 1);
        assert_int_equal(cell->bytes, BYTES);
    }
    runtime_lock(runtime_get());
    let_go(submit);
    let_go(retrieve);
    runtime_unlock(runtime_get());
    core_end();
}

TEST(it_may_fail)
{
    struct operation *submit;

    begin();
    path.fails = true;
    runtime_lock(runtime_get());
    submit = append_made_up(queue, true, there, data);
    runtime_unlock(runtime_get());
    assert_ok(launch(queue, KERNEL(kernel_nap), 1, 0, 0));
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_MPI);
    assert_string_equal(omprma_error(), "the made-up path is out of order");
    assert_true(operation_has_ended(submit));
    assert_int_equal(path.abandoned, 0); /* nothing was under way */
    runtime_lock(runtime_get());
    let_go(submit);
    runtime_unlock(runtime_get());
    core_end();
}

TEST(a_lost_worker_leaves_it)
{
    struct operation *submit;

    begin();
    path.stops = true;
    runtime_lock(runtime_get());
    submit = append_made_up(queue, true, there, data);
    queue_advance(queue);
    assert_int_equal(submit->state, OPERATION_ISSUED);
    peer_lose(core_device(0)->peer, "gone");
    assert_int_equal(path.abandoned, 1);
    assert_true(operation_has_ended(submit));
    let_go(submit);
    runtime_unlock(runtime_get());
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_DEVICE_LOST);
    core_let_go(0);
    core_stop();
}

/* By its own name. */
TEST(the_trace_tells_of_it)
{
    char file[] = "/tmp/omprma-trace-XXXXXX", line[4096];
    int descriptor = mkstemp(file), found = 0;
    FILE *trace;

    assert_true(descriptor >= 0);
    setenv("OMPRMA_TRACE", file, 1);
    begin();
    unsetenv("OMPRMA_TRACE");
    runtime_lock(runtime_get());
    let_go(append_made_up(queue, true, there, data));
    let_go(append_made_up(queue, false, there, back));
    runtime_unlock(runtime_get());
    core_end();
    close(descriptor); /* of an older file */
    trace = fopen(file, "r");
    assert_non_null(trace);
    while (fgets(line, sizeof(line), trace))
        if (strstr(line, "\"path\":\"made up\",\"bytes\":262144"))
            found += strstr(line, "\"name\":\"submit\"") ? 1 : 10;
    assert_int_equal(found, 11);
    fclose(trace);
    unlink(file);
}

/* ---- a transfer with a command ---- */

/* Neither leaves while the message may not, and the transfer begins when it has. */
TEST(two_sided_begins_with_its_command)
{
    struct operation *command, *move;

    begin();
    core_choose(0, 0, false);
    runtime_lock(runtime_get());
    queue->held = true;
    runtime_unlock(runtime_get());
    assert_ok(omprma_submit(queue, there, data, BYTES));
    runtime_lock(runtime_get());
    command = operation_hold(queue->first);
    move = operation_hold(command->next);
    assert_int_equal(command->kind, OPERATION_COMMAND);
    assert_true(move == queue->last && move->move.command == command);
    assert_string_equal(operation_name(move), "two-sided transfer");
    assert_int_equal(move->state, OPERATION_APPENDED);
    assert_int_equal(move->start_ns, 0);
    queue->held = false;
    queue_advance(queue);
    assert_int_equal(command->state, OPERATION_ISSUED);
    assert_true(move->start_ns != 0);
    runtime_unlock(runtime_get());
    assert_ok(omprma_queue_synchronize(queue));
    runtime_lock(runtime_get());
    assert_true(operation_has_ended(command) && operation_has_ended(move));
    let_go(command);
    let_go(move);
    runtime_unlock(runtime_get());
    core_end();
}

/* What the worker is told behind it joins its message. */
TEST(commands_join_the_message_of_a_transfer)
{
    struct hop hop;
    struct operation *command, *launched;

    begin();
    runtime_lock(runtime_get());
    hop = hop_of_program(queue, true, there, data, BYTES, true);
    assert_ok(path_two_sided.append(&hop, &command));
    runtime_unlock(runtime_get());
    assert_ok(launch(queue, KERNEL(kernel_nap), 1, 0, 0));
    runtime_lock(runtime_get());
    launched = queue->last;
    assert_true(launched->message == command->message);
    assert_true(launched->prev->move.command == command);
    runtime_unlock(runtime_get());
    core_end();
}

/* ---- what takes what ---- */

static const struct path_ops *const all[] = {&path_inline, &path_put_get, &path_two_sided,
                                             &path_staged, &path_copy,    &path_put,
                                             &path_get,    &path_send,    &path_application};

/* Exactly the paths of the list, which ends with NULL. */
static void check_takes(const struct hop *hop, const struct path_ops *const *wanted)
{
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        bool found = false;

        for (size_t k = 0; wanted[k]; k++)
            found |= wanted[k] == all[i];
        if (all[i]->takes(hop) != found)
            fail_msg("%s %s the hop", all[i]->name, found ? "does not take" : "takes");
        assert_true(path_pick(all[i], hop)->takes(hop));
        if (found)
            assert_true(path_pick(all[i], hop) == all[i]);
    }
}

#define CHECK_TAKES(hop, ...) check_takes(hop, (const struct path_ops *const[]){__VA_ARGS__, NULL})

TEST(every_hop_has_its_paths)
{
    struct hop hop;
    struct device *device, *other;
    uint32_t count;

    begin();
    device = core_device(0);
    other = core_device(1);
    hop = hop_of_program(queue, true, there, data, BYTES, true);
    CHECK_TAKES(&hop, &path_put_get, &path_two_sided);
    hop.bytes = 8;
    CHECK_TAKES(&hop, &path_inline, &path_put_get, &path_two_sided);
    hop.to.arena = false;
    CHECK_TAKES(&hop, &path_inline, &path_two_sided);
    hop.bytes = BYTES;
    CHECK_TAKES(&hop, &path_two_sided);
    runtime_lock(runtime_get()); /* as if the device could not be touched */
    count = (uint32_t)device->staging.count;
    device->staging.count = 1;
    CHECK_TAKES(&hop, &path_staged);
    hop.to.staged = hop.to.arena = true;
    CHECK_TAKES(&hop, &path_put_get, &path_two_sided);
    device->staging.count = (int)count;
    runtime_unlock(runtime_get());
    hop = (struct hop){.queue = queue,
                       .from = {.device = device, .at = there, .arena = true},
                       .to = {.device = other, .at = there, .arena = true},
                       .bytes = BYTES};
    CHECK_TAKES(&hop, &path_put, &path_get, &path_send, &path_application);
    hop.from.arena = false;
    CHECK_TAKES(&hop, &path_send, &path_application);
    hop.to.device = device;
    CHECK_TAKES(&hop, &path_copy);
    core_end();
}

static const char *picked(bool submit, uint64_t bytes, bool arena, bool stays)
{
    struct hop hop = hop_of_program(queue, submit, there, data, bytes, arena);

    hop.stays = stays;
    return path_pick(NULL, &hop)->name;
}

/* A small submit whose source may be used again leaves in a message where the table says nothing
 * better. */
TEST(the_table_says_which_path_is_taken)
{
    enum { LITTLE = 64 };
    struct device *device;

    begin();
    device = core_device(0);
    core_choose(0, LITTLE, true);
    runtime_lock(runtime_get());
    assert_string_equal(picked(true, LITTLE, true, false), "inline");
    assert_string_equal(picked(true, LITTLE, true, true), "rma");
    assert_string_equal(picked(true, LITTLE + 1, true, false), "rma");
    assert_string_equal(picked(false, LITTLE, true, false), "inline");
    assert_string_equal(picked(false, LITTLE + 1, true, false), "rma");
    assert_string_equal(picked(true, OMPRMA_COPIED_SUBMIT, false, false), "inline");
    assert_string_equal(picked(true, BYTES, false, false), "two-sided");
    device->paths.inline_retrieve_fused = BYTES; /* nothing is in the message yet */
    assert_string_equal(picked(false, LITTLE + 1, true, false), "rma");
    runtime_unlock(runtime_get());
    core_choose(0, LITTLE, false);
    runtime_lock(runtime_get());
    assert_string_equal(picked(true, BYTES, true, false), "two-sided");
    assert_string_equal(picked(true, OMPRMA_COPIED_SUBMIT, true, false), "inline");
    assert_string_equal(picked(true, OMPRMA_COPIED_SUBMIT, true, true), "two-sided");
    assert_string_equal(picked(false, LITTLE + 1, true, false), "two-sided");
    device->staging.count = 1; /* as if the device could not be touched */
    assert_string_equal(picked(true, BYTES, true, false), "staged");
    assert_string_equal(picked(true, OMPRMA_COPIED_SUBMIT, true, false), "inline");
    assert_string_equal(picked(true, LITTLE, true, true), "staged");
    device->staging.count = 0;
    runtime_unlock(runtime_get());
    core_end();
}
