/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * report.c: first what the program asked for, by its own lines; then how that was done; then the
 * rest, for who asks for it.
 */
#include "report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/units.h"
#include "report/outfile.h"
#include "report/regions.h"
#include "report/timeline.h"

enum { REGIONS_SHOWN = 20 };

bool report_is_wanted(const struct config *config)
{
    return config->stats || config->stats_file[0] || config->trace[0];
}

omprma_status_t report_try(const struct config *config)
{
    omprma_status_t status = OMPRMA_OK;

    if (config->trace[0])
        status = outfile_try("OMPRMA_TRACE", config->trace);
    if (config->stats_file[0] && status == OMPRMA_OK)
        status = outfile_try("OMPRMA_STATS_FILE", config->stats_file);
    return status;
}

/* ---- tables ---- */

static double seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

static double share(const struct recording *recording, int64_t ns)
{
    int64_t run = recording->end_ns - recording->launch_ns;

    return run > 0 ? 100 * (double)ns / (double)run : 0;
}

static void print_run(const struct recording *recording, FILE *out)
{
    int64_t waited = 0;

    for (uint32_t i = 0; i < RECORDING_ROWS; i++)
        waited += recording->row[i].waited_ns;
    fprintf(out,
            "omprma: %srun: %.3f s, start-up %.3f s, waited for devices %.3f s (%.0f %% of the "
            "run)%s\n",
            recording->who, seconds(recording->end_ns - recording->launch_ns),
            seconds(recording->origin_ns - recording->launch_ns), seconds(waited),
            share(recording, waited), recording->cut ? "; it did not end in order" : "");
}

static void print_region(const struct recording *recording, const struct recorded_region *region,
                         FILE *out)
{
    char name[REGION_NAME_BYTES], to[32], back[32], device[16] = "all";

    if (region->device != UINT32_MAX)
        snprintf(device, sizeof(device), "%" PRIu32, region->device);
    fprintf(out, "omprma:   %-20s %6s %8" PRIu64 " %9.1f %9.1f %9.0f %9s %9s %6.1f %9.1f",
            region_row_name(recording, region, name), device, region->count,
            (double)region->total_ns / 1e6, (double)region->total_ns / 1e3 / (double)region->count,
            (double)region->most_ns / 1e3, units_bytes((double)region->to, to, sizeof(to)),
            units_bytes((double)region->back, back, sizeof(back)),
            share(recording, region->total_ns), (double)region->waited_ns / 1e6);
    if (region->failed)
        fprintf(out, "  failed %" PRIu64, region->failed);
    if (region->unended)
        fprintf(out, "  not ended %" PRIu64, region->unended);
    fputc('\n', out);
}

static void print_regions(const struct recording *recording, bool all, FILE *out)
{
    uint32_t count, shown;
    const struct recorded_region **regions = region_rows(recording, &count);

    if (!regions || !count)
        fprintf(out, "omprma: no regions\n");
    else
        fprintf(out, "omprma:   %-20s %6s %8s %9s %9s %9s %9s %9s %6s %9s\n", "region", "device",
                "count", "total ms", "mean us", "max us", "to device", "back", "run %",
                "waited ms");
    shown = all || count <= REGIONS_SHOWN ? count : REGIONS_SHOWN;
    for (uint32_t i = 0; i < shown && regions; i++)
        print_region(recording, regions[i], out);
    if (shown < count)
        fprintf(out, "omprma:   and %" PRIu32 " more, with -v\n", count - shown);
    free(regions);
}

static void print_cell(const char *kind, const char *path, const struct stats_cell *cell, FILE *out)
{
    char bytes[32];

    fprintf(out, "omprma:   %-9s %-11s %10" PRIu64 " operations %12s", kind, path, cell->operations,
            units_bytes((double)cell->bytes, bytes, sizeof(bytes)));
    if (cell->ns > 0)
        fprintf(out, " %10.3f ms %8.2f GB/s", (double)cell->ns / 1e6,
                (double)cell->bytes / (double)cell->ns);
    fputc('\n', out);
}

static void print_device(const struct recording *recording, int number, FILE *out)
{
    const struct recorded_device *device = &recording->device[number];

    fprintf(out, "omprma: %s%s: launches %" PRIu64 "\n", recording_words(recording, device->name),
            device->lost ? " (lost)" : "", device->stats.launches);
    for (int kind = 0; kind < RECORDING_KINDS; kind++)
        for (int path = 0; path < RECORDING_PATHS; path++)
            if (device->stats.cell[kind][path].operations)
                print_cell(recording_words(recording, recording->kind[kind]),
                           recording_words(recording, recording->path[kind][path]),
                           &device->stats.cell[kind][path], out);
}

static void print_lost(const struct recording *recording, FILE *out)
{
    int lost = 0;

    for (int i = 0; i < recording->device_count; i++)
        lost += recording->device[i].lost;
    if (lost)
        fprintf(out, "omprma: lost: %d of %d devices\n", lost, recording->device_count);
}

void report_print(const struct recording *recording, bool all, FILE *out)
{
    print_run(recording, out);
    print_regions(recording, all, out);
    for (int i = 0; i < recording->device_count; i++)
        print_device(recording, i, out);
    print_lost(recording, out);
    if (all)
        fputs(recording->details, out);
    fflush(out);
}

/* ---- all ---- */

static omprma_status_t write_json(const struct recording *recording, const char *path)
{
    static const char what[] = "OMPRMA_STATS_FILE";
    struct outfile out;
    omprma_status_t status = outfile_open(&out, what, path);

    if (status != OMPRMA_OK)
        return status;
    report_json(recording, out.file);
    return outfile_close(&out, what);
}

static omprma_status_t said(omprma_status_t status)
{
    if (status != OMPRMA_OK)
        log_write(LOG_ERROR, "%s", error_text());
    return status;
}

omprma_status_t report_all(const struct recording *recording, const struct config *config)
{
    omprma_status_t file = OMPRMA_OK, trace = OMPRMA_OK;

    if (config->stats)
        report_print(recording, config->verbose > 0, stderr);
    if (config->stats_file[0])
        file = said(write_json(recording, config->stats_file));
    if (config->trace[0])
        trace = said(timeline_write(recording, config->trace));
    return trace != OMPRMA_OK ? trace : file;
}
