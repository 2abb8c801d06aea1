/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * parallel.c: A table of slots, one per parallel region that runs, each with two counts that take
 * turns from barrier to barrier. A region takes the slot of its number; where that is in use it
 * shares it, and waits for more than it has to.
 */
#include "openmp/task/parallel.h"

enum { REGIONS = 512 };

/* Two counts are enough: a thread that waits behind barrier k keeps all others before barrier k
 * + 2. Never freed, because threads remember regions that have ended. */
static struct slot {
    _Atomic int32_t counts[2];
    atomic_bool used;
} slots[REGIONS];

/* The thread that begins a region goes back to where it was; the others belong to the next one. */
static _Thread_local struct parallel_place here;

static struct slot *slot_of(uint32_t region)
{
    return &slots[region % REGIONS];
}

void parallel_begin(struct parallel *parallel)
{
    static _Atomic uint32_t last;

    parallel->outer = here;
    parallel->shares = true;
    for (int tries = 0; tries < REGIONS && parallel->shares; tries++) {
        do
            parallel->region = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
        while (parallel->region == 0); /* the numbers wrap around */
        parallel->shares =
            atomic_exchange_explicit(&slot_of(parallel->region)->used, true, memory_order_relaxed);
    }
}

void parallel_run(const struct parallel *parallel, int32_t *thread, int32_t *number)
{
    void *frame;

    here = (struct parallel_place){parallel->region, omp_get_level(), .passed = 0};
    parallel->invoke(parallel->body, *thread, *number, parallel->count, parallel->arguments,
                     &frame);
}

void parallel_leave(void)
{
    here.region = 0;
}

void parallel_end(const struct parallel *parallel)
{
    here = parallel->outer;
    if (!parallel->shares)
        atomic_store_explicit(&slot_of(parallel->region)->used, false, memory_order_relaxed);
}

_Atomic int32_t *parallel_count_here(void)
{
    if (here.region == 0 || here.level != omp_get_level())
        return NULL;
    return &slot_of(here.region)->counts[here.passed % 2];
}

void parallel_pass(void)
{
    here.passed++;
}
