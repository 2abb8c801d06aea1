/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
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
#include "tests/unit/cmocka_both.h"

#include "tests/unit/core_fixture.h"
#include "tests/unit/far_fixture.h"

enum { FAR, NATIVE, MOST = 64 << 20, PIECE = 8 << 20, USUAL_ROUNDS = 7, ROW = 3 };

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

struct copy {
    int device;
    omprma_queue_t *queue;
    omprma_addr_t there;
    double best_ns;
};

static struct copy copy_begin(int device, uint64_t bytes)
{
    return (struct copy){device, core_queue(device), core_alloc(device, bytes), 1e18};
}

static void copy_once(struct copy *copy, bool submit, uint64_t bytes)
{
    int64_t begin = clock_ns();

    assert_ok(submit ? omprma_submit(copy->queue, copy->there, memory, bytes)
                     : omprma_retrieve(copy->queue, memory, copy->there, bytes));
    assert_ok(omprma_queue_synchronize(copy->queue));
    double time = (double)(clock_ns() - begin);
    if (time < copy->best_ns)
        copy->best_ns = time;
}

static void copy_end(struct copy *copy)
{
    assert_ok(omprma_queue_destroy(copy->queue));
    assert_ok(omprma_free(copy->device, copy->there));
}

/* In turns: what disturbs one, disturbs the other. A few in a row each: the first one finds the
 * worker asleep, and data in other caches. */
static void compare(bool submit, uint64_t bytes, int rounds)
{
    struct copy link = copy_begin(NATIVE, bytes), both = copy_begin(FAR, bytes);
    double device = (double)bytes / bytes_per_ns, slower;

    for (int i = 0; i < rounds; i++) {
        for (int k = 0; k < ROW; k++)
            copy_once(&link, submit, bytes);
        for (int k = 0; k < ROW; k++)
            copy_once(&both, submit, bytes);
    }
    slower = link.best_ns > device ? link.best_ns : device;
    printf(
        "%-8s %4llu MiB: link %5.1f GB/s, copy %5.1f GB/s, both %5.1f GB/s: %.2f of the slower\n",
        submit ? "submit" : "retrieve", (unsigned long long)bytes >> 20,
        (double)bytes / link.best_ns, (double)bytes / device, (double)bytes / both.best_ns,
        slower / both.best_ns);
    copy_end(&link);
    copy_end(&both);
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
