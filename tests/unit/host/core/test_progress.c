/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_progress.c: many threads at once: whoever waits makes progress for all.
 * Covers: progress.c service.c */
#include <sched.h>
#include <stdio.h>

#include "tests/unit/test.h"
#include "tests/unit/core_fixture.h"

enum { THREADS = 6 };

/* cmocka's assertions belong to the main thread; others count what is wrong. */
static _Atomic int wrong;

#define expect(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #condition, omprma_error());            \
            atomic_fetch_add(&wrong, 1);                                                           \
        }                                                                                          \
    } while (0)

struct worker_thread {
    pthread_t thread;
    int number;
    omprma_queue_t *queue; /* shared ones */
    omprma_addr_t there;
    omprma_event_t *event;
};

static void run_threads(void *(*body)(void *), struct worker_thread *threads)
{
    wrong = 0;
    for (int i = 0; i < THREADS; i++) {
        threads[i].number = i;
        assert_int_equal(pthread_create(&threads[i].thread, NULL, body, &threads[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i].thread, NULL);
    assert_int_equal(wrong, 0);
}

/* A queue, blocks and buffers of its own. */
static void *own_queue(void *data)
{
    struct worker_thread *self = data;
    struct draw random = {.state = (uint64_t)self->number + 1};
    int device = self->number % omprma_device_count();
    omprma_queue_t *queue = NULL;

    expect(omprma_queue_create(device, &queue) == OMPRMA_OK);
    for (int round = 0; round < 150; round++) {
        uint64_t bytes = draw_size(&random, 2 * CORE_PIECE), sum = 0, wanted;
        unsigned char *out = malloc(bytes + 1), *back = calloc(1, bytes + 1);
        omprma_addr_t there = 0, sum_there = 0;

        draw_fill(&random, out, bytes);
        wanted = sum_of(out, bytes);
        expect(omprma_alloc(device, bytes + 1, &there) == OMPRMA_OK);
        expect(omprma_alloc(device, 8, &sum_there) == OMPRMA_OK);
        expect(omprma_submit(queue, there, out, bytes) == OMPRMA_OK);
        expect(launch(queue, KERNEL(kernel_sum), there, bytes, sum_there) == OMPRMA_OK);
        expect(omprma_retrieve(queue, &sum, sum_there, 8) == OMPRMA_OK);
        expect(omprma_retrieve(queue, back, there, bytes) == OMPRMA_OK);
        expect(omprma_queue_synchronize(queue) == OMPRMA_OK);
        expect(sum == wanted);
        expect(memcmp(out, back, bytes) == 0);
        expect(omprma_free(device, there) == OMPRMA_OK);
        expect(omprma_free(device, sum_there) == OMPRMA_OK);
        free(out);
        free(back);
    }
    expect(omprma_queue_destroy(queue) == OMPRMA_OK);
    return NULL;
}

TEST(threads_with_queues_of_their_own)
{
    struct worker_thread threads[THREADS];

    for (int variant = 0; variant < 4; variant++) {
        core_start(&(struct core_options){.workers = variant & 1 ? 2 : 1,
                                          .lanes = variant & 2 ? 3 : 1,
                                          .progress_thread = variant == 3});
        runtime_get()->world.crowded = variant & 1;
        for (int i = 0; i < core.workers; i++)
            core_choose(i, 512, i % 2 == 0);
        run_threads(own_queue, threads);
        core_stop();
    }
}

/* One queue for all. Each counts in memory of its own; what one appends while another waits is sent
 * as well. */
static void *shared_queue(void *data)
{
    struct worker_thread *self = data;
    omprma_addr_t mine = self->there + 64 * (unsigned)self->number;

    for (uint64_t round = 1; round <= 300; round++) {
        uint64_t back = 0;

        expect(launch(self->queue, KERNEL(kernel_count), mine, 0, 0) == OMPRMA_OK);
        expect(omprma_retrieve(self->queue, &back, mine, 8) == OMPRMA_OK);
        expect(omprma_queue_synchronize(self->queue) == OMPRMA_OK);
        expect(back == round);
    }
    return NULL;
}

TEST(threads_share_a_queue)
{
    struct worker_thread threads[THREADS];
    uint64_t zeros[8 * THREADS] = {0};

    for (int way = 0; way < 3; way++) {
        omprma_queue_t *queue;
        omprma_addr_t there;

        core_start(&(struct core_options){0});
        runtime_get()->world.crowded = way == 2;
        core_choose(0, way == 0 ? 512 : 0, way == 1);
        queue = core_queue(0);
        there = core_alloc(0, sizeof(zeros));
        assert_ok(omprma_submit(queue, there, zeros, sizeof(zeros)));
        assert_ok(omprma_queue_synchronize(queue));
        for (int i = 0; i < THREADS; i++)
            threads[i] = (struct worker_thread){.queue = queue, .there = there};
        run_threads(shared_queue, threads);
        core_end();
    }
}

/* One thread waits for a long kernel; the others append to its queue and never synchronize. */
static void *append_and_leave(void *data)
{
    struct worker_thread *self = data;

    kernel_nap(2000 * (uint64_t)self->number);
    expect(launch(self->queue, KERNEL(kernel_count), self->there, 0, 0) == OMPRMA_OK);
    if (self->number == 0)
        expect(omprma_queue_synchronize(self->queue) == OMPRMA_OK);
    return NULL;
}

TEST(others_append_while_one_waits)
{
    struct worker_thread threads[THREADS];

    for (int round = 0; round < 5; round++) {
        omprma_queue_t *queue;
        omprma_addr_t there;
        uint64_t count = 0;

        core_start(&(struct core_options){0});
        core_choose(0, 512, true);
        queue = core_queue(0);
        there = core_alloc(0, 8);
        assert_ok(omprma_submit(queue, there, &count, 8));
        assert_ok(launch(queue, KERNEL(kernel_nap), 15000, 0, 0));
        assert_ok(omprma_queue_flush(queue));
        for (int i = 0; i < THREADS; i++)
            threads[i] = (struct worker_thread){.queue = queue, .there = there};
        run_threads(append_and_leave, threads);
        assert_ok(omprma_retrieve(queue, &count, there, 8));
        assert_ok(omprma_queue_synchronize(queue));
        assert_int_equal(count, THREADS);
        core_end();
    }
}

/* A ring of threads: each waits for the event of the one before it, round after round. */
static void *ring(void *data)
{
    struct worker_thread *self = data;

    for (int round = 0; round < 60; round++) {
        bool done = false;

        expect(launch(self->queue, KERNEL(kernel_count), self->there, 0, 0) == OMPRMA_OK);
        expect(omprma_event_record(self->event, self->queue) == OMPRMA_OK);
        switch (round % 4) {
        case 0:
            expect(omprma_event_synchronize(self->event) == OMPRMA_OK);
            break;
        case 1:
            while (!done) {
                expect(omprma_event_query(self->event, &done) == OMPRMA_OK);
                sched_yield();
            }
            break;
        case 2:
            while (!done) {
                expect(omprma_queue_query(self->queue, &done) == OMPRMA_OK);
                sched_yield();
            }
            break;
        default: /* somebody else's, whatever its place now is */
            expect(omprma_event_wait((self - self->number)[(self->number + 1) % THREADS].event,
                                     self->queue) == OMPRMA_OK);
        }
    }
    expect(omprma_queue_synchronize(self->queue) == OMPRMA_OK);
    return NULL;
}

TEST(threads_wait_for_events)
{
    struct worker_thread threads[THREADS];

    for (int workers = 1; workers <= 3; workers++) {
        core_start(&(struct core_options){.workers = workers, .lanes = workers});
        for (int i = 0; i < THREADS; i++) {
            uint64_t zero = 0;
            int device = i % workers;

            threads[i].queue = core_queue(device);
            threads[i].there = core_alloc(device, 8);
            assert_ok(omprma_submit(threads[i].queue, threads[i].there, &zero, 8));
            threads[i].event = core_event();
        }
        run_threads(ring, threads);
        for (int i = 0; i < THREADS; i++) {
            uint64_t count = 0;

            assert_ok(omprma_retrieve(threads[i].queue, &count, threads[i].there, 8));
            assert_ok(omprma_queue_synchronize(threads[i].queue));
            assert_int_equal(count, 60);
            assert_ok(omprma_queue_destroy(threads[i].queue));
            omprma_event_destroy(threads[i].event);
        }
        core_stop();
    }
}

/* Blocks larger than the arenas: each alloc grows one, many free gives one back. */
static void *grow_and_release(void *data)
{
    struct worker_thread *self = data;
    struct draw random = {.state = (uint64_t)self->number + 7};

    for (int round = 0; round < 60; round++) {
        omprma_addr_t block[3] = {0};

        for (int i = 0; i < 3; i++)
            expect(omprma_alloc(0, (1 << 20) + draw_below(&random, 2 << 20), &block[i]) ==
                   OMPRMA_OK);
        for (int i = 0; i < 3; i++)
            expect(omprma_free(0, block[i]) == OMPRMA_OK);
    }
    return NULL;
}

CORE_TEST(threads_grow_memory_at_once, 1, .arena = 1 << 20, .memory = (uint64_t)1 << 30)
{
    struct worker_thread threads[THREADS];

    run_threads(grow_and_release, threads);
}

/* One thread waits for a kernel that does not end. Another's transfers go on meanwhile, although
 * the first may sleep. */
static void *wait_for_kernel(void *data)
{
    struct worker_thread *self = data;

    expect(omprma_queue_synchronize(self->queue) == OMPRMA_OK);
    return NULL;
}

CORE_TEST(transfers_go_on_while_a_thread_waits, 1)
{
    struct worker_thread first;
    unsigned char data[20000] = {0};
    omprma_addr_t there;
    omprma_queue_t *queue;
    struct gate gate;

    wrong = 0;
    core_choose(0, 0, true);
    first.queue = core_queue(0);
    queue = core_queue(0);
    there = core_alloc(0, sizeof(data));
    core_close(first.queue, &gate);
    assert_int_equal(pthread_create(&first.thread, NULL, wait_for_kernel, &first), 0);
    kernel_nap(20000);
    for (int i = 0; i < 20; i++) {
        assert_ok(omprma_submit(queue, there, data, sizeof(data)));
        assert_ok(omprma_queue_synchronize(queue));
    }
    core_open(&gate);
    pthread_join(first.thread, NULL);
    assert_int_equal(wrong, 0);
    assert_ok(omprma_queue_destroy(first.queue));
}
