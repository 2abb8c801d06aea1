/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_one_sided.c: one-sided transfers with a device that is lost are given up; and where they
 * need the worker's help, it is told to stay awake for as long as they go on.
 * Covers: put_get.c */
#include <unistd.h>

#include "tests/unit/test.h"
#include "tests/unit/core_fixture.h"

enum { BYTES = 3 * CORE_PIECE, MOST = 4 };

static unsigned char data[MOST][BYTES];

/* What a lost device has under way takes nothing from the others: the path moves only so much at a
 * time. */
TEST(its_transfers_are_given_up)
{
    struct runtime *runtime;
    omprma_queue_t *queue, *other;
    omprma_addr_t there;

    for (int out = 0; out < 2; out++) {
        core_start(&(struct core_options){.workers = 2, .most = MOST});
        core_choose(0, 0, true);
        core_choose(1, 0, true);
        runtime = runtime_get();
        queue = core_queue(0);
        other = core_queue(1);
        there = core_alloc(0, MOST * BYTES);
        runtime_lock(runtime);
        null_path_stop_peer(runtime->one_sided, 1);
        runtime_unlock(runtime);
        for (int i = 0; i < MOST; i++)
            assert_ok(out ? omprma_submit(queue, there + i * BYTES, data[i], BYTES)
                          : omprma_retrieve(queue, data[i], there + i * BYTES, BYTES));
        assert_ok(omprma_queue_flush(queue));
        runtime_lock(runtime);
        peer_lose(core_device(0)->peer, "device 0 (here) was lost");
        runtime_unlock(runtime);
        assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_DEVICE_LOST);
        there = core_alloc(1, BYTES);
        assert_ok(omprma_submit(other, there, data[0], BYTES));
        assert_ok(omprma_queue_destroy(other));
        core_let_go(0);
        core_stop();
    }
}

/* Each is over at once, so nobody waits, and nobody would take what the worker acknowledges. More
 * messages than may be unacknowledged are needed for that. */
CORE_TEST(the_worker_stays_awake, 1)
{
    omprma_queue_t *queue = core_queue(0);
    omprma_addr_t there = core_alloc(0, 8);
    uint32_t until;

    core_choose(0, 0, true);
    until = core_device(0)->peer->sent + 2 * PEER_WINDOW;
    while (core_device(0)->peer->sent < until) {
        assert_ok(omprma_submit(queue, there, data, 8));
        assert_ok(omprma_queue_synchronize(queue));
    }
}
