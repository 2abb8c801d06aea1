/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_shared.c: memory that the program has mapped as well: copies by itself, in order with
 * launches, beside a model; with the help of a thread; further arenas; when data goes by other
 * paths; small data; wrong addresses; a lost worker.
 * Covers: path/shared.c path/inline.c host/start/reach.c control/shm/mapped.c */
#define _GNU_SOURCE
#include "tests/unit/test.h"
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "control/shm/split.h"
#include "tests/unit/core_fixture.h"

enum { BYTES = 3 << 20, PAGE = 4096, MIDDLE = 64 << 10 };

static omprma_queue_t *queue;
static omprma_addr_t there;
static unsigned char data[BYTES], model[BYTES], back[BYTES];

static void begin(const struct core_options *o)
{
    struct core_options shared = *o;

    shared.shared = true;
    core_start(&shared);
    core_count();
    if (!core_device(0)->mapped.count) { /* a container may not have name spaces */
        core_end();
        skip();
    }
    core_device(0)->paths.inline_submit = core_device(0)->paths.inline_retrieve = PAGE;
    assert_ok(omprma_queue_create(0, &queue));
    there = core_alloc(0, BYTES);
}

static uint64_t copied(void)
{
    const struct stats *stats = stats_of(runtime_get(), 0);

    return stats->cell[DATA_SUBMIT][PATH_SHARED].operations +
           stats->cell[DATA_RETRIEVE][PATH_SHARED].operations;
}

/* There and back. */
static bool is_copied(omprma_addr_t at, uint64_t bytes)
{
    uint64_t before = copied();

    data[0]++;
    data[bytes - 1]++;
    assert_ok(omprma_submit(queue, at, data, bytes));
    assert_ok(omprma_retrieve(queue, back, at, bytes));
    assert_ok(omprma_queue_synchronize(queue));
    assert_memory_equal(back, data, bytes);
    assert_true(copied() == before || copied() == before + 2);
    return copied() > before;
}

static int be_impatient(void **state)
{
    (void)state;
    alarm(120);
    return 0;
}

TEST_GROUP(be_impatient, NULL)

TEST(copies_keep_the_order_of_the_queue)
{
    struct draw from = {17};

    begin(&(struct core_options){.delay = 1});
    assert_ok(omprma_submit(queue, there, model, BYTES));
    for (int i = 0; i < 400; i++) {
        uint64_t at = draw_below(&from, BYTES), bytes = 1 + draw_below(&from, BYTES - at);
        uint64_t value = draw_below(&from, 256);

        bytes = i % 3 ? bytes : draw_size(&from, bytes);
        bytes = bytes ? bytes : 1;
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
            assert_ok(omprma_retrieve(queue, back + at, there + at, bytes));
            assert_ok(omprma_queue_synchronize(queue));
            assert_memory_equal(back + at, model + at, bytes);
        }
    }
    assert_ok(omprma_retrieve(queue, back, there, BYTES));
    assert_ok(omprma_queue_synchronize(queue));
    assert_memory_equal(back, model, BYTES);
    assert_true(copied() > 100);
    core_end();
}

/* ---- a thread helps ---- */

enum { LARGE = 9 << 20, HELP_LEAST = SPLIT_LEAST };

static void begin_large(void)
{
    begin(&(struct core_options){.delay = 1, .arena = 32 << 20});
    runtime_get()->copier.processors = 2; /* wherever this test runs */
    assert_ok(omprma_free(0, there));
    there = core_alloc(0, LARGE);
}

/* Whether the thread was asked for the last copy. */
static bool is_helped(unsigned char *from, unsigned char *to, uint64_t bytes)
{
    struct copier *copier = &runtime_get()->copier;
    bool helps;

    copier->rests = 0;
    copier->passed = 7;
    memset(from, (int)bytes % 251, bytes);
    assert_ok(omprma_submit(queue, there, from, bytes));
    assert_ok(omprma_queue_synchronize(queue));
    helps = copier->passed != 7;
    assert_ok(omprma_retrieve(queue, to, there, bytes));
    assert_ok(omprma_queue_synchronize(queue));
    assert_memory_equal(to, from, bytes);
    return helps;
}

TEST(a_thread_helps_with_large_copies)
{
    unsigned char *from = malloc(LARGE), *to = malloc(LARGE);

    assert_non_null(from);
    assert_non_null(to);
    begin_large();
    for (int i = 0; i < 20; i++) {
        assert_true(is_helped(from, to, LARGE - (uint64_t)i));
        assert_true(is_helped(from, to, HELP_LEAST));
        assert_false(is_helped(from, to, HELP_LEAST - 1));
    }
    runtime_get()->copier.processors = 1;
    assert_false(is_helped(from, to, LARGE));
    core_end();
    free(from);
    free(to);
}

/* Nothing is written to the program's memory after its worker is lost, by the thread either. */
TEST(a_lost_worker_is_left_by_the_thread)
{
    unsigned char *to = malloc(LARGE);

    assert_non_null(to);
    for (int i = 0; i < 20; i++) {
        begin_large();
        assert_ok(omprma_retrieve(queue, to, there, LARGE)); /* a piece of it at least */
        kernel_nap((uint64_t)i * 20);
        core_lose(0);
        memset(to, 3, LARGE);
        kernel_nap(500);
        assert_all(to, LARGE, 3);
        assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_DEVICE_LOST);
        core_end_lost(queue);
    }
    free(to);
}

/* Each further arena is mapped as it comes, and unmapped as it goes: the numbers of its addresses
 * may then be those of another one. */
TEST(further_arenas_are_mapped)
{
    enum { FURTHER = 3 };
    const uint64_t more = 12 << 20;
    omprma_addr_t other[FURTHER];

    begin(&(struct core_options){.delay = 1, .arena = 4 << 20});
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < FURTHER; i++) {
            other[i] = core_alloc(0, more);
            assert_non_null(mapped_find(&core_device(0)->mapped, other[i], more));
            assert_true(is_copied(other[i] + more - BYTES, BYTES));
        }
        assert_true(round > 0 || core_device(0)->mapped.count == 1 + FURTHER);
        assert_true(is_copied(there, BYTES));
        for (int i = 0; i < FURTHER; i++)
            assert_ok(omprma_free(0, other[(i + round) % FURTHER]));
        /* The largest one stays for the next block. */
        assert_int_equal(core_device(0)->mapped.count, 2);
    }
    core_end();
}

/* An arena that the program cannot map is used all the same. */
TEST(what_cannot_be_mapped_goes_by_other_paths)
{
    const uint64_t more = 12 << 20;
    omprma_addr_t other;

    begin(&(struct core_options){.delay = 1, .arena = 4 << 20});
    other = core_alloc(0, more);
    mapped_drop(&core_device(0)->mapped, other);
    assert_false(is_copied(other, BYTES));
    assert_true(is_copied(there, BYTES));
    assert_ok(omprma_free(0, other));
    core_end();
}

TEST(other_paths_are_taken_where_they_are_asked_for)
{
    begin(&(struct core_options){.delay = 1});
    core_choose(0, 64, true);
    assert_true(is_copied(there, 65));
    assert_true(is_copied(there, MIDDLE));
    assert_true(is_copied(there, BYTES));
    core_device(0)->paths.shared = false;
    assert_false(is_copied(there, 64)); /* in a message */
    assert_false(is_copied(there, BYTES));
    core_end();
    begin(&(struct core_options){.delay = 1, .data = DATA_RMA});
    assert_false(is_copied(there, BYTES));
    core_end();
    begin(&(struct core_options){.delay = 1, .data = DATA_TWO_SIDED});
    assert_false(is_copied(there, BYTES));
    core_end();
}

/* ---- small transfers ---- */

enum { SUBMIT_LEAST = 256 };

TEST(small_transfers_into_an_idle_queue_are_copies)
{
    uint64_t before;

    begin(&(struct core_options){.delay = 1});
    for (uint64_t bytes = 2 * SUBMIT_LEAST; bytes <= PAGE; bytes *= 2)
        assert_true(is_copied(there, bytes));
    before = copied();
    assert_ok(omprma_submit(queue, there, data, SUBMIT_LEAST)); /* in a message, with a launch */
    assert_ok(omprma_queue_synchronize(queue));
    assert_int_equal(copied(), before);
    for (uint64_t i = 0; i < 8; i++)
        assert_ok(omprma_retrieve(queue, back + 8 * i, there + PAGE - 64 + 8 * i, 8));
    assert_int_equal(copied(), before + 8);
    assert_true(queue_is_idle(queue));
    assert_memory_equal(back, data + PAGE - 64, 64);
    runtime_get()->config.inline_submit = runtime_get()->config.inline_retrieve = PAGE;
    assert_false(is_copied(there, PAGE)); /* as the user has said */
    assert_true(is_copied(there, PAGE + 1));
    core_end();
}

TEST(small_transfers_beside_a_launch_ride_in_its_message)
{
    uint64_t before;

    begin(&(struct core_options){.delay = 1});
    assert_ok(omprma_submit(queue, there, data, PAGE));
    before = copied();
    assert_ok(launch(queue, KERNEL(kernel_add), there, 8, 1));
    assert_ok(omprma_submit(queue, there + 8, data, 8));
    assert_ok(omprma_retrieve(queue, back, there, 16));
    assert_ok(omprma_queue_synchronize(queue));
    assert_int_equal(copied(), before);
    assert_int_equal(back[0], (unsigned char)(data[0] + 1));
    assert_memory_equal(back + 8, data, 8);
    core_end();
}

/* A message with a small submit may have left, which makes its queue an idle one, and not have been
 * taken by the worker. */
TEST(a_copy_waits_for_messages_to_the_same_place)
{
    omprma_queue_t *other;

    begin(&(struct core_options){.delay = 1});
    assert_ok(omprma_queue_create(0, &other));
    for (int i = 1; i < 100; i++) {
        runtime_get()->config.inline_submit = PAGE;
        memset(data, i, 64);
        assert_ok(omprma_submit(queue, there, data, 64));
        assert_ok(omprma_queue_synchronize(queue));
        assert_true(queue_is_idle(queue));
        runtime_get()->config.inline_submit = -1;
        if (i % 2) { /* what is written last stays */
            memset(data, i + 100, 2 * SUBMIT_LEAST);
            assert_ok(omprma_submit(queue, there, data, 2 * SUBMIT_LEAST));
            assert_ok(omprma_queue_synchronize(queue));
        }
        assert_ok(omprma_retrieve(i % 3 ? queue : other, back, there, 64));
        assert_ok(omprma_queue_synchronize(i % 3 ? queue : other));
        assert_memory_equal(back, data, 64);
    }
    core_end();
}

TEST(two_parts_are_copied_and_a_message_brings_three)
{
    omprma_part_t parts[] = {{back, 0, 8}, {back + 100, 16, 8}, {back + 200, 1000, 24}};
    uint64_t before;

    begin(&(struct core_options){.delay = 1});
    for (int i = 0; i < PAGE; i++)
        data[i] = (unsigned char)(i + 1);
    assert_ok(omprma_submit(queue, there, data, PAGE));
    before = copied();
    assert_ok(omprma_retrieve_parts(queue, there, PAGE, parts, 2));
    assert_int_equal(copied(), before + 2);
    memset(back, 0, PAGE);
    assert_ok(omprma_retrieve_parts(queue, there, PAGE, parts, 3));
    assert_ok(omprma_queue_synchronize(queue));
    assert_int_equal(copied(), before + 2);
    for (int i = 0; i < 3; i++)
        assert_memory_equal(parts[i].to, data + parts[i].offset, parts[i].bytes);
    core_end();
}

/* Memory that may not be read at its end, and memory that may not be written. */
TEST(a_wrong_address_is_an_error)
{
    static const uint64_t sizes[] = {MIDDLE, BYTES};
    omprma_status_t status;

    begin(&(struct core_options){.delay = 1});
    for (int i = 0; i < 8; i++) {
        uint64_t bytes = sizes[i % 2];
        bool out = i / 2 % 2;
        char *wrong = mmap(NULL, bytes,
                           i < 4 ? PROT_NONE
                           : out ? PROT_WRITE
                                 : PROT_READ,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (out)
            assert_int_equal(mprotect(wrong + bytes - PAGE, PAGE, PROT_NONE), 0);
        status = out ? omprma_submit(queue, there, wrong, bytes)
                     : omprma_retrieve(queue, wrong, there, bytes);
        assert_int_equal(status, OMPRMA_ERR_ARGUMENT);
        assert_non_null(strstr(omprma_error(), "device 0"));
        assert_non_null(strstr(omprma_error(), out ? "submit" : "retrieve"));
        assert_non_null(strstr(omprma_error(), "memory of the program"));
        munmap(wrong, bytes);
        assert_true(is_copied(there, MIDDLE)); /* it is well again */
    }
    core_end();
}

/* Nothing is written to the program's memory after its worker is lost. */
TEST(a_lost_worker_is_left)
{
    begin(&(struct core_options){.delay = 1});
    assert_ok(omprma_retrieve(queue, back, there, BYTES)); /* a piece of it at least */
    core_lose(0);
    memset(back, 3, BYTES);
    assert_int_equal(core_device(0)->mapped.count, 0); /* its memory is not kept */
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_DEVICE_LOST);
    assert_all(back, BYTES, 3);
    core_end_lost(queue);
}
