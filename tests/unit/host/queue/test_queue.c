/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_queue.c: the order within a queue, whatever way each operation takes.
 * Covers: append.c order.c order_verify.c queue/queue.c queues.c */
#include <stdio.h>

#include "tests/unit/test.h"
#include "tests/unit/core_fixture.h"

enum { MOST = 4 * CORE_PIECE };

static unsigned char *bytes_of(size_t bytes)
{
    unsigned char *data = malloc(bytes ? bytes : 1);

    assert_non_null(data);
    return data;
}

/* submit, launch, retrieve: each has to see what the one before did. */
static void check_chain(omprma_queue_t *queue, omprma_addr_t there, omprma_addr_t sum_there,
                        uint64_t bytes, struct draw *random)
{
    unsigned char *out = bytes_of(bytes), *back = bytes_of(bytes);
    uint64_t sum = 0, add = draw(random) & 0xff, wanted;

    draw_fill(random, out, bytes);
    memset(back, 0x5a, bytes);
    wanted = sum_of(out, bytes);
    assert_ok(omprma_submit(queue, there, out, bytes));
    if (bytes <= OMPRMA_COPIED_SUBMIT) /* may be reused at once */
        memset(out, 0xee, bytes);
    assert_ok(launch(queue, KERNEL(kernel_sum), there, bytes, sum_there));
    assert_ok(launch(queue, KERNEL(kernel_add), there, bytes, add));
    assert_ok(omprma_retrieve(queue, &sum, sum_there, sizeof(sum)));
    assert_ok(omprma_retrieve(queue, back, there, bytes));
    assert_ok(omprma_queue_synchronize(queue));
    assert_true(sum == wanted);
    for (uint64_t i = 0; i < bytes; i++)
        back[i] = (unsigned char)(back[i] - add);
    assert_true(sum_of(back, bytes) == wanted);
    free(out);
    free(back);
}

static void chains(int lanes, unsigned delay)
{
    struct draw random = {.state = 4711};
    omprma_queue_t *queue;
    omprma_addr_t there, sum_there;

    core_start(&(struct core_options){.lanes = lanes, .delay = delay});
    queue = core_queue(0);
    there = core_alloc(0, MOST);
    sum_there = core_alloc(0, 8);
    for (int round = 0; round < 600; round++) {
        uint64_t bytes = draw_size(&random, MOST);

        if (round % 4 == 0)
            core_choose_any(0, &random);
        check_chain(queue, there + draw_below(&random, MOST - bytes + 1), sum_there, bytes,
                    &random);
    }
    core_end();
}

TEST(chains_of_all_sizes_and_ways)
{
    chains(1, 0);
    chains(1, CORE_NO_DELAY);
    chains(3, 0);
}

/* ---- a long random program against a model ---- */

enum { REGION = 2 * CORE_PIECE, SLOTS = 40 };

struct model {
    omprma_queue_t *queue;
    omprma_addr_t there;
    unsigned char *memory; /* what must be there */
    struct slot {          /* host buffers of operations that are not synchronized */
        unsigned char *host, *wanted;
        uint64_t bytes;
    } slot[SLOTS];
    int used;
    struct draw random;
};

static void model_synchronize(struct model *m)
{
    assert_ok(omprma_queue_synchronize(m->queue));
    while (m->used) {
        struct slot *slot = &m->slot[--m->used];

        if (slot->wanted)
            assert_memory_equal(slot->host, slot->wanted, slot->bytes);
        free(slot->host);
        free(slot->wanted);
    }
}

static void model_step(struct model *m)
{
    uint64_t bytes = draw_size(&m->random, REGION / 2), what = draw_below(&m->random, 10);
    uint64_t at = draw_below(&m->random, REGION - bytes + 1);
    struct slot *slot = &m->slot[m->used++];

    *slot = (struct slot){.host = bytes_of(bytes), .bytes = bytes};
    if (what < 4) {
        draw_fill(&m->random, slot->host, bytes);
        memcpy(m->memory + at, slot->host, bytes);
        assert_ok(omprma_submit(m->queue, m->there + at, slot->host, bytes));
        if (bytes <= OMPRMA_COPIED_SUBMIT)
            memset(slot->host, 0, bytes);
    } else if (what < 7) {
        slot->wanted = bytes_of(bytes);
        memcpy(slot->wanted, m->memory + at, bytes);
        assert_ok(omprma_retrieve(m->queue, slot->host, m->there + at, bytes));
    } else if (what < 9) {
        kernel_add((uint64_t)(uintptr_t)m->memory + at, bytes, what);
        assert_ok(launch(m->queue, KERNEL(kernel_add), m->there + at, bytes, what));
    } else {
        uint64_t to = draw_below(&m->random, REGION - bytes + 1);

        memmove(m->memory + to, m->memory + at, bytes);
        assert_ok(omprma_exchange(m->queue, m->there + at, 0, m->there + to, bytes));
    }
}

static void random_programs(const struct core_options *options, int steps)
{
    struct model m = {.random = {.state = 99}};

    core_start(options);
    m.queue = core_queue(0);
    m.there = core_alloc(0, REGION);
    m.memory = calloc(1, REGION);
    assert_non_null(m.memory);
    assert_ok(omprma_submit(m.queue, m.there, m.memory, REGION));
    model_synchronize(&m);
    for (int step = 0; step < steps; step++) {
        bool done;

        if (draw_below(&m.random, 8) == 0)
            core_choose_any(0, &m.random);
        model_step(&m);
        if (m.used == SLOTS || draw_below(&m.random, 24) == 0)
            model_synchronize(&m);
        else if (draw_below(&m.random, 12) == 0)
            assert_ok(omprma_queue_query(m.queue, &done));
        else if (draw_below(&m.random, 12) == 0)
            assert_ok(omprma_queue_flush(m.queue));
    }
    model_synchronize(&m);
    free(m.memory);
    core_end();
}

TEST(random_programs_give_what_they_say)
{
    random_programs(&(struct core_options){0}, 4000);
    random_programs(&(struct core_options){.lanes = 3, .delay = 20}, 2000);
    random_programs(&(struct core_options){.no_window = true}, 2000);
    random_programs(&(struct core_options){.progress_thread = true}, 1000);
}

/* ---- many operations without waiting ---- */

CORE_TEST(thousands_of_submits_without_waiting, 1)
{
    enum { COUNT = 5000 };
    omprma_queue_t *queue;
    omprma_addr_t there;
    uint64_t *back = calloc(COUNT, sizeof(*back));

    assert_non_null(back);
    queue = core_queue(0);
    there = core_alloc(0, COUNT * 8);
    core_choose(0, 16384, true);
    for (uint64_t i = 0; i < COUNT; i++) { /* a message each */
        assert_ok(omprma_submit(queue, there + 8 * i, &i, 8));
        assert_ok(omprma_queue_flush(queue));
        assert_true(core_device(0)->peer->sent - core_device(0)->peer->acked <= PEER_WINDOW + 2);
    }
    assert_ok(omprma_retrieve(queue, back, there, COUNT * 8));
    assert_ok(omprma_queue_synchronize(queue));
    for (uint64_t i = 0; i < COUNT; i++)
        assert_true(back[i] == i);
    for (uint64_t i = 0; i < COUNT; i++) { /* many in a message */
        uint64_t value = ~i;

        assert_ok(omprma_submit(queue, there + 8 * i, &value, 8));
    }
    assert_ok(omprma_retrieve(queue, back, there, COUNT * 8));
    assert_ok(omprma_queue_synchronize(queue));
    for (uint64_t i = 0; i < COUNT; i++)
        assert_true(back[i] == ~i);
    free(back);
}

CORE_TEST(launches_behind_a_long_kernel, 1)
{
    enum { COUNT = 3000 };
    omprma_queue_t *queue = core_queue(0), *other = core_queue(0);
    omprma_addr_t there = core_alloc(0, 64);
    uint64_t back = 0, zero = 0;
    bool done = true;

    core_choose(0, 16384, true);
    assert_ok(omprma_submit(queue, there, &zero, 8));
    assert_ok(launch(queue, KERNEL(kernel_nap), 50000, 0, 0));
    for (int i = 0; i < COUNT; i++) {
        assert_ok(launch(queue, KERNEL(kernel_count), there, 0, 0));
        assert_ok(omprma_queue_flush(queue));
    }
    assert_ok(omprma_queue_query(queue, &done));
    assert_false(done);
    /* Another queue's data is served meanwhile. */
    assert_ok(omprma_submit(other, there + 8, &zero, 8));
    assert_ok(omprma_retrieve(other, &back, there + 8, 8));
    assert_ok(omprma_queue_synchronize(other));
    while (!done)
        assert_ok(omprma_queue_query(queue, &done));
    assert_ok(omprma_retrieve(queue, &back, there, 8));
    assert_ok(omprma_queue_synchronize(queue));
    assert_int_equal(back, COUNT);
}

/* A kernel writes, and each way of reading has to wait for it; then the kernel has to wait for each
 * way of writing. The kernel naps, so that a missing wait shows. */
static void kernel_slow_add(uint64_t at, uint64_t bytes, uint64_t value)
{
    kernel_nap(500);
    kernel_add(at, bytes, value);
}

CORE_TEST(slow_kernels_are_waited_for, 1, .delay = 30)
{
    static const uint64_t sizes[] = {8, 5000, 20000, 3 * CORE_PIECE};
    unsigned char *out = bytes_of(3 * CORE_PIECE), *back = bytes_of(3 * CORE_PIECE);
    omprma_queue_t *queue = core_queue(0);
    omprma_addr_t there = core_alloc(0, 3 * CORE_PIECE);

    for (int way = 0; way < 6; way++) {
        core_choose(0, way % 3 == 0 ? 16384 : way % 3 == 1 ? 8 : 0, way < 3);
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            memset(out, way + 1, sizes[i]);
            memset(back, 0, sizes[i]);
            assert_ok(omprma_submit(queue, there, out, sizes[i]));
            assert_ok(launch(queue, KERNEL(kernel_slow_add), there, sizes[i], 1));
            assert_ok(omprma_retrieve(queue, back, there, sizes[i]));
            assert_ok(launch(queue, KERNEL(kernel_slow_add), there, sizes[i], 1));
            assert_ok(omprma_submit(queue, there, out, sizes[i] / 2));
            assert_ok(omprma_queue_synchronize(queue));
            assert_all(back, sizes[i], way + 2);
            assert_ok(omprma_retrieve(queue, back, there, sizes[i]));
            assert_ok(omprma_queue_synchronize(queue));
            assert_all(back, sizes[i] / 2, way + 1);
            assert_all(back + sizes[i] / 2, sizes[i] - sizes[i] / 2, way + 3);
        }
    }
    free(out);
    free(back);
}

/* Lets the application's side do what it would do now, were nothing in the way. */
static void poll_a_while(omprma_queue_t *queue)
{
    for (int i = 0; i < 300; i++) {
        bool done = false;

        assert_ok(omprma_queue_query(queue, &done));
    }
}

/* Small submits are not acknowledged. A one-sided transfer to or from the same place, after
 * synchronize, must not overtake them, even if the worker has not taken them yet. */
CORE_TEST(transfers_do_not_overtake_small_submits, 1, .delay = CORE_NO_DELAY)
{
    enum { BYTES = 20000, RANGES = 40 /* more than are kept apart */ };
    unsigned char *out = bytes_of(BYTES), *back = bytes_of(BYTES), one[64];
    omprma_queue_t *small = core_queue(0), *large = core_queue(0);
    omprma_addr_t there = core_alloc(0, BYTES);

    core_choose(0, 64, true);
    memset(out, 2, BYTES);
    memset(one, 1, sizeof(one));
    for (int round = 0; round < 8; round++) {
        omprma_queue_t *queue = round & 1 ? small : large; /* its own or another */
        uint64_t bytes = round & 4 ? BYTES : 100;

        core_hold(0);
        for (unsigned i = 0; i < RANGES; i++)
            assert_ok(omprma_submit(small, there + 100 * i, one, sizeof(one)));
        assert_ok(omprma_queue_synchronize(small));
        if (round & 2)
            assert_ok(omprma_submit(queue, there, out, bytes));
        else
            assert_ok(omprma_retrieve(queue, back, there, bytes));
        poll_a_while(queue);
        core_release(0);
        assert_ok(omprma_queue_synchronize(queue));
        if (round & 2) {
            assert_ok(omprma_retrieve(queue, back, there, bytes));
            assert_ok(omprma_queue_synchronize(queue));
        }
        for (uint64_t i = 0; i < bytes; i += 100)
            if (i / 100 < RANGES)
                assert_int_equal(back[i], round & 2 ? 2 : 1);
        memset(back, 0, BYTES);
    }
    free(out);
    free(back);
    assert_ok(omprma_queue_destroy(large));
}

/* The same within one queue, without any synchronize in between, and in both orders. */
CORE_TEST(transfers_and_small_submits_keep_their_order, 1, .delay = 50)
{
    enum { BYTES = 20000 };
    unsigned char *out = bytes_of(BYTES), *back = bytes_of(BYTES);
    omprma_queue_t *queue = core_queue(0);
    omprma_addr_t there = core_alloc(0, 2 * BYTES);

    core_choose(0, 64, true);
    for (int round = 0; round < 16; round++) {
        uint32_t first = 0x11111111, last = 0x33333333;
        uint64_t first_at = round & 1 ? 400 : BYTES + 400, last_at = round & 2 ? 400 : BYTES + 400;

        memset(out, 0x22, BYTES);
        core_hold(0);
        assert_ok(omprma_submit(queue, there + first_at, &first, 4));
        if (round & 4)
            assert_ok(omprma_queue_flush(queue));
        assert_ok(omprma_submit(queue, there, out, BYTES));
        assert_ok(omprma_submit(queue, there + last_at, &last, 4));
        if (round & 8)
            assert_ok(omprma_queue_flush(queue));
        poll_a_while(queue);
        core_release(0);
        assert_ok(omprma_retrieve(queue, back, there, BYTES));
        assert_ok(omprma_queue_synchronize(queue));
        assert_int_equal(back[0], 0x22);
        assert_int_equal(back[400], round & 2 ? 0x33 : 0x22);
        assert_int_equal(back[403], round & 2 ? 0x33 : 0x22);
        assert_int_equal(back[404], 0x22);
    }
    free(out);
    free(back);
}

/* Transfers of one queue run at the same time unless they touch the same memory. */
CORE_TEST(overlapping_transfers_keep_their_order, 1, .delay = 30)
{
    enum { COUNT = 30, BYTES = CORE_PIECE };
    unsigned char *out = bytes_of(COUNT * BYTES), *back = bytes_of(COUNT * BYTES);
    unsigned char *wanted = bytes_of(BYTES * 2);
    struct draw random = {.state = 3};
    omprma_queue_t *queue = core_queue(0);
    omprma_addr_t there = core_alloc(0, BYTES * 2);

    core_choose(0, 0, true);
    memset(wanted, 0, BYTES * 2);
    assert_ok(omprma_submit(queue, there, wanted, BYTES * 2));
    assert_ok(omprma_queue_synchronize(queue));
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < COUNT; i++) {
            uint64_t bytes = 10000 + draw_below(&random, 40000);
            uint64_t at = draw_below(&random, 2 * BYTES - bytes);

            memset(out + i * BYTES, round + i, bytes);
            assert_ok(omprma_submit(queue, there + at, out + i * BYTES, bytes));
            memset(wanted + at, round + i, bytes);
        }
        /* Each of these comes into the same host memory; the last one stays. */
        assert_ok(omprma_retrieve(queue, back, there + BYTES, BYTES));
        assert_ok(omprma_retrieve(queue, back, there, 2 * BYTES));
        assert_ok(omprma_queue_synchronize(queue));
        assert_memory_equal(back, wanted, BYTES * 2);
    }
    free(out);
    free(back);
    free(wanted);
}

/* Parts of a range come back, of any size and in any order; what they go to may be used again. */
CORE_TEST(parts_are_like_retrieves, 1, .delay = 5)
{
    enum { BYTES = 3 * CORE_PIECE, PARTS = 9, ROUNDS = 200 };
    unsigned char *out = bytes_of(BYTES), *back = bytes_of(BYTES), *wanted = bytes_of(BYTES);
    struct draw random = {.state = 4};
    omprma_queue_t *queue = core_queue(0);
    omprma_addr_t there = core_alloc(0, BYTES);

    memset(wanted, 0, BYTES);
    memset(back, 0, BYTES);
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t whole = draw_size(&random, BYTES), at;
        omprma_part_t parts[PARTS];

        core_choose_any(0, &random);
        draw_fill(&random, out, whole);
        assert_ok(omprma_submit(queue, there, out, whole));
        for (int i = 0; i < PARTS; i++) {
            uint64_t bytes = draw_below(&random, whole / 4 + 1);
            uint64_t offset = draw_below(&random, whole - bytes + 1);
            uint64_t to = draw_below(&random, BYTES - bytes + 1);

            parts[i] = (omprma_part_t){back + to, offset, bytes};
            memcpy(wanted + to, out + offset, bytes);
        }
        assert_ok(omprma_retrieve_parts(queue, there, whole, parts, PARTS));
        memset(parts, 0, sizeof(parts)); /* the list was copied */
        /* And there again, from where some of the parts have gone to. */
        whole = draw_size(&random, BYTES);
        at = draw_below(&random, BYTES - whole + 1);
        assert_ok(omprma_submit(queue, there, back + at, whole));
        assert_ok(omprma_retrieve(queue, out, there, whole));
        assert_ok(omprma_queue_synchronize(queue));
        assert_memory_equal(back, wanted, BYTES);
        assert_memory_equal(out, wanted + at, whole);
    }
    free(out);
    free(back);
    free(wanted);
}

/* A small range travels once, and nothing is copied when a part is wrong. */
CORE_TEST(parts_travel_at_once, 1)
{
    enum { BYTES = 64 };
    unsigned char out[BYTES], back[BYTES] = {0};
    const omprma_part_t good[] = {{back + 32, 0, 8}, {back, 56, 8}, {back + 8, 16, 24}, {0}};
    const omprma_part_t outside = {back, 60, 5}, nowhere = {NULL, 0, 1};
    omprma_queue_t *queue = core_queue(0);
    omprma_addr_t there = core_alloc(0, BYTES);

    core_count();
    core_choose(0, BYTES, true);
    for (int i = 0; i < BYTES; i++)
        out[i] = (unsigned char)(i + 1);
    assert_ok(omprma_submit(queue, there, out, BYTES));
    assert_int_equal(omprma_retrieve_parts(queue, there, BYTES, &outside, 1), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_retrieve_parts(queue, there, BYTES, &nowhere, 1), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_retrieve_parts(queue, there, BYTES, NULL, 1), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_retrieve_parts(NULL, there, BYTES, good, 1), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_retrieve_parts(queue, there, 2 * BYTES, good, 1), OMPRMA_ERR_ADDRESS);
    assert_ok(omprma_retrieve_parts(queue, there, BYTES, NULL, 0));
    assert_ok(omprma_retrieve_parts(queue, there, 0, good + 3, 1));
    assert_int_equal(stats_of(runtime_get(), 0)->cell[DATA_RETRIEVE][PATH_INLINE].operations, 0);
    assert_ok(omprma_retrieve_parts(queue, there, BYTES, good, 4));
    assert_ok(omprma_queue_synchronize(queue));
    assert_int_equal(stats_of(runtime_get(), 0)->cell[DATA_RETRIEVE][PATH_INLINE].operations, 1);
    assert_memory_equal(back + 32, out, 8);
    assert_memory_equal(back, out + 56, 8);
    assert_memory_equal(back + 8, out + 16, 24);
    assert_all(back + 40, BYTES - 40, 0);
}
