/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_bounce.c: memory for small reads is made in slabs that a device's driver locks, is used
 * again, and is unlocked at the end.
 * Covers: bounce.c */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "worker/session.h"

enum { BLOCK = 16 << 10, MANY = 100, SLABS_MOST = MANY };

static struct {
    char *memory;
    uint64_t bytes;
} locked[SLABS_MOST];
static int slabs, unlocked;

static void pin(struct worker_device *device, void *memory, uint64_t bytes)
{
    (void)device;
    locked[slabs].memory = memory;
    locked[slabs++].bytes = bytes;
}

static void unpin(struct worker_device *device, void *memory)
{
    bool found = false;

    (void)device;
    for (int i = 0; i < slabs; i++)
        found |= locked[i].memory == memory;
    assert_true(found);
    unlocked++;
}

static const struct backend locks = {.pin = pin, .unpin = unpin}, plain = {.name = "plain"};

static bool is_locked(const char *memory, uint64_t bytes)
{
    for (int i = 0; i < slabs; i++)
        if (memory >= locked[i].memory && memory + bytes <= locked[i].memory + locked[i].bytes)
            return true;
    return false;
}

static int start(void **state)
{
    (void)state;
    slabs = unlocked = 0;
    return 0;
}

/* All at once: none lies in another one. */
TEST(blocks_are_apart_and_locked)
{
    struct worker_device device = {.backend = &locks};
    struct session session = {0};
    char *memory[MANY];

    for (int i = 0; i < MANY; i++) {
        memory[i] = bounce_take(&session, &device, i % 2 ? BLOCK : 8);
        assert_non_null(memory[i]);
        assert_true(is_locked(memory[i], BLOCK));
        memset(memory[i], i, BLOCK);
    }
    for (int i = 0; i < MANY; i++)
        for (int at = 0; at < BLOCK; at += 512)
            assert_int_equal(memory[i][at], (char)i);
    for (int i = 0; i < MANY; i++)
        bounce_give(&session, memory[i]);
    bounce_free_all(&session);
    assert_true(slabs > 1);
    assert_int_equal(unlocked, slabs);
}

TEST(the_last_one_is_used_again)
{
    struct worker_device device = {.backend = &locks};
    struct session session = {0};
    void *memory = bounce_take(&session, &device, 8);

    for (int i = 0; i < MANY; i++) {
        bounce_give(&session, memory);
        assert_ptr_equal(bounce_take(&session, &device, BLOCK), memory);
    }
    bounce_free_all(&session);
    assert_int_equal(slabs, 1);
}

TEST(larger_ones_are_of_the_heap)
{
    struct worker_device device = {.backend = &locks};
    struct session session = {0};
    void *memory = bounce_take(&session, &device, BLOCK + 1);

    assert_non_null(memory);
    bounce_give(&session, memory);
    bounce_free_all(&session);
    assert_int_equal(slabs, 0);
}

/* After a fault the driver unlocks nothing more; what has no driver locks nothing. */
TEST(not_all_is_unlocked)
{
    struct worker_device lost = {.backend = &locks}, other = {.backend = &plain};
    struct session session = {0}, second = {0};
    void *memory;

    assert_non_null(bounce_take(&session, &lost, 8));
    lost.lost = true;
    bounce_free_all(&session);
    assert_int_equal(unlocked, 0);
    memory = bounce_take(&second, &other, 8);
    assert_non_null(memory);
    bounce_give(&second, memory);
    bounce_free_all(&second);
    assert_int_equal(slabs, 1);
}

TEST_EACH(start, NULL)
