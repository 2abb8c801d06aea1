/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_operation.c: which way an operation takes, what it refuses, and what becomes of a queue
 * whose operation failed.
 * Covers: operation.c submit.c path.c path/direct.c
 */
#include <stdio.h>

#include "tests/unit/test.h"
#include "tests/unit/core_fixture.h"

enum { BYTES = 3 * CORE_PIECE };

static unsigned char out[BYTES], back[BYTES];
static unsigned char lost[BYTES]; /* of operations whose data nobody looks at */

/* ---- sizes ---- */

static void check_size(omprma_queue_t *queue, omprma_addr_t there, uint64_t bytes)
{
    struct draw random = {.state = bytes + 1};
    unsigned char before = 0x77, after = 0x77;

    draw_fill(&random, out, bytes);
    memset(back, 0, bytes);
    assert_ok(omprma_submit(queue, there - 1, &before, 1));
    assert_ok(omprma_submit(queue, there + bytes, &after, 1));
    assert_ok(omprma_submit(queue, there, out, bytes));
    assert_ok(omprma_retrieve(queue, back, there, bytes));
    assert_ok(omprma_retrieve(queue, &before, there - 1, 1));
    assert_ok(omprma_retrieve(queue, &after, there + bytes, 1));
    assert_ok(omprma_queue_synchronize(queue));
    assert_memory_equal(out, back, bytes);
    assert_int_equal(before, 0x77);
    assert_int_equal(after, 0x77);
}

CORE_TEST(sizes_around_every_limit, 1)
{
    static const uint64_t limits[] = {0,     8,     64,    512,        4096,          8192,
                                      15360, 16384, 61440, CORE_PIECE, 2 * CORE_PIECE};
    omprma_queue_t *queue = core_queue(0);
    omprma_addr_t there;

    there = core_alloc(0, BYTES) + 64;
    for (int way = 0; way < 8; way++) {
        static const uint32_t inline_most[] = {0, 64, 8192, 16384};

        core_choose(0, inline_most[way / 2], way % 2);
        for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
            for (uint64_t bytes = limits[i] ? limits[i] - 1 : 0; bytes <= limits[i] + 1; bytes++)
                check_size(queue, there, bytes);
    }
    assert_ok(omprma_queue_destroy(queue));
}

/* ---- buffers ---- */

/* Up to OMPRMA_COPIED_SUBMIT the source may be reused at once, on every way, idle or not. */
CORE_TEST(small_sources_may_be_reused_at_once, 1, .delay = 20)
{
    omprma_queue_t *queue = core_queue(0);
    omprma_addr_t there = core_alloc(0, BYTES);

    for (int round = 0; round < 60; round++) {
        uint64_t bytes = round % 5 == 0 ? OMPRMA_COPIED_SUBMIT : 50 + 1000 * (uint64_t)(round % 8);

        core_choose(0, round % 2 ? 0 : 512, round % 3);
        if (round % 4 == 0)
            assert_ok(launch(queue, KERNEL(kernel_nap), 500, 0, 0));
        if (round % 4 == 1)
            assert_ok(omprma_submit(queue, there + 8192, lost, BYTES - 8192));
        memset(out, round + 1, bytes);
        assert_ok(omprma_submit(queue, there, out, bytes));
        memset(out, 0, bytes);
        assert_ok(omprma_retrieve(queue, back, there, bytes));
        assert_ok(omprma_queue_synchronize(queue));
        assert_all(back, bytes, round + 1);
    }
}

/* What a retrieve brings may be submitted at once: the operations of a queue are in order. */
CORE_TEST(retrieved_data_can_be_submitted, 1, .delay = 20)
{
    omprma_queue_t *queue = core_queue(0);
    omprma_addr_t a = core_alloc(0, BYTES), b = core_alloc(0, BYTES);

    for (int round = 0; round < 32; round++) {
        uint64_t bytes = round & 1 ? BYTES : 300;

        core_choose(0, round & 2 ? 0 : 512, round & 4);
        memset(out, round + 1, bytes);
        memset(back, 0, bytes);
        assert_ok(omprma_submit(queue, a, out, bytes));
        assert_ok(launch(queue, KERNEL(kernel_add), a, bytes, 1));
        assert_ok(omprma_retrieve(queue, back, a, bytes));
        assert_ok(omprma_submit(queue, b, back + 10, bytes - 10));
        assert_ok(omprma_retrieve(queue, back, b, 10));
        assert_ok(omprma_queue_synchronize(queue));
        assert_all(back, bytes, round + 2);
    }
}

/* And what is being submitted may be overwritten by a later retrieve. */
CORE_TEST(submitted_memory_can_be_retrieved_into, 1, .delay = 20)
{
    omprma_queue_t *queue = core_queue(0);
    omprma_addr_t a = core_alloc(0, BYTES), b = core_alloc(0, BYTES);

    for (int round = 0; round < 32; round++) {
        core_choose(0, round & 1 ? 0 : 16384, round & 2);
        memset(out, 200, BYTES);
        assert_ok(omprma_submit(queue, b, out, BYTES));
        assert_ok(omprma_queue_synchronize(queue));
        memset(out, round + 1, BYTES);
        assert_ok(omprma_submit(queue, a, out, BYTES));
        core_choose(0, round & 4 ? 0 : 16384, round & 8);
        assert_ok(omprma_retrieve(queue, out + BYTES - 10000, b, 10000));
        assert_ok(omprma_retrieve(queue, out, b, round & 16 ? BYTES : 10000));
        assert_ok(omprma_retrieve(queue, back, a, BYTES));
        assert_ok(omprma_queue_synchronize(queue));
        assert_all(back, BYTES, round + 1);
        assert_all(out, 10000, 200);
        assert_all(out + BYTES - 10000, 10000, 200);
    }
}

/* ---- refused at once ---- */

CORE_TEST(bad_ranges_are_refused, 1)
{
    omprma_queue_t *queue = core_queue(0);
    omprma_addr_t block = core_alloc(0, 100), freed = core_alloc(0, 4096);

    core_alloc(0, 4096); /* so that the one before is not the arena's rest */
    assert_ok(omprma_free(0, freed));
    assert_int_equal(omprma_submit(queue, block, out, 101), OMPRMA_ERR_ADDRESS);
    assert_non_null(strstr(omprma_error(), "runs past the end"));
    assert_int_equal(omprma_submit(queue, block + 99, out, 2), OMPRMA_ERR_ADDRESS);
    assert_int_equal(omprma_retrieve(queue, back, freed, 8), OMPRMA_ERR_ADDRESS);
    assert_non_null(strstr(omprma_error(), "freed"));
    assert_int_equal(omprma_retrieve(queue, back, 0, 8), OMPRMA_ERR_ADDRESS);
    assert_int_equal(omprma_retrieve(queue, back, UINT64_MAX - 3, 8), OMPRMA_ERR_ADDRESS);
    assert_int_equal(omprma_submit(queue, block, NULL, 8), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_retrieve(queue, NULL, block, 8), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_submit(NULL, block, out, 8), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_launch(queue, 0, NULL, NULL, 0), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_launch(queue, KERNEL(kernel_nap), NULL, NULL, 1), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_launch(queue, KERNEL(kernel_nap), NULL, (uint64_t *)out,
                                   OMPRMA_LAUNCH_ARGUMENTS + 1),
                     OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_free(0, freed), OMPRMA_ERR_ADDRESS);
    assert_int_equal(omprma_free(0, block + 1), OMPRMA_ERR_ADDRESS);
    assert_int_equal(omprma_free(1, block), OMPRMA_ERR_ARGUMENT);
    /* The queue has not failed by any of these. */
    assert_ok(omprma_submit(queue, block, out, 100));
    assert_ok(omprma_queue_synchronize(queue));
}

/* A host kernel runs once, with its own arguments. */
CORE_TEST(geometry_leaves_arguments_alone, 1)
{
    const omprma_geometry_t geometry = {.teams = {3, 1, 1}, .threads = {8}, .shared_bytes = 256};
    uint64_t count = 0;
    omprma_queue_t *queue = core_queue(0);
    omprma_addr_t block = core_alloc(0, sizeof(count));

    assert_ok(omprma_submit(queue, block, &count, sizeof(count)));
    assert_ok(omprma_launch(queue, KERNEL(kernel_count), &geometry, &block, 1));
    assert_ok(omprma_launch(queue, KERNEL(kernel_nap), &geometry, &(uint64_t){0}, 1));
    assert_ok(omprma_retrieve(queue, &count, block, sizeof(count)));
    assert_ok(omprma_queue_synchronize(queue));
    assert_int_equal(count, 1);
}

CORE_TEST(memory_grows_and_ends, 1, .arena = 1 << 20, .memory = 24 << 20)
{
    enum { BLOCKS = 400 };
    omprma_addr_t block[BLOCKS], address;
    omprma_device_info_t info;
    omprma_queue_t *queue = core_queue(0);
    int count = 0;

    while (count < BLOCKS && omprma_alloc(0, 200000, &block[count]) == OMPRMA_OK) {
        assert_ok(omprma_submit(queue, block[count], &count, sizeof(count)));
        count++;
    }
    assert_in_range(count, 90, 125);
    assert_int_equal(omprma_alloc(0, 200000, &address), OMPRMA_ERR_DEVICE_MEMORY);
    for (int i = 0; i < count; i++) {
        int value = -1;

        assert_ok(omprma_retrieve(queue, &value, block[i], sizeof(value)));
        assert_ok(omprma_queue_synchronize(queue));
        assert_int_equal(value, i);
        assert_ok(omprma_free(0, block[i]));
    }
    assert_ok(omprma_device_info(0, &info));
    assert_int_equal(info.used_bytes, 0);
    assert_true(info.arena_bytes < 24 << 20);      /* some went back */
    assert_ok(omprma_alloc(0, 9 << 20, &address)); /* in one piece, after all the small ones */
    assert_ok(omprma_free(0, address));
    assert_ok(omprma_alloc(0, 0, &address));
    assert_int_equal(address, 0);
    assert_int_equal(omprma_alloc(0, SIZE_MAX, &address), OMPRMA_ERR_DEVICE_MEMORY);
}

TEST(operations_left_at_the_end_are_finished)
{
    omprma_queue_t *queue;
    omprma_addr_t there, other_there;

    for (int devices = 1; devices <= 2; devices++) {
        core_start(&(struct core_options){.workers = devices});
        queue = core_queue(0);
        there = core_alloc(0, BYTES);
        other_there = core_alloc(devices - 1, BYTES);
        memset(out, 5, BYTES);
        memset(back, 0, BYTES);
        core_choose(0, 0, devices == 2);
        assert_ok(omprma_submit(queue, there, out, BYTES));
        assert_ok(launch(queue, KERNEL(kernel_add), there, BYTES, 1));
        assert_ok(omprma_retrieve(queue, back, there, BYTES - 100));
        core_choose(0, 8192, false);
        assert_ok(omprma_exchange(queue, there, devices - 1, other_there, BYTES));
        assert_ok(omprma_retrieve(queue, back + BYTES - 100, there + BYTES - 100, 100));
        core_stop();
        assert_all(back, BYTES, 6);
    }
}
