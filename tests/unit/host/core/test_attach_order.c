/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_attach_order.c: where attaching needs quiet, no access to a worker's memory begins while it
 * attaches an arena or gives one back, and it does neither while another worker accesses its
 * memory.
 * Covers: attach_order.c */
#include <unistd.h>

#include "tests/unit/test.h"
#include "tests/unit/core_fixture.h"

enum { ARENA = 1 << 20, BYTES = 256 << 10, LOOKS = 200 };

static unsigned char source[BYTES];

/* Blocks that fill an arena of their own each: they do not double. */
static void fill_arenas(int number, omprma_addr_t *blocks, int count)
{
    struct device *device = core_device(number);

    for (int i = 0; i < count; i++) {
        uint64_t before = device->memory->attached_bytes;

        device->memory->attached_bytes = 0;
        blocks[i] = core_alloc(number, ARENA);
        device->memory->attached_bytes += before;
    }
}

static int arenas_of(int worker)
{
    const struct native *native = core.worker[worker].devices[0].state;

    return native->memory.count;
}

static void start(int workers)
{
    core_start(&(struct core_options){
        .workers = workers, .arena = ARENA, .memory = UINT64_C(1) << 30, .data = DATA_RMA});
    core_device(0)->runtime->world.can.attach_needs_quiet = true;
    core_device(0)->runtime->exchange[0].way = EXCHANGE_PUT;
    core_device(0)->runtime->exchange[1].way = EXCHANGE_PUT;
    memset(source, 7, sizeof(source));
}

/* Looks for a while. */
static bool has_arrived(omprma_queue_t *queue, omprma_addr_t at)
{
    const volatile unsigned char *byte = (const volatile unsigned char *)(uintptr_t)at;
    bool done;

    for (int i = 0; i < LOOKS && *byte != 7; i++) {
        assert_ok(omprma_queue_query(queue, &done));
        kernel_nap(500);
    }
    return *byte == 7;
}

/* A submit while the worker does not answer that it detaches. */
static omprma_queue_t *submit_behind_detach(bool needs_quiet, omprma_addr_t *block)
{
    omprma_queue_t *queue;
    omprma_addr_t blocks[4];

    start(1);
    core_device(0)->runtime->world.can.attach_needs_quiet = needs_quiet;
    queue = core_queue(0);
    fill_arenas(0, blocks, 4);
    core_hold(0);
    for (int i = 1; i < 4; i++)
        assert_ok(omprma_free(0, blocks[i]));
    assert_ok(omprma_submit(queue, blocks[0], source, BYTES));
    assert_ok(omprma_queue_flush(queue));
    *block = blocks[0];
    return queue;
}

TEST(a_submit_waits_for_a_detach)
{
    omprma_addr_t block;
    omprma_queue_t *queue = submit_behind_detach(true, &block);

    assert_false(has_arrived(queue, block));
    core_release(0);
    assert_ok(omprma_queue_synchronize(queue));
    assert_true(has_arrived(queue, block));
    core_stop();
}

/* Without it nobody waits, and the test above could see it. */
TEST(where_attaching_needs_no_quiet_none_waits)
{
    omprma_addr_t block;
    omprma_queue_t *queue = submit_behind_detach(false, &block);

    assert_true(has_arrived(queue, block));
    core_release(0);
    core_stop();
}

/* A queue of device 0 with something at *from, and blocks on device 1 to exchange with. */
static omprma_queue_t *start_two(omprma_addr_t *from, omprma_addr_t *blocks, int count)
{
    omprma_queue_t *queue;

    start(2);
    queue = core_queue(0);
    *from = core_alloc(0, BYTES);
    fill_arenas(1, blocks, count);
    assert_ok(omprma_submit(queue, *from, source, BYTES));
    assert_ok(omprma_queue_synchronize(queue));
    return queue;
}

TEST(an_exchange_waits_for_a_detach)
{
    omprma_addr_t from, blocks[4];
    omprma_queue_t *queue = start_two(&from, blocks, 4);

    core_hold(1);
    for (int i = 1; i < 4; i++)
        assert_ok(omprma_free(1, blocks[i]));
    assert_ok(omprma_exchange(queue, from, 1, blocks[0], BYTES));
    assert_ok(omprma_queue_flush(queue));
    assert_false(has_arrived(queue, blocks[0]));
    core_release(1);
    assert_ok(omprma_queue_synchronize(queue));
    assert_true(has_arrived(queue, blocks[0]));
    core_stop();
}

TEST(a_detach_waits_for_an_exchange)
{
    omprma_addr_t from, blocks[5];
    omprma_queue_t *queue = start_two(&from, blocks, 5), *other = core_queue(1);
    int before = arenas_of(1);

    core_hold(0);
    assert_ok(omprma_exchange(queue, from, 1, blocks[0], BYTES));
    assert_ok(omprma_queue_flush(queue));
    for (int i = 1; i < 4; i++)
        assert_ok(omprma_free(1, blocks[i]));
    assert_ok(omprma_submit(other, blocks[4], source, 8));
    assert_ok(omprma_queue_synchronize(other)); /* what was sent before has been done */
    assert_int_equal(arenas_of(1), before);
    core_release(0);
    assert_ok(omprma_queue_synchronize(queue));
    assert_true(has_arrived(queue, blocks[0]));
    assert_ok(omprma_free(1, blocks[4]));
    for (int i = 0; i < 2; i++) { /* what the first one has sent, the second one waits for */
        assert_ok(omprma_submit(other, blocks[0], source, 8));
        assert_ok(omprma_queue_synchronize(other));
    }
    assert_true(arenas_of(1) < before);
    core_stop();
}

static void *grow(void *data)
{
    fill_arenas(1, data, 1);
    return NULL;
}

/* A block that needs another arena. */
TEST(an_attach_waits_for_an_exchange)
{
    omprma_addr_t from, to, more = 0;
    omprma_queue_t *queue = start_two(&from, &to, 1);
    int before = arenas_of(1);
    pthread_t thread;

    core_hold(0);
    assert_ok(omprma_exchange(queue, from, 1, to, BYTES));
    assert_ok(omprma_queue_flush(queue));
    assert_int_equal(pthread_create(&thread, NULL, grow, &more), 0);
    assert_false(has_arrived(queue, to));
    assert_int_equal(arenas_of(1), before);
    core_release(0);
    pthread_join(thread, NULL);
    assert_ok(omprma_queue_synchronize(queue));
    assert_int_equal(arenas_of(1), before + 1);
    core_stop();
}

/* Neither one that was sent, and whose end nobody has asked for, nor one that nobody has sent yet.
 */
TEST(an_attach_behind_what_nobody_waits_for)
{
    omprma_addr_t from, to, more[2];
    omprma_queue_t *queue = start_two(&from, &to, 1);
    int before = arenas_of(1);

    assert_ok(omprma_exchange(queue, from, 1, to, BYTES));
    assert_ok(omprma_queue_flush(queue));
    fill_arenas(1, &more[0], 1);
    assert_ok(omprma_exchange(queue, from, 1, to, BYTES));
    fill_arenas(1, &more[1], 1);
    assert_int_equal(arenas_of(1), before + 2);
    assert_ok(omprma_queue_synchronize(queue));
    core_stop();
}

static _Atomic(omprma_hold_t *) held;

static void note_hold(omprma_hold_t *hold, void *data, omprma_status_t status)
{
    (void)data;
    assert_int_equal(status, OMPRMA_OK);
    atomic_store(&held, hold);
}

static void *synchronize(void *queue)
{
    assert_ok(omprma_queue_synchronize(queue));
    return NULL;
}

/* More than there is room for in what stays. */
static void *grow_here(void *data)
{
    *(omprma_addr_t *)data = core_alloc(0, 8 * ARENA);
    return NULL;
}

static void wait_for_driver(void)
{
    bool driven = false;

    while (!driven) {
        kernel_nap(1000);
        runtime_lock(runtime_get());
        driven = runtime_get()->driven;
        runtime_unlock(runtime_get());
    }
}

/* Who drives waits until the program lets its queue go, and the program needs the memory first. */
TEST(an_attach_is_told_by_who_drives)
{
    omprma_addr_t blocks[4], more = 0;
    omprma_queue_t *queue;
    pthread_t driver, grower;

    start(1);
    queue = core_queue(0);
    fill_arenas(0, blocks, 4);
    core_hold(0);
    for (int i = 1; i < 4; i++) /* an arena goes, as soon as the worker says so */
        assert_ok(omprma_free(0, blocks[i]));
    assert_non_null(core_device(0)->peer->change);
    assert_ok(omprma_queue_hold(queue, note_hold, NULL));
    assert_int_equal(pthread_create(&driver, NULL, synchronize, queue), 0);
    wait_for_driver();
    assert_int_equal(pthread_create(&grower, NULL, grow_here, &more), 0);
    kernel_nap(50000);
    core_release(0);
    pthread_join(grower, NULL);
    omprma_hold_end(atomic_load(&held));
    pthread_join(driver, NULL);
    core_stop();
}
