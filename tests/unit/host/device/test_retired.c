/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_retired.c: a block that is freed while operations are under way is handed out again only
 * when they are over, and what is freed is freed for everybody else at once.
 * Covers: retired.c native/memory.c worker/session.c */
#include <stdatomic.h>

#include "tests/unit/test.h"
#include "tests/unit/core_fixture.h"

enum { BYTES = 1 << 20, COUNT = 6 };

static struct gate gate;

static uint64_t used(int device)
{
    omprma_device_info_t info;

    assert_ok(omprma_device_info(device, &info));
    return info.used_bytes;
}

CORE_TEST(not_while_somebody_may_use_it, 1)
{
    omprma_queue_t *queue = core_queue(0), *idle = core_queue(0);
    omprma_addr_t block = core_alloc(0, BYTES), other;
    bool inside = true;

    core_close(queue, &gate);
    assert_ok(launch(queue, KERNEL(kernel_add), block, 8, 1));
    assert_ok(omprma_free(0, block));
    other = core_alloc(0, BYTES);
    assert_true(other != block);
    /* For everybody it is gone. */
    assert_ok(omprma_address_inside(0, block, 8, &inside));
    assert_false(inside);
    assert_int_equal(omprma_submit(idle, block, &block, 8), OMPRMA_ERR_ADDRESS);
    assert_int_equal(omprma_free(0, block), OMPRMA_ERR_ADDRESS);
    assert_ok(omprma_free(0, other));
    core_open(&gate);
    assert_ok(omprma_queue_synchronize(queue));
    assert_int_equal(used(0), 0);
    assert_int_equal(omprma_free(0, block), OMPRMA_ERR_ADDRESS);
}

/* Of the way that start-up chose, within a worker, and of rows. */
static void exchange_into_freed(const struct core_options *options, bool rows)
{
    enum { ROW = 1 << 10 };
    omprma_shape_t shape = {
        .bytes = ROW / 2, .count = {BYTES / ROW, 1, 1}, .to_stride = {ROW}, .from_stride = {ROW}};
    omprma_queue_t *queue, *other;
    omprma_addr_t from, freed, next;
    static unsigned char mine[BYTES], back[BYTES];

    core_start(options);
    queue = core_queue(0);
    other = core_queue(1);
    from = core_alloc(0, BYTES);
    freed = core_alloc(1, BYTES);
    core_close(queue, &gate);
    assert_ok(rows ? omprma_exchange_strided(queue, from, 1, freed, &shape)
                   : omprma_exchange(queue, from, 1, freed, BYTES));
    assert_ok(omprma_free(1, freed));
    next = core_alloc(1, BYTES);
    assert_true(next != freed);
    memset(mine, 7, BYTES);
    assert_ok(omprma_submit(other, next, mine, BYTES));
    assert_ok(omprma_queue_synchronize(other));
    core_open(&gate);
    assert_ok(omprma_queue_synchronize(queue));
    assert_ok(omprma_retrieve(other, back, next, BYTES));
    assert_ok(omprma_queue_synchronize(other));
    assert_all(back, BYTES, 7);
    assert_true(used(1) >= BYTES); /* a look gives back what can be */
    assert_null(core_device(1)->memory->retired_first);
    core_stop();
}

TEST(not_while_another_device_copies_there)
{
    static const enum config_exchange ways[] = {EXCHANGE_PUT, EXCHANGE_GET, EXCHANGE_SEND,
                                                EXCHANGE_APPLICATION};

    for (int i = 0; i < 4; i++)
        for (int rows = 0; rows < 2; rows++)
            exchange_into_freed(&(struct core_options){.workers = 2, .exchange = ways[i]}, rows);
    for (int rows = 0; rows < 2; rows++)
        exchange_into_freed(&(struct core_options){.devices = 2}, rows);
}

/* Nothing is under way: at once, as ever. */
CORE_TEST(at_once_when_nothing_is_under_way, 1)
{
    omprma_queue_t *queue = core_queue(0);
    omprma_addr_t block;

    for (int i = 0; i < 100; i++) {
        block = core_alloc(0, BYTES);
        assert_ok(launch(queue, KERNEL(kernel_add), block, 8, 1));
        assert_ok(omprma_queue_synchronize(queue));
        assert_ok(omprma_free(0, block));
        assert_null(core_device(0)->memory->retired_first);
    }
}

static void *open_later(void *data)
{
    kernel_nap(50000);
    core_open(data);
    return NULL;
}

/* A device that is full waits for what was freed. */
CORE_TEST(a_full_device_waits, 1, .arena = 8 << 20, .memory = 8 << 20)
{
    omprma_addr_t block[64];
    omprma_queue_t *queue = core_queue(0);
    pthread_t thread;
    int count = 0;

    while (omprma_alloc(0, BYTES, &block[count]) == OMPRMA_OK)
        count++;
    assert_in_range(count, 2, 63);
    core_close(queue, &gate);
    assert_ok(omprma_free(0, block[0]));
    assert_int_equal(pthread_create(&thread, NULL, open_later, &gate), 0);
    assert_ok(omprma_alloc(0, BYTES, &block[0]));
    assert_true(atomic_load(&gate.open));
    pthread_join(thread, NULL);
    assert_int_equal(omprma_alloc(0, BYTES, &block[count]), OMPRMA_ERR_DEVICE_MEMORY);
}

static uint64_t arena_bytes(void)
{
    omprma_device_info_t info;

    assert_ok(omprma_device_info(0, &info));
    return info.arena_bytes;
}

/* The last of what an arena held is given back when the kernel that it was freed under is over. */
CORE_TEST(empty_arenas_go_when_the_last_block_does, 1, .arena = 1 << 20)
{
    enum { BLOCKS = 4, BLOCK = 8 << 20 };
    omprma_addr_t block[BLOCKS];
    omprma_queue_t *queue = core_queue(0);
    uint64_t all;

    for (int i = 0; i < BLOCKS; i++)
        block[i] = core_alloc(0, BLOCK);
    all = core_device(0)->memory->attached_bytes;
    core_close(queue, &gate);
    for (int i = 0; i < BLOCKS; i++)
        assert_ok(omprma_free(0, block[i]));
    assert_int_equal(core_device(0)->memory->attached_bytes, all);
    core_open(&gate);
    assert_ok(omprma_queue_synchronize(queue));
    assert_true(core_device(0)->memory->attached_bytes < all);
    assert_int_equal(core_device(0)->memory->attached_bytes, arena_bytes());
}

/* Threads that launch, and free each other's blocks: what a kernel finds was written for it. */
struct worker_thread {
    pthread_t thread;
    int number;
};

static void kernel_check(uint64_t at, uint64_t value, uint64_t wrong)
{
    kernel_nap(50);
    if (*(volatile uint64_t *)(uintptr_t)at != value)
        ++*(volatile uint64_t *)(uintptr_t)wrong;
}

static void *launch_and_free(void *data)
{
    const struct worker_thread *self = data;
    omprma_queue_t *queue = core_queue(0);
    uint64_t wrong = 0;
    omprma_addr_t count = core_alloc(0, 8);

    assert_ok(omprma_submit(queue, count, &wrong, 8));
    for (uint64_t i = 0; i < 200; i++) {
        uint64_t value = i * COUNT + (uint64_t)self->number;
        omprma_addr_t block = core_alloc(0, 64);

        assert_ok(omprma_submit(queue, block, &value, 8));
        assert_ok(launch(queue, KERNEL(kernel_check), block, value, count));
        assert_ok(omprma_queue_flush(queue));
        assert_ok(omprma_free(0, block)); /* too early */
    }
    assert_ok(omprma_retrieve(queue, &wrong, count, 8));
    assert_ok(omprma_queue_synchronize(queue));
    assert_int_equal(wrong, 0);
    assert_ok(omprma_free(0, count));
    return NULL;
}

CORE_TEST(early_frees_are_harmless, 1)
{
    struct worker_thread thread[COUNT];

    core_choose(0, 512, true);
    for (int i = 0; i < COUNT; i++) {
        thread[i].number = i;
        assert_int_equal(pthread_create(&thread[i].thread, NULL, launch_and_free, &thread[i]), 0);
    }
    for (int i = 0; i < COUNT; i++)
        pthread_join(thread[i].thread, NULL);
    assert_int_equal(used(0), 0);
}
