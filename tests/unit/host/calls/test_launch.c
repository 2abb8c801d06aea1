/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_launch.c: launches and regions: what goes as one command, what one by one, and errors.
 * Covers: calls/launch.c command_launch.c native.c */
#include "tests/unit/test.h"
#include "tests/unit/core_fixture.h"

enum { WORDS = 512, BYTES = 8 * WORDS };

struct bench {
    omprma_queue_t *queue;
    omprma_addr_t there;
    uint64_t out[WORDS], back[WORDS];
    uint64_t commands; /* that the queue has had */
};

static void bench_open(struct bench *bench, const struct core_options *options)
{
    core_start(options);
    bench->queue = core_queue(0);
    bench->there = core_alloc(0, BYTES);
    for (uint64_t i = 0; i < WORDS; i++) {
        bench->out[i] = i + 1;
        bench->back[i] = 0;
    }
}

/* Counts how many commands it is. */
static uint64_t commands_since(struct bench *bench)
{
    uint64_t before = bench->commands;

    bench->commands = bench->queue->appended;
    return bench->commands - before;
}

/* Submits `words` of them, counts in the first one, retrieves all in two parts, the last one first.
 */
static uint64_t count_in_region(struct bench *bench, omprma_addr_t there, size_t words)
{
    const omprma_part_t parts[] = {{bench->back + 1, 8, 8 * (words - 1)}, {bench->back, 0, 8}};
    omprma_region_t region = {
        .to = there,
        .from = bench->out,
        .bytes = 8 * words,
        .kernel = KERNEL(kernel_count),
        .arguments = &there,
        .count = 1,
        .back = there,
        .back_bytes = 8 * words,
        .parts = parts,
        .part_count = 2,
    };
    uint64_t commands;

    memset(bench->back, 0, BYTES);
    commands_since(bench);
    assert_ok(omprma_region(bench->queue, &region));
    commands = commands_since(bench);
    assert_ok(omprma_queue_synchronize(bench->queue));
    assert_int_equal(bench->back[0], bench->out[0] + 1);
    assert_memory_equal(bench->back + 1, bench->out + 1, 8 * (words - 1));
    assert_all((unsigned char *)(bench->back + words), BYTES - 8 * words, 0);
    return commands;
}

TEST(a_small_region_is_one_command)
{
    struct bench bench;

    bench_open(&bench, &(struct core_options){0});
    core_choose(0, BYTES, true);
    core_count();
    assert_int_equal(count_in_region(&bench, bench.there, 2), 1);
    assert_int_equal(count_in_region(&bench, bench.there + 8, 100), 1);
    assert_int_equal(stats_of(runtime_get(), 0)->launches, 2);
    assert_int_equal(stats_of(runtime_get(), 0)->cell[DATA_SUBMIT][PATH_INLINE].bytes, 8 * 102);
    assert_int_equal(stats_of(runtime_get(), 0)->cell[DATA_RETRIEVE][PATH_INLINE].bytes, 8 * 102);
    core_end();
}

/* What is large, and what lies outside of arenas. */
TEST(other_regions_go_one_by_one)
{
    static uint64_t outside[WORDS];
    struct bench bench;

    bench_open(&bench, &(struct core_options){0});
    assert_in_range(count_in_region(&bench, bench.there, WORDS), 2, 4);
    core_choose(0, 64, true);
    assert_in_range(count_in_region(&bench, bench.there, 9), 2, 4);
    core_choose(0, BYTES, true);
    assert_int_equal(count_in_region(&bench, (omprma_addr_t)(uintptr_t)outside, 4), 4);
    assert_int_equal(outside[0], bench.out[0] + 1);
    core_end();
}

TEST(either_copy_may_be_missing)
{
    struct bench bench;
    omprma_region_t region = {.kernel = KERNEL(kernel_count), .count = 1};
    omprma_geometry_t geometry = {.teams = {3, 1, 1}};
    omprma_part_t part = {0};
    omprma_addr_t second;

    bench_open(&bench, &(struct core_options){0});
    core_choose(0, BYTES, true);
    second = bench.there + 8;
    region.arguments = &second;
    region.to = bench.there;
    region.from = bench.out;
    region.bytes = 16;
    region.geometry = &geometry;
    commands_since(&bench);
    assert_ok(omprma_region(bench.queue, &region)); /* 1, 3 */
    region.bytes = 0;
    assert_ok(omprma_region(bench.queue, &region)); /* 1, 4 */
    part = (omprma_part_t){bench.back, 0, 16};
    region.back = bench.there;
    region.back_bytes = 16;
    region.parts = &part;
    region.part_count = 1;
    assert_ok(omprma_region(bench.queue, &region)); /* 1, 5 */
    assert_int_equal(commands_since(&bench), 3);
    assert_ok(omprma_queue_synchronize(bench.queue));
    assert_int_equal(bench.back[0], 1);
    assert_int_equal(bench.back[1], 5);
    region.part_count = 0; /* it comes back for nobody */
    assert_ok(omprma_region(bench.queue, &region));
    region.bytes = 8;
    region.back_bytes = 0;
    region.parts = NULL;
    region.part_count = 1; /* of nothing */
    assert_ok(omprma_retrieve(bench.queue, bench.back, bench.there, 8));
    assert_ok(omprma_region(bench.queue, &region));
    assert_ok(omprma_queue_synchronize(bench.queue));
    assert_int_equal(bench.back[1], 5);
    core_end();
}

/* The host's memory is used in the order of the calls, though the calls do not wait. */
TEST(regions_use_host_memory_in_their_order)
{
    enum { ROUNDS = 50 };
    struct bench bench;

    bench_open(&bench, &(struct core_options){.delay = 5});
    core_choose(0, BYTES, true);
    bench.out[0] = 0;
    for (int i = 0; i < ROUNDS; i++) {
        omprma_part_t part = {bench.out, 0, 8};
        omprma_region_t region = {
            .to = bench.there + 8 * (omprma_addr_t)(i % 7),
            .from = bench.out,
            .bytes = 8,
            .kernel = KERNEL(kernel_count),
            .arguments = &region.to,
            .count = 1,
            .back = bench.there + 8 * (omprma_addr_t)(i % 7),
            .back_bytes = 8,
            .parts = &part,
            .part_count = 1,
        };

        assert_ok(omprma_region(bench.queue, &region));
    }
    assert_ok(omprma_queue_synchronize(bench.queue));
    assert_int_equal(bench.out[0], ROUNDS);
    core_end();
}

/* Submits the first word, counts in it, retrieves it. */
static omprma_region_t count_here(struct bench *bench, const omprma_part_t *part)
{
    return (omprma_region_t){.to = bench->there,
                             .from = bench->out,
                             .bytes = 8,
                             .kernel = KERNEL(kernel_count),
                             .arguments = &bench->there,
                             .count = 1,
                             .back = bench->there,
                             .back_bytes = 8,
                             .parts = part,
                             .part_count = 1};
}

static void kernel_count_context(uint64_t **context)
{
    kernel_count((*context[0])++); /* the kernel's own copy */
}

/* As one command, as three, and as a call of its own; between kernels of the other form. */
TEST(kernels_have_either_form)
{
    struct bench bench;
    omprma_part_t part = {bench.back, 0, 8};
    omprma_geometry_t geometry = {.threads = {2, 1, 1}};
    omprma_region_t region;

    bench_open(&bench, &(struct core_options){0});
    for (int whole = 0; whole < 2; whole++) {
        core_choose(0, whole ? BYTES : 0, whole);
        region = count_here(&bench, &part);
        region.kernel = KERNEL(kernel_count_context);
        region.context = true;
        commands_since(&bench);
        assert_ok(omprma_region(bench.queue, &region));
        assert_in_range(commands_since(&bench), whole ? 1 : 2, whole ? 1 : 4);
        assert_ok(omprma_launch(bench.queue, KERNEL(kernel_count), NULL, region.arguments, 1));
        for (int shaped = 0; shaped < 2; shaped++)
            assert_ok(omprma_launch_context(bench.queue, region.kernel, shaped ? &geometry : NULL,
                                            region.arguments, 1));
        assert_ok(omprma_retrieve(bench.queue, bench.back + 1, bench.there, 8));
        assert_ok(omprma_queue_synchronize(bench.queue));
        assert_int_equal(bench.back[0], bench.out[0] + 1);
        assert_int_equal(bench.back[1], bench.out[0] + 4);
    }
    assert_int_equal(omprma_launch_context(bench.queue, 0, NULL, NULL, 0), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_launch_context(bench.queue, region.kernel, NULL, NULL, 1),
                     OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_launch_context(bench.queue, region.kernel, NULL, bench.out,
                                           OMPRMA_LAUNCH_ARGUMENTS + 1),
                     OMPRMA_ERR_ARGUMENT);
    core_end();
}

/* What stands before the call with the error is done, nothing after it. */
TEST(errors_are_those_of_the_calls)
{
    struct bench bench;
    uint64_t seen = 0;
    omprma_addr_t hole;
    omprma_part_t part = {bench.back, 0, 8}, beyond = {bench.back, 4, 8};
    omprma_region_t good, bad;

    bench_open(&bench, &(struct core_options){0});
    core_choose(0, BYTES, true);
    good = count_here(&bench, &part);
    assert_int_equal(omprma_region(bench.queue, NULL), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_region(NULL, &good), OMPRMA_ERR_ARGUMENT);
    bad = good;
    bad.from = NULL;
    assert_int_equal(omprma_region(bench.queue, &bad), OMPRMA_ERR_ARGUMENT);
    bad = good;
    bad.count = OMPRMA_LAUNCH_ARGUMENTS + 1;
    assert_int_equal(omprma_region(bench.queue, &bad), OMPRMA_ERR_ARGUMENT);
    bad = good;
    bad.kernel = 0;
    assert_int_equal(omprma_region(bench.queue, &bad), OMPRMA_ERR_ARGUMENT);
    assert_ok(omprma_retrieve(bench.queue, &seen, bench.there, 8));
    assert_ok(omprma_queue_synchronize(bench.queue));
    assert_int_equal(seen, bench.out[0]);
    bad = good;
    bad.parts = &beyond;
    assert_int_equal(omprma_region(bench.queue, &bad), OMPRMA_ERR_ARGUMENT);
    assert_ok(omprma_retrieve(bench.queue, &seen, bench.there, 8));
    assert_ok(omprma_queue_synchronize(bench.queue));
    assert_int_equal(seen, bench.out[0] + 1);
    assert_int_equal(bench.back[0], 0);
    hole = core_alloc(0, 64);
    assert_ok(omprma_free(0, hole));
    bad = good;
    bad.to = hole;
    assert_int_equal(omprma_region(bench.queue, &bad), OMPRMA_ERR_ADDRESS);
    bad = good;
    bad.back = bench.there + BYTES;
    assert_int_equal(omprma_region(bench.queue, &bad), OMPRMA_ERR_ADDRESS);
    assert_ok(omprma_queue_synchronize(bench.queue));
    assert_ok(omprma_region(bench.queue, &good));
    assert_ok(omprma_queue_synchronize(bench.queue));
    assert_int_equal(bench.back[0], bench.out[0] + 1);
    core_end();
}

/* A region behind something that fails is not run, and brings nothing; then all is well again. */
TEST(a_region_of_a_failed_queue_brings_nothing)
{
    struct bench bench;
    omprma_part_t part = {bench.back, 0, 8};
    omprma_region_t region;

    bench_open(&bench, &(struct core_options){0});
    core_make_hole();
    core_choose(0, BYTES, true);
    region = count_here(&bench, &part);
    assert_ok(omprma_submit(bench.queue, core_hole, bench.out, 8));
    assert_ok(omprma_region(bench.queue, &region));
    assert_int_equal(omprma_queue_synchronize(bench.queue), OMPRMA_ERR_ADDRESS);
    assert_int_equal(bench.back[0], 0);
    assert_ok(omprma_retrieve(bench.queue, bench.back + 1, bench.there, 8));
    assert_ok(omprma_queue_synchronize(bench.queue));
    assert_int_not_equal(bench.back[1], bench.out[0]);
    assert_int_not_equal(bench.back[1], bench.out[0] + 1);
    assert_ok(omprma_region(bench.queue, &region));
    assert_ok(omprma_queue_synchronize(bench.queue));
    assert_int_equal(bench.back[0], bench.out[0] + 1);
    core_end();
}

/* ---- a region and its wait ---- */

struct issued {
    struct bench *bench;
    uint64_t commands; /* that were in the queue */
    int times;
};

static void note_issued(void *data)
{
    struct issued *issued = data;

    issued->commands = commands_since(issued->bench);
    issued->times++;
}

static omprma_status_t wait_for(struct bench *bench, const omprma_region_t *region,
                                struct issued *issued)
{
    *issued = (struct issued){.bench = bench};
    commands_since(bench);
    return omprma_region_wait(bench->queue, region, note_issued, issued);
}

TEST(a_wait_brings_what_comes_back)
{
    static uint64_t large[WORDS];
    struct bench bench;
    struct issued issued;
    omprma_part_t part = {bench.back, 0, 8}, all = {large, 0, BYTES};
    omprma_region_t region;

    bench_open(&bench, &(struct core_options){.delay = 5});
    core_choose(0, BYTES, true);
    region = count_here(&bench, &part);
    assert_ok(wait_for(&bench, &region, &issued));
    assert_int_equal(bench.back[0], bench.out[0] + 1);
    assert_int_equal(issued.commands, 1);
    assert_int_equal(issued.times, 1);
    assert_int_equal(commands_since(&bench), 0);
    assert_ok(omprma_region_wait(bench.queue, &region, NULL, NULL));
    region.bytes = region.back_bytes = 0; /* the launch alone */
    assert_ok(wait_for(&bench, &region, &issued));
    assert_int_equal(issued.commands, 1);
    assert_int_equal(issued.times, 1);
    region.bytes = region.back_bytes = BYTES; /* one by one */
    region.parts = &all;
    assert_ok(wait_for(&bench, &region, &issued));
    assert_in_range(issued.commands, 1, 4);
    assert_int_equal(issued.times, 1);
    assert_int_equal(large[0], bench.out[0] + 1);
    assert_memory_equal(large + 1, bench.out + 1, BYTES - 8);
    core_end();
}

/* A caller's locks are given up whatever happens. */
TEST(a_wait_tells_of_errors)
{
    struct bench bench;
    struct issued issued;
    omprma_part_t part = {bench.back, 0, 8};
    omprma_region_t good, bad;

    bench_open(&bench, &(struct core_options){0});
    core_make_hole();
    core_choose(0, BYTES, true);
    bad = good = count_here(&bench, &part);
    bad.kernel = 0;
    assert_int_equal(wait_for(&bench, NULL, &issued), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(issued.times, 1);
    assert_int_equal(wait_for(&bench, &bad, &issued), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(issued.times, 1);
    assert_non_null(strstr(omprma_error(), "launch of kernel 0x0"));
    assert_int_equal(omprma_region_wait(NULL, &good, NULL, NULL), OMPRMA_ERR_ARGUMENT);
    assert_ok(omprma_submit(bench.queue, core_hole, bench.out, 8));
    assert_int_equal(wait_for(&bench, &good, &issued), OMPRMA_ERR_ADDRESS);
    assert_int_equal(issued.times, 1);
    assert_int_equal(bench.back[0], 0);
    assert_ok(wait_for(&bench, &good, &issued)); /* the queue is clean again */
    assert_int_equal(bench.back[0], bench.out[0] + 1);
    core_end();
}
