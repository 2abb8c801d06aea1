/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * clocks.c: a fence is sent to a device of each worker, eight times; its answer is the worker's
 * time. The trace does not record these questions.
 */
#include "host/report/clocks.h"

#include "base/clock.h"
#include "host/device/devices.h"
#include "host/report/record.h"

enum { ROUNDS = 8 };

static struct device *find_well(const struct peer *peer)
{
    for (int i = 0; i < peer->device_count; i++)
        if (device_is_well(peer_device(peer, i)) && !peer_device(peer, i)->lost)
            return peer_device(peer, i);
    return NULL;
}

struct trace_clock clocks_look(const struct peer *peer)
{
    const struct wire_record fence = {.code = WIRE_FENCE};
    struct device *device = find_well(peer);
    struct trace_clock best = {.within_ns = -1};

    for (int i = 0; device && i < ROUNDS; i++) {
        int64_t before = clock_ns(), within;
        uint64_t there = 0;

        if (device_command(device, &fence, &there, NULL, 0) != OMPRMA_OK)
            break;
        within = (clock_ns() - before) / 2;
        if (best.within_ns < 0 || within < best.within_ns)
            best = (struct trace_clock){before + within, (int64_t)there - before - within, within};
    }
    /* On one host both have the same, as far as can be seen from here. */
    if (peer->can_ring && best.ahead_ns <= best.within_ns && -best.ahead_ns <= best.within_ns)
        best.ahead_ns = 0;
    return best;
}

void clocks_compare(struct runtime *runtime)
{
    if (!runtime->recorder)
        return;
    record_pause(runtime); /* these questions are no regions */
    for (int rank = 0; rank < runtime->world.size; rank++) {
        const struct peer *peer = runtime->peers[rank];
        struct trace_clock clock;

        if (!peer || peer->lost)
            continue;
        clock = clocks_look(peer);
        record_clock(runtime, rank, &clock);
    }
    record_resume(runtime);
}
