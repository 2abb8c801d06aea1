/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * describe.c: goes through the devices and prints what was measured and chosen for each, then the
 * same for exchanges within a host and between hosts.
 */
#include "host/report/describe.h"

#include <inttypes.h>

#include "host/calls/exchange.h"
#include "host/report/placement.h"

static void print_cost(FILE *out, const char *what, enum path path, const struct cost *cost)
{
    if (cost->us <= 0)
        return;
    fprintf(out, "  %-8s %-9s %8.2f us", what, paths_names[path], cost->us);
    if (cost->us_per_kib > 0)
        fprintf(out, " + %6.3f us per KiB (%6.2f GB/s)", cost->us_per_kib,
                1024 / cost->us_per_kib / 1e3);
    fprintf(out, ", %d samples, +%.0f%%\n", cost->samples, 100 * (double)cost->spread);
}

static void print_device(FILE *out, const struct device *device)
{
    const struct paths *paths = &device->paths;
    char words[PATHS_WORDS];

    fprintf(out,
            "device %d (%s): microseconds measured at start-up, latency and per KiB (samples, and "
            "how far their upper quartile is above the lower one, which counts)\n",
            device->number, device->peer->hello.host);
    if (paths->cost[PATHS_RETRIEVE][PATH_TWO_SIDED].us <= 0)
        fprintf(out,
                "  too few samples in the time there was: the choice is the one without any\n");
    for (enum path path = 0; path < PATH_COUNT; path++)
        print_cost(out, "submit", path, &paths->cost[PATHS_SUBMIT][path]);
    for (enum path path = 0; path < PATH_COUNT; path++)
        print_cost(out, "retrieve", path, &paths->cost[PATHS_RETRIEVE][path]);
    fprintf(out,
            "  in the message: submit up to %u B, retrieve up to %u B (beside a launch up to "
            "%u B)\n",
            paths->inline_submit, paths->inline_retrieve, paths->inline_retrieve_fused);
    fprintf(out, "  larger submits: %s\n",
            paths_words(paths->rma_from[PATHS_SUBMIT], words, sizeof(words)));
    fprintf(out, "  larger retrieves: %s\n",
            paths_words(paths->rma_from[PATHS_RETRIEVE], words, sizeof(words)));
}

static void print_exchange(FILE *out, const char *between, const struct exchange_paths *paths)
{
    fprintf(out, "exchange between devices %s: %s", between, exchange_way_name(paths->way));
    for (enum config_exchange way = EXCHANGE_PUT; way < EXCHANGE_WAYS; way++)
        if (paths->us[way] > 0)
            fprintf(out, "; %s %.0f us +%.0f%%", exchange_way_name(way), paths->us[way],
                    100 * (double)paths->spread[way]);
    fprintf(out, "%s\n",
            paths->us[EXCHANGE_PUT] + paths->us[EXCHANGE_SEND] > 0 ? " for 1 MiB" : "");
}

/* Which of the two kinds of pairs there are. */
static void print_exchanges(FILE *out, const struct runtime *runtime)
{
    bool near = false, far = false;

    for (int i = 1; i < runtime->device_count; i++) {
        const struct exchange_paths *paths =
            exchange_paths_of(runtime->devices[i - 1], runtime->devices[i]);

        if (runtime->devices[i - 1]->peer == runtime->devices[i]->peer)
            continue; /* their worker copies */
        near |= paths == &runtime->exchange[0];
        far |= paths == &runtime->exchange[1];
    }
    if (near)
        print_exchange(out, "of one host", &runtime->exchange[0]);
    if (far)
        print_exchange(out, "of different hosts", &runtime->exchange[1]);
}

void runtime_describe(FILE *out)
{
    struct runtime *runtime = runtime_get();

    if (!runtime)
        return;
    placement_print(runtime, out);
    fprintf(out, "\none-sided component: %s\n", runtime->world.component);
    fprintf(out, "data path: %s\n", runtime->choice);
    if (runtime->world.between_hosts[0])
        fprintf(out, "data between hosts: %s\n", runtime->world.between_hosts);
    world_print_quirks(&runtime->world, "quirks applied:", out);
    for (int i = 0; i < runtime->device_count; i++) {
        const struct device *device = runtime->devices[i];
        bool seen = false;

        for (int k = 0; k < i; k++)
            seen |= device_is_like(runtime->devices[k], device);
        if (!seen) /* the others of its host use what it measured */
            print_device(out, device);
    }
    print_exchanges(out, runtime);
}

void runtime_draw(FILE *out)
{
    struct runtime *runtime = runtime_get();

    if (runtime)
        placement_draw(runtime, out);
}
