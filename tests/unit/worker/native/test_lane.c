/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Tests of lanes: what a device still starts when one of its kernels has crashed, and what the
 * crash was is not known yet.
 * Covers: lane.c */
#include <stdatomic.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "tests/unit/core_fixture.h"

enum { A_WHILE_US = 50000, ASKED = 1 /* of fault.c: the report is being made */ };

static atomic_int begun, may_end;

static void kernel_waits(void)
{
    atomic_store(&begun, 1);
    while (!atomic_load(&may_end))
        usleep(1000);
}

/* As crash.c and fault.c leave it while the report is made, or as if there had been none. */
static void pretend_crash(bool crashed)
{
    struct native *native;

    core_hold(0);
    native = core.worker[0].devices[0].state;
    atomic_store(&native->fault.state, crashed ? ASKED : 0);
    atomic_store(&native->crash.described, crashed);
    if (!crashed)
        sem_post(&native->ready); /* a lane that found nothing to do sleeps */
    core_release(0);
}

static uint64_t value_at(omprma_addr_t at)
{
    return atomic_load((atomic_ulong *)(uintptr_t)at);
}

CORE_TEST(starts_nothing_after_a_crash, 1, .lanes = 2)
{
    omprma_queue_t *running = core_queue(0), *late = core_queue(0);
    omprma_addr_t counter = core_alloc(0, 8);
    uint64_t zero = 0;
    bool done = true;

    assert_ok(omprma_submit(late, counter, &zero, 8));
    assert_ok(omprma_queue_synchronize(late));
    assert_ok(launch(running, KERNEL(kernel_waits), 0, 0, 0));
    assert_ok(omprma_queue_query(running, &done));
    while (!atomic_load(&begun))
        usleep(1000);
    pretend_crash(true);
    assert_ok(launch(late, KERNEL(kernel_count), counter, 0, 0));
    assert_ok(omprma_queue_query(late, &done));
    usleep(A_WHILE_US);
    assert_ok(omprma_queue_query(late, &done));
    assert_false(done);
    assert_int_equal(value_at(counter), 0);
    atomic_store(&may_end, 1); /* one that runs comes to its end; the next one is not started */
    assert_ok(omprma_queue_synchronize(running));
    usleep(A_WHILE_US);
    assert_int_equal(value_at(counter), 0);
    pretend_crash(false);
    assert_ok(omprma_queue_synchronize(late));
    assert_int_equal(value_at(counter), 1);
}
