/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_arenas.c: arenas between application and worker: how many there can be, what stays behind
 * when another is refused, and giving an empty one back without waiting.
 * Covers: device/arena.c blocks.c host/device/devices.c */
#include <unistd.h>

#include "tests/unit/test.h"
#include "tests/unit/core_fixture.h"

enum { ARENA = 1 << 20, BLOCKS_MOST = 200 };

static omprma_addr_t blocks[BLOCKS_MOST];

/* A block that fills an arena of its own: they do not double. */
static omprma_status_t fill_arena(omprma_addr_t *block)
{
    struct device *device = core_device(0);
    uint64_t before = device->memory->attached_bytes;
    omprma_status_t status;

    device->memory->attached_bytes = 0;
    status = omprma_alloc(0, ARENA, block);
    device->memory->attached_bytes += before;
    return status;
}

static const struct memory *memory_of(int worker)
{
    const struct native *native = core.worker[worker].devices[0].state;

    return &native->memory;
}

CORE_TEST(more_arenas_than_there_can_be, 1, .arena = ARENA, .memory = UINT64_C(1) << 30)
{
    const struct memory *memory;
    uint64_t attached, used;
    omprma_addr_t more;
    int count = 0, arenas;

    memory = memory_of(0);
    while (count < BLOCKS_MOST && fill_arena(&blocks[count]) == OMPRMA_OK)
        count++;
    assert_in_range(count, 32, BLOCKS_MOST - 1);
    attached = core_device(0)->memory->attached_bytes;
    used = memory->used_bytes;
    arenas = memory->count;
    assert_int_equal(arenas, count);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(fill_arena(&more), OMPRMA_ERR_DEVICE_MEMORY);
        assert_non_null(strstr(omprma_error(), "arenas"));
        assert_int_equal(core_device(0)->memory->attached_bytes, attached);
        assert_int_equal(memory->used_bytes, used);
        assert_int_equal(memory->count, arenas);
    }
    for (int i = count / 2; i < count; i++)
        assert_ok(omprma_free(0, blocks[i]));
    for (int i = count / 2; i < count; i++)
        assert_ok(fill_arena(&blocks[i]));
}

/* A worker that does not answer: what is free is free at once. */
CORE_TEST(a_free_does_not_wait, 1, .arena = ARENA, .memory = UINT64_C(1) << 30)
{
    enum { COUNT = 20 };
    const struct memory *memory;
    omprma_addr_t again;

    memory = memory_of(0);
    for (int i = 0; i < COUNT; i++)
        assert_ok(fill_arena(&blocks[i]));
    assert_int_equal(memory->count, COUNT);
    core_hold(0);
    for (int i = 0; i < COUNT; i++)
        assert_ok(omprma_free(0, blocks[i]));
    assert_int_equal(memory->count, COUNT);
    assert_in_range(core_device(0)->memory->attached_bytes, ARENA, 3 * ARENA);
    core_release(0);
    /* What comes after it on the worker finds the arenas gone. */
    assert_ok(omprma_alloc(0, 3 * ARENA, &again));
    assert_in_range(memory->count, 2, 3);
}

/* More are given back than messages may be under way. */
CORE_TEST(many_are_given_back, 1, .arena = ARENA, .memory = UINT64_C(1) << 30)
{
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 30; i++)
            assert_ok(fill_arena(&blocks[i]));
        if (round % 2)
            core_hold(0);
        for (int i = 29; i >= 0; i--)
            assert_ok(omprma_free(0, blocks[i]));
        if (round % 2)
            core_release(0);
    }
}
