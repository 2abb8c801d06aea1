/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_observer.c: whoever looks on sees the life of each operation in its order, once.
 * Covers: observer.c */
#include <unistd.h>

#include "tests/unit/test.h"
#include "tests/unit/core_fixture.h"

enum { BYTES = 64 << 10, OPERATIONS_MOST = 4096 };

enum phase { NONE, APPENDED, ISSUED, ENDED };

/* Sees operations by their address, which is used again after the end. */
struct watcher {
    struct observer observer; /* the first member */
    int count;
    struct {
        const struct operation *operation;
        enum phase phase;
    } seen[OPERATIONS_MOST];
    int appended, issued, ended, sent, waits, waited, idle;
    uint64_t bytes;
};

static struct watcher watcher;

static enum phase *phase_of(const struct operation *operation)
{
    int i = 0;

    while (i < watcher.count && watcher.seen[i].operation != operation)
        i++;
    assert_true(i < OPERATIONS_MOST);
    if (i == watcher.count)
        watcher.seen[watcher.count++].operation = operation;
    return &watcher.seen[i].phase;
}

static void see_appended(struct observer *observer, struct operation *operation, bool was_idle)
{
    (void)observer;
    (void)was_idle;
    assert_true(*phase_of(operation) == NONE || *phase_of(operation) == ENDED);
    *phase_of(operation) = APPENDED;
    watcher.appended++;
}

static void see_issued(struct observer *observer, struct operation *operation)
{
    (void)observer;
    assert_int_equal(*phase_of(operation), APPENDED);
    assert_int_equal(operation->state, OPERATION_ISSUED);
    *phase_of(operation) = ISSUED;
    watcher.issued++;
}

static void see_sent(struct observer *observer, struct operation *last, uint32_t bytes)
{
    (void)observer;
    assert_int_equal(*phase_of(last), APPENDED);
    assert_true(bytes > 0);
    watcher.sent++;
}

static void see_ended(struct observer *observer, struct operation *operation)
{
    (void)observer;
    assert_true(*phase_of(operation) == ISSUED || *phase_of(operation) == APPENDED);
    *phase_of(operation) = ENDED;
    watcher.ended++;
}

static void see_waits(struct observer *observer, struct omprma_queue *queue,
                      struct observed_wait *wait)
{
    (void)observer;
    (void)queue;
    assert_string_equal(wait->what, "synchronize");
    wait->begin_ns = 7;
    watcher.waits++;
}

static void see_waited(struct observer *observer, struct omprma_queue *queue,
                       const struct observed_wait *wait)
{
    (void)observer;
    assert_true(queue_is_idle(queue));
    assert_int_equal(wait->begin_ns, 7);
    watcher.waited++;
}

static void see_idle(struct observer *observer, struct omprma_queue *queue)
{
    (void)observer;
    assert_true(queue_is_idle(queue));
    watcher.idle++;
}

static void see_carried(struct observer *observer, const struct carried *carried)
{
    (void)observer;
    assert_int_equal(carried->queue->device->number, 0);
    watcher.bytes += carried->bytes;
}

static void watch(void)
{
    struct runtime *runtime = runtime_get();

    watcher = (struct watcher){.observer = {
                                   .appended = see_appended,
                                   .issued = see_issued,
                                   .sent = see_sent,
                                   .ended = see_ended,
                                   .waits = see_waits,
                                   .waited = see_waited,
                                   .idle = see_idle,
                                   .carried = see_carried,
                               }};
    runtime_lock(runtime);
    observer_add(&runtime->observers, &watcher.observer);
    runtime_unlock(runtime);
}

/* Small and large data by both paths, launches, events and failures. */
TEST(each_operation_lives_once)
{
    static unsigned char data[BYTES];
    uint64_t bytes = 0;
    omprma_queue_t *queue;
    omprma_event_t *event;
    omprma_addr_t there;

    core_start(&(struct core_options){0});
    core_make_hole();
    watch();
    queue = core_queue(0);
    event = core_event();
    there = core_alloc(0, BYTES);
    for (int i = 0; i < 200; i++) {
        uint64_t size = i % 3 ? 8 : BYTES;

        core_choose(0, 512, i & 1);
        assert_ok(omprma_submit(queue, there, data, size));
        assert_ok(launch(queue, KERNEL(kernel_count), there, 0, 0));
        assert_ok(omprma_event_record(event, queue));
        assert_ok(omprma_retrieve(queue, data, there, size));
        bytes += 2 * size;
        if (i % 7 == 0) {
            assert_ok(omprma_retrieve(queue, data, core_hole, 8));
            assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_ADDRESS);
            bytes += 8;
        } else if (i % 7 == 3) {
            assert_ok(omprma_queue_synchronize(queue));
        }
    }
    assert_ok(omprma_queue_synchronize(queue));
    assert_ok(omprma_queue_synchronize(queue)); /* nothing to wait for */
    assert_int_equal(watcher.bytes, bytes);
    assert_true(watcher.issued >= 500 && watcher.sent > 0 && watcher.waits > 0);
    assert_int_equal(watcher.waited, watcher.waits);
    assert_true(watcher.idle > 0);
    omprma_event_destroy(event);
    assert_ok(omprma_queue_destroy(queue));
    runtime_lock(runtime_get());
    observer_remove(&runtime_get()->observers, &watcher.observer);
    assert_null(runtime_get()->observers);
    runtime_unlock(runtime_get());
    core_stop();
    assert_int_equal(watcher.ended, watcher.appended);
}

/* ---- the list */

static struct observer *list;
static int told;

static void leave(struct observer *observer, struct operation *operation)
{
    (void)operation;
    observer_remove(&list, observer);
    told++;
}

static void stay(struct observer *observer, struct operation *operation)
{
    (void)observer;
    (void)operation;
    told++;
}

/* Whoever leaves while it is told something keeps nobody else from being told. */
TEST(one_may_leave)
{
    struct observer first = {.ended = stay}, second = {.ended = leave}, third = {.ended = stay};

    observer_add(&list, &first);
    observer_add(&list, &second);
    observer_add(&list, &third);
    observe_ended(list, NULL);
    assert_int_equal(told, 3);
    observe_ended(list, NULL);
    assert_int_equal(told, 5);
    observe_issued(list, NULL); /* nobody wants to know */
    observer_remove(&list, &second);
    observer_remove(&list, &third);
    observer_remove(&list, &first);
    assert_null(list);
    observe_ended(list, NULL);
    assert_int_equal(told, 5);
}
