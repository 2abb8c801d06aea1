/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_order.c: operations of one queue on a GPU are put one behind the other into the
 * driver's stream, and end in order. With the stand-in for the driver.
 * Covers: gpu/stream.c
 */
#include "tests/unit/test.h"
#include "tests/unit/worker/cuda/cuda_fixture.h"

/* Behind a kernel that lasts a queue goes to the driver at once, as far as the worker lets it, and
 * stays in order. */
TEST(a_queue_is_in_the_driver)
{
    enum { CHAIN = 40, DEEP = 50 };
    unsigned char seen[CHAIN], sum = 0;
    struct gate gate;
    omprma_queue_t *queue;
    omprma_addr_t add, block;
    bool done;

    start_all();
    queue = core_queue(GPU);
    add = look_up(GPU, "standin_add");
    block = core_alloc(GPU, 64);
    assert_ok(omprma_fill(queue, block, "\0", 1, 64));
    gpu_keep_busy(queue, look_up(GPU, "standin_gate"), &gate);
    for (int i = 0; i < CHAIN; i++) {
        assert_ok(launch(queue, add, block, 8, (uint64_t)i));
        assert_ok(omprma_retrieve(queue, &seen[i], block, 1));
    }
    while (count_things().deepest < DEEP) {
        assert_ok(omprma_queue_query(queue, &done));
        assert_false(done);
    }
    core_open(&gate);
    assert_ok(omprma_queue_synchronize(queue));
    for (int i = 0; i < CHAIN; i++)
        assert_int_equal(seen[i], sum = (unsigned char)(sum + i));
    assert_ok(omprma_queue_destroy(queue));
    stop_all();
}

/* What most tests work with. */
struct work {
    omprma_queue_t *queue;
    omprma_addr_t add, block;
};

static struct work start_work(void)
{
    struct work work;

    start_all();
    work.queue = core_queue(GPU);
    work.add = look_up(GPU, "standin_add");
    work.block = core_alloc(GPU, 64);
    return work;
}

static void stop_work(const struct work *work)
{
    assert_ok(omprma_queue_destroy(work->queue));
    stop_all();
    unsetenv("STANDIN_DELAY");
    unsetenv("STANDIN_TAKES");
}

static omprma_status_t run_region(const struct work *at, unsigned char in, unsigned char *out)
{
    assert_ok(omprma_submit(at->queue, at->block, &in, 1));
    assert_ok(launch(at->queue, at->add, at->block, 1, 2));
    assert_ok(omprma_retrieve(at->queue, out, at->block, 1));
    return omprma_queue_synchronize(at->queue);
}

static omprma_status_t issue_whole(const struct work *at, const unsigned char *in,
                                   unsigned char *out)
{
    const uint64_t arguments[] = {at->block, 1, 2};
    const omprma_part_t part = {.to = out, .bytes = 1};
    const omprma_region_t region = {
        .to = at->block,
        .from = in,
        .bytes = in ? 1 : 0,
        .kernel = at->add,
        .arguments = arguments,
        .count = 3,
        .back = at->block,
        .back_bytes = out ? 1 : 0,
        .parts = out ? &part : NULL,
        .part_count = out ? 1 : 0,
    };

    return omprma_region(at->queue, &region);
}

/* The same in one command, which is one job of the GPU. */
static omprma_status_t run_whole(const struct work *at, unsigned char in, unsigned char *out)
{
    assert_ok(issue_whole(at, &in, out));
    return omprma_queue_synchronize(at->queue);
}

/* Reads around the size up to which they need no memory of their own, all under way at once. */
TEST(small_reads_and_larger_ones)
{
    enum { BYTES = 4096 };
    static const uint32_t sizes[] = {1, 63, 64, 65, 66, BYTES};
    enum { SIZES = sizeof(sizes) / sizeof(*sizes) };
    static unsigned char here[BYTES], there[SIZES][BYTES];
    omprma_queue_t *queue;
    omprma_addr_t block;

    start_all();
    queue = core_queue(GPU);
    block = core_alloc(GPU, BYTES);
    for (int i = 0; i < BYTES; i++)
        here[i] = (unsigned char)(i % 251 + 1);
    assert_ok(omprma_submit(queue, block, here, BYTES));
    for (int round = 0; round < 3; round++) {
        memset(there, 0, sizeof(there));
        for (int i = 0; i < SIZES; i++)
            assert_ok(omprma_retrieve(queue, there[i], block, sizes[i]));
        assert_ok(omprma_queue_synchronize(queue));
        for (int i = 0; i < SIZES; i++) {
            assert_memory_equal(there[i], here, sizes[i]);
            if (sizes[i] < BYTES)
                assert_int_equal(there[i][sizes[i]], 0);
        }
    }
    assert_ok(omprma_queue_destroy(queue));
    stop_all();
}

/* What a region brings back ends with it: between the two no event is recorded. */
TEST(a_region_needs_one_event)
{
    unsigned char out = 0;
    struct work at;
    int recorded;

    setenv("STANDIN_DELAY", "20000", 1);
    at = start_work();
    recorded = count_things().recorded;
    for (int i = 0; i < 10; i++) {
        assert_ok(run_region(&at, 40, &out));
        assert_int_equal(out, 42);
    }
    assert_int_equal(count_things().recorded - recorded, 10);
    stop_work(&at);
}

/* Regions in one command follow each other, with or without data either way, and with other
 * commands between them. One alone needs no event. */
TEST(whole_regions_keep_order)
{
    enum { ROUNDS = 10 };
    unsigned char in[ROUNDS], out[ROUNDS][3];
    struct work at;
    int recorded;

    setenv("STANDIN_DELAY", "2000", 1);
    at = start_work();
    for (int i = 0; i < ROUNDS; i++) {
        in[i] = (unsigned char)(10 * i);
        assert_ok(issue_whole(&at, &in[i], &out[i][0]));
        assert_ok(issue_whole(&at, NULL, &out[i][1]));
        assert_ok(issue_whole(&at, &in[i], NULL));
        assert_ok(launch(at.queue, at.add, at.block, 1, 5));
        assert_ok(omprma_retrieve(at.queue, &out[i][2], at.block, 1));
    }
    assert_ok(omprma_queue_synchronize(at.queue));
    for (int i = 0; i < ROUNDS; i++) {
        assert_int_equal(out[i][0], 10 * i + 2);
        assert_int_equal(out[i][1], 10 * i + 4);
        assert_int_equal(out[i][2], 10 * i + 7);
    }
    recorded = count_things().recorded;
    for (int i = 0; i < ROUNDS; i++)
        assert_ok(run_whole(&at, 40, &out[i][0]));
    assert_int_equal(count_things().recorded, recorded);
    stop_work(&at);
}

/* Also when the read fails to begin behind the kernel that was to end with it. What the queue does
 * next is right, and nothing is left. */
static void fails_at_each_call(omprma_status_t (*run)(const struct work *at, unsigned char in,
                                                      unsigned char *out))
{
    enum { CALLS = 16 }; /* those of a region, and some looks at how far it is */
    struct work at;
    int failures = 0, reads = 0;

    setenv("STANDIN_DELAY", "20000", 1);
    at = start_work();
    for (int n = 1; n <= CALLS; n++) {
        unsigned char out = 0;
        omprma_status_t status;

        fail_call(n, OUT_OF_MEMORY);
        status = run(&at, 40, &out);
        reads += status != OMPRMA_OK && strstr(count_things().failed, "DtoH");
        failures += status != OMPRMA_OK;
        assert_true(status != OMPRMA_OK || out == 42);
        fail_call(0, 0);
        assert_ok(run(&at, 50, &out));
        assert_int_equal(out, 52);
    }
    assert_true(failures >= 3);
    assert_true(reads > 0);
    stop_work(&at);
}

TEST(a_region_fails_at_each_call)
{
    fails_at_each_call(run_region);
}

TEST(a_whole_region_fails_at_each_call)
{
    fails_at_each_call(run_whole);
}

/* What stands behind a region that did not begin as a whole is not run, though the device is still
 * busy with the part that did. */
TEST(nothing_follows_a_region_that_fails)
{
    enum { CALLS = 8 };
    unsigned char in = 40, out = 0, seen = 0;
    struct work at;
    int launches = 0, reads = 0;

    setenv("STANDIN_DELAY", "20000", 1);
    at = start_work();
    for (int n = 1; n <= CALLS; n++) {
        const char *failed;

        assert_ok(omprma_fill(at.queue, at.block, "\0", 1, 64));
        assert_ok(omprma_queue_synchronize(at.queue));
        fail_call(n, OUT_OF_MEMORY);
        assert_ok(issue_whole(&at, &in, &out));
        assert_ok(launch(at.queue, at.add, at.block, 1, 100));
        if (omprma_queue_synchronize(at.queue) == OMPRMA_OK)
            continue;
        failed = count_things().failed;
        fail_call(0, 0);
        assert_ok(omprma_retrieve(at.queue, &seen, at.block, 1));
        assert_ok(omprma_queue_synchronize(at.queue));
        /* The first of each: later ones are of what follows. */
        if (strstr(failed, "Launch") && !launches) {
            launches = 1;
            assert_int_equal(seen, 40);
        } else if (strstr(failed, "DtoH") && !reads) {
            reads = 1;
            assert_int_equal(seen, 42);
        }
    }
    fail_call(0, 0);
    assert_true(launches && reads);
    stop_work(&at);
}

/* Who learns that the read could not begin may free what the kernel works on: it is over then. */
TEST(a_region_that_fails_has_ended)
{
    enum { CALLS = 8 };
    const uint64_t us = 50000;
    unsigned char out = 0;
    const omprma_part_t part = {.to = &out, .bytes = 1};
    omprma_region_t region = {
        .arguments = &us, .count = 1, .back_bytes = 1, .parts = &part, .part_count = 1};
    omprma_queue_t *queue;
    int reads = 0;

    start_all();
    queue = core_queue(GPU);
    region.kernel = look_up(GPU, "standin_nap");
    region.back = core_alloc(GPU, 64);
    for (int n = 1; n <= CALLS && !reads; n++) {
        int64_t begin = clock_ns();
        omprma_status_t status;

        fail_call(n, OUT_OF_MEMORY);
        assert_ok(omprma_region(queue, &region));
        status = omprma_queue_synchronize(queue);
        reads = status != OMPRMA_OK && strstr(count_things().failed, "DtoH");
        fail_call(0, 0);
        if (reads)
            assert_true(clock_ns() - begin >= (int64_t)us * 1000);
    }
    assert_int_equal(reads, 1);
    assert_ok(omprma_queue_destroy(queue));
    stop_all();
}

/* Small reads behind a kernel that lasts do not keep the worker: others go on, on another GPU, too.
 */
TEST(a_read_keeps_nobody)
{
    static unsigned char here[4096];
    struct gate gate;
    omprma_queue_t *queue, *other;
    omprma_addr_t block, second;
    unsigned char out = 0, seen = 0, in = 7;
    bool done = false;

    start_all();
    queue = core_queue(GPU);
    other = core_queue(GPU);
    block = core_alloc(GPU, sizeof(here));
    second = core_alloc(GPU, 64);
    there_and_back(GPU_TOO, 100, look_up(GPU_TOO, "standin_add"));
    gpu_keep_busy(queue, look_up(GPU, "standin_gate"), &gate);
    assert_ok(omprma_retrieve(queue, here, block, sizeof(here)));
    assert_ok(omprma_retrieve(queue, &out, block, 1));
    assert_ok(omprma_queue_flush(queue));
    assert_ok(omprma_submit(other, second, &in, 1));
    assert_ok(omprma_retrieve(other, &seen, second, 1));
    assert_ok(omprma_queue_synchronize(other));
    assert_int_equal(seen, 7);
    there_and_back(GPU_TOO, 100, look_up(GPU_TOO, "standin_add"));
    assert_ok(omprma_queue_query(queue, &done));
    assert_false(done);
    core_open(&gate);
    assert_ok(omprma_queue_synchronize(queue));
    assert_ok(omprma_queue_destroy(queue));
    assert_ok(omprma_queue_destroy(other));
    stop_all();
}

/* What stands before a launch that is refused at once is done, as in three calls. */
TEST(a_region_without_a_kernel_writes)
{
    unsigned char in = 33, out = 0, seen = 0;
    struct work at;

    at = start_work();
    at.add = at.block;
    assert_ok(omprma_fill(at.queue, at.block, "\0", 1, 64));
    assert_ok(issue_whole(&at, &in, &out));
    assert_int_equal(omprma_queue_synchronize(at.queue), OMPRMA_ERR_ADDRESS);
    assert_non_null(strstr(omprma_error(), "not a kernel"));
    assert_ok(omprma_retrieve(at.queue, &seen, at.block, 1));
    assert_ok(omprma_queue_synchronize(at.queue));
    assert_int_equal(seen, 33);
    stop_work(&at);
}

enum named { NAMED_WRONG = 1, NAMED_OTHER, NAMED_WRITTEN, NAMED_LAUNCHED, NAMED_READ };

/* Behind a kernel that lasts comes a region; the n-th call says that there was a fault. */
static int name_after_call(int n)
{
    unsigned char in = 1, out = 0;
    struct gate gate;
    struct work at;
    omprma_addr_t kernel;
    bool named, before, done;
    const char *failed;

    at = start_work();
    kernel = look_up(GPU, "standin_gate");
    fail_call(n, ILLEGAL_ADDRESS);
    gpu_keep_busy(at.queue, kernel, &gate);
    assert_ok(issue_whole(&at, &in, &out));
    while (!count_things().failed)
        assert_ok(omprma_queue_query(at.queue, &done));
    core_open(&gate);
    if (omprma_queue_synchronize(at.queue) != OMPRMA_ERR_KERNEL)
        return NAMED_WRONG;
    named = strstr(omprma_error(), "standin_add");
    before = strstr(omprma_error(), "standin_gate");
    failed = count_things().failed;
    if (strstr(failed, "HtoD"))
        return before && !named ? NAMED_WRITTEN : NAMED_WRONG;
    if (strstr(failed, "DtoH"))
        return named ? NAMED_READ : NAMED_WRONG;
    if (!strstr(failed, "Launch"))
        return NAMED_OTHER;
    return named ? NAMED_WRONG : NAMED_LAUNCHED; /* the first launch, or the second */
}

/* A fault that a call of a region says is named after the region's kernel if that was begun, and
 * after what was before if not. */
TEST(the_right_kernel_is_named)
{
    enum { CALLS = 8, LIMIT_S = 60 };
    bool seen[NAMED_READ + 1] = {false};

    for (int n = 1; n <= CALLS; n++) {
        int status = in_a_process(name_after_call, n, LIMIT_S);

        assert_true(WIFEXITED(status) && WEXITSTATUS(status) > NAMED_WRONG);
        seen[WEXITSTATUS(status)] = true;
    }
    assert_true(seen[NAMED_WRITTEN] && seen[NAMED_LAUNCHED] && seen[NAMED_READ]);
}

/* The driver prints in calls that wait. Kernels that do not print need none. */
TEST(who_prints_is_waited_for)
{
    static const char prints[] = "//\n.version 7.0\n.target sm_70\n.address_size 64\n"
                                 ".extern .func (.param .b32 r) vprintf (.param .b64 a);\n"
                                 ".visible .entry standin_geometry(.param .u64 at) { ret; }\n";
    omprma_symbol_t symbol = {.name = "standin_geometry"};
    omprma_queue_t *queue;
    omprma_addr_t silent, block;
    int before;

    start_all();
    queue = core_queue(GPU);
    block = core_alloc(GPU, 64);
    silent = look_up(GPU, "standin_add");
    assert_ok(omprma_image_load(GPU, prints, sizeof(prints), &symbol, 1));
    before = count_things().synchronized;
    assert_ok(launch(queue, silent, block, 8, 1));
    assert_ok(omprma_queue_synchronize(queue));
    assert_int_equal(count_things().synchronized, before);
    assert_ok(omprma_launch(queue, symbol.address, NULL, &block, 1));
    assert_ok(omprma_queue_synchronize(queue));
    assert_int_equal(count_things().synchronized, before + 1);
    assert_ok(omprma_queue_destroy(queue));
    stop_all();
}

/* Nobody waits in the driver for each kernel of a queue. How little more than the kernels
 * themselves a chain takes is measured by perf/gpu. */
TEST(a_chain_of_kernels_is_not_waited_for)
{
    enum { CHAIN = 100, TAKES_US = 100 };
    int64_t begin;
    int before;
    struct work at;

    setenv("STANDIN_DELAY", "0", 1);
    setenv("STANDIN_TAKES", "100", 1);
    at = start_work();
    before = count_things().synchronized;
    begin = clock_ns();
    for (int i = 0; i < CHAIN; i++)
        assert_ok(launch(at.queue, at.add, at.block, 8, 1));
    assert_ok(omprma_queue_synchronize(at.queue));
    assert_true(clock_ns() - begin >= CHAIN * TAKES_US * INT64_C(1000));
    assert_int_equal(count_things().synchronized, before);
    stop_work(&at);
}

/* What has ended when a kernel faults stays so; the rest has the fault. */
TEST(a_chain_ends_with_a_fault)
{
    const uint64_t code = ILLEGAL_ADDRESS, us = 20000;
    omprma_addr_t nap, add, fault, block;
    omprma_queue_t *queue;
    unsigned char seen[3] = {0};

    start_all();
    queue = core_queue(GPU);
    nap = look_up(GPU, "standin_nap");
    add = look_up(GPU, "standin_add");
    fault = look_up(GPU, "standin_fault");
    block = core_alloc(GPU, 64);
    assert_ok(omprma_fill(queue, block, "\5", 1, 64));
    assert_ok(launch(queue, add, block, 8, 2));
    assert_ok(omprma_retrieve(queue, &seen[0], block, 1));
    assert_ok(omprma_queue_synchronize(queue));
    assert_ok(omprma_launch(queue, nap, NULL, &us, 1));
    assert_ok(omprma_launch(queue, fault, NULL, &code, 1));
    assert_ok(omprma_retrieve(queue, &seen[1], block, 1));
    assert_ok(launch(queue, add, block, 8, 2));
    assert_ok(omprma_retrieve(queue, &seen[2], block, 1));
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_KERNEL);
    assert_int_equal(omprma_error_code(), ILLEGAL_ADDRESS);
    assert_non_null(strstr(omprma_error(), "standin_fault"));
    assert_memory_equal(seen, "\7\0\0", 3);
    omprma_queue_destroy(queue);
    there_and_back(GPU_TOO, 100000, look_up(GPU_TOO, "standin_add"));
    core_stop();
    ((void (*)(void))standin("standin_forget_contexts"))();
}
