/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_orphan.c: queues without a stream are destroyed when they are idle, and not before. */
#include "test.h"
#include "core_fixture.h"
#include "face/driver/orphan.h"

/* One that is busy stays until it is done. (The library's end complains of queues that are left.)
 */
TEST(a_busy_one_stays)
{
    struct orphans orphans;
    struct gate gate;
    omprma_queue_t *busy, *idle;

    core_start(&(struct core_options){.workers = 1});
    orphans_open(&orphans);
    assert_ok(omprma_queue_create(0, &busy));
    assert_ok(omprma_queue_create(0, &idle));
    core_close(busy, &gate);
    assert_true(orphans_add(&orphans, busy));
    assert_true(orphans_add(&orphans, idle));
    orphans_destroy_idle(&orphans);
    assert_ptr_equal(orphans_take(&orphans), busy);
    assert_null(orphans_take(&orphans));
    assert_true(orphans_add(&orphans, busy));
    core_open(&gate);
    assert_ok(omprma_queue_synchronize(busy));
    orphans_destroy_idle(&orphans);
    assert_null(orphans_take(&orphans));
    core_stop();
}
