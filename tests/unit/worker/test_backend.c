/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_backend.c: the core of the worker with devices that are not like native ones: nobody but
 * their backend can touch their memory, and everything that they do ends later, and not in order.
 * Once they are polled, once a thread of theirs says that it is over, and once they are polled and
 * keep the order of a queue.
 * Covers: pipeline.c worker/stream.c transfer.c command_copy.c command_device.c
 * worker/device.c command_worker.c
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include "tests/unit/cmocka_both.h"

#include "tests/unit/copies_fixture.h"
#include "tests/unit/core_fixture.h"
#include "tests/unit/far_fixture.h"
#include "tests/unit/image_fixture.h"

enum { BIG = 5 << 20 };

/* ---- devices: two polled ones and a native one on worker 0; a threaded and a native one on the
 * next.
 */

enum { POLLED, POLLED_TOO, NATIVE, THREADED, NATIVE_TOO, DEVICES };

static enum far_kind kind; /* of those on worker 0 */

static bool make_other(struct worker_device *device, int worker)
{
    if (device->index == 2 || (worker == 1 && device->index == 1))
        return false;
    far_open(device, worker == 1 ? FAR_IS_THREADED : kind);
    return true;
}

static void start_all(void)
{
    far_count = 0;
    core_start(&(struct core_options){
        .workers = 2,
        .devices = 3,
        .arena = 8 << 20,
        .make_other = make_other,
    });
}

/* Device numbers: the second worker has three devices too, of which the first is of interest. */
static const int numbers[] = {
    [POLLED] = 0, [POLLED_TOO] = 1, [NATIVE] = 2, [THREADED] = 3, [NATIVE_TOO] = 4};

static omprma_addr_t look_up(int device, const char *name)
{
    static void *image;
    static size_t bytes;
    omprma_symbol_t symbol = {.name = name};

    if (!image)
        image = fixture_image("int nothing;\n", &bytes);
    assert_ok(omprma_image_load(device, image, bytes, &symbol, 1));
    return symbol.address;
}

static void data_is_copied(void **state)
{
    static const uint64_t sizes[] = {1, 8, 500, 4096, 20000, 100000, BIG};

    (void)state;
    start_all();
    for (int which = POLLED; which <= THREADED; which += THREADED - POLLED) {
        omprma_addr_t add = look_up(numbers[which], "far_add");

        assert_int_equal(add, FAR_ADD);
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            there_and_back(numbers[which], sizes[i], 0);
            there_and_back(numbers[which], sizes[i], add);
        }
        there_and_back(numbers[which], 9 << 20, add); /* another arena */
    }
    core_stop();
}

static void geometry_arrives(void **state)
{
    const omprma_geometry_t geometry = {
        .teams = {4, 3, 2}, .threads = {128, 2, 1}, .shared_bytes = 4096};
    omprma_geometry_t seen[3];
    omprma_queue_t *queue;
    omprma_addr_t there, kernel;

    (void)state;
    start_all();
    queue = core_queue(0);
    there = core_alloc(0, sizeof(seen));
    kernel = look_up(0, "far_geometry");
    memset(seen, 0x55, sizeof(seen));
    assert_ok(omprma_submit(queue, there, seen, sizeof(seen)));
    for (int i = 0; i < 2; i++) {
        const uint64_t arguments[] = {there + (uint64_t)i * sizeof(geometry), sizeof(geometry)};

        assert_ok(omprma_launch(queue, kernel, i ? NULL : &geometry, arguments, 2));
    }
    assert_ok(omprma_retrieve(queue, seen, there, sizeof(seen)));
    assert_ok(omprma_queue_synchronize(queue));
    assert_memory_equal(&seen[0], &geometry, sizeof(geometry));
    assert_memory_equal(&seen[1], &(omprma_geometry_t){0}, sizeof(geometry));
    assert_int_equal(seen[2].teams[0], 0x55555555);
    core_end();
}

/* Each size of pattern, in order with submits and launches, also of more than one piece. */
static void fills_arrive(void **state)
{
    static const unsigned char pattern[8] = {1, 22, 3, 44, 5, 66, 7, 88};
    static unsigned char back[BIG];

    (void)state;
    start_all();
    for (int which = POLLED; which <= THREADED; which++) {
        int device = numbers[which];
        omprma_queue_t *queue = core_queue(device);
        omprma_addr_t there = core_alloc(device, BIG);

        for (size_t bytes = 1; bytes <= 8; bytes *= 2) {
            size_t most = bytes == 4 ? BIG : 4096, count = most / bytes - 3;

            memset(back, 0x99, most);
            assert_ok(omprma_submit(queue, there, back, most));
            assert_ok(omprma_fill(queue, there + 2 * bytes, pattern, bytes, count));
            assert_ok(omprma_submit(queue, there + 3 * bytes, "*", 1));
            assert_ok(omprma_retrieve(queue, back, there, most));
            assert_ok(omprma_queue_synchronize(queue));
            for (size_t i = 0; i < most; i++) {
                bool inside = i >= 2 * bytes && i < (count + 2) * bytes;

                if (back[i] != (i == 3 * bytes ? '*' : inside ? pattern[i % bytes] : 0x99))
                    fail_msg("device %d, %zu bytes: byte %zu is %d", device, bytes, i, back[i]);
            }
        }
        assert_ok(omprma_fill(queue, there, pattern, 4, 0));
        assert_int_equal(omprma_fill(queue, there, pattern, 3, 1), OMPRMA_ERR_ARGUMENT);
        assert_int_equal(omprma_fill(queue, there + 1, pattern, 2, 1), OMPRMA_ERR_ARGUMENT);
        assert_int_equal(omprma_fill(queue, there, NULL, 2, 1), OMPRMA_ERR_ARGUMENT);
        assert_int_equal(omprma_fill(queue, there, pattern, 2, SIZE_MAX), OMPRMA_ERR_ARGUMENT);
        assert_int_equal(omprma_fill(queue, there, pattern, 8, BIG), OMPRMA_ERR_ADDRESS);
        assert_ok(omprma_queue_destroy(queue));
        assert_ok(omprma_free(device, there));
    }
    core_stop();
}

/* Beside other work of the device; a driver's code comes back with the error. */
static void questions_are_answered(void **state)
{
    char question[OMPRMA_QUESTION], answer[OMPRMA_QUESTION] = {0};
    size_t answered = 0;
    uint64_t module;
    struct draw from = {11};

    (void)state;
    start_all();
    draw_fill(&from, question, sizeof(question));
    for (int which = POLLED; which <= THREADED; which += THREADED - POLLED) {
        int device = numbers[which];

        assert_ok(omprma_device_ask(device, 5, question, sizeof(question), answer, sizeof(answer),
                                    &answered));
        assert_int_equal(answered, sizeof(question));
        for (size_t i = 0; i < sizeof(question); i++)
            assert_int_equal(answer[i], question[sizeof(question) - 1 - i]);
        assert_ok(omprma_device_ask(device, 5, "abc", 3, answer, 1, &answered));
        assert_int_equal(answered, 3);
        assert_int_equal(answer[0], 'c');
        assert_int_equal(answer[1], question[sizeof(question) - 2]);
        assert_ok(omprma_device_ask(device, 5, NULL, 0, NULL, 0, NULL));
        assert_int_equal(omprma_device_ask(device, 13, NULL, 0, NULL, 0, NULL),
                         OMPRMA_ERR_ARGUMENT);
        assert_int_equal(omprma_error_code(), 1313);
        assert_non_null(strstr(omprma_error(), "bad luck"));
    }
    assert_int_equal(omprma_device_ask(0, 5, NULL, 1, NULL, 0, NULL), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_error_code(), 0);
    assert_int_equal(omprma_device_ask(0, 5, question, sizeof(question) + 1, NULL, 0, NULL),
                     OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_device_ask(numbers[NATIVE], 5, NULL, 0, NULL, 0, NULL),
                     OMPRMA_ERR_UNSUPPORTED);
    assert_int_equal(omprma_module_load(numbers[NATIVE], question, 100, &module),
                     OMPRMA_ERR_UNSUPPORTED);
    there_and_back(numbers[NATIVE], 100, 0);
    core_stop();
}

/* With their gaps, and a size that is no multiple of anything. */
static void packed_parameters_arrive(void **state)
{
    const omprma_geometry_t geometry = {.teams = {7}};
    static const uint64_t none[2];
    unsigned char parameters[43], seen[2][64];
    omprma_queue_t *queue;
    omprma_addr_t there, kernel;
    struct draw from = {12};

    (void)state;
    start_all();
    queue = core_queue(0);
    there = core_alloc(0, sizeof(seen));
    kernel = look_up(0, "far_packed");
    for (int i = 0; i < 2; i++) {
        omprma_addr_t at = there + (uint64_t)i * sizeof(seen[0]);

        draw_fill(&from, parameters, sizeof(parameters));
        memcpy(parameters, &at, sizeof(at));
        assert_ok(omprma_fill(queue, at, "\x55", 1, sizeof(seen[0])));
        assert_ok(omprma_launch_packed(queue, kernel, i ? &geometry : NULL, parameters,
                                       sizeof(parameters)));
        assert_ok(omprma_retrieve(queue, seen[i], at, sizeof(seen[i])));
        assert_ok(omprma_queue_synchronize(queue));
        assert_memory_equal(seen[i], parameters, sizeof(parameters));
        assert_int_equal(seen[i][sizeof(parameters)], i ? 7 : 0x55);
    }
    assert_int_equal(omprma_launch_packed(queue, kernel, NULL, NULL, 8), OMPRMA_ERR_ARGUMENT);
    assert_int_equal(omprma_launch_packed(queue, kernel, NULL, none, SIZE_MAX),
                     OMPRMA_ERR_ARGUMENT);
    assert_ok(omprma_queue_destroy(queue));
    queue = core_queue(numbers[NATIVE]);
    assert_ok(omprma_launch_packed(queue, KERNEL(kernel_nap), NULL, none, sizeof(none)));
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_UNSUPPORTED);
    core_end();
}

/* Within a worker, also between kinds of devices, and between workers. */
static void devices_exchange(void **state)
{
    (void)state;
    start_all();
    for (int from = POLLED; from < DEVICES; from++) {
        for (int to = POLLED; to < DEVICES; to++) {
            exchange(numbers[from], numbers[to], 100, 0);
            exchange(numbers[from], numbers[to], 70000, 0);
        }
    }
    exchange(numbers[POLLED], numbers[NATIVE], BIG, 0);
    exchange(numbers[NATIVE], numbers[POLLED], BIG, 0);
    exchange(numbers[THREADED], numbers[NATIVE_TOO], BIG, 0);
    exchange(numbers[NATIVE_TOO], numbers[POLLED], BIG, 0);
    exchange(numbers[NATIVE_TOO], numbers[NATIVE_TOO] + 1, BIG, 0);
    exchange(numbers[POLLED], numbers[POLLED_TOO], BIG, 0);
    core_stop();
}

static void errors_come_back(void **state)
{
    omprma_queue_t *queue, *native;
    unsigned char data[64] = {0};
    omprma_addr_t block, other;
    omprma_symbol_t symbol = {.name = "nothing_of_that_name"};
    void *image;
    size_t bytes;

    (void)state;
    start_all();
    for (int which = POLLED; which <= THREADED; which += THREADED - POLLED) {
        int device = numbers[which];
        omprma_addr_t outside = far[device == 0 ? 0 : 2].address + FAR_BYTES - 4096;

        queue = core_queue(device);
        native = core_queue(numbers[NATIVE]);
        block = core_alloc(device, sizeof(data));
        other = core_alloc(numbers[NATIVE], sizeof(data));
        assert_ok(omprma_submit(queue, outside, data, sizeof(data)));
        assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_ADDRESS);
        assert_non_null(strstr(omprma_error(), "submit of 64 bytes"));
        assert_ok(omprma_retrieve(queue, data, outside, sizeof(data)));
        assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_ADDRESS);
        assert_ok(omprma_exchange(queue, outside, numbers[NATIVE], other, sizeof(data)));
        assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_ADDRESS);
        image = fixture_image("int nothing;\n", &bytes);
        assert_int_equal(omprma_image_load(device, image, bytes, &symbol, 1), OMPRMA_ERR_SYMBOL);
        free(image);
        assert_ok(omprma_submit(queue, block, data, sizeof(data))); /* well again */
        assert_ok(omprma_retrieve(queue, data, block, sizeof(data)));
        assert_ok(omprma_queue_synchronize(queue));
        assert_ok(omprma_queue_destroy(queue));
        assert_ok(omprma_queue_destroy(native));
    }
    core_stop();
}

/* A fault takes the device, with what it had begun; the others of its worker go on. */
static void a_fault_takes_one_device(void **state)
{
    unsigned char data[4096] = {0};
    omprma_queue_t *queue, *busy, *later;
    omprma_addr_t block, crash;

    (void)state;
    start_all();
    for (int which = POLLED; which <= THREADED; which += THREADED - POLLED) {
        int device = numbers[which];

        queue = core_queue(device);
        busy = core_queue(device);
        later = core_queue(device);
        block = core_alloc(device, sizeof(data));
        crash = look_up(device, "far_crash");
        assert_ok(omprma_submit(busy, block, data, sizeof(data)));
        assert_ok(launch(queue, crash, block, 8, 0));
        assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_KERNEL);
        assert_non_null(strstr(omprma_error(), "on fire"));
        assert_int_equal(omprma_error_code(), FAR_FIRE);
        assert_ok(omprma_retrieve(later, data, block, sizeof(data)));
        assert_int_equal(omprma_queue_synchronize(later), OMPRMA_ERR_DEVICE_LOST);
        assert_int_equal(omprma_error_code(), FAR_FIRE);
        omprma_queue_destroy(busy);
        omprma_queue_destroy(queue);
        omprma_queue_destroy(later);
        there_and_back(numbers[NATIVE], 100000, 0);
        there_and_back(numbers[POLLED_TOO], 100000, look_up(numbers[POLLED_TOO], "far_add"));
        exchange(numbers[POLLED_TOO], numbers[NATIVE_TOO], 70000, 0);
    }
    core_stop();
}

/* What the program and the worker both have a half of ends, though a small submit that it has to
 * wait for never does. */
static void a_fault_lets_transfers_end(void **state)
{
    static unsigned char data[BIG];
    omprma_queue_t *queue[3];
    omprma_addr_t block;

    (void)state;
    start_all();
    block = core_alloc(POLLED, BIG);
    for (int i = 0; i < 3; i++)
        queue[i] = core_queue(POLLED);
    core_choose(POLLED, 8, false);
    far_naps = true;
    assert_ok(launch(queue[2], FAR_NAP, 0, 0, 0));
    assert_ok(omprma_queue_flush(queue[2]));
    kernel_nap(20000);
    far_slow = 1 << 30;
    assert_ok(omprma_submit(queue[0], block, "x", 1));
    assert_ok(omprma_queue_flush(queue[0]));
    assert_ok(omprma_submit(queue[1], block, data, BIG));
    assert_ok(omprma_queue_flush(queue[1]));
    kernel_nap(20000);
    core_hold(0);
    far[POLLED].fault = "the far device is on fire";
    core_release(0);
    assert_int_equal(omprma_queue_synchronize(queue[2]), OMPRMA_ERR_KERNEL);
    assert_int_equal(omprma_queue_synchronize(queue[1]), OMPRMA_ERR_DEVICE_LOST);
    far_slow = 0;
    far_naps = false;
    for (int i = 0; i < 3; i++)
        omprma_queue_destroy(queue[i]);
    there_and_back(numbers[NATIVE], 100000, 0);
    there_and_back(numbers[POLLED_TOO], 100000, look_up(numbers[POLLED_TOO], "far_add"));
    core_stop();
}

/* A copy to a device that faults meanwhile ends, and so does what is behind it. */
static void a_fault_ends_copies_of_others(void **state)
{
    static unsigned char data[BIG], back[BIG];
    omprma_queue_t *queue;
    omprma_addr_t here, there;

    (void)state;
    start_all();
    here = core_alloc(numbers[NATIVE], BIG);
    there = core_alloc(POLLED, BIG);
    core_choose(numbers[NATIVE], 8, false);
    queue = core_queue(numbers[NATIVE]);
    far_slow = 1 << 30;
    assert_ok(omprma_exchange(queue, here, POLLED, there, BIG));
    assert_ok(omprma_submit(queue, here, data, 100000));
    assert_ok(omprma_retrieve(queue, back, here, 100000));
    assert_ok(omprma_queue_flush(queue));
    kernel_nap(20000);
    core_hold(0);
    far[POLLED].fault = "the far device is on fire";
    core_release(0);
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_DEVICE_LOST);
    far_slow = 0;
    assert_ok(omprma_queue_destroy(queue));
    there_and_back(numbers[NATIVE], 100000, 0);
    exchange(numbers[NATIVE], numbers[POLLED_TOO], 70000, 0);
    core_stop();
}

/* A kernel that lasts keeps neither another device of its worker waiting nor a copy to it. */
static void devices_work_at_the_same_time(void **state)
{
    static struct gate gate;
    omprma_queue_t *queue;

    (void)state;
    core_start(&(struct core_options){.devices = 2});
    queue = core_queue(0);
    core_close(queue, &gate);
    there_and_back(1, 50000, 0);
    there_and_back(1, 50000, KERNEL(kernel_add));
    exchange(0, 1, 50000, 0);
    exchange(1, 0, 50000, 0);
    core_open(&gate);
    core_end();
}

/* Of two workers with two devices each. */
static void a_lost_worker_takes_its_devices(void **state)
{
    struct peer *peer;
    omprma_queue_t *queue[2];

    (void)state;
    core_start(&(struct core_options){.workers = 2, .devices = 2});
    peer = core_device(0)->peer;
    for (int i = 0; i < 2; i++) {
        queue[i] = core_queue(i);
        assert_ptr_equal(core_device(i)->peer, peer);
        assert_ptr_not_equal(core_device(2 + i)->peer, peer);
    }
    runtime_lock(runtime_get());
    peer_lose(peer, "made up");
    runtime_unlock(runtime_get());
    for (int i = 0; i < 2; i++) {
        assert_int_equal(launch(queue[i], KERNEL(kernel_nap), 1, 0, 0), OMPRMA_ERR_DEVICE_LOST);
        assert_non_null(strstr(omprma_error(), "made up"));
        assert_int_equal(omprma_queue_destroy(queue[i]), OMPRMA_ERR_DEVICE_LOST);
        there_and_back(2 + i, 10000, 0);
    }
    exchange(2, 3, 10000, 0);
    peer->lost = core_device(0)->lost = core_device(1)->lost =
        false; /* so that it is told to end */
    runtime_get()->unresponsive = false;
    core_stop();
}

/* ---- a device that keeps order ---- */

enum { CHAIN = 100 };

/* Each launch adds its number, each submit and retrieve sees what was before. */
static void a_chain_is_under_way_at_once(void **state)
{
    unsigned char byte[CHAIN], seen[CHAIN], sum = 0;
    omprma_queue_t *queue;
    omprma_addr_t block, add;

    (void)state;
    start_all();
    queue = core_queue(POLLED);
    block = core_alloc(POLLED, 4096);
    add = look_up(POLLED, "far_add");
    assert_ok(omprma_fill(queue, block, "\0", 1, 4096));
    for (int i = 0; i < CHAIN; i++) {
        byte[i] = (unsigned char)(3 * i);
        assert_ok(launch(queue, add, block, 8, (uint64_t)i));
        if (i % 10 == 5)
            assert_ok(omprma_submit(queue, block, &byte[i], 1));
        assert_ok(omprma_retrieve(queue, &seen[i], block, 1));
    }
    assert_ok(omprma_queue_synchronize(queue));
    for (int i = 0; i < CHAIN; i++) {
        sum = (unsigned char)(i % 10 == 5 ? byte[i] : sum + i);
        assert_int_equal(seen[i], sum);
    }
    assert_true(far[POLLED].deepest > 10);
    core_end();
}

/* What is before the failure is done, what is behind it is not, and the queue goes on after. */
static void a_chain_ends_where_it_fails(void **state)
{
    (void)state;
    start_all();
    for (int bad = 0; bad < 20; bad += 3) {
        unsigned char seen[2][20], start = 7;
        omprma_queue_t *queue = core_queue(POLLED);
        omprma_addr_t block = core_alloc(POLLED, 64), add = look_up(POLLED, "far_add");

        memset(seen, 0, sizeof(seen));
        assert_ok(omprma_submit(queue, block, &start, 1));
        for (int i = 0; i < 20; i++) {
            assert_ok(launch(queue, add, i == bad ? 1 : block, 1, 1));
            assert_ok(omprma_retrieve(queue, &seen[0][i], block, 1));
        }
        assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_ADDRESS);
        assert_non_null(strstr(omprma_error(), "reads what is not there"));
        for (int i = 0; i < 20; i++)
            assert_int_equal(seen[0][i], i < bad ? start + i + 1 : 0);
        assert_ok(omprma_retrieve(queue, &seen[1][0], block, 1));
        assert_ok(omprma_queue_synchronize(queue));
        assert_int_equal(seen[1][0], start + bad);
        assert_ok(omprma_queue_destroy(queue));
        assert_ok(omprma_free(POLLED, block));
    }
    core_stop();
}

/* A kernel that lasts, with small submits behind it, keeps other queues from nothing. */
static void a_chain_holds_nobody_up(void **state)
{
    omprma_queue_t *queue;
    omprma_addr_t block;

    (void)state;
    start_all();
    queue = core_queue(POLLED);
    block = core_alloc(POLLED, 64);
    far_naps = true;
    assert_ok(launch(queue, FAR_NAP, 0, 0, 0));
    assert_ok(omprma_submit(queue, block, "x", 1));
    assert_ok(omprma_queue_flush(queue));
    there_and_back(POLLED, 10, look_up(POLLED, "far_add"));
    there_and_back(POLLED, BIG, 0);
    far_naps = false;
    assert_ok(omprma_queue_synchronize(queue));
    core_end();
}

/* Nobody is told of the end of a small submit, and what comes then in other queues is after it. */
static void a_small_submit_is_seen(void **state)
{
    omprma_queue_t *queue, *other;
    omprma_addr_t block, add;

    (void)state;
    start_all();
    queue = core_queue(POLLED);
    other = core_queue(POLLED);
    block = core_alloc(POLLED, 64);
    add = look_up(POLLED, "far_add");
    far_slow = 300;
    for (unsigned char i = 0; i < 100; i++) {
        unsigned char seen = 0;

        if (i % 2)
            assert_ok(launch(queue, add, block + 8, 8, 1));
        if (i % 4 == 3)
            assert_ok(omprma_queue_flush(queue));
        assert_ok(omprma_submit(queue, block, &i, 1));
        assert_ok(omprma_queue_synchronize(queue));
        assert_ok(omprma_retrieve(other, &seen, block, 1));
        assert_ok(omprma_queue_synchronize(other));
        assert_int_equal(seen, i);
    }
    far_slow = 0;
    core_end();
}

static void a_fault_takes_a_chain(void **state)
{
    unsigned char seen[4];
    omprma_queue_t *queue;
    omprma_addr_t block;

    (void)state;
    start_all();
    queue = core_queue(POLLED);
    block = core_alloc(POLLED, 64);
    far_naps = true;
    assert_ok(omprma_submit(queue, block, "x", 1));
    assert_ok(launch(queue, FAR_NAP, 0, 0, 0));
    assert_ok(omprma_retrieve(queue, seen, block, 1));
    assert_ok(launch(queue, FAR_CRASH, block, 8, 0));
    assert_ok(omprma_submit(queue, block, "y", 1));
    assert_ok(omprma_retrieve(queue, seen + 1, block, 1));
    assert_int_equal(omprma_queue_synchronize(queue), OMPRMA_ERR_KERNEL);
    assert_int_equal(omprma_error_code(), FAR_FIRE);
    omprma_queue_destroy(queue);
    there_and_back(numbers[NATIVE], 100000, 0);
    far_naps = false;
    core_stop();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_is_copied),
        cmocka_unit_test(geometry_arrives),
        cmocka_unit_test(fills_arrive),
        cmocka_unit_test(questions_are_answered),
        cmocka_unit_test(packed_parameters_arrive),
        cmocka_unit_test(devices_exchange),
        cmocka_unit_test(errors_come_back),
        cmocka_unit_test(a_fault_takes_one_device),
        cmocka_unit_test(a_fault_lets_transfers_end),
        cmocka_unit_test(a_fault_ends_copies_of_others),
        cmocka_unit_test(devices_work_at_the_same_time),
        cmocka_unit_test(a_lost_worker_takes_its_devices),
    };

    const struct CMUnitTest ordered[] = {
        cmocka_unit_test(a_chain_is_under_way_at_once),
        cmocka_unit_test(a_chain_ends_where_it_fails),
        cmocka_unit_test(a_chain_holds_nobody_up),
        cmocka_unit_test(a_small_submit_is_seen),
        cmocka_unit_test(a_fault_takes_a_chain),
    };
    int failed = cmocka_run_group_tests_name("polled", tests, NULL, NULL);

    kind = FAR_IS_ORDERED;
    failed += cmocka_run_group_tests_name("in order", tests, NULL, NULL);
    return failed + cmocka_run_group_tests_name("chains", ordered, NULL, NULL);
}
