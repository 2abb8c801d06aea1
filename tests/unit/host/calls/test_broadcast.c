/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_broadcast.c: the same data to many devices, in the order of each queue.
 * Covers: calls/broadcast.c */
#include <stdio.h>

#include "tests/unit/test.h"
#include "tests/unit/core_fixture.h"
#include "worker/native/crash.h"

enum { DEVICES = 4, BYTES_MOST = 5 << 20 };

static unsigned char data[BYTES_MOST], back[BYTES_MOST];
static omprma_queue_t *queues[DEVICES];
static omprma_addr_t there[DEVICES], sums[DEVICES];

static void open_all(enum config_exchange way, uint32_t inline_most, bool rma)
{
    core_start(&(struct core_options){.workers = DEVICES, .arena = 16 << 20});
    for (int i = 0; i < DEVICES; i++) {
        core_choose(i, inline_most, rma);
        queues[i] = core_queue(i);
        there[i] = core_alloc(i, BYTES_MOST);
        sums[i] = core_alloc(i, 16);
    }
    core_exchange_by(way);
}

static void close_all(void)
{
    core_end();
}

/* What a device computes before it is what was there; what it computes after it is what came. */
static void check_round(struct draw *random, uint64_t bytes, size_t count)
{
    uint64_t before[DEVICES], after[DEVICES], wanted_before = sum_of(data, bytes), wanted;

    draw_fill(random, data, bytes < 4096 ? bytes : 4096);
    data[bytes / 2]++;
    wanted = sum_of(data, bytes);
    for (size_t i = 0; i < count; i++) {
        assert_ok(launch(queues[i], KERNEL(kernel_nap), i == count / 2 ? 300 : 0, 0, 0));
        assert_ok(launch(queues[i], KERNEL(kernel_sum), there[i], bytes, sums[i]));
    }
    assert_ok(omprma_broadcast(queues, there, count, data, bytes));
    for (size_t i = 0; i < count; i++) {
        assert_ok(launch(queues[i], KERNEL(kernel_sum), there[i], bytes, sums[i] + 8));
        assert_ok(omprma_retrieve(queues[i], &before[i], sums[i], 8));
        assert_ok(omprma_retrieve(queues[i], &after[i], sums[i] + 8, 8));
    }
    for (size_t i = count; i-- > 0;)
        assert_ok(omprma_queue_synchronize(queues[i]));
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(before[i], wanted_before);
        assert_int_equal(after[i], wanted);
    }
}

TEST(everybody_gets_it)
{
    static const uint64_t sizes[] = {1, 4096, 65536, 65537, 300001, 1 << 20, 3000007, BYTES_MOST};
    struct draw random = {.state = 3};

    for (enum config_exchange way = EXCHANGE_PUT; way < EXCHANGE_WAYS; way++) {
        open_all(way, way == EXCHANGE_GET ? 8192 : 0, way != EXCHANGE_SEND);
        for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
            for (size_t count = DEVICES; count > 0; count--) {
                for (int k = 0; k < DEVICES; k++) {
                    assert_ok(omprma_submit(queues[k], there[k], data, sizes[i]));
                    assert_ok(omprma_queue_synchronize(queues[k]));
                }
                check_round(&random, sizes[i], count);
            }
        }
        close_all();
    }
}

/* Data leaves the application once. */
TEST(one_submit_for_all)
{
    uint64_t submitted = 0;

    open_all(EXCHANGE_PUT, 0, true);
    core_count();
    assert_ok(omprma_broadcast(queues, there, DEVICES, data, BYTES_MOST));
    for (int i = 0; i < DEVICES; i++)
        assert_ok(omprma_queue_synchronize(queues[i]));
    for (int i = 0; i < DEVICES; i++)
        for (int path = 0; path < PATH_COUNT; path++)
            submitted += stats_of(runtime_get(), i)->cell[DATA_SUBMIT][path].bytes;
    assert_int_equal(submitted, BYTES_MOST);
    close_all();
}

static void no_wake(void)
{
}

/* A receiver's failure, of work before the broadcast, is everybody's: nothing goes out. */
TEST(a_failed_receiver)
{
    assert_ok(crash_install(no_wake));
    open_all(EXCHANGE_PUT, 0, true);
    memset(data, 1, BYTES_MOST);
    assert_ok(omprma_submit(queues[0], there[0], data, BYTES_MOST));
    assert_ok(omprma_queue_synchronize(queues[0]));
    assert_ok(omprma_submit(queues[2], 4096, data, 100)); /* refused by the worker */
    memset(data, 2, BYTES_MOST);
    assert_ok(omprma_broadcast(queues, there, DEVICES, data, BYTES_MOST));
    for (int i = 0; i < DEVICES; i++) {
        assert_int_equal(omprma_queue_synchronize(queues[i]), OMPRMA_ERR_ADDRESS);
        assert_non_null(strstr(omprma_error(), "device 2"));
    }
    assert_ok(omprma_retrieve(queues[0], back, there[0], BYTES_MOST));
    assert_ok(omprma_queue_synchronize(queues[0]));
    assert_true(back[0] == 1 && back[BYTES_MOST - 1] == 1);
    assert_ok(omprma_broadcast(queues, there, DEVICES, data, BYTES_MOST)); /* all are clean again */
    for (int i = 0; i < DEVICES; i++)
        assert_ok(omprma_queue_synchronize(queues[i]));
    close_all();
}

/* The first device cannot take the data: nobody has it, and everybody says so. */
TEST(a_failed_first_device)
{
    for (enum config_exchange way = EXCHANGE_PUT; way < EXCHANGE_APPLICATION; way++) {
        uint64_t bytes = way == EXCHANGE_PUT ? BYTES_MOST : 200000; /* many pieces, one */
        omprma_addr_t to[DEVICES];

        assert_ok(crash_install(no_wake));
        open_all(way, 0, way != EXCHANGE_SEND);
        memcpy(to, there, sizeof(to));
        to[0] = 4096; /* not mapped, outside arenas: only the worker can tell */
        assert_ok(omprma_broadcast(queues, to, DEVICES, data, bytes));
        for (int i = DEVICES; i-- > 0;) {
            assert_int_equal(omprma_queue_synchronize(queues[i]), OMPRMA_ERR_ADDRESS);
            assert_non_null(strstr(omprma_error(), "not mapped"));
        }
        assert_ok(omprma_broadcast(queues, there, DEVICES, data, BYTES_MOST));
        for (int i = 0; i < DEVICES; i++)
            assert_ok(omprma_queue_synchronize(queues[i]));
        close_all();
    }
}

TEST(wrong_arguments)
{
    omprma_queue_t *some[2];
    omprma_addr_t to[2];

    open_all(EXCHANGE_PUT, 0, true);
    assert_ok(omprma_broadcast(queues, there, 0, data, 100));
    assert_ok(omprma_broadcast(queues, there, DEVICES, NULL, 0));
    assert_int_equal(omprma_broadcast(NULL, there, 2, data, 100), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_broadcast(queues, NULL, 2, data, 100), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_broadcast(queues, there, 2, NULL, 100), OMPRMA_ERR_ARGUMENT);
    some[0] = queues[0];
    some[1] = NULL;
    assert_int_equal(omprma_broadcast(some, there, 2, data, 100), OMPRMA_ERR_ARGUMENT);
    some[1] = core_queue(0);
    assert_int_equal(omprma_broadcast(some, there, 2, data, 1 << 20), OMPRMA_ERR_ARGUMENT);
    assert_ok(omprma_queue_destroy(some[1]));
    for (uint64_t bytes = 100; bytes <= BYTES_MOST; bytes += BYTES_MOST - 100) {
        to[0] = there[0];
        to[1] = there[1] + BYTES_MOST - bytes + 1;
        assert_int_equal(omprma_broadcast(queues, to, 2, data, bytes), OMPRMA_ERR_ADDRESS);
        assert_non_null(strstr(omprma_error(), "device 1"));
    }
    for (int i = 0; i < DEVICES; i++)
        assert_ok(omprma_queue_synchronize(queues[i])); /* no queue has failed */
    close_all();
}
