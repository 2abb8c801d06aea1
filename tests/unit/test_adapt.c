/* test_adapt.c: real transfers on the null paths correct what start-up chose wrong, in every order
 * in which programs make them, and the data stays right. Sends are slow here, by thousands of calls
 * of test(), so that puts and gets are the faster ways on any machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "core_fixture.h"
#include "host/adapt.h"

/* That 64 transfers are enough is test_contest's; here another program may have the processor for
 * all samples of a round, and more are needed. */
enum { BYTES = 64 << 10, TRANSFERS = 64, TRIES = 20, MOST = TRIES * TRANSFERS, SLOW = 3000 };

static unsigned char here[BYTES], back[BYTES];

static void start_slow(bool adapt, unsigned slow_puts)
{
    core_start(&(struct core_options){.workers = 2,
                                      .delay = CORE_NO_DELAY,
                                      .adapt = adapt,
                                      .wrong_choice = true,
                                      .slow_sends = SLOW,
                                      .slow_puts = slow_puts});
}

static void start(bool adapt)
{
    start_slow(adapt, 0);
}

static enum path path_of(bool submit)
{
    return paths_bulk(&core_device(0)->paths, submit, BYTES);
}

static uint32_t revisions(enum paths_direction direction)
{
    return core_device(0)->paths.adapt->contest[direction][cost_class(BYTES)].revisions;
}

/* Updates: one transfer at a time, each waited for. */
static void update_bytes(omprma_queue_t *queue, omprma_addr_t at, int value, size_t bytes)
{
    memset(here, value, bytes);
    assert_ok(omprma_submit(queue, at, here, bytes));
    assert_ok(omprma_queue_synchronize(queue));
    assert_ok(omprma_retrieve(queue, back, at, bytes));
    assert_ok(omprma_queue_synchronize(queue));
    assert_all(back, bytes, (unsigned char)value);
}

static void update(omprma_queue_t *queue, omprma_addr_t at, int value)
{
    update_bytes(queue, at, value, BYTES);
}

static void updates_correct_a_wrong_choice(void **state)
{
    omprma_queue_t *queue;
    omprma_addr_t at;

    (void)state;
    start(true);
    queue = core_queue(0);
    at = core_alloc(0, BYTES);
    assert_int_equal(path_of(true), PATH_TWO_SIDED);
    assert_int_equal(path_of(false), PATH_TWO_SIDED);
    for (int i = 0; i < MOST && (path_of(true) != PATH_RMA || path_of(false) != PATH_RMA); i++)
        update(queue, at, i);
    assert_int_equal(path_of(true), PATH_RMA);
    assert_int_equal(path_of(false), PATH_RMA);
    assert_int_equal(paths_bulk(&core_device(1)->paths, true, BYTES), PATH_RMA); /* of its kind */
    assert_true(revisions(PATHS_SUBMIT) >= 1 && revisions(PATHS_RETRIEVE) >= 1);
    omprma_queue_destroy(queue);
    core_stop();
}

/* As if start-up had found messages for small data the better way, or not. So much for the others
 * that nothing here seems disturbed, under a sanitizer too. */
static void choose_small(bool is_inline)
{
    struct adapt_kind *kind = core_device(0)->paths.adapt;

    for (int direction = 0; direction < PATHS_DIRECTIONS; direction++) {
        int inline_way = direction == PATHS_SUBMIT ? 1 : 2;
        double us[CONTEST_WAYS] = {1e5, 1e5, 1e5};

        us[is_inline ? inline_way : 0] = 10;
        for (uint64_t bytes = ADAPT_LEAST; bytes <= ADAPT_SMALL; bytes *= 2)
            contest_begin(&kind->contest[direction][cost_class(bytes)], inline_way + 1,
                          is_inline ? inline_way : 0, us);
    }
    for (int i = 0; i < 2; i++) {
        core_device(i)->paths.inline_submit = core_device(i)->paths.inline_retrieve =
            is_inline ? ADAPT_SMALL : ADAPT_LEAST - 1;
        core_device(i)->paths.inline_retrieve_fused = ADAPT_LEAST;
    }
}

/* For small data a message is one of the ways. */
static void correct_small_data(unsigned slow_puts, bool is_inline)
{
    static const size_t sizes[] = {ADAPT_SMALL, ADAPT_SMALL - 8, ADAPT_SMALL - 2000};
    const struct paths *paths;
    bool right = false;
    omprma_queue_t *queue;
    omprma_addr_t at;

    start_slow(true, slow_puts);
    queue = core_queue(0);
    at = core_alloc(0, ADAPT_SMALL);
    paths = &core_device(1)->paths; /* of its kind */
    /* A message waits for the worker's thread, which on a busy machine is late for all samples of a
     * round now and then. */
    for (int tries = 0; tries < TRIES && !right; tries++) {
        choose_small(!is_inline);
        for (int i = 0; i < TRANSFERS; i++)
            update_bytes(queue, at, i, sizes[i % 3]);
        right = (paths->inline_submit >= ADAPT_SMALL) == is_inline &&
                (paths->inline_retrieve >= ADAPT_SMALL) == is_inline;
    }
    assert_true(right);
    assert_true(paths->inline_retrieve_fused >= paths->inline_retrieve);
    omprma_queue_destroy(queue);
    core_stop();
}

static bool carries_at_most(const struct paths *paths, uint32_t bytes)
{
    return paths->inline_submit <= bytes && paths->inline_retrieve <= bytes;
}

/* What start-up found for less comes back, and for what rides on a launch's result. */
static void messages_that_lose_again(void **state)
{
    struct adapt_kind *kind;
    struct paths *paths;
    omprma_queue_t *queue;
    omprma_addr_t at;

    (void)state;
    start(true);
    queue = core_queue(0);
    at = core_alloc(0, ADAPT_SMALL);
    paths = &core_device(0)->paths;
    kind = paths->adapt;
    kind->below[PATHS_SUBMIT] = 1024;
    kind->below[PATHS_RETRIEVE] = 512;
    kind->fused = 2048;
    for (int tries = 0; tries < TRIES && !carries_at_most(paths, 1024); tries++) {
        choose_small(true);
        for (int i = 0; i < TRANSFERS; i++)
            update_bytes(queue, at, i, ADAPT_SMALL);
        if (!carries_at_most(paths, ADAPT_LEAST))
            continue;
        assert_int_equal(paths->inline_submit, ADAPT_LEAST); /* 4 KiB are another class */
        assert_int_equal(paths->inline_retrieve, ADAPT_LEAST);
        assert_int_equal(paths->inline_retrieve_fused, ADAPT_LEAST);
        for (int i = 0; i < TRANSFERS; i++)
            update_bytes(queue, at, i, ADAPT_LEAST);
    }
    assert_int_equal(paths->inline_submit, 1024);
    assert_int_equal(paths->inline_retrieve, 512);
    assert_int_equal(paths->inline_retrieve_fused, 2048);
    omprma_queue_destroy(queue);
    core_stop();
}

static void small_data_leaves_messages(void **state)
{
    (void)state;
    correct_small_data(0, false);
}

static void small_data_goes_into_messages(void **state)
{
    (void)state;
    correct_small_data(8 * SLOW, true);
}

static void without_adaptation_it_stays(void **state)
{
    omprma_queue_t *queue;
    omprma_addr_t at;

    (void)state;
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
static void regions_correct_a_wrong_choice(void **state)
{
    static unsigned char more[BYTES], more_back[BYTES];
    omprma_queue_t *queue;
    omprma_addr_t at, more_at;

    (void)state;
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
static void transfers_that_nobody_waits_for_are_not_timed(void **state)
{
    omprma_queue_t *queue;
    omprma_addr_t at;

    (void)state;
    start(true);
    queue = core_queue(0);
    at = core_alloc(0, BYTES);
    for (int i = 0; i < TRANSFERS; i++) {
        assert_ok(launch(queue, KERNEL(kernel_add), at, 8, 1));
        assert_ok(omprma_retrieve(queue, back, at, BYTES));
        for (bool done = false; !done;)
            assert_ok(omprma_queue_query(queue, &done));
    }
    assert_int_equal(revisions(PATHS_RETRIEVE), 0);
    assert_true(core_device(0)->paths.adapt->contest[PATHS_RETRIEVE][cost_class(BYTES)].rounds > 0);
    omprma_queue_destroy(queue);
    core_stop();
}

static void exchanges_are_corrected(void **state)
{
    omprma_queue_t *queue, *other;
    omprma_addr_t from, to;
    const double us[] = {1e5, 1e5, 10}; /* as if sends had been found to be fast */
    struct contest *contest;

    (void)state;
    start(true);
    queue = core_queue(0);
    other = core_queue(1);
    from = core_alloc(0, BYTES);
    to = core_alloc(1, BYTES);
    contest = &runtime_get()->exchange[0].contests[cost_class(BYTES)];
    contest_begin(contest, 3, EXCHANGE_SEND - EXCHANGE_PUT, us);
    for (int i = 0; i < TRANSFERS; i++) {
        memset(here, i, BYTES);
        assert_ok(omprma_submit(queue, from, here, BYTES));
        assert_ok(omprma_queue_synchronize(queue));
        assert_ok(omprma_exchange(queue, from, 1, to, BYTES));
        assert_ok(omprma_queue_synchronize(queue));
        assert_ok(omprma_retrieve(other, back, to, BYTES));
        assert_ok(omprma_queue_synchronize(other));
        assert_all(back, BYTES, i);
    }
    assert_int_not_equal(contest->current, EXCHANGE_SEND - EXCHANGE_PUT);
    omprma_queue_destroy(queue);
    omprma_queue_destroy(other);
    core_stop();
}

/* A transfer that is timed fails as any other. */
static void failures_while_it_is_timed(void **state)
{
    omprma_queue_t *queue;
    omprma_addr_t at;
    int failed = 0;

    (void)state;
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
        submitter->status = omprma_submit(submitter->queue, submitter->at, here, ADAPT_SMALL);
        if (submitter->status == OMPRMA_OK)
            submitter->status = omprma_queue_synchronize(submitter->queue);
    } while (submitter->status == OMPRMA_OK);
    return NULL;
}

/* Who waits for a message that is timed is told that its worker is lost; others are timed then. */
static void a_worker_that_is_lost_while_a_message_is_timed(void **state)
{
    struct submitter submitter;
    struct runtime *runtime;
    omprma_queue_t *other;
    omprma_addr_t at;
    pthread_t thread;
    bool timed = false;

    (void)state;
    start(true);
    runtime = runtime_get();
    choose_small(true);
    submitter = (struct submitter){.queue = core_queue(0), .at = core_alloc(0, ADAPT_SMALL)};
    other = core_queue(1);
    at = core_alloc(1, ADAPT_SMALL);
    assert_int_equal(pthread_create(&thread, NULL, submit_until_lost, &submitter), 0);
    for (int i = 0; i < 20000 && !timed; i++) {
        core_hold(0); /* the worker does not look, and what is under way stays so */
        kernel_nap(200);
        runtime_lock(runtime);
        timed = runtime->watch.is_inline;
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
    assert_false(runtime->watch.is_inline);
    runtime_unlock(runtime);
    for (int i = 0; i < TRANSFERS; i++)
        update_bytes(other, at, i, ADAPT_SMALL);
    omprma_queue_destroy(submitter.queue);
    omprma_queue_destroy(other);
    core_stop();
}

static void statistics_say_so(void **state)
{
    omprma_queue_t *queue;
    int transfers = 0;
    omprma_addr_t at;
    char expected[160], *text = NULL;
    size_t bytes = 0;
    FILE *out;

    (void)state;
    start(true);
    queue = core_queue(0);
    at = core_alloc(0, BYTES);
    for (; transfers < MOST && path_of(true) != PATH_RMA; transfers++)
        update(queue, at, transfers);
    snprintf(expected, sizeof(expected),
             "submits above 32 KiB to 64 KiB, this host: rma, %d of them; "
             "at start-up two-sided, revised %ux, gained ",
             transfers, revisions(PATHS_SUBMIT));
    out = open_memstream(&text, &bytes);
    assert_non_null(out);
    adapt_print(runtime_get(), out);
    fclose(out);
    assert_non_null(strstr(text, expected));
    free(text);
    omprma_queue_destroy(queue);
    core_stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(updates_correct_a_wrong_choice),
        cmocka_unit_test(small_data_leaves_messages),
        cmocka_unit_test(messages_that_lose_again),
        cmocka_unit_test(small_data_goes_into_messages),
        cmocka_unit_test(without_adaptation_it_stays),
        cmocka_unit_test(regions_correct_a_wrong_choice),
        cmocka_unit_test(transfers_that_nobody_waits_for_are_not_timed),
        cmocka_unit_test(exchanges_are_corrected),
        cmocka_unit_test(failures_while_it_is_timed),
        cmocka_unit_test(a_worker_that_is_lost_while_a_message_is_timed),
        cmocka_unit_test(statistics_say_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
