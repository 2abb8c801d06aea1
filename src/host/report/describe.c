/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * describe.c: goes through the devices and prints what was measured and chosen for each, then the
 * same for exchanges within a host and between hosts.
 */
#include "host/report/describe.h"

#include <inttypes.h>

#include "host/calls/exchange.h"
#include "host/report/placement.h"

static const char *const directions[PATHS_DIRECTIONS] = {"submit", "retrieve"};

/* Those of their host that are like it use what it measured. */
static bool is_first(const struct runtime *runtime, int number)
{
    for (int i = 0; i < number; i++)
        if (device_is_like(runtime->devices[i], runtime->devices[number]))
            return false;
    return true;
}

static void visit_costs(const struct device *device,
                        void (*each)(void *data, const struct described_cost *cost), void *data)
{
    for (int direction = 0; direction < PATHS_DIRECTIONS; direction++)
        for (enum path path = 0; path < PATH_COUNT; path++) {
            const struct cost *cost = &device->paths.cost[direction][path];
            const struct described_cost told = {
                device->number,   directions[direction], paths_names[path], cost->us,
                cost->us_per_kib, (double)cost->spread,  cost->samples};
            if (cost->us > 0)
                each(data, &told);
        }
}

void runtime_costs(void (*each)(void *data, const struct described_cost *cost), void *data)
{
    const struct runtime *runtime = runtime_get();

    for (int i = 0; runtime && i < runtime->device_count; i++)
        if (is_first(runtime, i))
            visit_costs(runtime->devices[i], each, data);
}

static void print_cost(void *data, const struct described_cost *cost)
{
    FILE *out = data;

    fprintf(out, "  %-8s %-9s %8.2f us", cost->direction, cost->path, cost->us);
    if (cost->us_per_kib > 0)
        fprintf(out, " + %6.3f us/KiB (%6.2f GB/s)", cost->us_per_kib,
                1024 / cost->us_per_kib / 1e3);
    if (cost->spread < 10)
        fprintf(out, ", %d samples, +%.0f%%\n", cost->samples, 100 * cost->spread);
    else /* one of them was interrupted */
        fprintf(out, ", %d samples, above +1000%%\n", cost->samples);
}

static void print_device(FILE *out, const struct device *device)
{
    const struct paths *paths = &device->paths;
    char words[PATHS_WORDS];

    fprintf(out, "device %d (%s), measured at start-up (number of samples, spread):\n",
            device->number, device->peer->hello.host);
    if (paths->cost[PATHS_RETRIEVE][PATH_TWO_SIDED].us <= 0)
        fprintf(out, "  start-up had no time to measure: defaults are used\n");
    visit_costs(device, print_cost, out);
    fprintf(out, "  in the message: submits up to %u B, retrieves %u B, beside a launch %u B\n",
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

void runtime_described(struct described *described)
{
    static const struct runtime none;
    const struct runtime *runtime = runtime_get() ? runtime_get() : &none;
    const struct world *world = &runtime->world;

    *described = (struct described){runtime->control, runtime->choice, world->between_hosts,
                                    world->component ? world->component : "none"};
}

void runtime_quirks(FILE *out)
{
    if (runtime_get())
        world_print_quirks(&runtime_get()->world, "", out);
}

void runtime_describe(FILE *out)
{
    struct runtime *runtime = runtime_get();

    if (!runtime)
        return;
    placement_print(runtime, out);
    fprintf(out, "\none-sided component: %s\n", runtime->world.component);
    world_print_quirks(&runtime->world, "quirks applied:", out);
    for (int i = 0; i < runtime->device_count; i++)
        if (is_first(runtime, i))
            print_device(out, runtime->devices[i]);
    print_exchanges(out, runtime);
}

void runtime_draw(FILE *out)
{
    struct runtime *runtime = runtime_get();

    if (runtime)
        placement_draw(runtime, out);
}
