/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_staging.c: data of devices that cannot be touched, on its way through staging memory: that
 * it is bounded, given back whatever happens, and shared fairly, that the program copies by itself
 * where it has mapped that, and that sources may be overwritten where that is said. What arrives is
 * test_backend.c's and test_random.c's business, too.
 * Covers: staged.c piece.c path/shared.c host/start/reach.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include "tests/unit/cmocka_both.h"
#include <unistd.h>

#include <omprma_private/in_turn.h>

#include "tests/unit/core_fixture.h"
#include "tests/unit/far_fixture.h"

enum { LIMIT_S = 60, BYTES = 12 * CORE_PIECE + 100, MUCH = 8 << 20 };

/* Devices: of each of two workers one that cannot be touched, and a native one. */
enum { FAR, NATIVE, FAR_TOO, NATIVE_TOO, DEVICES };

static unsigned char data[MUCH], back[MUCH];

static int be_impatient(void **state)
{
    (void)state;
    alarm(LIMIT_S);
    return 0;
}

static enum far_kind kind; /* of the first worker's */
static uint64_t piece;     /* OMPRMA_PIECE; 0: CORE_PIECE */
static bool shared;        /* the program maps staging memory */

static bool make_other(struct worker_device *device, int worker)
{
    if (device->index > 0)
        return false;
    far_open(device, worker == 1 ? FAR_IS_THREADED : kind);
    return true;
}

static void start_with(bool no_window)
{
    struct draw from = {99};

    far_count = 0;
    core_start(&(struct core_options){
        .workers = 2,
        .devices = 2,
        .arena = 16 << 20,
        .make_other = make_other,
        .no_window = no_window,
        .piece = piece,
        .shared = shared,
    });
    draw_fill(&from, data, sizeof(data));
}

static int slots_of(int number)
{
    struct runtime *runtime = runtime_get();
    int used;

    runtime_lock(runtime);
    used = slots_used(&core_device(number)->staging);
    runtime_unlock(runtime);
    return used;
}

static void assert_all_given_back(void)
{
    for (int i = 0; i < DEVICES; i++)
        assert_int_equal(slots_of(i), 0);
    assert_int_equal(slots_used(&runtime_get()->memory), 0);
    assert_null(runtime_get()->turns.first);
}

static void check_well(int number)
{
    omprma_queue_t *queue = core_queue(number);
    omprma_addr_t there = core_alloc(number, BYTES);

    memset(back, 0, BYTES);
    assert_ok(omprma_submit(queue, there, data, BYTES));
    assert_ok(omprma_retrieve(queue, back, there, BYTES));
    assert_ok(omprma_queue_destroy(queue));
    assert_memory_equal(back, data, BYTES);
    assert_ok(omprma_free(number, there));
}

/* Many queues at once, both directions, one-sided and two-sided. */
static void memory_in_between_is_bounded(void **state)
{
    enum { QUEUES = 18 };

    (void)state;
    for (int round = 0; round < 4; round++) {
        omprma_queue_t *queue[QUEUES];
        omprma_addr_t there[QUEUES];
        int most = 0;

        start_with(round == 3);
        core_choose(FAR, 512, round == 0);
        for (int i = 0; i < QUEUES; i++) {
            queue[i] = core_queue(FAR);
            there[i] = core_alloc(FAR, BYTES);
            assert_ok(omprma_submit(queue[i], there[i], data + i, BYTES));
            assert_ok(omprma_queue_flush(queue[i]));
            most = slots_of(FAR) > most ? slots_of(FAR) : most;
        }
        assert_int_equal(most, core_device(FAR)->staging.count);
        for (int i = 0; i < QUEUES; i++)
            assert_ok(omprma_retrieve(queue[i], back + i * BYTES / 2, there[i], BYTES / 2));
        for (int i = 0; i < QUEUES; i++) {
            assert_ok(omprma_queue_destroy(queue[i]));
            assert_memory_equal(back + i * BYTES / 2, data + i, BYTES / 2);
        }
        assert_all_given_back();
        core_stop();
    }
}

static uint64_t copied(int number, enum data_kind carried)
{
    return stats_of(runtime_get(), number)->cell[carried][PATH_SHARED].bytes;
}

/* Not to devices themselves, whose memory nobody can touch, nor between them. */
static void the_program_copies_to_staging_memory_that_it_has_mapped(void **state)
{
    omprma_addr_t there[2];
    omprma_queue_t *queue;

    (void)state;
    if (!shared)
        skip();
    start_with(false);
    core_count();
    if (!core_device(FAR)->mapped.count) { /* a container may not have name spaces */
        core_stop();
        skip();
    }
    assert_true(core_device(FAR)->paths.shared);
    check_well(FAR);
    check_well(FAR_TOO);
    assert_int_equal(copied(FAR, DATA_SUBMIT), BYTES);
    assert_int_equal(copied(FAR, DATA_RETRIEVE), BYTES);
    there[0] = core_alloc(FAR, BYTES);
    there[1] = core_alloc(FAR_TOO, BYTES);
    queue = core_queue(FAR);
    memset(back, 0, BYTES);
    assert_ok(omprma_submit(queue, there[0], data, BYTES));
    assert_ok(omprma_exchange(queue, there[0], FAR_TOO, there[1], BYTES));
    assert_ok(omprma_queue_destroy(queue));
    queue = core_queue(FAR_TOO);
    assert_ok(omprma_retrieve(queue, back, there[1], BYTES));
    assert_ok(omprma_queue_destroy(queue));
    assert_memory_equal(back, data, BYTES);
    assert_all_given_back();
    core_stop();
}

/* Of all sizes, more than are under way at a time, to places that meet, behind others and behind
 * nothing. */
static void sources_that_are_overwritten_at_once(void **state)
{
    enum { SUBMITS = 200, ROOM = 2 << 20, MOST = 600 << 10 };
    unsigned char *model = calloc(1, ROOM), *source = malloc(MOST);
    struct draw from = {5};

    (void)state;
    start_with(false);
    for (int number = FAR; number <= NATIVE; number++) {
        omprma_queue_t *queue = core_queue(number);
        omprma_addr_t there = core_alloc(number, ROOM);

        memset(model, 0, ROOM);
        assert_ok(omprma_submit(queue, there, model, ROOM));
        for (int i = 0; i < SUBMITS; i++) {
            uint64_t most = i % 4 ? MOST / 8 : MOST, bytes = 1 + draw_below(&from, most);
            uint64_t at = draw_below(&from, ROOM - bytes);

            draw_fill(&from, source, bytes);
            memcpy(model + at, source, bytes);
            if (i % 20 == 0)
                assert_ok(omprma_fill(queue, there + ROOM - 1, model + ROOM - 1, 1, 1));
            assert_ok(omprma_submit_copied(queue, there + at, source, bytes));
            memset(source, 0xee, bytes);
            if (i % 50 == 0)
                assert_ok(omprma_queue_synchronize(queue));
        }
        assert_ok(omprma_retrieve(queue, back, there, ROOM));
        assert_ok(omprma_queue_destroy(queue));
        assert_memory_equal(back, model, ROOM);
        assert_ok(omprma_free(number, there));
    }
    assert_all_given_back();
    core_stop();
    free(source);
    free(model);
}

static int by_address(const void *a, const void *b)
{
    const struct far_copied *x = a, *y = b;

    return (x->address > y->address) - (x->address < y->address);
}

/* None but the smallest is larger than all before it, or than all behind it: only for a small part
 * of the time one of the two links waits for the other. */
static void check_pieces(uint64_t bytes)
{
    enum { LEAST = 64 << 10 };
    int count = atomic_load(&far_copies);
    uint64_t before = 0;

    assert_in_range(count, 2, FAR_COPIES);
    qsort(far_copied, (size_t)count, sizeof(far_copied[0]), by_address);
    for (int i = 0; i < count; i++) {
        uint64_t own = far_copied[i].bytes, behind = bytes - before - own;

        assert_true(own <= LEAST || (own <= before && own <= behind));
        before += own;
    }
    assert_int_equal(before, bytes);
    atomic_store(&far_copies, 0);
}

static void pieces_grow_and_shrink(void **state)
{
    omprma_queue_t *queue;
    omprma_addr_t there;

    (void)state;
    piece = MUCH;
    start_with(false);
    piece = 0;
    queue = core_queue(FAR);
    there = core_alloc(FAR, MUCH);
    for (uint64_t bytes = MUCH - 5; bytes > 128 << 10; bytes /= 3) {
        atomic_store(&far_copies, 0);
        assert_ok(omprma_submit(queue, there, data, bytes));
        assert_ok(omprma_queue_synchronize(queue));
        check_pieces(bytes);
        assert_ok(omprma_retrieve(queue, back, there, bytes));
        assert_ok(omprma_queue_synchronize(queue));
        check_pieces(bytes);
        assert_memory_equal(back, data, bytes);
    }
    assert_ok(omprma_queue_destroy(queue));
    assert_ok(omprma_free(FAR, there));
    core_stop();
}

/* Who has little is through long before those that have much, though they came first. */
static void slots_are_shared(void **state)
{
    enum { QUEUES = 5 };
    omprma_queue_t *queue[QUEUES], *late;
    omprma_addr_t there[QUEUES], small;

    (void)state;
    start_with(false);
    for (int i = 0; i < QUEUES; i++) {
        queue[i] = core_queue(FAR);
        there[i] = core_alloc(FAR, MUCH);
        assert_ok(omprma_submit(queue[i], there[i], data, MUCH));
    }
    late = core_queue(FAR);
    small = core_alloc(FAR, CORE_PIECE);
    assert_ok(omprma_submit(late, small, data, CORE_PIECE));
    assert_ok(omprma_queue_synchronize(late));
    for (int i = 0; i < QUEUES; i++) {
        bool done = true;

        assert_ok(omprma_queue_query(queue[i], &done));
        assert_false(done);
    }
    for (int i = 0; i < QUEUES; i++) {
        memset(back, 0, MUCH);
        assert_ok(omprma_retrieve(queue[i], back, there[i], MUCH));
        assert_ok(omprma_queue_destroy(queue[i]));
        assert_memory_equal(back, data, MUCH);
    }
    assert_ok(omprma_queue_destroy(late));
    assert_all_given_back();
    core_stop();
}

/* ---- failures ---- */

struct ways {
    int from, to; /* -1: the program */
    enum config_exchange way;
};

static const struct ways ways[] = {
    {-1, FAR, EXCHANGE_PUT},          {FAR, -1, EXCHANGE_PUT},
    {-1, FAR, EXCHANGE_SEND},         {FAR, -1, EXCHANGE_SEND},
    {FAR, FAR_TOO, EXCHANGE_PUT},     {FAR, FAR_TOO, EXCHANGE_SEND},
    {FAR_TOO, FAR, EXCHANGE_GET},     {FAR, NATIVE_TOO, EXCHANGE_PUT},
    {NATIVE, FAR_TOO, EXCHANGE_PUT},  {FAR_TOO, NATIVE, EXCHANGE_SEND},
    {NATIVE, FAR_TOO, EXCHANGE_SEND}, {FAR, FAR_TOO, EXCHANGE_APPLICATION},
    {FAR, NATIVE, EXCHANGE_PUT},      {NATIVE_TOO, FAR_TOO, EXCHANGE_PUT},
};

enum { WAYS = sizeof(ways) / sizeof(ways[0]) };

/* Appends what goes that way, to a queue of *device. */
static omprma_status_t move(const struct ways *way, omprma_queue_t *queue, omprma_addr_t from,
                            omprma_addr_t to)
{
    if (way->from < 0)
        return omprma_submit(queue, to, data, BYTES);
    if (way->to < 0)
        return omprma_retrieve(queue, back, from, BYTES);
    return omprma_exchange(queue, from, way->to, to, BYTES);
}

static void choose(const struct ways *way)
{
    for (int i = 0; i < DEVICES; i++)
        core_choose(i, 512, way->way != EXCHANGE_SEND);
    core_exchange_by(way->way);
}

/* Any piece may fail: the queue does, once; what comes after it is not run, and others go on. */
static void a_piece_that_fails(void **state)
{
    static const unsigned char ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};

    (void)state;
    start_with(false);
    for (int round = 0; round < 3 * WAYS; round++) {
        const struct ways *way = &ways[round % WAYS];
        int device = way->from < 0 ? way->to : way->from;
        omprma_queue_t *queue = core_queue(device);
        omprma_addr_t from = way->from < 0 ? 0 : core_alloc(way->from, BYTES);
        omprma_addr_t to = way->to < 0 ? 0 : core_alloc(way->to, BYTES);
        omprma_addr_t after = core_alloc(device, 8);
        unsigned char word[8] = {0};

        choose(way);
        assert_ok(omprma_submit(queue, after, word, 8));
        assert_ok(omprma_retrieve(queue, word, after, 8)); /* then the submit is executed, too */
        assert_ok(omprma_queue_synchronize(queue));
        far_fail_copy = 1 + (round / WAYS) * 5;
        if (way->from == FAR && way->to == NATIVE)
            far_fail_copy = 1; /* one piece of 4 MiB */
        if (way->from == NATIVE_TOO)
            far_fail_copy = 1;
        assert_ok(move(way, queue, from, to));
        omprma_submit(queue, after, ones, 8);
        if (omprma_queue_synchronize(queue) != OMPRMA_ERR_ADDRESS ||
            !strstr(omprma_error(), "this copy was to fail"))
            fail_msg("way %d, round %d: %s", round % WAYS, round / WAYS, omprma_error());
        assert_int_equal(far_fail_copy, 0);
        assert_ok(omprma_retrieve(queue, word, after, 8));
        assert_ok(move(way, queue, from, to));
        assert_ok(omprma_queue_destroy(queue));
        assert_all(word, 8, 0);
        assert_all_given_back();
        check_well(FAR);
        check_well(FAR_TOO);
        if (from)
            assert_ok(omprma_free(way->from, from));
        if (to)
            assert_ok(omprma_free(way->to, to));
        assert_ok(omprma_free(device, after));
    }
    core_stop();
}

/* A put into a slot that cannot be started. */
static void a_put_that_fails(void **state)
{
    omprma_queue_t *queue;
    omprma_addr_t there;

    (void)state;
    if (shared) /* nothing is put */
        skip();
    start_with(false);
    core_choose(FAR, 512, true);
    queue = core_queue(FAR);
    there = core_alloc(FAR, BYTES);
    for (int round = 0; round < 5; round++) {
        runtime_lock(runtime_get());
        null_path_fail_next(runtime_get()->one_sided);
        runtime_unlock(runtime_get());
        assert_ok(omprma_submit(queue, there, data, BYTES));
        assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_MPI);
        assert_all_given_back();
        check_well(FAR);
    }
    core_end();
}

/* A device that faults with pieces under way gives the slots of others back. */
static void a_fault_in_the_middle(void **state)
{
    (void)state;
    for (int i = 0; i < WAYS; i++) {
        const struct ways *way = &ways[i];
        int device = way->from < 0 ? way->to : way->from, lost = FAR, other = FAR_TOO;
        omprma_queue_t *queue, *bad;
        omprma_status_t status;

        if (way->from != FAR && way->to != FAR)
            lost = FAR_TOO, other = FAR;
        start_with(false);
        choose(way);
        queue = core_queue(device);
        bad = core_queue(lost);
        assert_ok(move(way, queue, way->from < 0 ? 0 : core_alloc(way->from, BYTES),
                       way->to < 0 ? 0 : core_alloc(way->to, BYTES)));
        assert_ok(omprma_queue_flush(queue));
        assert_ok(launch(bad, FAR_CRASH, core_alloc(lost, 8), 8, 0));
        assert_int_equal(omprma_queue_synchronize(bad), OMPRMA_ERR_KERNEL);
        status = omprma_queue_synchronize(queue);
        if (status != OMPRMA_OK && !strstr(omprma_error(), "on fire"))
            fail_msg("way %d: %s", i, omprma_error());
        assert_int_equal(slots_of(other), 0);
        check_well(other);
        check_well(NATIVE);
        check_well(NATIVE_TOO);
        omprma_queue_destroy(queue);
        omprma_queue_destroy(bad);
        core_stop();
    }
}

/* What a lost worker was told to put may still come: the slots that it would come to are not used
 * again, and the others are. */
static void a_lost_worker_in_the_middle(void **state)
{
    struct slot_pool *pool;
    struct peer *peer;
    omprma_queue_t *queue;
    omprma_addr_t from, to;
    int spoilt;

    (void)state;
    start_with(false);
    choose(&(struct ways){FAR, FAR_TOO, EXCHANGE_PUT});
    peer = core_device(FAR)->peer;
    pool = &core_device(FAR_TOO)->staging;
    queue = core_queue(FAR);
    from = core_alloc(FAR, BYTES);
    to = core_alloc(FAR_TOO, BYTES);
    core_hold(0); /* it does not answer */
    assert_ok(omprma_exchange(queue, from, FAR_TOO, to, BYTES));
    assert_ok(omprma_queue_flush(queue));
    runtime_lock(runtime_get());
    peer_lose(peer, "made up");
    runtime_unlock(runtime_get());
    assert_int_equal(omprma_queue_destroy(queue), OMPRMA_ERR_DEVICE_LOST);
    core_release(0);
    spoilt = pool->count - pool->sound;
    assert_in_range(spoilt, 1, 4);
    check_well(FAR_TOO);
    check_well(NATIVE_TOO);
    assert_int_equal(slots_of(FAR_TOO), spoilt);
    peer->lost = core_device(FAR)->lost = core_device(NATIVE)->lost = false; /* it is told to end */
    runtime_get()->unresponsive = false;
    core_stop();
}

/* ---- memory that is freed ---- */

static void freed_while_under_way(void **state)
{
    omprma_queue_t *queue;

    (void)state;
    start_with(false);
    queue = core_queue(FAR);
    for (int round = 0; round < 20; round++) {
        omprma_addr_t there = core_alloc(FAR, MUCH / 2), next;

        if (round % 2)
            assert_ok(omprma_submit(queue, there, data, MUCH / 2));
        else
            assert_ok(omprma_retrieve(queue, back, there, MUCH / 2));
        assert_ok(omprma_free(FAR, there));
        next = core_alloc(FAR, MUCH / 2);
        assert_true(next + MUCH / 2 <= there || there + MUCH / 2 <= next);
        assert_ok(omprma_queue_synchronize(queue));
        assert_ok(omprma_free(FAR, next));
    }
    assert_ok(omprma_queue_destroy(queue));
    assert_all_given_back();
    core_stop();
}

/* ---- threads ---- */

static void *go_round(void *number)
{
    struct draw random = {(uint64_t)(uintptr_t)number + 1};
    unsigned char *out = malloc(BYTES), *in = malloc(BYTES);
    omprma_addr_t at[DEVICES];
    omprma_queue_t *queue[DEVICES];
    omprma_event_t *event = core_event();

    for (int i = 0; i < DEVICES; i++) {
        at[i] = core_alloc(i, BYTES);
        queue[i] = core_queue(i);
    }
    for (int round = 0; round < 8; round++) {
        uint64_t bytes = 1 + draw_below(&random, BYTES);

        draw_fill(&random, out, bytes);
        assert_ok(omprma_submit(queue[0], at[0], out, bytes));
        for (int i = 0; i + 1 < DEVICES; i++) {
            assert_ok(omprma_exchange(queue[i], at[i], i + 1, at[i + 1], bytes));
            assert_ok(omprma_event_record(event, queue[i]));
            assert_ok(omprma_event_wait(event, queue[i + 1]));
        }
        assert_ok(omprma_retrieve(queue[DEVICES - 1], in, at[DEVICES - 1], bytes));
        assert_ok(omprma_queue_synchronize(queue[DEVICES - 1]));
        assert_memory_equal(in, out, bytes);
    }
    for (int i = 0; i < DEVICES; i++)
        assert_ok(omprma_queue_destroy(queue[i]));
    omprma_event_destroy(event);
    free(out);
    free(in);
    return NULL;
}

static void from_several_threads(void **state)
{
    enum { THREADS = 4 };
    pthread_t thread[THREADS];

    (void)state;
    start_with(false);
    for (enum config_exchange way = EXCHANGE_PUT; way < EXCHANGE_WAYS; way++) {
        core_exchange_by(way);
        for (uintptr_t i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&thread[i], NULL, go_round, (void *)i), 0);
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_all_given_back();
    }
    core_stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(memory_in_between_is_bounded, be_impatient),
        cmocka_unit_test_setup(the_program_copies_to_staging_memory_that_it_has_mapped,
                               be_impatient),
        cmocka_unit_test_setup(sources_that_are_overwritten_at_once, be_impatient),
        cmocka_unit_test_setup(pieces_grow_and_shrink, be_impatient),
        cmocka_unit_test_setup(slots_are_shared, be_impatient),
        cmocka_unit_test_setup(a_piece_that_fails, be_impatient),
        cmocka_unit_test_setup(a_put_that_fails, be_impatient),
        cmocka_unit_test_setup(a_fault_in_the_middle, be_impatient),
        cmocka_unit_test_setup(a_lost_worker_in_the_middle, be_impatient),
        cmocka_unit_test_setup(freed_while_under_way, be_impatient),
        cmocka_unit_test_setup(from_several_threads, be_impatient),
    };

    int failed = cmocka_run_group_tests_name("polled", tests, NULL, NULL);

    kind = FAR_IS_ORDERED;
    failed += cmocka_run_group_tests_name("in order", tests, NULL, NULL);
    shared = true;
    return failed + cmocka_run_group_tests_name("mapped", tests, NULL, NULL);
}
