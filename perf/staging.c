/*
 * staging.c: how near large copies to and from a device that cannot be touched come to the slower
 * of the two links that they go over. Application and worker are threads of this process, the
 * one-sided path is memcpy(), and the device copies at a given speed by itself, as a GPU does.
 *
 *   build/perf/staging [ROUNDS]        a line per speed, size and direction
 *
 * Needs two processors that nothing else uses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "tests/unit/core_fixture.h"
#include "tests/unit/far_fixture.h"

enum { FAR, NATIVE, MOST = 64 << 20, PIECE = 8 << 20, USUAL_ROUNDS = 7 };

static double bytes_per_ns;
static int64_t free_at[2]; /* of the device's two copiers */
static char *memory;

/* ---- the device ---- */

static enum backend_step engine_copy(struct worker_device *device, struct backend_job *job,
                                     const struct backend_copy *copy)
{
    int64_t now = clock_ns(), *at = &free_at[copy->to_device != NULL];

    (void)device;
    *at = (*at > now ? *at : now) + (int64_t)((double)copy->bytes / bytes_per_ns);
    job->value = (uint64_t)*at;
    return BACKEND_PENDING;
}

static bool engine_poll(struct worker_device *device, struct backend_job *job)
{
    (void)device;
    job->status = OMPRMA_OK;
    return clock_ns() >= (int64_t)job->value;
}

static struct backend engine;

static bool make_other(struct worker_device *device, int worker)
{
    (void)worker;
    if (device->index == NATIVE)
        return false;
    far_open(device, false);
    engine = *device->backend;
    engine.copy = engine_copy;
    engine.poll = engine_poll;
    device->backend = &engine;
    return true;
}

/* ---- times ---- */

/* The best of some rounds, in ns. */
static double time_copy(int device, bool submit, uint64_t bytes, int rounds)
{
    omprma_queue_t *queue = core_queue(device);
    omprma_addr_t there = core_alloc(device, bytes);
    int64_t best = INT64_MAX;

    for (int i = 0; i < rounds; i++) {
        int64_t begin = clock_ns(), time;

        assert_ok(submit ? omprma_submit(queue, there, memory, bytes)
                         : omprma_retrieve(queue, memory, there, bytes));
        assert_ok(omprma_queue_synchronize(queue));
        time = clock_ns() - begin;
        if (time < best)
            best = time;
    }
    assert_ok(omprma_queue_destroy(queue));
    assert_ok(omprma_free(device, there));
    return (double)best;
}

static void compare(bool submit, uint64_t bytes, int rounds)
{
    double link = time_copy(NATIVE, submit, bytes, rounds);
    double copy = (double)bytes / bytes_per_ns;
    double both = time_copy(FAR, submit, bytes, rounds);
    double slower = link > copy ? link : copy;

    printf(
        "%-8s %4llu MiB: link %5.1f GB/s, copy %5.1f GB/s, both %5.1f GB/s: %.2f of the slower\n",
        submit ? "submit" : "retrieve", (unsigned long long)bytes >> 20, (double)bytes / link,
        (double)bytes / copy, (double)bytes / both, slower / both);
}

int main(int count, char **words)
{
    static const double speeds[] = {2, 5, 10, 20};
    int rounds = count > 1 ? atoi(words[1]) : USUAL_ROUNDS;

    memory = malloc(MOST);
    if (!memory || rounds < 1)
        return EXIT_FAILURE;
    memset(memory, 1, MOST);
    bytes_per_ns = 10;
    far_count = 0;
    core_start(&(struct core_options){
        .devices = 2,
        .delay = CORE_NO_DELAY,
        .piece = PIECE,
        .arena = 48 << 20,
        .memory = 256 << 20,
        .make_other = make_other,
    });
    core_choose(FAR, 512, true);
    core_choose(NATIVE, 512, true);
    for (size_t i = 0; i < sizeof(speeds) / sizeof(speeds[0]); i++) {
        bytes_per_ns = speeds[i];
        for (uint64_t bytes = 2 << 20; bytes <= MOST / 2; bytes *= 4)
            for (int submit = 1; submit >= 0; submit--)
                compare(submit, bytes, rounds);
    }
    core_stop();
    free(memory);
    return EXIT_SUCCESS;
}
