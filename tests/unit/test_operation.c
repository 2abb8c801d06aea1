/*
 * test_operation.c: which way an operation takes, what it refuses, and what becomes of a queue
 * whose operation failed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <sys/mman.h>

#include "core_fixture.h"
#include "worker/crash.h"

enum { BYTES = 3 * CORE_PIECE };

static unsigned char out[BYTES], back[BYTES];
static unsigned char lost[BYTES]; /* of operations whose data nobody looks at */

/* ---- sizes ---- */

static void check_size(omprma_queue_t *queue, omprma_addr_t there, uint64_t bytes)
{
    struct draw random = {.state = bytes + 1};
    unsigned char before = 0x77, after = 0x77;

    draw_fill(&random, out, bytes);
    memset(back, 0, bytes);
    assert_ok(omprma_submit(queue, there - 1, &before, 1));
    assert_ok(omprma_submit(queue, there + bytes, &after, 1));
    assert_ok(omprma_submit(queue, there, out, bytes));
    assert_ok(omprma_retrieve(queue, back, there, bytes));
    assert_ok(omprma_retrieve(queue, &before, there - 1, 1));
    assert_ok(omprma_retrieve(queue, &after, there + bytes, 1));
    assert_ok(omprma_queue_synchronize(queue));
    assert_memory_equal(out, back, bytes);
    assert_int_equal(before, 0x77);
    assert_int_equal(after, 0x77);
}

static void sizes_around_every_limit(void **state)
{
    static const uint64_t limits[] = {0,     8,     64,    512,        4096,          8192,
                                      15360, 16384, 61440, CORE_PIECE, 2 * CORE_PIECE};
    omprma_queue_t *queue;
    omprma_addr_t there;

    (void)state;
    core_start(&(struct core_options){0});
    queue = core_queue(0);
    there = core_alloc(0, BYTES) + 64;
    for (int way = 0; way < 8; way++) {
        static const uint32_t inline_most[] = {0, 64, 8192, 16384};

        core_choose(0, inline_most[way / 2], way % 2);
        for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
            for (uint64_t bytes = limits[i] ? limits[i] - 1 : 0; bytes <= limits[i] + 1; bytes++)
                check_size(queue, there, bytes);
    }
    assert_ok(omprma_queue_destroy(queue));
    core_stop();
}

/* ---- buffers ---- */

/* Up to OMPRMA_COPIED_SUBMIT the source may be reused at once, on every way, idle or not. */
static void small_sources_may_be_reused_at_once(void **state)
{
    omprma_queue_t *queue;
    omprma_addr_t there;

    (void)state;
    core_start(&(struct core_options){.delay = 20});
    queue = core_queue(0);
    there = core_alloc(0, BYTES);
    for (int round = 0; round < 60; round++) {
        uint64_t bytes = round % 5 == 0 ? OMPRMA_COPIED_SUBMIT : 50 + 1000 * (uint64_t)(round % 8);

        core_choose(0, round % 2 ? 0 : 512, round % 3);
        if (round % 4 == 0)
            assert_ok(launch(queue, KERNEL(kernel_nap), 500, 0, 0));
        if (round % 4 == 1)
            assert_ok(omprma_submit(queue, there + 8192, lost, BYTES - 8192));
        memset(out, round + 1, bytes);
        assert_ok(omprma_submit(queue, there, out, bytes));
        memset(out, 0, bytes);
        assert_ok(omprma_retrieve(queue, back, there, bytes));
        assert_ok(omprma_queue_synchronize(queue));
        for (uint64_t i = 0; i < bytes; i++)
            assert_int_equal(back[i], round + 1);
    }
    assert_ok(omprma_queue_destroy(queue));
    core_stop();
}

/* What a retrieve brings may be submitted at once: the operations of a queue are in order. */
static void retrieved_data_can_be_submitted(void **state)
{
    omprma_queue_t *queue;
    omprma_addr_t a, b;

    (void)state;
    core_start(&(struct core_options){.delay = 20});
    queue = core_queue(0);
    a = core_alloc(0, BYTES);
    b = core_alloc(0, BYTES);
    for (int round = 0; round < 32; round++) {
        uint64_t bytes = round & 1 ? BYTES : 300;

        core_choose(0, round & 2 ? 0 : 512, round & 4);
        memset(out, round + 1, bytes);
        memset(back, 0, bytes);
        assert_ok(omprma_submit(queue, a, out, bytes));
        assert_ok(launch(queue, KERNEL(kernel_add), a, bytes, 1));
        assert_ok(omprma_retrieve(queue, back, a, bytes));
        assert_ok(omprma_submit(queue, b, back + 10, bytes - 10));
        assert_ok(omprma_retrieve(queue, back, b, 10));
        assert_ok(omprma_queue_synchronize(queue));
        for (uint64_t i = 0; i < bytes; i++)
            assert_int_equal(back[i], round + 2);
    }
    assert_ok(omprma_queue_destroy(queue));
    core_stop();
}

/* And what is being submitted may be overwritten by a later retrieve. */
static void submitted_memory_can_be_retrieved_into(void **state)
{
    omprma_queue_t *queue;
    omprma_addr_t a, b;

    (void)state;
    core_start(&(struct core_options){.delay = 20});
    queue = core_queue(0);
    a = core_alloc(0, BYTES);
    b = core_alloc(0, BYTES);
    for (int round = 0; round < 32; round++) {
        core_choose(0, round & 1 ? 0 : 16384, round & 2);
        memset(out, 200, BYTES);
        assert_ok(omprma_submit(queue, b, out, BYTES));
        assert_ok(omprma_queue_synchronize(queue));
        memset(out, round + 1, BYTES);
        assert_ok(omprma_submit(queue, a, out, BYTES));
        core_choose(0, round & 4 ? 0 : 16384, round & 8);
        assert_ok(omprma_retrieve(queue, out + BYTES - 10000, b, 10000));
        assert_ok(omprma_retrieve(queue, out, b, round & 16 ? BYTES : 10000));
        assert_ok(omprma_retrieve(queue, back, a, BYTES));
        assert_ok(omprma_queue_synchronize(queue));
        for (uint64_t i = 0; i < BYTES; i++) {
            if (back[i] != round + 1)
                fail_msg("round %d: byte %d is %d", round, (int)i, back[i]);
            if (i < 10000 || i >= BYTES - 10000)
                assert_int_equal(out[i], 200);
        }
    }
    assert_ok(omprma_queue_destroy(queue));
    core_stop();
}

/* ---- refused at once ---- */

static void bad_ranges_are_refused(void **state)
{
    omprma_queue_t *queue;
    omprma_addr_t block, freed;

    (void)state;
    core_start(&(struct core_options){0});
    queue = core_queue(0);
    block = core_alloc(0, 100);
    freed = core_alloc(0, 4096);
    core_alloc(0, 4096); /* so that the one before is not the arena's rest */
    assert_ok(omprma_free(0, freed));
    assert_int_equal(omprma_submit(queue, block, out, 101), OMPRMA_ERR_ADDRESS);
    assert_non_null(strstr(omprma_error(), "runs past the end"));
    assert_int_equal(omprma_submit(queue, block + 99, out, 2), OMPRMA_ERR_ADDRESS);
    assert_int_equal(omprma_retrieve(queue, back, freed, 8), OMPRMA_ERR_ADDRESS);
    assert_non_null(strstr(omprma_error(), "freed"));
    assert_int_equal(omprma_retrieve(queue, back, 0, 8), OMPRMA_ERR_ADDRESS);
    assert_int_equal(omprma_retrieve(queue, back, UINT64_MAX - 3, 8), OMPRMA_ERR_ADDRESS);
    assert_int_equal(omprma_submit(queue, block, NULL, 8), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_retrieve(queue, NULL, block, 8), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_submit(NULL, block, out, 8), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_launch(queue, 0, NULL, 0), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_launch(queue, KERNEL(kernel_nap), NULL, 1), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(
        omprma_launch(queue, KERNEL(kernel_nap), (uint64_t *)out, OMPRMA_LAUNCH_ARGUMENTS + 1),
        OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_free(0, freed), OMPRMA_ERR_ADDRESS);
    assert_int_equal(omprma_free(0, block + 1), OMPRMA_ERR_ADDRESS);
    assert_int_equal(omprma_free(1, block), OMPRMA_ERR_ARGUMENT);
    /* The queue has not failed by any of these. */
    assert_ok(omprma_submit(queue, block, out, 100));
    assert_ok(omprma_queue_synchronize(queue));
    assert_ok(omprma_queue_destroy(queue));
    core_stop();
}

static void memory_grows_and_ends(void **state)
{
    enum { BLOCKS = 400 };
    omprma_addr_t block[BLOCKS], address;
    omprma_device_info_t info;
    omprma_queue_t *queue;
    int count = 0;

    (void)state;
    core_start(&(struct core_options){.arena = 1 << 20, .memory = 24 << 20});
    queue = core_queue(0);
    while (count < BLOCKS && omprma_alloc(0, 200000, &block[count]) == OMPRMA_OK) {
        assert_ok(omprma_submit(queue, block[count], &count, sizeof(count)));
        count++;
    }
    assert_in_range(count, 90, 125);
    assert_int_equal(omprma_alloc(0, 200000, &address), OMPRMA_ERR_DEVICE_MEMORY);
    for (int i = 0; i < count; i++) {
        int value = -1;

        assert_ok(omprma_retrieve(queue, &value, block[i], sizeof(value)));
        assert_ok(omprma_queue_synchronize(queue));
        assert_int_equal(value, i);
        assert_ok(omprma_free(0, block[i]));
    }
    assert_ok(omprma_device_info(0, &info));
    assert_int_equal(info.used_bytes, 0);
    assert_true(info.arena_bytes < 24 << 20);      /* some went back */
    assert_ok(omprma_alloc(0, 9 << 20, &address)); /* in one piece, after all the small ones */
    assert_ok(omprma_free(0, address));
    assert_ok(omprma_alloc(0, 0, &address));
    assert_int_equal(address, 0);
    assert_int_equal(omprma_alloc(0, SIZE_MAX, &address), OMPRMA_ERR_DEVICE_MEMORY);
    assert_ok(omprma_queue_destroy(queue));
    core_stop();
}

/* ---- failures that come later ---- */

/* A page that is not mapped, outside every arena. */
static omprma_addr_t hole;

static void no_wake(void)
{
}

/* In each test anew: cmocka sets handlers of its own before it. */
static void make_hole(void)
{
    assert_ok(crash_install(no_wake));
    if (hole)
        return;
    hole = (omprma_addr_t)(uintptr_t)mmap(NULL, 8 * CORE_PIECE, PROT_NONE,
                                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(hole != (omprma_addr_t)(uintptr_t)MAP_FAILED);
}

/* Makes a queue fail in one of several ways. */
enum { FAILURES = 6 };

static void break_queue(omprma_queue_t *queue, int how, int devices)
{
    switch (how) {
    case 0:
        assert_ok(omprma_submit(queue, hole, lost, 100));
        break;
    case 1:
        assert_ok(omprma_retrieve(queue, lost, hole, 100));
        break;
    case 2:
        assert_ok(omprma_submit(queue, hole, lost, BYTES));
        break;
    case 3:
        assert_ok(omprma_retrieve(queue, lost, hole, BYTES));
        break;
    case 4:
        assert_ok(omprma_exchange(queue, hole, 0, hole + BYTES, 1000));
        break;
    default:
        assert_ok(omprma_exchange(queue, hole, devices - 1, hole + BYTES, BYTES));
        break;
    }
}

static void check_failed(omprma_queue_t *queue)
{
    omprma_status_t status = omprma_queue_synchronize(queue);

    if (status != OMPRMA_ERR_ADDRESS)
        fail_msg("%s: %s", omprma_status_string(status), omprma_error());
    assert_non_null(strstr(omprma_error(), "not mapped"));
    assert_ok(omprma_queue_synchronize(queue)); /* returned once */
}

static void check_well(omprma_queue_t *queue, omprma_addr_t there, uint64_t bytes)
{
    memset(out, 0x3c, bytes);
    memset(back, 0, bytes);
    assert_ok(omprma_submit(queue, there, out, bytes));
    assert_ok(launch(queue, KERNEL(kernel_add), there, bytes, 1));
    assert_ok(omprma_retrieve(queue, back, there, bytes));
    assert_ok(omprma_queue_synchronize(queue));
    for (uint64_t i = 0; i < bytes; i++)
        assert_int_equal(back[i], 0x3d);
}

/* Operations after the failing one, none of which may be run. They return the error when it is
 * known already. */
static void append_more(omprma_queue_t *queue, omprma_addr_t counter, omprma_addr_t there)
{
    for (int i = 0; i < 20; i++) {
        launch(queue, KERNEL(kernel_count), counter, 0, 0);
        omprma_submit(queue, there, lost, i % 2 ? 10 : BYTES);
        omprma_retrieve(queue, lost, there, i % 3 ? 10 : BYTES);
        if (i % 4 == 0)
            omprma_queue_flush(queue);
    }
}

static void failures(int devices, int lanes)
{
    omprma_queue_t *queue, *other;
    omprma_addr_t there, counter, other_there;
    uint64_t zero = 0, count;

    core_start(&(struct core_options){.workers = devices, .lanes = lanes});
    queue = core_queue(0);
    other = core_queue(0);
    there = core_alloc(0, BYTES);
    other_there = core_alloc(0, BYTES);
    counter = core_alloc(0, 8);
    assert_ok(omprma_submit(queue, counter, &zero, 8));
    assert_ok(omprma_queue_synchronize(queue));
    for (int round = 0; round < 4 * FAILURES; round++) {
        for (int i = 0; i < devices; i++)
            core_choose(i, round & 1 ? 0 : 8192, (round & 2) != 0);
        assert_ok(launch(queue, KERNEL(kernel_count), counter, 0, 0));
        break_queue(queue, round % FAILURES, devices);
        append_more(queue, counter, there);
        check_well(other, other_there, round % 3 ? BYTES : 100);
        check_failed(queue);
        check_well(queue, there, round % 2 ? BYTES : 100);
        assert_ok(omprma_retrieve(queue, &count, counter, 8));
        assert_ok(omprma_queue_synchronize(queue));
        assert_int_equal(count, round + 1); /* what came before the failure was run, no more */
    }
    break_queue(queue, 0, devices);
    assert_int_equal(omprma_queue_destroy(queue), OMPRMA_ERR_ADDRESS);
    queue = core_queue(0); /* the same again, and clean */
    check_well(queue, there, 100);
    assert_ok(omprma_queue_destroy(queue));
    assert_ok(omprma_queue_destroy(other));
    core_stop();
}

static void a_failed_queue_is_clean_after_synchronize(void **state)
{
    (void)state;
    make_hole();
    failures(1, 1);
    failures(1, 3);
    failures(2, 1);
}

/* The destination's range is bad: the source's queue learns it, whatever came of the source. */
static void the_far_end_of_an_exchange_fails(void **state)
{
    omprma_queue_t *queue;
    omprma_addr_t from;

    (void)state;
    make_hole();
    core_start(&(struct core_options){.workers = 2});
    queue = core_queue(0);
    from = core_alloc(0, BYTES);
    for (int round = 0; round < 10; round++) {
        assert_ok(omprma_exchange(queue, from, 1, hole, round % 2 ? BYTES : 100));
        check_failed(queue);
        check_well(queue, from, 100);
    }
    assert_ok(omprma_queue_destroy(queue));
    core_stop();
}

/* Who waits for an event of a queue that fails before it, fails too; a later event is none of it.
 */
static void failures_travel_along_events(void **state)
{
    omprma_queue_t *first, *second;
    omprma_event_t *event;
    omprma_addr_t there;

    (void)state;
    make_hole();
    for (int devices = 1; devices <= 2; devices++) {
        core_start(&(struct core_options){.workers = devices});
        first = core_queue(0);
        second = core_queue(devices - 1);
        there = core_alloc(devices - 1, 100);
        assert_ok(omprma_event_create(&event));
        for (int round = 0; round < 8; round++) {
            omprma_status_t status;

            assert_ok(launch(first, KERNEL(kernel_nap), 1000, 0, 0));
            break_queue(first, round % 4, 1);
            assert_ok(omprma_event_record(event, first));
            if (round & 4)
                assert_ok(omprma_queue_flush(first));
            assert_ok(omprma_event_wait(event, second));
            assert_ok(launch(second, KERNEL(kernel_nap), 1, 0, 0));
            status = omprma_queue_synchronize(second);
            if (status != OMPRMA_ERR_ADDRESS)
                fail_msg("%s: %s", omprma_status_string(status), omprma_error());
            assert_int_equal(omprma_event_synchronize(event), OMPRMA_ERR_ADDRESS);
            check_failed(first);
            assert_ok(omprma_event_record(event, first));
            assert_ok(omprma_event_wait(event, second));
            check_well(second, there, 100);
        }
        omprma_event_destroy(event);
        assert_ok(omprma_queue_destroy(first));
        assert_ok(omprma_queue_destroy(second));
        core_stop();
    }
}

/* An event that was complete stays complete when its queue fails later. */
static void complete_events_stay_complete(void **state)
{
    omprma_queue_t *first, *second;
    omprma_event_t *event;
    omprma_addr_t there;
    bool done = false;

    (void)state;
    make_hole();
    core_start(&(struct core_options){0});
    first = core_queue(0);
    second = core_queue(0);
    there = core_alloc(0, 100);
    assert_ok(omprma_event_create(&event));
    check_well(first, there, 100);
    assert_ok(omprma_event_record(event, first));
    break_queue(first, 0, 1);
    check_failed(first);
    assert_ok(omprma_event_query(event, &done));
    assert_true(done);
    assert_ok(omprma_event_synchronize(event));
    assert_ok(omprma_event_wait(event, second));
    check_well(second, there, 100);
    omprma_event_destroy(event);
    assert_ok(omprma_queue_destroy(first));
    assert_ok(omprma_queue_destroy(second));
    core_stop();
}

/* MPI itself refuses a transfer. */
static void a_transfer_that_cannot_start(void **state)
{
    omprma_queue_t *queue;
    omprma_addr_t there;
    int failed = 0;

    (void)state;
    core_start(&(struct core_options){.fail_start = 2000, .delay = CORE_NO_DELAY});
    queue = core_queue(0);
    there = core_alloc(0, BYTES);
    core_choose(0, 0, true);
    for (int i = 0; i < 2000; i++) {
        omprma_status_t status = omprma_submit(queue, there, out, i % 2 ? BYTES : 100);

        if (status == OMPRMA_OK)
            status = omprma_queue_synchronize(queue);
        else
            assert_int_equal(omprma_queue_synchronize(queue), status);
        failed += status != OMPRMA_OK;
        if (status != OMPRMA_OK)
            assert_int_equal(status, OMPRMA_ERR_MPI);
    }
    assert_int_equal(failed, 1);
    check_well(queue, there, BYTES);
    assert_ok(omprma_queue_destroy(queue));
    core_stop();
}

static void operations_left_at_the_end_are_finished(void **state)
{
    omprma_queue_t *queue;
    omprma_addr_t there, other_there;

    (void)state;
    for (int devices = 1; devices <= 2; devices++) {
        core_start(&(struct core_options){.workers = devices});
        queue = core_queue(0);
        there = core_alloc(0, BYTES);
        other_there = core_alloc(devices - 1, BYTES);
        memset(out, 5, BYTES);
        memset(back, 0, BYTES);
        core_choose(0, 0, devices == 2);
        assert_ok(omprma_submit(queue, there, out, BYTES));
        assert_ok(launch(queue, KERNEL(kernel_add), there, BYTES, 1));
        assert_ok(omprma_retrieve(queue, back, there, BYTES - 100));
        core_choose(0, 8192, false);
        assert_ok(omprma_exchange(queue, there, devices - 1, other_there, BYTES));
        assert_ok(omprma_retrieve(queue, back + BYTES - 100, there + BYTES - 100, 100));
        core_stop();
        for (int i = 0; i < BYTES; i++)
            assert_int_equal(back[i], 6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_around_every_limit),
        cmocka_unit_test(small_sources_may_be_reused_at_once),
        cmocka_unit_test(retrieved_data_can_be_submitted),
        cmocka_unit_test(submitted_memory_can_be_retrieved_into),
        cmocka_unit_test(bad_ranges_are_refused),
        cmocka_unit_test(memory_grows_and_ends),
        cmocka_unit_test(a_failed_queue_is_clean_after_synchronize),
        cmocka_unit_test(the_far_end_of_an_exchange_fails),
        cmocka_unit_test(failures_travel_along_events),
        cmocka_unit_test(complete_events_stay_complete),
        cmocka_unit_test(a_transfer_that_cannot_start),
        cmocka_unit_test(operations_left_at_the_end_are_finished),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
