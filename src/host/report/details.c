/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * details.c: reads the allocator's usage and the counts of messages, and prints them device by
 * device into the recording, so that they stand behind what everybody wants to know.
 */
#include "host/report/details.h"

#include <inttypes.h>
#include <string.h>

#include "host/check/findings.h"
#include "host/choice/adapt.h"
#include "host/core/device.h"
#include "base/units.h"

/* Of a worker with all its devices. */
static void print_messages(const struct recording *recording, const struct peer *peer, FILE *out)
{
    uint64_t launches = 0;

    for (int i = 0; i < peer->device_count; i++)
        launches += recording->device[peer_device(peer, i)->number].stats.launches;
    fprintf(out, "omprma:   ");
    if (peer->device_count > 1)
        fprintf(out, "all devices of process %d: ", peer->hello.bell.pid);
    fprintf(out,
            "launches %" PRIu64 ", messages %" PRIu64 " out (%" PRIu64 " B), %" PRIu64
            " in (%" PRIu64 " B)",
            launches, peer->stats.messages_out, peer->stats.bytes_out, peer->stats.messages_in,
            peer->stats.bytes_in);
    if (launches)
        fprintf(out, ", per launch %.2f out and %.2f in",
                (double)peer->stats.messages_out / (double)launches,
                (double)peer->stats.messages_in / (double)launches);
    fprintf(out, "\n");
}

static void print_device(const struct recording *recording, struct device *device, FILE *out)
{
    const struct stats *stats = &recording->device[device->number].stats;
    const struct peer *peer = device->peer;
    struct allocator_usage usage;
    char peak[32], attached[32];

    allocator_usage(device->memory->allocator, &usage);
    fprintf(out, "omprma: device %d, process %d on %s%s\n", device->number, peer->hello.bell.pid,
            peer->hello.host, device->lost ? " (lost)" : "");
    if (peer->device_count > 1)
        fprintf(out, "omprma:   launches %" PRIu64 "\n", stats->launches);
    else
        print_messages(recording, peer, out);
    fprintf(out,
            "omprma:   memory: peak %s, %" PRIu64 " block%s live, %" PRIu64 " arena%s of %s, "
            "%" PRIu64 " alloc%s, %" PRIu64 " free%s\n",
            units_bytes((double)usage.peak_bytes, peak, sizeof(peak)), usage.blocks,
            units_plural((int64_t)usage.blocks), usage.arenas, units_plural((int64_t)usage.arenas),
            units_bytes((double)usage.arena_bytes, attached, sizeof(attached)), device->allocs,
            units_plural((int64_t)device->allocs), device->frees,
            units_plural((int64_t)device->frees));
    fprintf(out, "omprma:   in the message: submit up to %u B, retrieve up to %u B\n",
            device->paths.inline_submit, device->paths.inline_retrieve);
    if (peer->device_count > 1 && device->index + 1 == peer->device_count)
        print_messages(recording, peer, out);
}

static void print_step(const char *name, int64_t from_ns, int64_t to_ns, FILE *out)
{
    if (from_ns && to_ns)
        fprintf(out, ", %s %.1f", name, (double)(to_ns - from_ns) / 1e6);
}

static void print_start(const struct start_times *times, FILE *out)
{
    int64_t begin_ns = times->launch ? times->launch : times->join;

    fprintf(out, "omprma: start-up: %.1f ms", (double)(times->ready - begin_ns) / 1e6);
    print_step("omprma-run and mpirun", times->launch, times->program, out);
    print_step("program", times->program, times->join, out);
    print_step("MPI", times->join, times->connect, out);
    print_step("workers", times->connect, times->measure, out);
    print_step("measuring", times->measure, times->ready, out);
    fputc('\n', out);
}

static void print_all(struct runtime *runtime, const struct recording *recording, FILE *out)
{
    if (runtime->times.ready)
        print_start(&runtime->times, out);
    for (int i = 0; i < runtime->device_count; i++)
        print_device(recording, runtime->devices[i], out);
    if (runtime->config.check == CHECK_FULL)
        fprintf(out, "omprma: check: findings %" PRIu64 "\n", findings_count());
    adapt_print(runtime, out);
    world_print_quirks(&runtime->world, "omprma: quirks in force:", out);
}

void details_add(struct runtime *runtime, struct recording *recording)
{
    FILE *out = fmemopen(recording->details, sizeof(recording->details), "w");

    if (!out)
        return;
    print_all(runtime, recording, out);
    fclose(out);
}
