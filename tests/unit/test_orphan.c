/* test_orphan.c: queues without a stream are destroyed when they are idle, and not before. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "core_fixture.h"
#include "face/driver/orphan.h"

/* One that is busy stays until it is done. (The library's end complains of queues that are left.)
 */
static void a_busy_one_stays(void **state)
{
    struct orphans orphans;
    struct gate gate;
    omprma_queue_t *busy, *idle;

    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_busy_one_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
