/* test_queue_exchanges.c: errors of exchanges name both devices, and those of others do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>

#include "core_fixture.h"

enum { DEVICES = 3, BYTES = 3 * CORE_PIECE };

static unsigned char host[100];

static void assert_names(int from, int to, const char *why)
{
    char begin[64];

    snprintf(begin, sizeof(begin), "exchange from device %d to device %d: ", from, to);
    assert_ptr_equal(strstr(omprma_error(), begin), omprma_error());
    assert_non_null(strstr(omprma_error(), why));
}

/* Of many exchanges under way the error names the one that failed. */
static void the_one_that_failed(void **state)
{
    enum { MANY = 12 };
    omprma_queue_t *queue;
    omprma_addr_t from, to[DEVICES];

    (void)state;
    for (enum config_exchange way = EXCHANGE_PUT; way < EXCHANGE_WAYS; way++) {
        core_start(&(struct core_options){.workers = DEVICES});
        core_make_hole();
        core_exchange_by(way);
        queue = core_queue(0);
        from = core_alloc(0, BYTES);
        for (int i = 0; i < DEVICES; i++)
            to[i] = core_alloc(i, BYTES);
        for (int bad = 0; bad < MANY; bad++) {
            for (int i = 0; i < MANY; i++)
                assert_ok(omprma_exchange(queue, i == bad ? core_hole : from, i % DEVICES,
                                          to[i % DEVICES], BYTES));
            assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_ADDRESS);
            assert_names(0, bad % DEVICES, "not mapped");
            assert_null(queue->exchanges);
        }
        assert_ok(omprma_queue_destroy(queue));
        core_stop();
    }
}

/* An error of something else in the queue is not an exchange's. */
static void another_one_that_failed(void **state)
{
    omprma_queue_t *queue;
    omprma_addr_t from, to;

    (void)state;
    core_start(&(struct core_options){.workers = 2});
    core_make_hole();
    queue = core_queue(0);
    from = core_alloc(0, BYTES);
    to = core_alloc(1, BYTES);
    for (enum config_exchange way = EXCHANGE_PUT; way < EXCHANGE_WAYS; way++) {
        core_exchange_by(way);
        assert_ok(omprma_exchange(queue, from, 1, to, BYTES));
        assert_ok(omprma_submit(queue, core_hole, host, 10));
        omprma_exchange(queue, from, 1, to, BYTES);
        assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_ADDRESS);
        assert_ptr_equal(strstr(omprma_error(), "device 0 (here), queue"), omprma_error());
    }
    assert_ok(omprma_queue_destroy(queue));
    core_stop();
}

/* The other end of an exchange gives no answers any more: it ends. The other ways to the device are
 * refused. */
static void lost_peer(void **state)
{
    omprma_queue_t *queue, *other;
    omprma_addr_t from, to, there;

    (void)state;
    core_start(&(struct core_options){.workers = DEVICES});
    core_exchange_by(EXCHANGE_SEND);
    queue = core_queue(0);
    other = core_queue(0);
    from = core_alloc(0, BYTES);
    to = core_alloc(1, BYTES);
    there = core_alloc(2, BYTES);
    core_hold(1);
    assert_ok(omprma_exchange(queue, from, 1, to, BYTES));
    assert_ok(omprma_exchange(other, from, 2, there, BYTES));
    assert_ok(omprma_queue_synchronize(other));
    runtime_lock(runtime_get());
    peer_lose(core_device(1)->peer, "made up");
    runtime_unlock(runtime_get());
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_DEVICE_LOST);
    assert_names(0, 1, "made up");
    assert_int_equal(omprma_exchange(queue, from, 1, to, BYTES), OMPRMA_ERR_DEVICE_LOST);
    assert_names(0, 1, "made up");
    assert_ok(omprma_exchange(queue, from, 2, there, BYTES));
    assert_ok(omprma_queue_synchronize(queue));
    core_release(1);
    assert_ok(omprma_queue_destroy(queue));
    assert_ok(omprma_queue_destroy(other));
    core_device(1)->peer->lost = core_device(1)->lost = runtime_get()->unresponsive =
        false; /* so that it is told to end */
    core_stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_one_that_failed),
        cmocka_unit_test(another_one_that_failed),
        cmocka_unit_test(lost_peer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
