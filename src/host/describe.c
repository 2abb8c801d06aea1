/* describe.c: see describe.h. */
#include "host/describe.h"

#include <inttypes.h>

#include "host/exchange.h"
#include "host/measure.h"
#include "host/places.h"

/* The classes that go one-sided, as ranges of sizes. */
static void print_ranges(FILE *out, const char *what, uint64_t rma)
{
    const char *before = "rma";

    fprintf(out, "  %s:", what);
    for (unsigned from = 0, to; from < COST_CLASSES; from = to + 1) {
        while (from < COST_CLASSES && !(rma >> from & 1))
            from++;
        for (to = from; to < COST_CLASSES && rma >> to & 1;)
            to++;
        if (from == COST_CLASSES)
            break;
        fprintf(out, "%s %s", before[0] == ',' ? "," : "", before[0] == ',' ? "and" : before);
        if (from > 0)
            fprintf(out, " above %" PRIu64 " B", UINT64_C(1) << from);
        if (to < COST_CLASSES)
            fprintf(out, " up to %" PRIu64 " B", UINT64_C(1) << to);
        else if (from == 0)
            fprintf(out, " for all sizes");
        before = ",";
    }
    if (before[0] != ',')
        fprintf(out, " two-sided\n");
    else
        fprintf(out, "%s\n", rma == (UINT64_C(1) << COST_CLASSES) - 1 ? "" : ", else two-sided");
}

static void print_row(FILE *out, const char *what, enum path path, const struct cost_curve *curve)
{
    bool any = false;

    for (int i = 0; i < COST_SIZES; i++)
        any |= curve->us[i] > 0;
    if (!any)
        return;
    fprintf(out, "  %-8s %-9s", what, paths_names[path]);
    for (int i = 0; i < COST_SIZES; i++) {
        if (curve->us[i] > 0)
            fprintf(out, " %8.2f +%3.0f%%", curve->us[i], 100 * (double)curve->spread[i]);
        else
            fprintf(out, " %14s", "-");
    }
    if (curve->us[COST_SIZES - 1] > 0)
        fprintf(out, " %8.2f GB/s",
                (double)cost_sizes[COST_SIZES - 1] / curve->us[COST_SIZES - 1] / 1e3);
    fputc('\n', out);
}

static void print_device(FILE *out, const struct device *device)
{
    const struct paths *paths = &device->paths;

    fprintf(out,
            "device %d (%s): microseconds measured at start-up, by bytes (lower quartile, and how "
            "far the upper one is above it)\n",
            device->number, device->peer->hello.host);
    fprintf(out, "  %-18s", "");
    for (int i = 0; i < COST_SIZES; i++)
        fprintf(out, " %14" PRIu64, cost_sizes[i]);
    fputc('\n', out);
    for (enum path path = 0; path < PATH_COUNT; path++)
        print_row(out, "submit", path, &paths->curve[PATHS_SUBMIT][path]);
    for (enum path path = 0; path < PATH_COUNT; path++)
        print_row(out, "retrieve", path, &paths->curve[PATHS_RETRIEVE][path]);
    fprintf(out,
            "  in the message: submit up to %u B, retrieve up to %u B (beside a launch up to "
            "%u B)\n",
            paths->inline_submit, paths->inline_retrieve, paths->inline_retrieve_fused);
    print_ranges(out, "larger submits", paths->rma[PATHS_SUBMIT]);
    print_ranges(out, "larger retrieves", paths->rma[PATHS_RETRIEVE]);
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
    places_print(runtime, out);
    fprintf(out, "\none-sided component: %s\n", runtime->world.component);
    fprintf(out, "data path: %s\n", runtime->choice);
    if (runtime->world.quirks) {
        fprintf(out, "quirks applied:\n");
        quirks_print(runtime->world.quirks, out);
    }
    for (int i = 0; i < runtime->device_count; i++) {
        const struct device *device = runtime->devices[i];
        bool seen = false;

        for (int k = 0; k < i; k++)
            seen |= measure_is_like(runtime->devices[k], device);
        if (!seen) /* the others of its host use what it measured */
            print_device(out, device);
    }
    print_exchanges(out, runtime);
}
