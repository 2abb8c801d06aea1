/* describe.c: see describe.h. */
#include "host/describe.h"

#include <inttypes.h>

#include "host/exchange.h"
#include "host/measure.h"

static void print_range(FILE *out, const char *what, uint64_t from, uint64_t to)
{
    if (from == UINT64_MAX)
        fprintf(out, "  %s: two-sided\n", what);
    else if (to == UINT64_MAX)
        fprintf(out, "  %s: rma from %" PRIu64 " B on\n", what, from);
    else
        fprintf(out, "  %s: rma from %" PRIu64 " B to below %" PRIu64 " B, else two-sided\n", what,
                from, to);
}

static void print_times(FILE *out, const char *what, const double us[PATH_COUNT][PATHS_SIZES])
{
    for (int path = 0; path < PATH_COUNT; path++) {
        bool any = false;

        for (int i = 0; i < PATHS_SIZES; i++)
            any |= us[path][i] > 0;
        if (!any)
            continue;
        fprintf(out, "  %-8s %-9s", what, paths_names[path]);
        for (int i = 0; i < PATHS_SIZES; i++) {
            if (us[path][i] > 0)
                fprintf(out, " %12.2f", us[path][i]);
            else
                fprintf(out, " %12s", "-");
        }
        if (us[path][PATHS_SIZES - 1] > 0)
            fprintf(out, " %8.2f GB/s",
                    (double)paths_sizes[PATHS_SIZES - 1] / us[path][PATHS_SIZES - 1] / 1e3);
        fputc('\n', out);
    }
}

static void print_device(FILE *out, const struct device *device)
{
    const struct paths *paths = &device->paths;

    fprintf(out, "device %d (%s): microseconds measured at start-up, by bytes\n", device->number,
            device->peer->hello.host);
    fprintf(out, "  %-18s", "");
    for (int i = 0; i < PATHS_SIZES; i++)
        fprintf(out, " %12" PRIu64, paths_sizes[i]);
    fputc('\n', out);
    print_times(out, "submit", paths->submit_us);
    print_times(out, "retrieve", paths->retrieve_us);
    fprintf(out,
            "  in the message: submit up to %u B, retrieve up to %u B (beside a launch up to "
            "%u B)\n",
            paths->inline_submit, paths->inline_retrieve, paths->inline_retrieve_fused);
    print_range(out, "larger submits", paths->submit_rma_from, paths->submit_rma_to);
    print_range(out, "larger retrieves", paths->retrieve_rma_from, paths->retrieve_rma_to);
}

static void print_exchange(FILE *out, const char *between, const struct exchange_paths *paths)
{
    fprintf(out, "exchange between devices %s: %s", between, exchange_way_name(paths->way));
    for (enum config_exchange way = EXCHANGE_PUT; way < EXCHANGE_WAYS; way++)
        if (paths->us[way] > 0)
            fprintf(out, "; %s %.0f us", exchange_way_name(way), paths->us[way]);
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
    fprintf(out, "one-sided component: %s\n", runtime->world.component);
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
