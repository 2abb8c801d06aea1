/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_strided.c: runs of memory as one operation: random shapes against a model, in the order of
 * their queue, and what is wrong with some.
 * Covers: strided.c in_place.c calls/packed.c shape.c command_runs.c */
#include <stdio.h>
#include <sys/resource.h>

#include "tests/unit/test.h"
#include "tests/unit/core_fixture.h"

enum { DEVICES = 2, BYTES = 3 << 20, DIMENSIONS = OMPRMA_SHAPE_RANK };

static unsigned char host[BYTES], back[BYTES], model[DEVICES][BYTES], seen[BYTES];

/* ---- shapes ---- */

/* Strides of dimensions that lie in each other in this order, with gaps; what they reach over. */
static uint64_t nest(struct draw *random, const omprma_shape_t *shape, const int *order,
                     size_t *stride)
{
    uint64_t reach = shape->bytes;

    for (int i = 0; i < DIMENSIONS; i++) {
        uint64_t gap = draw(random) & 1 ? draw_below(random, 2 * shape->bytes + 9) : 0;

        stride[order[i]] = reach + gap;
        reach = (shape->count[order[i]] - 1) * stride[order[i]] + reach;
    }
    return reach;
}

static void draw_order(struct draw *random, int *order)
{
    for (int i = 0; i < DIMENSIONS; i++) {
        int other = (int)draw_below(random, (uint64_t)i + 1);

        order[i] = order[other];
        order[other] = i;
    }
}

/* One that fits. *to, *from: where it lies. */
static omprma_shape_t draw_shape(struct draw *random, uint64_t *to, uint64_t *from)
{
    static const size_t sizes[] = {1, 2, 3, 4, 8, 12, 16, 24, 100, 512, 4096, 70000};
    uint64_t to_reach, from_reach;
    omprma_shape_t shape;

    do {
        int order[DIMENSIONS];

        shape.bytes = sizes[draw_below(random, sizeof(sizes) / sizeof(sizes[0]))];
        for (int i = 0; i < DIMENSIONS; i++)
            shape.count[i] = draw_below(random, UINT64_C(1) << draw_below(random, 9)) + 1;
        draw_order(random, order);
        to_reach = nest(random, &shape, order, shape.to_stride);
        draw_order(random, order);
        from_reach = nest(random, &shape, order, shape.from_stride);
    } while (to_reach > BYTES / 2 || from_reach > BYTES / 2);
    *to = draw_below(random, BYTES / 2 - to_reach + 1);
    *from = draw_below(random, BYTES / 2 - from_reach + 1);
    return shape;
}

static void copy_runs(unsigned char *to, const unsigned char *from, const omprma_shape_t *s)
{
    for (size_t i = 0; i < s->count[2]; i++)
        for (size_t j = 0; j < s->count[1]; j++)
            for (size_t k = 0; k < s->count[0]; k++)
                memcpy(to + i * s->to_stride[2] + j * s->to_stride[1] + k * s->to_stride[0],
                       from + i * s->from_stride[2] + j * s->from_stride[1] + k * s->from_stride[0],
                       s->bytes);
}

/* ---- against the model ---- */

struct run {
    omprma_queue_t *queue[DEVICES];
    omprma_addr_t there[DEVICES];
    struct draw random;
};

/* The first half of a device's memory is filled from the host and other devices, from the second
 * one. */
static void one_copy(struct run *run)
{
    uint64_t to, from;
    omprma_shape_t shape = draw_shape(&run->random, &to, &from);
    int device = (int)draw_below(&run->random, DEVICES);
    int other = (int)draw_below(&run->random, DEVICES);
    omprma_queue_t *queue = run->queue[device];
    omprma_addr_t there = run->there[device];

    if (draw(&run->random) & 1) {
        assert_ok(launch(queue, KERNEL(kernel_add), there, BYTES, 1));
        kernel_add((uint64_t)(uintptr_t)model[device], BYTES, 1);
    }
    switch (draw_below(&run->random, 3)) {
    case 0:
        assert_ok(omprma_submit_strided(queue, there + to, host + from, &shape));
        copy_runs(model[device] + to, host + from, &shape);
        break;
    case 1:
        assert_ok(omprma_retrieve_strided(queue, back + to, there + from, &shape));
        copy_runs(seen + to, model[device] + from, &shape);
        break;
    default:
        from += BYTES / 2;
        assert_ok(
            omprma_exchange_strided(queue, there + from, other, run->there[other] + to, &shape));
        copy_runs(model[other] + to, model[device] + from, &shape);
    }
    if (draw(&run->random) & 1) {
        assert_ok(launch(queue, KERNEL(kernel_add), there, BYTES, 3));
        kernel_add((uint64_t)(uintptr_t)model[device], BYTES, 3);
    }
    if (device != other || draw(&run->random) & 1)
        assert_ok(omprma_queue_synchronize(queue));
    if (device != other)
        return;
    assert_ok(omprma_queue_synchronize(queue));
    assert_memory_equal(back, seen, BYTES);
}

/* As within a host, where slots lie in memory of the program. */
static void share(void)
{
    for (int i = 0; i < runtime_get()->device_count; i++)
        runtime_get()->devices[i]->peer->shares = true;
}

#ifdef __SANITIZE_THREAD__
enum { ROUNDS = 40 }; /* it takes ten times as long for each */
#else
enum { ROUNDS = 120 };
#endif

static void random_copies(const struct core_options *options, uint32_t inline_most, bool rma,
                          bool shared)
{
    struct run run = {.random = {.state = 11}};

    core_start(options);
    if (shared)
        share();
    draw_fill(&run.random, host, BYTES);
    memset(back, 0, BYTES);
    memset(seen, 0, BYTES);
    for (int i = 0; i < DEVICES; i++) {
        run.queue[i] = core_queue(i);
        run.there[i] = core_alloc(i, BYTES);
        core_choose(i, inline_most, rma);
        draw_fill(&run.random, model[i], BYTES);
        assert_ok(omprma_submit(run.queue[i], run.there[i], model[i], BYTES));
        assert_ok(omprma_queue_synchronize(run.queue[i]));
    }
    for (int round = 0; round < ROUNDS; round++)
        one_copy(&run);
    for (int i = 0; i < DEVICES; i++) {
        assert_ok(omprma_retrieve(run.queue[i], back, run.there[i], BYTES));
        assert_ok(omprma_queue_synchronize(run.queue[i]));
        assert_memory_equal(back, model[i], BYTES);
        assert_ok(omprma_queue_destroy(run.queue[i]));
        assert_int_equal(runtime_get()->devices[i]->sharing.count > 0, shared);
    }
    core_stop();
}

TEST(as_the_model)
{
    random_copies(&(struct core_options){.workers = DEVICES}, 8192, true, false);
    random_copies(&(struct core_options){.workers = DEVICES}, 0, true, false);
    random_copies(&(struct core_options){.workers = DEVICES}, 8192, false, false);
    random_copies(&(struct core_options){.workers = DEVICES, .no_window = true}, 512, false, false);
    random_copies(&(struct core_options){.devices = DEVICES}, 60 << 10, true, false);
}

TEST(as_the_model_within_a_host)
{
    random_copies(&(struct core_options){.workers = DEVICES}, 0, true, true);
    random_copies(&(struct core_options){.workers = DEVICES, .no_window = true}, 512, false, true);
    random_copies(&(struct core_options){.devices = DEVICES}, 8192, true, true);
}

/* ---- arenas that the program has mapped ---- */

static void begin_mapped(const struct core_options *options)
{
    struct core_options mapped = *options;

    mapped.shared = true;
    core_start(&mapped);
    if (core_device(0)->mapped.count == 0) { /* a container may not have name spaces */
        core_end();
        skip();
    }
}

TEST(as_the_model_in_place)
{
    begin_mapped(&(struct core_options){0});
    core_stop();
    random_copies(&(struct core_options){.workers = DEVICES, .shared = true}, 0, true, false);
    random_copies(&(struct core_options){.workers = DEVICES, .shared = true, .delay = 1}, 512,
                  false, false);
}

/* A small submit has left, but is not executed. */
TEST(in_place_comes_behind_what_is_on_its_way)
{
    static const omprma_shape_t rows = {
        .bytes = 64, .count = {4, 1, 1}, .to_stride = {128}, .from_stride = {128}};
    uint64_t value = 5, old = 3, seen_there[64] = {0};
    omprma_queue_t *queue;
    omprma_addr_t there;

    begin_mapped(&(struct core_options){0});
    queue = core_queue(0);
    there = core_alloc(0, BYTES);
    assert_ok(omprma_submit(queue, there, &old, sizeof(old)));
    assert_ok(omprma_queue_synchronize(queue));
    core_hold(0);
    assert_ok(omprma_submit(queue, there, &value, sizeof(value)));
    assert_ok(omprma_queue_flush(queue));
    assert_ok(omprma_retrieve_strided(queue, seen_there, there, &rows));
    assert_ok(omprma_queue_flush(queue));
    core_release(0);
    assert_ok(omprma_queue_synchronize(queue));
    assert_int_equal(seen_there[0], value);
    assert_ok(omprma_queue_destroy(queue));
    core_end();
}

/* Of runs that are sparse at both ends the worker does its part. */
TEST(in_place_where_that_is_quicker)
{
    static const omprma_shape_t rows = {
        .bytes = 64, .count = {1000, 1, 1}, .to_stride = {128}, .from_stride = {128}};
    static const omprma_shape_t sparse = {
        .bytes = 8, .count = {8000, 1, 1}, .to_stride = {128}, .from_stride = {128}};
    const struct stats_cell(*cell)[PATH_COUNT];
    omprma_queue_t *queue;
    omprma_addr_t there;

    begin_mapped(&(struct core_options){0});
    share();
    core_count();
    queue = core_queue(0);
    there = core_alloc(0, BYTES);
    cell = stats_of(runtime_get(), 0)->cell;
    assert_ok(omprma_submit_strided(queue, there, host, &rows));
    assert_ok(omprma_retrieve_strided(queue, back, there, &rows));
    assert_ok(omprma_queue_synchronize(queue));
    assert_int_equal(cell[DATA_SUBMIT][PATH_SHARED].bytes, 64000);
    assert_int_equal(cell[DATA_RETRIEVE][PATH_SHARED].bytes, 64000);
    assert_ok(omprma_submit_strided(queue, there, host, &sparse));
    assert_ok(omprma_queue_synchronize(queue));
    assert_int_equal(cell[DATA_SUBMIT][PATH_SHARED].operations, 1);
    assert_int_equal(cell[DATA_SUBMIT][PATH_PACKED].bytes, 64000);
    assert_ok(omprma_queue_destroy(queue));
    core_end();
}

/* ---- edges ---- */

static const omprma_shape_t column = {
    .bytes = 8, .count = {1000, 1, 1}, .to_stride = {64}, .from_stride = {64}};

/* So many runs there and back. */
static void carry_column(omprma_queue_t *queue, omprma_addr_t there, size_t runs)
{
    omprma_shape_t many = column;

    many.count[0] = runs;
    draw_fill(&(struct draw){.state = 3}, host, BYTES);
    memset(back, 0, BYTES);
    memset(seen, 0, BYTES);
    copy_runs(seen, host, &many);
    assert_ok(omprma_submit_strided(queue, there, host, &many));
    assert_ok(omprma_retrieve_strided(queue, back, there, &many));
    assert_ok(omprma_queue_destroy(queue));
    assert_memory_equal(back, seen, BYTES);
}

/* More than goes in a message. */
static void go_there_and_back(void)
{
    carry_column(core_queue(0), core_alloc(0, BYTES), 40000);
}

/* Shared slots would be another one. */
TEST(the_path_that_the_user_has_chosen)
{
    for (int data = DATA_AUTO; data <= DATA_TWO_SIDED; data++) {
        core_start(&(struct core_options){.data = (enum config_data)data});
        share();
        go_there_and_back();
        assert_int_equal(core_device(0)->sharing.count > 0, data == DATA_AUTO);
        core_stop();
    }
}

/* Nor is the process killed. */
CORE_TEST(no_shared_memory_where_files_must_be_small, 1)
{
    struct rlimit before, small;

    share();
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = (struct rlimit){.rlim_cur = 1 << 20, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    go_there_and_back();
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(core_device(0)->sharing.count, 0);
}

/* No room for packing: run by run. */
CORE_TEST(without_memory_for_packing, 1, .arena = 2 << 20, .memory = 2 << 20)
{
    carry_column(core_queue(0), core_alloc(0, 1 << 20), 2000);
}

/* A little may be reused at once, also while the queue is busy. */
CORE_TEST(a_little_is_copied, 1)
{
    struct gate gate;
    omprma_queue_t *queue = core_queue(0);
    omprma_addr_t there = core_alloc(0, 64000);
    unsigned char little[8000];
    const omprma_shape_t spread = {
        .bytes = 8, .count = {1000, 1, 1}, .to_stride = {64}, .from_stride = {8}};

    memset(little, 7, sizeof(little));
    core_close(queue, &gate);
    assert_ok(omprma_submit_strided(queue, there, little, &spread));
    memset(little, 8, sizeof(little));
    core_open(&gate);
    assert_ok(omprma_retrieve_strided(
        queue, back, there,
        &(omprma_shape_t){
            .bytes = 8, .count = {1000, 1, 1}, .to_stride = {8}, .from_stride = {64}}));
    assert_ok(omprma_queue_destroy(queue));
    assert_all(back, 8000, 7);
}

/* What comes back and goes out again: the queue keeps the order though both use one memory. */
CORE_TEST(order_with_host_memory, 1, .delay = 10)
{
    omprma_queue_t *queue;
    omprma_addr_t a, b;
    omprma_shape_t many = column;

    many.count[0] = 40000;
    core_choose(0, 512, true);
    queue = core_queue(0);
    a = core_alloc(0, BYTES);
    b = core_alloc(0, BYTES);
    for (int round = 0; round < 10; round++) {
        memset(host, round, BYTES);
        memset(back, 0, BYTES);
        assert_ok(omprma_submit(queue, a, host, BYTES));
        assert_ok(omprma_fill(queue, b, "\0", 1, BYTES));
        assert_ok(omprma_retrieve_strided(queue, back, a, &many));
        assert_ok(omprma_submit(queue, b, back, BYTES));
        assert_ok(omprma_retrieve(queue, seen, b, BYTES));
        assert_ok(omprma_queue_synchronize(queue));
        for (uint64_t i = 0; i < many.count[0]; i++)
            assert_int_equal(seen[i * 64], round);
        assert_int_equal(seen[8], 0);
    }
}

/* ---- what is wrong ---- */

CORE_TEST(wrong_arguments, 2)
{
    omprma_queue_t *queue = core_queue(0);
    omprma_addr_t there = core_alloc(0, 64000);
    omprma_shape_t shape = column;

    assert_int_equal(omprma_submit_strided(NULL, there, host, &shape), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_submit_strided(queue, there, host, NULL), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_submit_strided(queue, there, NULL, &shape), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_retrieve_strided(queue, NULL, there, &shape), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_exchange_strided(queue, there, 2, there, &shape), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_submit_strided(queue, there + 8, host, &shape), OMPRMA_OK);
    assert_int_equal(omprma_submit_strided(queue, there + 64, host, &shape), OMPRMA_ERR_ADDRESS);
    assert_int_equal(omprma_retrieve_strided(queue, back, there + 64, &shape), OMPRMA_ERR_ADDRESS);
    assert_int_equal(omprma_exchange_strided(queue, there, 1, core_alloc(1, 64000) + 64, &shape),
                     OMPRMA_ERR_ADDRESS);
    assert_non_null(strstr(omprma_error(), "from device 0 to device 1"));
    shape.to_stride[0] = SIZE_MAX / 2;
    assert_int_equal(omprma_submit_strided(queue, there, host, &shape), OMPRMA_ERR_ARGUMENT);
    shape = column;
    shape.count[1] = 0;
    assert_ok(omprma_submit_strided(queue, there, NULL, &shape));
    shape.count[1] = 1;
    shape.bytes = 0;
    assert_ok(omprma_retrieve_strided(queue, NULL, there, &shape));
    assert_ok(omprma_queue_destroy(queue));
}

/* Memory that only the worker knows is looked at there, run by run where there are gaps. */
TEST(memory_of_the_worker)
{
    const size_t page = 4096;
    char *pages = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const omprma_shape_t shape = {
        .bytes = 8, .count = {2, 2, 1}, .to_stride = {16, 2 * page}, .from_stride = {16, 32}};
    omprma_addr_t there = (omprma_addr_t)(uintptr_t)pages;
    omprma_queue_t *queue;

    core_start(&(struct core_options){0});
    core_make_hole();
    queue = core_queue(0);
    assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    memset(host, 5, 64);
    assert_ok(omprma_submit_strided(queue, there, host, &shape));
    assert_ok(omprma_queue_synchronize(queue));
    assert_all((unsigned char *)pages, 8, 5);
    assert_all((unsigned char *)pages + 2 * page + 16, 8, 5);
    assert_ok(omprma_submit_strided(queue, there + page, host, &shape));
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_ADDRESS);
    assert_non_null(strstr(omprma_error(), "is not mapped on the device"));
    assert_ok(omprma_retrieve_strided(
        queue, back, there + page,
        &(omprma_shape_t){.bytes = 8, .count = {3, 1, 1}, .to_stride = {8}, .from_stride = {16}}));
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_ADDRESS);
    core_end();
    munmap(pages, 3 * page);
}

/* ---- what is seen of it ---- */

/* Also of what nobody but one worker moves. */
/* Bytes to devices of all regions, also of those that are not over. */
static uint64_t regions_to(void)
{
    const struct recording *recording = recording_of(runtime_get());
    uint64_t bytes = 0;

    for (int i = 0; i < RECORDING_ROWS; i++)
        bytes += recording->row[i].to;
    for (int i = 0; i < RECORDING_OPEN; i++)
        if (recording->open[i].number && recording->open[i].kind == SPAN_REGION)
            bytes += recording->open[i].to;
    return bytes;
}

TEST(statistics)
{
    for (int shared = 0; shared < 2; shared++) {
        const struct stats_cell(*cell)[PATH_COUNT];
        omprma_shape_t many = column;
        omprma_queue_t *queue;
        omprma_addr_t there;

        many.count[0] = 40000;
        core_start(&(struct core_options){0});
        core_count();
        if (shared)
            share();
        queue = core_queue(0);
        there = core_alloc(0, 2 * BYTES);
        cell = stats_of(runtime_get(), 0)->cell;
        assert_ok(omprma_exchange_strided(queue, there, 0, there + BYTES, &many));
        assert_ok(omprma_queue_synchronize(queue));
        assert_int_equal(cell[DATA_EXCHANGE][PATH_INLINE].bytes, 320000);
        assert_ok(omprma_submit_strided(queue, there, host, &many));
        assert_ok(omprma_queue_synchronize(queue));
        assert_int_equal(cell[DATA_SUBMIT][PATH_PACKED].bytes, shared ? 320000 : 0);
        assert_int_equal(cell[DATA_SUBMIT][PATH_PACKED].bytes + cell[DATA_SUBMIT][PATH_RMA].bytes +
                             cell[DATA_SUBMIT][PATH_TWO_SIDED].bytes,
                         320000);
        assert_int_equal(regions_to(), 320000);
        core_end();
    }
}

/* ---- loss ---- */

/* Memory that stays, since who was lost may still write to it. */
static char *kept_by(const struct device *device)
{
    bool kept = device->lost || device->packing.sound < device->packing.count;

    return kept ? device->packing_here : NULL;
}

/* Pieces are under way when the source, or the destination, is lost. The other one goes on. */
static void lose(int lost, bool shared)
{
    omprma_queue_t *queue, *other;
    omprma_shape_t many = column;
    omprma_addr_t from, to;
    omprma_status_t status;
    char *kept[2];

    many.count[0] = 40000;
    core_start(&(struct core_options){.workers = 2});
    if (shared)
        share();
    queue = core_queue(0);
    other = core_queue(1 - lost);
    from = core_alloc(0, BYTES);
    to = core_alloc(1, BYTES);
    assert_ok(omprma_exchange_strided(queue, from, 1, to, &many));
    assert_ok(omprma_queue_synchronize(queue));
    core_hold(lost);
    assert_ok(omprma_exchange_strided(queue, from, 1, to, &many));
    omprma_queue_flush(queue);
    runtime_lock(runtime_get());
    null_channel_fail_sends(runtime_get()->channel, lost + 1);
    runtime_unlock(runtime_get());
    core_release(lost);
    status = omprma_alloc(lost, (size_t)1 << 30, &from); /* needs a message */
    assert_int_not_equal(status, OMPRMA_OK);
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_DEVICE_LOST);
    assert_non_null(strstr(omprma_error(), "device"));
    if (lost == 1)
        assert_non_null(strstr(omprma_error(), "exchange from device 0 to device 1: "));
    /* What is left has its slots. */
    to = core_alloc(1 - lost, BYTES);
    memset(back, 0, BYTES);
    assert_ok(omprma_submit_strided(other, to, host, &many));
    assert_ok(omprma_retrieve_strided(other, back, to, &many));
    assert_ok(omprma_queue_destroy(other));
    memset(seen, 0, BYTES);
    copy_runs(seen, host, &many);
    assert_memory_equal(back, seen, BYTES);
    omprma_queue_destroy(queue);
    for (int i = 0; i < 2; i++)
        kept[i] = kept_by(core_device(i));
    core_let_go(lost);
    core_stop();
    free(kept[0]);
    free(kept[1]);
}

TEST(a_lost_worker)
{
    for (int lost = 0; lost < 2; lost++)
        for (int shared = 0; shared < 2; shared++)
            lose(lost, shared);
}
