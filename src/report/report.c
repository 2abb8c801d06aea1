/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * report.c: first what the program asked for, by its own lines; then how that was done; then the
 * rest, for who asks for it.
 */
#include "report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "base/table.h"
#include "base/units.h"
#include "report/advice.h"
#include "report/outfile.h"
#include "report/regions.h"
#include "report/timeline.h"

enum { REGIONS_SHOWN = 20, CELL_BYTES = 32, ENDS_BYTES = 96 };

bool report_is_wanted(const struct config *config)
{
    return config->stats || config->stats_file[0] || config->trace[0];
}

omprma_status_t report_try(const struct config *config)
{
    omprma_status_t status = OMPRMA_OK;

    if (config->trace[0])
        status = outfile_try(config_known_as("OMPRMA_TRACE"), config->trace);
    if (config->stats_file[0] && status == OMPRMA_OK)
        status = outfile_try(config_known_as("OMPRMA_STATS_FILE"), config->stats_file);
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
    char part[CELL_BYTES] = "all threads";

    for (uint32_t i = 0; i < RECORDING_ROWS; i++)
        waited += recording->row[i].waited_ns;
    if (share(recording, waited) <= 100)
        snprintf(part, sizeof(part), "%.0f %% of the run", share(recording, waited));
    fprintf(out, "omprma: %srun: %.3f s, start-up %.3f s, waited for devices %.3f s (%s)%s\n",
            recording->who, seconds(recording->end_ns - recording->launch_ns),
            seconds(recording->origin_ns - recording->launch_ns), seconds(waited), part,
            recording->cut ? "; the run was interrupted" : "");
}

static const struct table_column region_columns[] = {
    {"region", 20, true, 0},    {"device", 6, false, 3},    {"count", 7, false, 1},
    {"total ms", 9, false, 0},  {"kernel ms", 9, false, 2}, {"data ms", 8, false, 2},
    {"waited ms", 9, false, 4}, {"first us", 9, false, 8},  {"median us", 9, false, 7},
    {"max us", 9, false, 9},    {"to device", 9, false, 5}, {"back", 9, false, 6},
    {"run %", 6, false, 10},
};
enum { REGION_COLUMNS = sizeof(region_columns) / sizeof(region_columns[0]) };

/* What is not as it should be. */
static void print_ends(const struct recorded_region *region, char text[ENDS_BYTES])
{
    int used = 0;

    *text = 0;
    if (region->failed)
        used = snprintf(text, ENDS_BYTES, "failed %" PRIu64, region->failed);
    if (region->unended)
        snprintf(text + used, ENDS_BYTES - (size_t)used, "%snot ended %" PRIu64, used ? "  " : "",
                 region->unended);
}

static void print_region(const struct recording *recording, const struct recorded_region *region,
                         const struct table *table)
{
    char name[REGION_NAME_BYTES], cells[REGION_COLUMNS][CELL_BYTES] = {"", "all"}, ends[ENDS_BYTES];
    const char *row[REGION_COLUMNS] = {region_row_name(recording, region, name)};
    int next = 1;

    if (region->device != UINT32_MAX)
        snprintf(cells[next], CELL_BYTES, "%" PRIu32, region->device);
    snprintf(cells[++next], CELL_BYTES, "%" PRIu64, region->count);
    snprintf(cells[++next], CELL_BYTES, "%.1f", (double)region->total_ns / 1e6);
    snprintf(cells[++next], CELL_BYTES, "%.1f", (double)region->kernel_ns / 1e6);
    snprintf(cells[++next], CELL_BYTES, "%.1f", (double)region->data_ns / 1e6);
    snprintf(cells[++next], CELL_BYTES, "%.1f", (double)region->waited_ns / 1e6);
    snprintf(cells[++next], CELL_BYTES, "%.1f", (double)region->first_ns / 1e3);
    snprintf(cells[++next], CELL_BYTES, "%.1f", (double)recording_median(region) / 1e3);
    snprintf(cells[++next], CELL_BYTES, "%.0f", (double)region->most_ns / 1e3);
    units_bytes((double)region->to, cells[++next], CELL_BYTES);
    units_bytes((double)region->back, cells[++next], CELL_BYTES);
    snprintf(cells[++next], CELL_BYTES, "%.1f", share(recording, region->covered_ns));
    for (int i = 1; i < REGION_COLUMNS; i++)
        row[i] = cells[i];
    print_ends(region, ends);
    table_print_row(table, row, ends);
}

static void print_regions(const struct recording *recording, bool all, FILE *out)
{
    uint32_t count, shown;
    const struct recorded_region **regions = region_rows(recording, &count);
    struct table table;

    table_open(&table, out, "omprma:   ", region_columns, REGION_COLUMNS,
               table_terminal_width(fileno(out)));
    if (!regions || !count)
        fprintf(out, "omprma: no regions\n");
    else
        table_print_titles(&table);
    shown = all || count <= REGIONS_SHOWN ? count : REGIONS_SHOWN;
    for (uint32_t i = 0; i < shown && regions; i++)
        print_region(recording, regions[i], &table);
    if (shown < count)
        fprintf(out, "omprma:   and %" PRIu32 " more, with -v\n", count - shown);
    free(regions);
}

/* Without titles: each cell says what it is. */
static const struct table_column cell_columns[] = {{"", 9, true, 0},   {"", 10, true, 0},
                                                   {"", 13, false, 0}, {"", 9, false, 0},
                                                   {"", 13, false, 2}, {"", 10, false, 1}};
enum { CELL_COLUMNS = sizeof(cell_columns) / sizeof(cell_columns[0]) };

static void print_cell(const char *kind, const char *path, const struct stats_cell *cell,
                       const struct table *table)
{
    char times[CELL_BYTES], bytes[CELL_BYTES], ms[CELL_BYTES] = "", rate[CELL_BYTES] = "",
                                               untimed[CELL_BYTES], behind[2 * CELL_BYTES] = "";
    const char *row[CELL_COLUMNS] = {kind, path, times, bytes, ms, rate};

    snprintf(times, sizeof(times), "%" PRIu64 " times", cell->operations);
    units_bytes((double)cell->bytes, bytes, sizeof(bytes));
    if (cell->ns > 0) {
        snprintf(ms, sizeof(ms), "%.3f ms", (double)cell->ns / 1e6);
        snprintf(rate, sizeof(rate), "%.2f GB/s", (double)cell->timed_bytes / (double)cell->ns);
    }
    if (cell->ns > 0 && cell->timed_bytes < cell->bytes)
        snprintf(behind, sizeof(behind), "without %s behind kernels",
                 units_bytes((double)(cell->bytes - cell->timed_bytes), untimed, sizeof(untimed)));
    table_print_row(table, row, behind);
}

static void print_device(const struct recording *recording, int number, FILE *out)
{
    const struct recorded_device *device = &recording->device[number];
    struct table table;

    table_open(&table, out, "omprma:   ", cell_columns, CELL_COLUMNS,
               table_terminal_width(fileno(out)));
    fprintf(out, "omprma: %s%s: launches %" PRIu64 ", in kernels %.3f s\n",
            recording_words(recording, device->name), device->lost ? " (lost)" : "",
            device->stats.launches, seconds(device->kernel_ns));
    for (int kind = 0; kind < RECORDING_KINDS; kind++)
        for (int path = 0; path < RECORDING_PATHS; path++)
            if (device->stats.cell[kind][path].operations)
                print_cell(recording_words(recording, recording->kind[kind]),
                           recording_words(recording, recording->path[kind][path]),
                           &device->stats.cell[kind][path], &table);
    if (device->given.operations)
        print_cell("received", "", &device->given, &table);
}

static void print_chain(const struct recording *recording, FILE *out)
{
    const struct chain *chain = &recording->chain;
    uint64_t launches = 0;

    for (int i = 0; i < recording->device_count; i++)
        launches += recording->device[i].stats.launches;
    if (chain->end_ns && launches)
        fprintf(out,
                "omprma: critical path: kernels %.3f s (%" PRIu64 " of %" PRIu64
                "), data %.3f s, program %.3f s, messages %.3f s\n",
                seconds(chain->ns[CHAIN_KERNELS]), chain->kernels, launches,
                seconds(chain->ns[CHAIN_DATA]), seconds(chain->ns[CHAIN_PROGRAM]),
                seconds(chain->ns[CHAIN_MESSAGES]));
}

static void print_graph(const struct recording *recording, FILE *out)
{
    const struct recorded_graph *graph = &recording->graph;

    if (graph->regions)
        fprintf(out,
                "omprma: placed: %" PRIu64 " regions, of which at most %" PRIu64
                " depend on each other one after the other\n",
                graph->regions, graph->longest);
}

/* Each exchange once. */
static void print_between(const struct recording *recording, FILE *out)
{
    struct stats_cell all = {0};
    char bytes[CELL_BYTES], least[CELL_BYTES];

    for (int i = 0; i < recording->device_count; i++) {
        all.operations += recording->device[i].given.operations;
        all.bytes += recording->device[i].given.bytes;
    }
    if (all.operations)
        fprintf(out, "omprma: between devices: %" PRIu64 " times, %s", all.operations,
                units_bytes((double)all.bytes, bytes, sizeof(bytes)));
    if (all.operations && recording->graph.regions)
        fprintf(out, "; %s if each range stayed where a region wrote it first",
                units_bytes((double)recording->graph.least_bytes, least, sizeof(least)));
    if (all.operations)
        fputc('\n', out);
}

static void print_lost(const struct recording *recording, FILE *out)
{
    int lost = 0;

    for (int i = 0; i < recording->device_count; i++)
        lost += recording->device[i].lost;
    if (lost)
        fprintf(out, "omprma: lost: %d of %d devices", lost, recording->device_count);
    if (lost && recording->repeated)
        fprintf(out, "; %" PRIu64 " region%s done again", recording->repeated,
                recording->repeated == 1 ? " was" : "s were");
    if (lost)
        fputc('\n', out);
}

void report_print(const struct recording *recording, bool all, FILE *out)
{
    print_run(recording, out);
    print_regions(recording, all, out);
    for (int i = 0; i < recording->device_count; i++)
        print_device(recording, i, out);
    print_between(recording, out);
    print_graph(recording, out);
    print_chain(recording, out);
    print_lost(recording, out);
    advice_print(recording, out);
    if (all)
        fputs(recording->details, out);
    fflush(out);
}

/* ---- all ---- */

/* For a table of numbers, or for everything else. */
static bool is_csv(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot && strcmp(dot, ".csv") == 0;
}

static omprma_status_t write_stats(const struct recording *recording, const char *path)
{
    const char *what = config_known_as("OMPRMA_STATS_FILE");
    struct outfile out;
    omprma_status_t status = outfile_open(&out, what, path);

    if (status != OMPRMA_OK)
        return status;
    if (is_csv(path))
        report_csv(recording, out.file);
    else
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
        file = said(write_stats(recording, config->stats_file));
    if (config->trace[0])
        trace = said(timeline_write(recording, config->trace));
    return trace != OMPRMA_OK ? trace : file;
}
