/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_unwaited.c: copies that the program does not wait for, by a thread of ours: in order with
 * launches and with each other, beside a model; when they are taken; how they fail, and are left;
 * a thread that rests until something comes in, and one that waits for something of its own.
 * Covers: copier.c path/thread.c */
#include "tests/unit/test.h"
#include <stdio.h>
#include <unistd.h>

#include <omprma_private/unwaited.h>

#include "base/error.h"
#include "tests/unit/core_fixture.h"
#include "control/shm/local.h"

enum { LEAST = 64 << 10, BYTES = 3 << 20, PAGE = 4096 };

static omprma_queue_t *queue;
static omprma_addr_t there;
static unsigned char data[BYTES], model[BYTES], back[BYTES];

/* The worker is this process, too, and so is its memory. */
static void begin(const struct core_options *o)
{
    const pid_t pids[] = {getpid(), getpid()};
    struct runtime *runtime;

    core_start(o);
    core_count();
    runtime = core_device(0)->runtime;
    datapath_destroy(runtime->local);
    assert_ok(local_create(pids, NULL, 2, &runtime->local));
    core_device(0)->peer->local = runtime->local;
    assert_ok(omprma_queue_create(0, &queue));
    omprma_queue_unwaited(queue, true);
    there = core_alloc(0, BYTES);
}

static void end(void)
{
    core_end();
}

static uint64_t moved(enum data_kind kind)
{
    return stats_of(runtime_get(), 0)->cell[kind][PATH_THREAD].operations;
}

static int be_impatient(void **state)
{
    (void)state;
    alarm(60);
    return 0;
}

TEST_GROUP(be_impatient, NULL)

TEST(they_keep_the_order_of_the_queue)
{
    struct draw from = {7};

    begin(&(struct core_options){.delay = 1});
    assert_ok(omprma_submit(queue, there, model, BYTES));
    for (int i = 0; i < 300; i++) {
        uint64_t at = draw_below(&from, BYTES), bytes = 1 + draw_below(&from, BYTES - at);
        uint64_t value = draw_below(&from, 256);

        switch (draw_below(&from, 4)) {
        case 0: /* the source is written again at once: the queue knows who reads it */
            assert_ok(omprma_retrieve(queue, data + at, there + at, bytes));
            assert_ok(omprma_submit(queue, there + at, data + at, bytes));
            break;
        case 1:
            assert_ok(omprma_queue_synchronize(queue));
            memset(data + at, (int)value, bytes);
            memset(model + at, (int)value, bytes);
            assert_ok(omprma_submit(queue, there + at, data + at, bytes));
            break;
        case 2:
            bytes = bytes < PAGE ? bytes : PAGE;
            assert_ok(launch(queue, KERNEL(kernel_add), there + at, bytes, value));
            for (uint64_t k = at; k < at + bytes; k++)
                model[k] = (unsigned char)(model[k] + value);
            break;
        default:
            omprma_queue_unwaited(queue, draw(&from) & 1); /* those of the program's own beside */
            assert_ok(omprma_retrieve(queue, back + at, there + at, bytes));
            assert_ok(omprma_queue_synchronize(queue));
            assert_memory_equal(back + at, model + at, bytes);
            omprma_queue_unwaited(queue, true);
        }
    }
    assert_ok(omprma_retrieve(queue, back, there, BYTES));
    assert_ok(omprma_queue_synchronize(queue));
    assert_memory_equal(back, model, BYTES);
    assert_true(moved(DATA_SUBMIT) > 50 && moved(DATA_RETRIEVE) > 50);
    end();
}

static bool goes_by_thread(uint64_t bytes)
{
    uint64_t before = moved(DATA_SUBMIT) + moved(DATA_RETRIEVE), after;

    assert_ok(omprma_submit(queue, there, data, bytes));
    assert_ok(omprma_retrieve(queue, back, there, bytes));
    assert_ok(omprma_queue_synchronize(queue));
    assert_memory_equal(back, data, bytes);
    after = moved(DATA_SUBMIT) + moved(DATA_RETRIEVE);
    assert_true(after == before || after == before + 2);
    return after > before;
}

TEST(who_waits_copies)
{
    struct datapath *local;

    begin(&(struct core_options){.delay = 1});
    assert_true(goes_by_thread(LEAST));
    assert_false(goes_by_thread(LEAST - 1));
    omprma_queue_unwaited(queue, false);
    assert_false(goes_by_thread(BYTES));
    omprma_queue_unwaited(queue, true);
    assert_true(goes_by_thread(BYTES));
    local = core_device(0)->peer->local;
    core_device(0)->peer->local = NULL;
    assert_false(goes_by_thread(BYTES));
    core_device(0)->peer->local = local;
    assert_ok(omprma_queue_destroy(queue)); /* the next user's is waited for */
    assert_ok(omprma_queue_create(0, &queue));
    assert_false(goes_by_thread(BYTES));
    end();
}

/* Behind a kernel it begins when somebody looks; else it comes by nobody's call. */
TEST(the_program_takes_no_part)
{
    struct gate gate;
    unsigned char *at;

    begin(&(struct core_options){.delay = 1});
    at = (unsigned char *)(uintptr_t)there;
    memset(data, 9, BYTES);
    memset(at, 0, BYTES);
    core_close(queue, &gate);
    assert_ok(omprma_submit(queue, there, data, BYTES));
    kernel_nap(2000);
    assert_all(at, BYTES, 0);
    core_open(&gate);
    assert_ok(omprma_queue_synchronize(queue));
    assert_all(at, BYTES, 9);
    memset(data, 8, BYTES);
    assert_ok(omprma_submit(queue, there, data, BYTES));
    for (int i = 0; *(volatile unsigned char *)&at[BYTES - 1] != 8 && i < 10000; i++)
        kernel_nap(1000);
    assert_all(at, BYTES, 8);
    assert_ok(omprma_queue_synchronize(queue));
    end();
}

/* A page of those between is protected when the thread comes to it. */
TEST(memory_that_is_gone_fails_the_queue)
{
    char *gone = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct gate gate;

    begin(&(struct core_options){.delay = 1});
    for (int submit = 0; submit < 2; submit++) {
        core_close(queue, &gate);
        if (submit)
            assert_ok(omprma_submit(queue, there, gone, BYTES));
        else
            assert_ok(omprma_retrieve(queue, gone, there, BYTES));
        assert_ok(launch(queue, KERNEL(kernel_count), there, 0, 0)); /* must not run */
        memset((void *)(uintptr_t)there, 0, 8);
        assert_int_equal(mprotect(gone + (1 << 20), PAGE, PROT_NONE), 0);
        core_open(&gate);
        assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_ARGUMENT);
        assert_non_null(strstr(omprma_error(), submit ? "submit of 3145728" : "retrieve of 31"));
        assert_non_null(strstr(omprma_error(), "device 0"));
        assert_int_equal(*(uint64_t *)(uintptr_t)there, 0);
        assert_int_equal(mprotect(gone + (1 << 20), PAGE, PROT_READ | PROT_WRITE), 0);
    }
    assert_true(goes_by_thread(BYTES)); /* it is well again */
    munmap(gone, BYTES);
    end();
}

/* What is under way is left when its device is lost: its memory is not used from then on. */
TEST(a_lost_worker_is_left)
{
    for (int i = 0; i < 20; i++) {
        begin(&(struct core_options){.delay = 1});
        for (int k = 0; k < 10; k++)
            assert_ok(omprma_retrieve(queue, back, there, BYTES / 2));
        kernel_nap((uint64_t)i * 20);
        core_lose(0);
        assert_int_equal(runtime_get()->copying, 0);
        memset(back, 3, BYTES);
        kernel_nap(500);
        assert_all(back, BYTES, 3);
        assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_DEVICE_LOST);
        core_end_lost(queue);
    }
}

/* ---- a copy that is left ---- */

enum { SLOW_PIECES = 200, SLOW_MORE = 50 };

static _Atomic int slow_pieces, told;

/* A piece is a byte, and takes 2 ms. */
static omprma_status_t slow_test(struct datapath *path, struct transfer *transfer, bool *done)
{
    (void)path;
    kernel_nap(2000);
    transfer->completed++;
    *done = transfer->completed == transfer->bytes;
    atomic_fetch_add(&slow_pieces, 1);
    return OMPRMA_OK;
}

static void tell(void *data_)
{
    (void)data_;
    atomic_fetch_add(&told, 1);
}

static struct copying *copy_slowly(struct copier *copier, uint64_t bytes)
{
    static struct datapath path = {.name = "slow", .one_sided = true, .test = slow_test};
    struct copying *copy;

    assert_ok(copier_copy(copier, &path, &(struct transfer){.bytes = bytes}, &copy));
    return copy;
}

static void wait_for_pieces(int pieces)
{
    while (atomic_load(&slow_pieces) < pieces)
        kernel_nap(100);
}

/* Not the whole copy, but the piece that is under way is waited for. */
TEST(who_leaves_waits_for_a_piece)
{
    struct copier copier;
    struct copying *first, *second;
    int before, after;

    copier_begin(&copier, tell, NULL);
    first = copy_slowly(&copier, SLOW_PIECES);
    second = copy_slowly(&copier, 3);
    wait_for_pieces(2);
    before = atomic_load(&slow_pieces);
    copier_leave(&copier, first);
    after = atomic_load(&slow_pieces);
    assert_true(after - before < SLOW_MORE);
    while (!copying_is_over(second))
        kernel_nap(100);
    assert_true(atomic_load(&slow_pieces) - before < SLOW_MORE + 3);
    assert_ok(copying_end(second));
    copier_leave(&copier, copy_slowly(&copier, SLOW_PIECES)); /* it may not have begun */
    first = copy_slowly(&copier, SLOW_PIECES);
    copier_leave(&copier, copy_slowly(&copier, SLOW_PIECES)); /* it is not its turn */
    copier_leave(&copier, first);
    copier_end(&copier);
    assert_int_equal(atomic_load(&told), 1);
}

/* ---- resting ---- */

static void ring(void)
{
    runtime_get()->bells = calloc(2, sizeof(struct doorbell *));
    core_device(0)->peer->can_ring = true; /* the null channel's bells do */
}

TEST(who_rests_is_woken_by_a_result)
{
    int64_t begun = clock_ns();
    omprma_event_t *event;
    bool done = false;

    begin(&(struct core_options){.delay = 1});
    assert_ok(omprma_event_create(&event));
    assert_false(omprma_rest(1)); /* not where workers cannot ring */
    ring();
    assert_true(omprma_rest(1));
    assert_ok(launch(queue, KERNEL(kernel_nap), 100000, 0, 0));
    assert_ok(omprma_event_record(event, queue));
    for (;;) {
        assert_ok(omprma_event_query(event, &done));
        if (done)
            break;
        omprma_rest(INT64_C(20000000000));
    }
    assert_true(clock_ns() - begun < INT64_C(10000000000));
    omprma_event_destroy(event);
    end();
}

static void *rest(void *data_)
{
    while (!atomic_load((_Atomic bool *)data_))
        if (!omprma_rest(100000000))
            kernel_nap(50);
    return NULL;
}

/* Others wait meanwhile, and sleep at the same bell. */
TEST(who_rests_leaves_the_bell_to_those_that_wait)
{
    _Atomic bool over = false;
    pthread_t thread;
    int64_t begun;

    begin(&(struct core_options){.delay = 1});
    ring();
    assert_int_equal(pthread_create(&thread, NULL, rest, (void *)&over), 0);
    begun = clock_ns();
    for (int i = 0; i < 50; i++) { /* longer than a wait polls */
        assert_ok(launch(queue, KERNEL(kernel_nap), 3000, 0, 0));
        assert_ok(omprma_queue_synchronize(queue));
    }
    assert_true(clock_ns() - begun < INT64_C(50) * 60000000); /* not one rest after the other */
    atomic_store(&over, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    end();
}

/* ---- waiting for what only the program knows ---- */

static _Atomic int ended, asked;

static void note_end(void *data_, omprma_status_t status)
{
    (void)data_;
    assert_int_equal(status, OMPRMA_OK);
    atomic_fetch_add(&ended, 1);
}

static bool has_ended(const void *count)
{
    atomic_store(&asked, 1);
    return atomic_load(&ended) >= *(const int *)count;
}

/* Nobody else makes progress. */
TEST(who_waits_for_a_callback_makes_progress)
{
    begin(&(struct core_options){.delay = 1});
    atomic_store(&ended, 0);
    for (int i = 1; i <= 20; i++) {
        assert_ok(launch(queue, KERNEL(kernel_nap), i % 4 ? 10 : 3000, 0, 0));
        assert_ok(omprma_queue_notify(queue, note_end, NULL));
        assert_true(omprma_wait_until(has_ended, &i));
        assert_int_equal(atomic_load(&ended), i);
    }
    end();
}

static void *end_wait(void *wanted)
{
    while (!atomic_load(&asked))
        kernel_nap(100);
    assert_false(omprma_wait_until(has_ended, wanted)); /* the other one makes progress for all */
    kernel_nap(10000);                                  /* most often it sleeps by then */
    atomic_fetch_add(&ended, 1);
    omprma_look_again();
    return NULL;
}

TEST(who_waits_looks_again_when_told)
{
    pthread_t thread;
    int wanted = 1;

    assert_false(omprma_wait_until(has_ended, &wanted)); /* nothing has started */
    omprma_look_again();
    begin(&(struct core_options){.delay = 1});
    atomic_store(&ended, 0);
    atomic_store(&asked, 0);
    assert_int_equal(pthread_create(&thread, NULL, end_wait, &wanted), 0);
    assert_true(omprma_wait_until(has_ended, &wanted));
    assert_int_equal(pthread_join(thread, NULL), 0);
    end();
}
