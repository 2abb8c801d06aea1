/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_check.c: OMPRMA_CHECK=full: each mistake is found, once and in words that say where, and
 * programs without mistakes have no findings and the same results.
 * Covers: check/check.c findings.c redzones.c check/origin.c */
#include <stdio.h>
#include <unistd.h>

#include <omprma_private/check.h>

#include "tests/unit/test.h"
#include "base/log.h"
#include "tests/unit/core_fixture.h"
#include "host/check/check.h"
#include "host/check/findings.h"
#include "host/check/redzones.h"

enum { BYTES = 400, LARGE = 200000 };

static FILE *lines; /* what was said */
static uint64_t before;

static void begin(int workers, bool check)
{
    setenv("OMPRMA_CHECK", check ? "full" : "off", 1);
    core_start(&(struct core_options){.workers = workers});
    lines = tmpfile();
    assert_non_null(lines);
    log_to(fileno(lines));
    before = findings_count();
}

/* Ends omprma; there were so many findings. */
static void end(uint64_t findings)
{
    core_stop();
    log_to(STDERR_FILENO);
    if (findings_count() - before != findings) {
        char line[2048];

        rewind(lines);
        while (fgets(line, sizeof(line), lines))
            print_message("%s", line);
        fail_msg("%llu findings, not %llu", (unsigned long long)(findings_count() - before),
                 (unsigned long long)findings);
    }
    fclose(lines);
    unsetenv("OMPRMA_CHECK");
}

/* How many lines have both. */
static int said(const char *words, const char *more)
{
    char line[2048];
    int count = 0;

    rewind(lines);
    while (fgets(line, sizeof(line), lines))
        count += strstr(line, words) && strstr(line, more);
    fseek(lines, 0, SEEK_END);
    return count;
}

static uint64_t found(void)
{
    return findings_count() - before;
}

/* ---- each of them --------------------------------------------------------------------------- */

TEST(bytes_beside_a_block)
{
    static const uint64_t sizes[] = {1, 64, BYTES, 4096, LARGE};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        omprma_addr_t block;
        omprma_queue_t *queue;

        begin(1, true);
        block = core_alloc(0, sizes[i]);
        queue = core_queue(0);
        assert_ok(launch(queue, KERNEL(kernel_add), block, sizes[i], 1)); /* right to the edges */
        assert_ok(launch(queue, KERNEL(kernel_add), block + sizes[i] + 2, 3, 1));
        assert_ok(launch(queue, KERNEL(kernel_add), block - 2, 1, 1));
        assert_ok(omprma_queue_synchronize(queue));
        assert_int_equal(found(), 0); /* nobody has looked */
        omprma_check_place("prog.c:12", "x");
        assert_ok(omprma_free(0, block));
        end(2);
    }
}

TEST(words_of_a_block)
{
    omprma_queue_t *queue;
    omprma_addr_t block;

    begin(1, true);
    queue = core_queue(0);
    omprma_check_place("prog.c:10", "x");
    block = core_alloc(0, BYTES);
    assert_ok(launch(queue, KERNEL(kernel_add), block + BYTES, 4, 1));
    assert_ok(omprma_queue_synchronize(queue));
    omprma_check_place("prog.c:12", NULL);
    assert_ok(omprma_free(0, block));
    assert_ok(launch(queue, KERNEL(kernel_nap), 0, 0, 0));
    assert_ok(omprma_queue_synchronize(queue));
    omprma_free(0, core_alloc(0, 8)); /* goes on with what was freed */
    assert_int_equal(said("4 bytes behind the block of 400 bytes",
                          "(allocated for \"x\" at prog.c:10, freed at prog.c:12) were written, at "
                          "offsets 400 to 403"),
                     1);
    /* nobody has said where: the function that calls */
    block = core_alloc(0, BYTES);
    assert_int_equal(omprma_free(0, block + 8), OMPRMA_ERR_ADDRESS);
    end(2);
}

TEST(freed_memory)
{
    omprma_queue_t *queue;
    omprma_addr_t block, large;
    unsigned char byte;

    begin(1, true);
    queue = core_queue(0);
    block = core_alloc(0, BYTES);
    large = core_alloc(0, LARGE);
    assert_ok(omprma_free(0, block));
    assert_ok(omprma_free(0, large));
    assert_int_equal(omprma_free(0, block), OMPRMA_ERR_ADDRESS);
    assert_non_null(strstr(omprma_error(), "freed before"));
    assert_int_equal(omprma_submit(queue, block, &byte, 1), OMPRMA_ERR_ADDRESS);
    assert_int_equal(omprma_retrieve(queue, &byte, block, 1), OMPRMA_ERR_ADDRESS);
    for (int i = 0; i < 3; i++)
        assert_ok(launch(queue, KERNEL(kernel_add), block + 4, 2, 1));
    assert_int_equal(found(), 1);
    assert_int_equal(said("argument 0", "points to freed memory, the block of 400 bytes"), 1);
    assert_ok(launch(queue, KERNEL(kernel_add), large + LARGE - 10, 2, 1));
    assert_int_equal(found(), 2);
    assert_ok(omprma_queue_synchronize(queue));
    /* both were written, too, which shows at the end */
    end(4);
}

TEST(memory_of_another_device)
{
    omprma_queue_t *queue;
    omprma_addr_t block;

    begin(2, true);
    queue = core_queue(0);
    block = core_alloc(1, BYTES);
    assert_ok(launch(queue, KERNEL(kernel_nap), 0, block, 0));
    assert_ok(launch(queue, KERNEL(kernel_nap), 0, block, 0));
    assert_ok(omprma_queue_synchronize(queue));
    assert_int_equal(said("argument 1", "points to memory of device 1"), 1);
    assert_ok(omprma_free(1, block));
    end(1);
}

/* Arguments of array sections may point beside what they stand for. */
TEST(arguments_that_point_beside)
{
    omprma_addr_t live, freed;
    const char *const names[] = {NULL, ";list;prog.c;3;4;;"};
    omprma_queue_t *queue;

    begin(1, true);
    queue = core_queue(0);
    live = core_alloc(0, BYTES);
    freed = core_alloc(0, BYTES);
    assert_ok(omprma_free(0, freed));
    omprma_check_begins((omprma_addr_t[]){0, live}, names, 2);
    assert_ok(launch(queue, KERNEL(kernel_nap), 0, freed, 0));
    assert_int_equal(found(), 0);
    omprma_check_begins((omprma_addr_t[]){0, freed}, names, 2);
    assert_ok(launch(queue, KERNEL(kernel_nap), 0, live, 0));
    assert_int_equal(said("argument 1 (\"list\"", "points to freed memory, the block of 400"), 1);
    assert_ok(launch(queue, KERNEL(kernel_nap), 0, live, 0)); /* they are used up */
    assert_int_equal(found(), 1);
    assert_ok(omprma_queue_synchronize(queue));
    assert_ok(omprma_free(0, live));
    end(1);
}

/* What is read before anything was written is the pattern of new memory. */
TEST(new_memory)
{
    unsigned char data[BYTES] = {0};
    omprma_queue_t *queue;
    omprma_addr_t block;

    begin(1, true);
    queue = core_queue(0);
    block = core_alloc(0, BYTES);
    assert_ok(omprma_retrieve(queue, data, block, BYTES));
    assert_ok(omprma_queue_synchronize(queue));
    for (int i = 0; i < BYTES; i++)
        assert_int_equal(data[i], REDZONES_NEW);
    assert_ok(omprma_free(0, block));
    end(0);
}

TEST(what_is_left)
{
    begin(1, true);
    omprma_check_place("prog.c:10", "x");
    core_alloc(0, BYTES);
    core_alloc(0, LARGE);
    omprma_free(0, core_alloc(0, BYTES));
    omprma_check_caller((const void *)((uintptr_t)found + 1));
    core_alloc(0, 8);
    omprma_check_caller(NULL);
    core_stop();
    assert_int_equal(said("block of 400 bytes", "(allocated for \"x\" at prog.c:10) was never"), 1);
    /* nobody has said where: the function that has called, from the symbol table */
    assert_int_equal(said("block of 200000 bytes", "(allocated in "), 1);
    assert_int_equal(said("block of 200000 bytes", "core_alloc") +
                         said("block of 200000 bytes", "what_is_left"),
                     1);
    assert_int_equal(said("block of 8 bytes", "(allocated in found ("), 1); /* a face has said so */
    log_to(STDERR_FILENO);
    fclose(lines);
    unsetenv("OMPRMA_CHECK");
    assert_int_equal(found(), 3);
}

/* ---- no mistakes ---------------------------------------------------------------------------- */

TEST(nothing_when_it_is_off)
{
    omprma_addr_t block;

    begin(1, false);
    assert_false(omprma_check_wanted());
    assert_null(core_device(0)->check);
    block = core_alloc(0, BYTES);
    omprma_free(0, block);
    core_alloc(0, BYTES);
    end(0);
}

static void allocate(void *data, omprma_status_t status)
{
    omprma_addr_t *block = data;

    assert_int_equal(status, OMPRMA_OK);
    assert_ok(omprma_alloc(0, BYTES, block));
    assert_ok(omprma_alloc(0, LARGE, block + 1));
    assert_ok(omprma_free(0, block[1]));
}

/* Callbacks must not wait, and need not. */
TEST(blocks_of_callbacks)
{
    omprma_queue_t *queue;
    omprma_addr_t block[2] = {0};

    begin(1, true);
    queue = core_queue(0);
    for (int i = 0; i < 300; i++) {
        assert_ok(launch(queue, KERNEL(kernel_nap), 0, 0, 0));
        assert_ok(omprma_queue_notify(queue, allocate, block));
        assert_ok(omprma_queue_synchronize(queue));
        assert_true(block[0] != 0);
        assert_ok(omprma_free(0, block[0]));
        block[0] = 0;
    }
    end(0);
}

/* Freed memory is kept, but not when there is none left. */
TEST(a_full_device)
{
    omprma_addr_t block;

    setenv("OMPRMA_CHECK", "full", 1);
    core_start(&(struct core_options){.arena = 8 << 20, .memory = 8 << 20});
    before = findings_count();
    for (int i = 0; i < 200; i++) {
        block = core_alloc(0, 5 << 20);
        assert_ok(omprma_free(0, block));
    }
    core_stop();
    unsetenv("OMPRMA_CHECK");
    assert_int_equal(found(), 0);
}

enum { BLOCKS = 12, QUEUES = 3, STEPS = 1500, MOST = 150000 };

struct model {
    omprma_addr_t at;
    uint64_t bytes;
    int device;
    unsigned char *data;
};

static void renew(struct model *block, struct draw *from, omprma_queue_t **queues)
{
    if (block->at) {
        for (int i = 0; i < QUEUES; i++)
            assert_ok(omprma_queue_synchronize(queues[i]));
        assert_ok(omprma_free(block->device, block->at));
        free(block->data);
    }
    block->bytes = 1 + draw_size(from, MOST);
    block->at = core_alloc(block->device, block->bytes);
    block->data = malloc(block->bytes);
    draw_fill(from, block->data, block->bytes);
    assert_ok(omprma_submit(queues[block->device], block->at, block->data, block->bytes));
    assert_ok(omprma_queue_synchronize(queues[block->device]));
}

static void step(struct model *blocks, struct draw *from, omprma_queue_t **queues)
{
    struct model *block = &blocks[draw_below(from, BLOCKS)];
    struct model *other = &blocks[draw_below(from, BLOCKS)];
    omprma_queue_t *queue = queues[block->device];
    uint64_t least = block->bytes < other->bytes ? block->bytes : other->bytes;
    unsigned char *back;

    switch (draw_below(from, 5)) {
    case 0:
        renew(block, from, queues);
        return;
    case 1:
        assert_ok(launch(queue, KERNEL(kernel_add), block->at, block->bytes, 3));
        for (uint64_t i = 0; i < block->bytes; i++)
            block->data[i] = (unsigned char)(block->data[i] + 3);
        return;
    case 2:
        if (block == other)
            return;
        assert_ok(omprma_queue_synchronize(queues[other->device]));
        assert_ok(omprma_exchange(queue, block->at, other->device, other->at, least));
        assert_ok(omprma_queue_synchronize(queue));
        memcpy(other->data, block->data, least);
        return;
    case 3:
        assert_ok(omprma_fill(queue, block->at, "y", 1, block->bytes / 2));
        memset(block->data, 'y', block->bytes / 2);
        return;
    default:
        back = malloc(block->bytes);
        assert_ok(omprma_retrieve(queue, back, block->at, block->bytes));
        assert_ok(omprma_queue_synchronize(queue));
        assert_memory_equal(back, block->data, block->bytes);
        free(back);
    }
}

TEST(a_random_program)
{
    struct draw from = {.state = 20260817};

    for (int round = 0; round < 3; round++) {
        struct model blocks[BLOCKS] = {0};
        omprma_queue_t *queues[QUEUES];

        begin(QUEUES, true);
        for (int i = 0; i < QUEUES; i++) {
            core_choose(i, round == 2 ? 4096 : 0, round == 0);
            queues[i] = core_queue(i);
        }
        for (int i = 0; i < BLOCKS; i++) {
            blocks[i].device = i % QUEUES;
            renew(&blocks[i], &from, queues);
        }
        for (int i = 0; i < STEPS; i++)
            step(blocks, &from, queues);
        for (int i = 0; i < QUEUES; i++)
            assert_ok(omprma_queue_synchronize(queues[i]));
        for (int i = 0; i < BLOCKS; i++) {
            assert_ok(omprma_free(blocks[i].device, blocks[i].at));
            free(blocks[i].data);
        }
        end(0);
    }
}
