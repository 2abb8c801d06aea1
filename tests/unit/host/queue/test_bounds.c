/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_bounds.c: what a program appends without ever waiting stays bounded, on both sides, and
 * comes to its end all the same.
 * Covers: append.c incoming.c issue.c call.c */
#include <stdio.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "tests/unit/core_fixture.h"

enum {
    LIMIT_S = 60,
    BYTES = 20000,
    EDGE = 300 /* operations before the numbers in messages wrap around */
};

static unsigned char out[BYTES], back[BYTES];

/* A queue just before that edge. */
static omprma_queue_t *old_queue(int device)
{
    omprma_queue_t *queue = core_queue(device);

    core_age(queue, UINT32_MAX - (uint32_t)queue->appended - EDGE);
    return queue;
}

/* As a waiting thread would. Returns how many messages are not known to be executed. */
static uint64_t make_progress(omprma_queue_t *queue)
{
    uint64_t ahead;

    runtime_lock(queue->device->runtime);
    incoming_look(queue->device->runtime);
    ahead = queue->unanswered;
    runtime_unlock(queue->device->runtime);
    return ahead;
}

static uint32_t items_of(omprma_queue_t *queue)
{
    uint32_t items;

    runtime_lock(queue->device->runtime);
    items = queue->entries;
    runtime_unlock(queue->device->runtime);
    return items;
}

/* Messages of a queue that its worker holds. */
static uint64_t held_by_worker(omprma_queue_t *queue)
{
    struct server *server = &core.worker[queue->device->number].server;
    uint64_t held = 0;

    server_lock(server);
    for (const struct channel_message *message =
             stream_find(server->session, 0, queue->number)->first;
         message; message = message->next)
        held++;
    server_unlock(server);
    return held;
}

/* Whether the worker has executed what was sent. */
static bool all_executed(omprma_queue_t *queue)
{
    struct server *server = &core.worker[queue->device->number].server;
    bool executed;

    server_lock(server);
    executed = stream_find(server->session, 0, queue->number)->done_op == (uint32_t)queue->issued;
    server_unlock(server);
    return executed;
}

/* One operation, and its message leaves if it may: a launch, a submit in the message, a two-sided
 * one. */
enum { WAYS = 3 };

static void append(omprma_queue_t *queue, int way, omprma_addr_t there)
{
    if (way == 0)
        assert_ok(launch(queue, KERNEL(kernel_count), there, 0, 0));
    else
        assert_ok(omprma_submit(queue, there + 8, out, way == 1 ? 8 : BYTES));
    assert_ok(omprma_queue_flush(queue));
}

TEST(messages_that_are_not_executed_are_few)
{
    enum { COUNT = QUEUE_SENT_MOST + 60 };

    for (int way = 0; way < WAYS; way++) {
        omprma_queue_t *queue;
        omprma_addr_t there;
        struct gate gate;
        uint64_t count = 0;

        core_start(&(struct core_options){0});
        core_choose(0, 512, false);
        queue = old_queue(0);
        there = core_alloc(0, 8 + BYTES);
        assert_ok(omprma_submit(queue, there, &count, 8));
        core_close(queue, &gate);
        for (int i = 0; i < COUNT; i++) {
            append(queue, way, there);
            assert_in_range(make_progress(queue), 0, QUEUE_SENT_MOST);
        }
        while (held_by_worker(queue) < QUEUE_SENT_MOST) /* and not fewer than may be */
            make_progress(queue);
        for (int i = 0; i < 100; i++) {
            assert_in_range(make_progress(queue), 0, QUEUE_SENT_MOST);
            assert_in_range(held_by_worker(queue), 0, QUEUE_SENT_MOST);
        }
        core_open(&gate);
        assert_ok(omprma_retrieve(queue, &count, there, 8));
        assert_ok(omprma_queue_synchronize(queue));
        assert_int_equal(count, way == 0 ? COUNT : 0);
        assert_int_equal(make_progress(queue), 0);
        core_end();
    }
}

/* Nobody waits for the results that tell how far the worker is. */
CORE_TEST(small_submits_are_not_waited_for, 1)
{
    omprma_queue_t *queue = core_queue(0);
    omprma_addr_t there = core_alloc(0, 8);

    core_choose(0, 512, true);
    core_hold(0); /* the worker answers nothing */
    for (int i = 0; i < QUEUE_MARK_MESSAGES + 10; i++) {
        assert_ok(omprma_submit(queue, there, out, 8));
        assert_ok(omprma_queue_synchronize(queue));
    }
    core_release(0);
}

/* Of one construct with many parts the first ones leave before the last ones come. */
CORE_TEST(full_messages_leave_meanwhile, 1)
{
    enum { PARTS = 2000 }; /* of a few messages */
    omprma_queue_t *queue = core_queue(0);
    omprma_addr_t there = core_alloc(0, 64);

    core_choose(0, 512, true);
    for (int i = 0; i < PARTS; i++)
        assert_ok(omprma_submit(queue, there, out, 64));
    assert_in_range(queue->appended - queue->issued, 1, PARTS / 2);
    assert_in_range(items_of(queue), 1, 4);
    assert_ok(omprma_queue_synchronize(queue));
}

/* ---- who holds back has asked ---- */

/* The result that was asked for gives back less than has left since. */
TEST(a_result_that_is_not_enough)
{
    struct limits limits = limits_usual;
    omprma_queue_t *queue;
    omprma_addr_t there;
    struct gate gate;

    limits.unknown = 4;
    limits.mark_commands = 1;
    core_start(&(struct core_options){.limits = &limits});
    core_choose(0, 512, true);
    queue = core_queue(0);
    there = core_alloc(0, 16);
    core_close(queue, &gate);
    for (int i = 0; i < 20; i++) {
        assert_ok(omprma_submit(queue, there, out, 8));
        if (i % 10 == 9)
            assert_ok(omprma_queue_flush(queue));
    }
    core_open(&gate);
    alarm(LIMIT_S);
    assert_ok(omprma_queue_synchronize(queue));
    alarm(0);
    core_end();
}

static void *synchronize(void *queue)
{
    assert_ok(omprma_queue_synchronize(queue));
    return NULL;
}

/* Behind a message that nobody asks a result of, and that cannot leave yet: the thread that waits
 * has it leave as well. */
TEST(what_others_append_while_one_waits)
{
    struct limits limits = limits_usual;
    omprma_queue_t *queue, *other;
    omprma_addr_t there;
    pthread_t thread;
    bool waits = false;

    limits.window = limits.ask_each = 1;
    core_start(&(struct core_options){.limits = &limits});
    core_choose(0, 512, true);
    queue = core_queue(0);
    other = core_queue(0);
    there = core_alloc(0, 16);
    core_hold(0);
    append(other, 1, there); /* the window is full */
    assert_ok(omprma_submit(queue, there, out, 8));
    assert_int_equal(pthread_create(&thread, NULL, synchronize, queue), 0);
    while (!waits) {
        kernel_nap(1000);
        runtime_lock(runtime_get());
        waits = queue->waiters > 0 && !queue->open;
        runtime_unlock(runtime_get());
    }
    assert_ok(launch(queue, KERNEL(kernel_count), there, 0, 0));
    core_release(0);
    alarm(LIMIT_S);
    pthread_join(thread, NULL);
    alarm(0);
    core_end();
}

static int refusals; /* that are to come */

static bool refuse_some(struct channel *channel, int peer, uint32_t bytes)
{
    (void)channel;
    assert_int_equal(peer, 1);
    assert_true(bytes > WIRE_HEADER_BYTES);
    return refusals == 0 || --refusals == 0;
}

/* A message for which the channel has no room stays; who waits for it looks again until there is
 * some, of which nobody tells. */
CORE_TEST(what_finds_no_room_leaves_when_there_is_some, 1)
{
    omprma_queue_t *queue = core_queue(0);
    omprma_addr_t there = core_alloc(0, 16);
    static struct channel_ops ops; /* it stays until the core has ended */

    core_choose(0, 512, true);
    ops = *runtime_get()->channel->ops;
    ops.has_room = refuse_some;
    runtime_get()->channel->ops = &ops;
    refusals = 1000;
    append(queue, 0, there);
    append(queue, 1, there);
    assert_int_equal(make_progress(queue), 0);
    alarm(LIMIT_S);
    assert_ok(omprma_queue_synchronize(queue));
    alarm(0);
    assert_int_equal(refusals, 0);
}

/* ---- callers that wait for room ---- */

struct caller {
    pthread_t thread;
    omprma_queue_t *queue;
    omprma_addr_t there;
    int count;
    _Atomic int appended;
    omprma_status_t status;
    char text[256];
};

static void *append_launches(void *data)
{
    struct caller *self = data;

    while (self->status == OMPRMA_OK && self->appended < self->count) {
        self->status = launch(self->queue, KERNEL(kernel_count), self->there, 0, 0);
        if (self->status == OMPRMA_OK) {
            omprma_queue_flush(self->queue);
            self->appended++;
        }
    }
    snprintf(self->text, sizeof(self->text), "%s", omprma_error());
    return NULL;
}

static void start_caller(struct caller *caller, omprma_queue_t *queue, omprma_addr_t there,
                         int count)
{
    *caller = (struct caller){.queue = queue, .there = there, .count = count};
    assert_int_equal(pthread_create(&caller->thread, NULL, append_launches, caller), 0);
}

/* So full that it stays so: as long as messages may leave, a full queue has room again soon. */
static void wait_until_full(omprma_queue_t *queue)
{
    struct runtime *runtime = runtime_get();
    bool full = false;

    while (!full) {
        kernel_nap(1000);
        runtime_lock(runtime);
        full = queue->entries >= QUEUE_ENTRIES_MOST && queue->unanswered >= QUEUE_SENT_MOST;
        runtime_unlock(runtime);
    }
}

/* Others work meanwhile. */
static void check_others(omprma_queue_t *other, omprma_addr_t there)
{
    for (int i = 1; i <= 50; i++) {
        memset(out, i, BYTES);
        assert_ok(omprma_submit(other, there, out, i % 2 ? 100 : BYTES));
        assert_ok(omprma_retrieve(other, back, there, i % 2 ? 100 : BYTES));
        assert_ok(omprma_queue_synchronize(other));
        assert_all(back, i % 2 ? 100 : BYTES, i);
    }
}

TEST(a_full_queue_holds_who_appends)
{
    enum { COUNT = 3000, CALLERS = 3 };

    for (int lanes = 1; lanes <= 3; lanes += 2) {
        omprma_queue_t *queue, *other;
        omprma_addr_t there, other_there;
        struct caller caller[CALLERS];
        struct gate gate;
        uint64_t count = 0;
        int appended = 0;

        core_start(&(struct core_options){.lanes = lanes});
        core_choose(0, 512, lanes == 1);
        queue = old_queue(0);
        other = core_queue(0);
        there = core_alloc(0, 8);
        other_there = core_alloc(0, BYTES);
        assert_ok(omprma_submit(queue, there, &count, 8));
        core_close(queue, &gate);
        for (int i = 0; i < CALLERS; i++)
            start_caller(&caller[i], queue, there, COUNT);
        wait_until_full(queue);
        check_others(other, other_there);
        for (int i = 0; i < CALLERS; i++)
            appended += caller[i].appended;
        /* One of a caller may join a message that another has not flushed yet. */
        assert_in_range(appended, QUEUE_ENTRIES_MOST / 2, QUEUE_SENT_MOST + 2 * QUEUE_ENTRIES_MOST);
        assert_in_range(items_of(queue), QUEUE_ENTRIES_MOST, QUEUE_ENTRIES_MOST + CALLERS);
        core_open(&gate);
        for (int i = 0; i < CALLERS; i++) {
            pthread_join(caller[i].thread, NULL);
            assert_int_equal(caller[i].status, OMPRMA_OK);
        }
        assert_ok(omprma_retrieve(queue, &count, there, 8));
        assert_ok(omprma_queue_synchronize(queue));
        assert_int_equal(count, CALLERS * COUNT);
        core_end();
    }
}

struct broadcaster {
    pthread_t thread;
    omprma_queue_t *queue[2];
    omprma_addr_t there[2];
    unsigned char data[5 * CORE_PIECE];
    _Atomic bool over;
    omprma_status_t status;
};

static void *broadcast_once(void *data)
{
    struct broadcaster *self = data;

    self->status = omprma_broadcast(self->queue, self->there, 2, self->data, sizeof(self->data));
    self->over = true;
    return NULL;
}

/* Although the first of its queues is empty. */
CORE_TEST(a_broadcast_needs_room_in_each_queue, 2)
{
    static struct broadcaster self;
    omprma_queue_t *other;
    omprma_addr_t other_there, counter;
    struct caller caller;
    struct gate gate;
    uint64_t count = 0;

    self.over = false;
    for (int i = 0; i < 2; i++) {
        core_choose(i, 512, true);
        self.queue[i] = core_queue(i);
        self.there[i] = core_alloc(i, sizeof(self.data));
    }
    other = core_queue(0);
    other_there = core_alloc(0, BYTES);
    counter = core_alloc(1, 8);
    assert_ok(omprma_submit(self.queue[1], counter, &count, 8));
    core_close(self.queue[1], &gate);
    start_caller(&caller, self.queue[1], counter, 1000);
    wait_until_full(self.queue[1]);
    assert_int_equal(pthread_create(&self.thread, NULL, broadcast_once, &self), 0);
    check_others(other, other_there);
    kernel_nap(20000);
    assert_false(self.over);
    core_open(&gate);
    pthread_join(self.thread, NULL);
    pthread_join(caller.thread, NULL);
    assert_int_equal(self.status, OMPRMA_OK);
    for (int i = 0; i < 2; i++)
        assert_ok(omprma_queue_destroy(self.queue[i]));
    assert_ok(omprma_queue_destroy(other));
}

CORE_TEST(a_failure_lets_them_go, 1)
{
    omprma_queue_t *queue;
    omprma_addr_t there;
    uint64_t count = 0;

    core_make_hole();
    core_choose(0, 512, true);
    queue = old_queue(0);
    there = core_alloc(0, 8);
    assert_ok(omprma_submit(queue, there, &count, 8));
    for (int round = 1; round < 4; round++) {
        struct caller caller;
        struct gate gate;

        core_close(queue, &gate);
        assert_ok(omprma_submit(queue, core_hole, out, 8));
        start_caller(&caller, queue, there, INT32_MAX);
        wait_until_full(queue);
        core_open(&gate);
        pthread_join(caller.thread, NULL);
        assert_int_equal(caller.status, OMPRMA_ERR_ADDRESS);
        assert_non_null(strstr(caller.text, "not mapped"));
        assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_ADDRESS);
        assert_ok(launch(queue, KERNEL(kernel_count), there, 0, 0));
        assert_ok(omprma_retrieve(queue, &count, there, 8));
        assert_ok(omprma_queue_synchronize(queue));
        assert_int_equal(count, round); /* none of the caller's were run */
    }
}

/* A failure, and so many messages behind it that one of them, or the reset, brings a result that
 * nobody waits for: the failure is told once, and the queue is well again. */
CORE_TEST(failures_before_marked_messages, 1)
{
    omprma_queue_t *queue = core_queue(0);
    omprma_addr_t there = core_alloc(0, 16);
    uint64_t count = 0;

    core_make_hole();
    core_choose(0, 512, true);
    assert_ok(omprma_submit(queue, there, &count, 8));
    for (int behind = QUEUE_MARK_MESSAGES - 5; behind < QUEUE_MARK_MESSAGES + 5; behind++) {
        assert_ok(omprma_queue_synchronize(queue));
        assert_ok(omprma_submit(queue, core_hole, out, 8));
        assert_ok(omprma_queue_flush(queue));
        for (int i = 0; i < behind; i++)
            append(queue, 1, there);
        assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_ADDRESS);
        assert_ok(launch(queue, KERNEL(kernel_count), there, 0, 0));
        while (!all_executed(queue)) /* the reset */
            kernel_nap(100);
        for (int i = 0; i < 10; i++)
            make_progress(queue);
        assert_ok(omprma_queue_synchronize(queue));
    }
    assert_ok(omprma_retrieve(queue, &count, there, 8));
    assert_ok(omprma_queue_synchronize(queue));
    assert_int_equal(count, 10);
}

/* ---- what is appended ends without those who wait for room ---- */

enum { MANY = 3 * QUEUE_ENTRIES_MOST };

/* Retrieves behind a segment that is still open. */
TEST(retrieves_behind_an_open_message)
{
    omprma_queue_t *queue;
    omprma_addr_t there;
    unsigned char *into = calloc(MANY, 1000);

    assert_non_null(into);
    for (int way = 0; way < 2; way++) {
        core_start(&(struct core_options){0});
        core_choose(0, 0, way == 0);
        queue = core_queue(0);
        there = core_alloc(0, 1000);
        memset(out, way + 3, 1000);
        assert_ok(omprma_submit(queue, there, out, 1000));
        assert_ok(omprma_queue_synchronize(queue));
        assert_ok(launch(queue, KERNEL(kernel_add), there, 1000, 1));
        for (int i = 0; i < MANY; i++)
            assert_ok(omprma_retrieve(queue, into + 1000 * i, there, 1000));
        assert_ok(omprma_queue_synchronize(queue));
        assert_all(into, (uint64_t)1000 * MANY, way + 4);
        core_end();
    }
    free(into);
}

/* Queues of two devices that wait for each other, exchange and launch, with thousands of operations
 * under way and none of them waited for. Each of them adds one, behind the one before. */
TEST(chains_across_queues)
{
    enum { QUEUES = 4, STEPS = 800 };

    for (int way = 0; way < 4; way++) {
        omprma_queue_t *queue[QUEUES];
        struct draw random = {.state = 5};
        omprma_event_t *event;
        omprma_addr_t there[2];
        uint64_t count = 0;
        int at = 0;

        core_start(&(struct core_options){.workers = 2});
        for (int i = 0; i < 2; i++) {
            core_choose(i, 512, way & 1);
            there[i] = core_alloc(i, 8);
        }
        for (int i = 0; i < QUEUES; i++)
            queue[i] = old_queue(i % 2);
        event = core_event();
        assert_ok(omprma_submit(queue[0], there[0], &count, 8));
        for (int step = 0; step < STEPS; step++) {
            int next = (int)draw_below(&random, QUEUES);

            assert_ok(launch(queue[at], KERNEL(kernel_count), there[at % 2], 0, 0));
            if (at % 2 != next % 2)
                assert_ok(omprma_exchange(queue[at], there[at % 2], next % 2, there[next % 2], 8));
            assert_ok(omprma_event_record(event, queue[at]));
            assert_ok(omprma_event_wait(event, queue[next]));
            if (way & 2 && draw_below(&random, 3) == 0)
                assert_ok(omprma_queue_flush(queue[draw_below(&random, QUEUES)]));
            at = next;
        }
        assert_ok(omprma_retrieve(queue[at], &count, there[at % 2], 8));
        assert_ok(omprma_queue_synchronize(queue[at]));
        assert_int_equal(count, STEPS);
        for (int i = 0; i < QUEUES; i++)
            assert_ok(omprma_queue_destroy(queue[i]));
        omprma_event_destroy(event);
        core_stop();
    }
}
