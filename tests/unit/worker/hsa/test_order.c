/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_order.c: what the runtime does at any time, in any order that its signals allow, is done in
 * the order of each queue. With the stand-in for the HSA runtime.
 *
 * Covers: worker/hsa/stream.c worker/hsa/copy.c worker/hsa/launch.c worker/hsa/block.c
 */
#include "tests/unit/test.h"
#include "tests/unit/worker/hsa/hsa_fixture.h"

static omprma_queue_t *queue;
static omprma_addr_t add, block;

static void start_work(void)
{
    start_all();
    queue = core_queue(GPU);
    add = look_up(GPU, "standin_add");
    block = core_alloc(GPU, 256 << 10);
}

static void stop_work(void)
{
    assert_ok(omprma_queue_destroy(queue));
    stop_all();
    unsetenv("STANDIN_DELAY");
    unsetenv("STANDIN_TAKES");
}

/* Behind a kernel that lasts a queue goes to the runtime at once, as far as the worker lets it. */
TEST(a_queue_is_in_the_runtime)
{
    enum { CHAIN = 40 };
    unsigned char seen[CHAIN], sum = 0;
    struct standin_counts before;
    struct gate gate;
    bool done;

    start_work();
    assert_ok(omprma_fill(queue, block, "\0", 1, 64));
    gpu_keep_busy(queue, look_up(GPU, "standin_gate"), &gate);
    before = count_things();
    for (int i = 0; i < CHAIN; i++) {
        assert_ok(launch(queue, add, block, 8, (uint64_t)i));
        assert_ok(omprma_retrieve(queue, &seen[i], block, 1));
    }
    while (count_things().signals < before.signals + CHAIN) { /* so many are under way at once */
        assert_ok(omprma_queue_query(queue, &done));
        assert_false(done);
    }
    core_open(&gate);
    assert_ok(omprma_queue_synchronize(queue));
    for (int i = 0; i < CHAIN; i++)
        assert_int_equal(seen[i], sum = (unsigned char)(sum + i));
    stop_work();
}

/* Each kind of thing behind each other kind, with every copy and kernel late. */
static void put_one(int kind, omprma_addr_t at, unsigned char *model, unsigned char value)
{
    switch (kind) {
    case 0:
        assert_ok(omprma_submit(queue, at, &value, 1));
        *model = value;
        break;
    case 1:
        assert_ok(omprma_fill(queue, at, &value, 1, 1));
        *model = value;
        break;
    case 2:
        assert_ok(launch(queue, add, at, 1, value));
        *model = (unsigned char)(*model + value);
        break;
    default:
        assert_ok(omprma_exchange(queue, at, GPU, at + 4096, 1));
        assert_ok(omprma_exchange(queue, at + 4096, GPU, at, 1));
        break;
    }
}

TEST(each_kind_waits_for_each)
{
    unsigned char model = 0, seen = 0;

    setenv("STANDIN_DELAY", "3000", 1);
    start_work();
    assert_ok(omprma_fill(queue, block, "\0", 1, 1));
    for (int first = 0; first < 4; first++)
        for (int then = 0; then < 4; then++) {
            put_one(first, block, &model, (unsigned char)(1 + 8 * first + then));
            put_one(then, block, &model, (unsigned char)(100 + first));
            assert_ok(omprma_retrieve(queue, &seen, block, 1));
            assert_ok(omprma_queue_synchronize(queue));
            if (seen != model)
                fail_msg("%d behind %d: %d, not %d", then, first, seen, model);
        }
    stop_work();
}

/* More queues than the GPU has of the runtime's. */
TEST(many_queues_at_once)
{
    enum { QUEUES = 3 * HSA_LANES, ROUNDS = 12, BYTES = 3000 };
    static unsigned char out[QUEUES][BYTES], back[QUEUES][BYTES];
    omprma_queue_t *queues[QUEUES];

    start_work();
    for (int i = 0; i < QUEUES; i++) {
        queues[i] = core_queue(GPU);
        memset(out[i], i, BYTES);
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < QUEUES; i++) {
            omprma_addr_t at = block + (uint64_t)i * 4096;

            assert_ok(omprma_submit(queues[i], at, out[i], BYTES));
            for (int more = 0; more < 3; more++)
                assert_ok(launch(queues[i], add, at, BYTES, (uint64_t)(round + more)));
            assert_ok(omprma_retrieve(queues[i], back[i], at, BYTES));
        }
        for (int i = 0; i < QUEUES; i++) {
            assert_ok(omprma_queue_synchronize(queues[i]));
            for (int at = 0; at < BYTES; at++)
                assert_int_equal(back[i][at], (unsigned char)(i + 3 * round + 3));
        }
    }
    assert_true(count_things().queues <= 2 * HSA_LANES);
    for (int i = 0; i < QUEUES; i++)
        assert_ok(omprma_queue_destroy(queues[i]));
    stop_work();
}

/* Where the GPU gives one queue and no more, all share it. */
TEST(queues_are_shared_where_there_are_no_more)
{
    enum { QUEUES = 3 };
    omprma_queue_t *queues[QUEUES];
    unsigned char seen[QUEUES];

    start_work();
    assert_ok(omprma_fill(queue, block, "\0", 1, 64));
    assert_ok(launch(queue, add, block, 1, 0));
    assert_ok(omprma_queue_synchronize(queue));
    for (int i = 0; i < QUEUES; i++)
        queues[i] = core_queue(GPU);
    setenv("STANDIN_FAIL", "hsa_queue_create:1", 1);
    for (int i = 0; i < QUEUES; i++)
        assert_ok(launch(queues[i], add, block + (uint64_t)i, 1, (uint64_t)i + 5));
    for (int i = 0; i < QUEUES; i++)
        assert_ok(omprma_retrieve(queues[i], &seen[i], block + (uint64_t)i, 1));
    for (int i = 0; i < QUEUES; i++) {
        assert_ok(omprma_queue_destroy(queues[i]));
        assert_int_equal(seen[i], i + 5);
    }
    unsetenv("STANDIN_FAIL");
    stop_work();
}

/* Memory of this process that is not locked, of all sizes, in both directions. */
TEST(memory_that_is_not_locked)
{
    static const size_t sizes[] = {1, 300, 70000, 200000};
    struct gpu *gpu = core.worker[0].server.devices[GPU].state;

    (void)gpu;
    start_work();
    gpu = core.worker[0].server.devices[GPU].state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        unsigned char *out = malloc(sizes[i]), *back = calloc(1, sizes[i]);
        const struct backend_copy in = {
            .to_device = gpu->device, .to = block, .from = (uintptr_t)out, .bytes = sizes[i]};
        const struct backend_copy from = {
            .from_device = gpu->device, .from = block, .to = (uintptr_t)back, .bytes = sizes[i]};
        gpu_stream stream;

        assert_true(out && back);
        memset(out, (int)i + 1, sizes[i]);
        assert_int_equal(rocr_stream_create(gpu, &stream), 0);
        assert_int_equal(rocr_copy(gpu, &in, stream), 0);
        memset(out, 0xff, sizes[i]); /* what is in the stream has a copy */
        assert_int_equal(rocr_copy(gpu, &from, stream), 0);
        assert_int_equal(rocr_stream_wait(gpu, stream), 0);
        assert_int_equal(rocr_stream_query(gpu, stream), 0);
        for (size_t at = 0; at < sizes[i]; at++)
            assert_int_equal(back[at], i + 1);
        assert_int_equal(rocr_stream_destroy(gpu, stream), 0);
        free(out);
        free(back);
    }
    stop_work();
}
