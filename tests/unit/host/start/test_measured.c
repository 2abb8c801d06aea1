/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_measured.c: what one program has measured reaches the next one, which takes what fits.
 * Covers: measured.c */
#include <math.h>
#include <string.h>

#include "tests/unit/test.h"
#include "control/transport.h"
#include "host/core/peer.h"
#include "host/core/runtime.h"
#include "host/start/measured.h"

/* A program with one device. */
struct program {
    struct runtime runtime;
    struct peer peer;
    struct device device;
};
static struct program first, second;
static struct world_measured told;
static int times_told;

static void tell(const struct world *world, const void *data, size_t bytes)
{
    (void)world;
    assert_true(bytes <= sizeof(told.data));
    told.bytes = (uint32_t)bytes;
    memcpy(told.data, data, bytes);
    times_told++;
}
static const struct transport transport = {.tell_measured = tell};

static void make(struct program *program)
{
    static struct device *devices[2];
    struct device **list = program == &first ? &devices[0] : &devices[1];
    memset(program, 0, sizeof(*program));
    program->runtime.world.transport = &transport;
    *list = &program->device;
    program->runtime.devices = list;
    program->runtime.device_count = 1;
    program->peer.is_near = true;
    program->device.runtime = &program->runtime;
    program->device.peer = &program->peer;
    strcpy(program->device.about.backend, "native");
    strcpy(program->device.about.model, "some");
}

static int begin(void **state)
{
    (void)state;
    make(&first);
    make(&second);
    times_told = 0;
    first.device.paths.round_trip_us = 1.5;
    first.device.paths.cost[PATHS_RETRIEVE][PATH_RMA] = (struct cost){2.5, 0.5, 0.25f, 7};
    first.runtime.exchange[0].us[EXCHANGE_PUT] = 9;
    measured_tell(&first.runtime);
    second.runtime.world.measured = told;
    return times_told == 1 ? 0 : -1;
}
TEST_EACH(begin, NULL)

TEST(the_next_one_takes_it)
{
    struct exchange_paths exchange = {0};
    assert_true(measured_take(&second.device));
    assert_true(second.device.paths.round_trip_us == 1.5);
    assert_memory_equal(second.device.paths.cost, first.device.paths.cost,
                        sizeof(first.device.paths.cost));
    assert_true(measured_take_exchange(&second.runtime, &exchange));
    assert_true(exchange.us[EXCHANGE_PUT] == 9);
    measured_tell(&second.runtime);
    assert_int_equal(times_told, 1);
}

TEST(nothing_was_told)
{
    second.runtime.world.measured.bytes = 0;
    assert_false(measured_take(&second.device));
}

TEST(another_kind_of_device)
{
    strcpy(second.device.about.model, "other");
    assert_false(measured_take(&second.device));
}

TEST(another_host)
{
    second.peer.is_near = false;
    assert_false(measured_take(&second.device));
}

TEST(without_shared_memory)
{
    second.peer.shares = true;
    assert_false(measured_take(&second.device));
}

TEST(of_another_size)
{
    second.runtime.world.measured.bytes--;
    assert_false(measured_take(&second.device));
}

/* Each number of what is told, one after the other. */
TEST(what_is_no_time)
{
    const double none = NAN;
    const size_t at = sizeof(told.data) - sizeof(none);
    int refused = 0;
    for (size_t byte = 0; byte <= at && byte + sizeof(none) <= told.bytes; byte += sizeof(none)) {
        second.runtime.world.measured = told;
        memcpy(second.runtime.world.measured.data + byte, &none, sizeof(none));
        refused += !measured_take(&second.device);
    }
    assert_true(refused >= PATHS_DIRECTIONS * PATH_COUNT * 2);
}

/* With one device there was no exchange to measure. */
TEST(who_knows_more_tells_it)
{
    struct exchange_paths exchange = {0};
    first.runtime.exchange[0].us[EXCHANGE_PUT] = 0;
    measured_tell(&first.runtime);
    second.runtime.world.measured = told;
    assert_true(measured_take(&second.device));
    assert_false(measured_take_exchange(&second.runtime, &exchange));
    measured_tell(&second.runtime);
    assert_int_equal(times_told, 2);
    second.runtime.exchange[0].us[EXCHANGE_GET] = 3;
    measured_tell(&second.runtime);
    assert_int_equal(times_told, 3);
}
