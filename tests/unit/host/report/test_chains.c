/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_chains.c: which way a run's time went, for kernels that wait for each other, for their
 * device, for data or for the program; and for random ones that no time is lost.
 * Covers: chains.c
 */
#include <stdlib.h>

#include "base/clock.h"
#include "host/queue/queue.h"
#include "host/report/chains.h"
#include "tests/unit/test.h"

enum { DEVICES = 2, QUEUES = 3, US = 1000, STEPS = 40, ROUNDS = 200 };

static struct runtime runtime;
static struct device devices[DEVICES];
static struct omprma_queue queues[DEVICES][QUEUES];
static struct recorded_names names;
static struct recording *recording;
static struct chains *chains;

static void begin(void)
{
    recording = calloc(1, recording_bytes(DEVICES));
    assert_non_null(recording);
    recording_make(recording, DEVICES);
    runtime = (struct runtime){.device_count = DEVICES};
    for (int i = 0; i < DEVICES; i++) {
        devices[i] = (struct device){.number = i};
        for (uint32_t k = 0; k < QUEUES; k++)
            queues[i][k] = (struct omprma_queue){.device = &devices[i], .number = 40 * k};
    }
    recording->origin_ns = clock_ns();
    names = (struct recorded_names){.recording = recording};
    chains = chains_open(&runtime, &names);
    assert_non_null(chains);
}

/* All of the time is somewhere. */
static void end(void)
{
    int64_t all = 0;
    chains_close(&runtime, chains);
    assert_null(runtime.observers);
    recording->end_ns = clock_ns();
    recording_close(recording, recording->end_ns);
    for (int part = 0; part < CHAIN_PARTS; part++) {
        assert_true(recording->chain.ns[part] >= 0);
        all += recording->chain.ns[part];
    }
    assert_int_equal(all, recording->end_ns - recording->origin_ns);
    free(recording);
}

static int64_t us_of(enum chain_part part)
{
    return recording->chain.ns[part] / US;
}

static void pass(int64_t until_ns)
{
    while (clock_ns() < until_ns)
        ;
}

static void append(struct omprma_queue *queue)
{
    struct operation launch = {.queue = queue, .kind = OPERATION_COMMAND};
    observers_appended(runtime.observers, &launch, true);
}

/* From and to so many us behind `base`; when that has passed. */
static void run(struct omprma_queue *queue, uint16_t code, int64_t base, int64_t from, int64_t to)
{
    struct operation command = {.queue = queue, .kind = OPERATION_COMMAND, .command.code = code};
    pass(base + to * US);
    observers_ran(runtime.observers, &command, base + from * US, base + to * US);
}

static void wait_for(struct omprma_queue *queue, struct omprma_queue *other)
{
    struct operation target = {.queue = other, .kind = OPERATION_MARK};
    struct operation wait = {.queue = queue, .kind = OPERATION_WAIT, .wait.target = &target};
    observers_ended(runtime.observers, &wait);
}

static void rest(bool begins)
{
    observers_rests(runtime.observers, begins);
}

TEST(what_is_appended_at_once_waits_for_its_device)
{
    int64_t base;
    begin();
    append(&queues[0][0]);
    append(&queues[0][1]);
    append(&queues[1][2]);
    rest(true);
    base = clock_ns();
    run(&queues[0][0], WIRE_REGION, base, 10, 500);
    run(&queues[1][2], WIRE_REGION, base, 10, 600);
    run(&queues[0][1], WIRE_LAUNCH, base, 600, 1000);
    rest(false);
    assert_int_equal(recording->chain.kernels, 2);
    assert_int_equal(us_of(CHAIN_KERNELS), 890);
    end();
}

TEST(the_longest_way_is_found)
{
    int64_t base;
    begin();
    append(&queues[0][0]);
    append(&queues[0][1]);
    append(&queues[1][0]);
    append(&queues[1][1]);
    rest(true);
    base = clock_ns();
    run(&queues[1][0], WIRE_REGION, base, 10, 100);
    run(&queues[0][0], WIRE_REGION, base, 10, 510);
    run(&queues[0][1], WIRE_PUT, base, 510, 710);
    wait_for(&queues[1][1], &queues[0][1]);
    run(&queues[1][1], WIRE_REGION, base, 800, 1200);
    rest(false);
    assert_int_equal(recording->chain.kernels, 2); /* and not that of 90 us */
    assert_int_equal(us_of(CHAIN_KERNELS), 900);
    assert_int_equal(us_of(CHAIN_DATA), 200);
    end();
}

TEST(what_the_program_does_is_on_it)
{
    int64_t base;
    begin();
    append(&queues[0][0]);
    run(&queues[0][0], WIRE_REGION, clock_ns(), 0, 500);
    base = clock_ns();
    pass(base + 1000 * US);
    rest(true);
    rest(false);
    append(&queues[0][0]);
    rest(true);
    run(&queues[0][0], WIRE_REGION, clock_ns(), 0, 700);
    rest(false);
    assert_int_equal(recording->chain.kernels, 1); /* nobody waited for the first */
    assert_int_equal(us_of(CHAIN_KERNELS), 700);
    assert_true(us_of(CHAIN_PROGRAM) >= 1500);
    end();
}

TEST(random_runs_lose_no_time)
{
    unsigned seed = 1;
    for (int round = 0; round < ROUNDS; round++) {
        bool rests = false;
        begin();
        for (int step = 0; step < STEPS; step++) {
            struct omprma_queue *queue = &queues[rand_r(&seed) % DEVICES][rand_r(&seed) % QUEUES];
            struct omprma_queue *other = &queues[rand_r(&seed) % DEVICES][rand_r(&seed) % QUEUES];
            int64_t from = 5 - rand_r(&seed) % 20, to = from + rand_r(&seed) % 5;
            const struct carried carried = {queue, DATA_SUBMIT, PATH_RMA, 8, US, NULL};
            switch (rand_r(&seed) % 6) {
            case 0:
                rest(rests = !rests);
                break;
            case 1:
                append(queue);
                break;
            case 2:
                wait_for(queue, other);
                break;
            case 3:
                observers_carried(runtime.observers, &carried);
                break;
            default:
                run(queue, rand_r(&seed) % 2 ? WIRE_REGION : WIRE_PUT, clock_ns(), from, to);
            }
        }
        end();
    }
}
