/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_common.c: memory that devices have in common. Workers of this test are one process, which
 * cannot have the same addresses twice: so it is made for one device, and refused for two. What
 * several workers do with it tests/openmp/programs/graphs.c sees.
 * Covers: host/device/common.c join_memory.c
 */
#include <omprma_private/common.h>

#include "tests/unit/test.h"
#include "tests/unit/core_fixture.h"

enum { ARENA = 1 << 20, BYTES = 3000 };

static void fill_and_compare(int device, omprma_addr_t at, char value)
{
    omprma_queue_t *queue = core_queue(device);
    char sent[BYTES], back[BYTES];

    memset(sent, value, sizeof(sent));
    assert_ok(omprma_submit(queue, at, sent, sizeof(sent)));
    assert_ok(omprma_retrieve(queue, back, at, sizeof(back)));
    assert_ok(omprma_queue_synchronize(queue));
    assert_memory_equal(sent, back, sizeof(sent));
    assert_ok(omprma_queue_destroy(queue));
}

static void use_and_free(int device)
{
    omprma_addr_t blocks[8];

    for (int i = 0; i < 8; i++) {
        assert_ok(omprma_alloc(device, ARENA, &blocks[i]));
        fill_and_compare(device, blocks[i], (char)('a' + i));
    }
    for (int i = 0; i < 8; i++)
        assert_ok(omprma_free(device, blocks[i]));
    assert_int_equal(omprma_free(device, blocks[0]), OMPRMA_ERR_ADDRESS);
}

/* None of it lies in the arena that the device came with. */
CORE_TEST(it_stands_in_for_the_device_s_own, 1, .arena = ARENA)
{
    const struct world_device *about = &core_device(0)->about;
    const int device = 0;
    omprma_addr_t block;

    assert_ok(omprma_memory_join(&device, 1));
    assert_ok(omprma_alloc(0, BYTES, &block));
    assert_true(block < about->arena || block >= about->arena + about->arena_bytes);
    fill_and_compare(0, block, 'x');
    assert_ok(omprma_free(0, block));
    use_and_free(0);
}

CORE_TEST(where_it_cannot_be_all_stays_as_it_was, 2, .arena = ARENA)
{
    const int both[] = {0, 1};

    for (int round = 0; round < 2; round++) {
        assert_int_equal(omprma_memory_join(both, 2), OMPRMA_ERR_DEVICE_MEMORY);
        assert_non_null(strstr(omprma_error(), "are free on all workers"));
        use_and_free(0);
        use_and_free(1);
    }
}

CORE_TEST(devices_of_one_worker_are_refused, 1, .arena = ARENA, .devices = 2)
{
    const int both[] = {0, 1};

    assert_int_equal(omprma_memory_join(both, 2), OMPRMA_ERR_ARGUMENT);
    assert_non_null(strstr(omprma_error(), "is of the same worker as device 0"));
    use_and_free(1);
}

CORE_TEST(what_makes_no_sense_is_refused, 2, .arena = ARENA)
{
    const int twice[] = {0, 0}, none[] = {7}, first[] = {0};

    assert_int_equal(omprma_memory_join(twice, 2), OMPRMA_ERR_ARGUMENT);
    assert_non_null(strstr(omprma_error(), "named twice"));
    assert_int_equal(omprma_memory_join(none, 1), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_memory_join(first, 0), OMPRMA_ERR_ARGUMENT);
    assert_ok(omprma_memory_join(first, 1));
    assert_int_equal(omprma_memory_join(first, 1), OMPRMA_ERR_ARGUMENT);
    assert_non_null(strstr(omprma_error(), "already"));
}
