/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_adapt.c: real transfers on the null paths correct what start-up chose wrong, in every order
 * in which programs make them, and the data stays right. Sends are slow here, by thousands of calls
 * of test(), so that puts and gets are the faster ways on any machine.
 * Covers: adapt.c core/paths.c */
#include <stdio.h>

#include "tests/unit/test.h"
#include "tests/unit/core_fixture.h"
#include "host/choice/adapt.h"

/* That 64 transfers are enough is test_threshold's; here another program may have the processor for
 * all samples of a trial, and more are needed. */
enum { BYTES = 64 << 10, TRANSFERS = 64, MOST = 4096, SLOW = 3000 };

static unsigned char here[BYTES], back[BYTES];

static void start(bool adapt)
{
    core_start(&(struct core_options){.workers = 2,
                                      .delay = CORE_NO_DELAY,
                                      .adapt = adapt,
                                      .wrong_choice = true,
                                      .slow_sends = SLOW});
}

static enum path path_of(bool submit)
{
    return paths_one_sided(&core_device(0)->paths, submit, BYTES) ? PATH_RMA : PATH_TWO_SIDED;
}

static const struct threshold *threshold(enum paths_direction direction)
{
    return &core_device(0)->paths.adapt->threshold[direction];
}

/* Updates: one transfer at a time, each waited for. */
static void update(omprma_queue_t *queue, omprma_addr_t at, int value)
{
    memset(here, value, BYTES);
    assert_ok(omprma_submit(queue, at, here, BYTES));
    assert_ok(omprma_queue_synchronize(queue));
    assert_ok(omprma_retrieve(queue, back, at, BYTES));
    assert_ok(omprma_queue_synchronize(queue));
    assert_all(back, BYTES, (unsigned char)value);
}

TEST(updates_correct_a_wrong_choice)
{
    omprma_queue_t *queue;
    omprma_addr_t at;

    start(true);
    queue = core_queue(0);
    at = core_alloc(0, BYTES);
    assert_int_equal(path_of(true), PATH_TWO_SIDED);
    assert_int_equal(path_of(false), PATH_TWO_SIDED);
    for (int i = 0; i < MOST && (path_of(true) != PATH_RMA || path_of(false) != PATH_RMA); i++)
        update(queue, at, i);
    assert_int_equal(path_of(true), PATH_RMA);
    assert_int_equal(path_of(false), PATH_RMA);
    assert_true(paths_one_sided(&core_device(1)->paths, true, BYTES)); /* of its kind */
    assert_true(threshold(PATHS_SUBMIT)->revisions >= 1);
    assert_true(threshold(PATHS_RETRIEVE)->revisions >= 1);
    omprma_queue_destroy(queue);
    core_stop();
}

TEST(without_adaptation_it_stays)
{
    omprma_queue_t *queue;
    omprma_addr_t at;

    start(false);
    queue = core_queue(0);
    at = core_alloc(0, BYTES);
    for (int i = 0; i < TRANSFERS / 4; i++)
        update(queue, at, i);
    assert_null(core_device(0)->paths.adapt);
    assert_int_equal(path_of(true), PATH_TWO_SIDED);
    omprma_queue_destroy(queue);
    core_stop();
}

/* Regions: two arrays there, a kernel, two arrays back, and only then somebody waits. */
TEST(regions_correct_a_wrong_choice)
{
    static unsigned char more[BYTES], more_back[BYTES];
    omprma_queue_t *queue;
    omprma_addr_t at, more_at;

    start(true);
    queue = core_queue(0);
    at = core_alloc(0, BYTES);
    more_at = core_alloc(0, BYTES);
    for (int i = 0; i < MOST && (path_of(true) != PATH_RMA || path_of(false) != PATH_RMA); i++) {
        memset(here, i, BYTES);
        memset(more, i + 1, BYTES);
        assert_ok(omprma_submit(queue, at, here, BYTES));
        assert_ok(omprma_submit(queue, more_at, more, BYTES));
        assert_ok(launch(queue, KERNEL(kernel_add), at, BYTES, 5));
        assert_ok(launch(queue, KERNEL(kernel_add), more_at, BYTES, 5));
        assert_ok(omprma_retrieve(queue, back, at, BYTES));
        assert_ok(omprma_retrieve(queue, more_back, more_at, BYTES));
        assert_ok(omprma_queue_synchronize(queue));
        assert_all(back, BYTES, (unsigned char)(i + 5));
        assert_all(more_back, BYTES, (unsigned char)(i + 6));
    }
    assert_int_equal(path_of(true), PATH_RMA);
    assert_int_equal(path_of(false), PATH_RMA);
    omprma_queue_destroy(queue);
    core_stop();
}

/* A caller that comes back late: what it is thought to take must not count. */
TEST(transfers_that_nobody_waits_for_are_not_timed)
{
    omprma_queue_t *queue;
    omprma_addr_t at;

    start(true);
    queue = core_queue(0);
    at = core_alloc(0, BYTES);
    for (int i = 0; i < TRANSFERS + TRANSFERS / 2; i++) {
        assert_ok(launch(queue, KERNEL(kernel_add), at, 8, 1));
        assert_ok(omprma_retrieve(queue, back, at, BYTES));
        for (bool done = false; !done;)
            assert_ok(omprma_queue_query(queue, &done));
    }
    assert_int_equal(threshold(PATHS_RETRIEVE)->trials, 1);
    assert_int_equal(threshold(PATHS_RETRIEVE)->trial.here_count, 0);
    omprma_queue_destroy(queue);
    core_stop();
}

/* A transfer that is timed fails as any other. */
TEST(failures_while_it_is_timed)
{
    omprma_queue_t *queue;
    omprma_addr_t at;
    int failed = 0;

    start(true);
    queue = core_queue(0);
    at = core_alloc(0, BYTES);
    for (int i = 0; i < TRANSFERS; i++) {
        if (i % 3 == 0)
            null_path_fail_next(core_device(0)->runtime->one_sided);
        if (omprma_submit(queue, at, here, BYTES) != OMPRMA_OK ||
            omprma_queue_synchronize(queue) != OMPRMA_OK) {
            assert_non_null(strstr(omprma_error(), "this transfer was to fail"));
            omprma_queue_synchronize(queue);
            failed++;
        }
    }
    assert_in_range(failed, 1, TRANSFERS);
    for (int i = 0; i < MOST && path_of(true) != PATH_RMA; i++)
        update(queue, at, i);
    assert_int_equal(path_of(true), PATH_RMA);
    omprma_queue_destroy(queue);
    core_stop();
}

struct submitter {
    omprma_queue_t *queue;
    omprma_addr_t at;
    omprma_status_t status;
};

static void *submit_until_lost(void *data)
{
    struct submitter *submitter = data;

    do {
        submitter->status = omprma_submit(submitter->queue, submitter->at, here, BYTES);
        if (submitter->status == OMPRMA_OK)
            submitter->status = omprma_queue_synchronize(submitter->queue);
    } while (submitter->status == OMPRMA_OK);
    return NULL;
}

/* The caller that waits for a timed transfer is told that its worker is lost; others are timed
 * then.
 */
TEST(a_worker_that_is_lost_while_a_transfer_is_timed)
{
    struct submitter submitter;
    struct runtime *runtime;
    omprma_queue_t *other;
    omprma_addr_t at;
    pthread_t thread;
    bool timed = false;

    start(true);
    runtime = runtime_get();
    submitter = (struct submitter){.queue = core_queue(0), .at = core_alloc(0, BYTES)};
    other = core_queue(1);
    at = core_alloc(1, BYTES);
    assert_int_equal(pthread_create(&thread, NULL, submit_until_lost, &submitter), 0);
    for (int i = 0; i < 20000 && !timed; i++) {
        core_hold(0); /* the worker does not look, and what is under way stays so */
        kernel_nap(200);
        runtime_lock(runtime);
        timed = runtime->watch.operation != NULL;
        if (timed)
            peer_lose(core_device(0)->peer, "taken away");
        runtime_unlock(runtime);
        core_release(0);
        kernel_nap(20);
    }
    assert_true(timed);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(submitter.status, OMPRMA_ERR_DEVICE_LOST);
    core_let_go(0);
    runtime_lock(runtime);
    assert_null(runtime->watch.operation);
    runtime_unlock(runtime);
    for (int i = 0; i < TRANSFERS; i++)
        update(other, at, i);
    omprma_queue_destroy(submitter.queue);
    omprma_queue_destroy(other);
    core_stop();
}

TEST(statistics_say_so)
{
    omprma_queue_t *queue;
    int transfers = 0;
    omprma_addr_t at;
    char expected[200], *text = NULL;
    size_t bytes = 0;
    FILE *out;

    start(true);
    queue = core_queue(0);
    at = core_alloc(0, BYTES);
    for (; transfers < MOST && path_of(true) != PATH_RMA; transfers++)
        update(queue, at, transfers);
    snprintf(expected, sizeof(expected),
             "submits above 8 KiB, this host: rma from 64 KiB on, two-sided below, %d of them; "
             "at start-up two-sided, revised %ux; %d tried the other path",
             transfers, threshold(PATHS_SUBMIT)->revisions, (int)threshold(PATHS_SUBMIT)->tried);
    out = open_memstream(&text, &bytes);
    assert_non_null(out);
    adapt_print(runtime_get(), out);
    fclose(out);
    assert_non_null(strstr(text, expected));
    free(text);
    omprma_queue_destroy(queue);
    core_stop();
}
