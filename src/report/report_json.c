/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* report_json.c: numbers have their unit in their name, and are not rounded for people. */
#include "report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/outfile.h"
#include "report/regions.h"

static void print_text(FILE *out, const char *name, const char *text)
{
    fprintf(out, "\"%s\":\"", name);
    outfile_text(out, text);
    fputc('"', out);
}

static void print_region(const struct recording *recording, const struct recorded_region *region,
                         FILE *out)
{
    char name[REGION_NAME_BYTES];
    const char *symbol = recording_words(recording, region->name);

    fputc('{', out);
    print_text(out, "region", region_row_name(recording, region, name));
    if (region->name && strcmp(symbol, "data") != 0) {
        fputc(',', out);
        print_text(out, "kernel", symbol);
        fputc(',', out);
        print_text(out, "source", symbol + strlen(symbol) + 1);
    }
    if (region->device != UINT32_MAX)
        fprintf(out, ",\"device\":%" PRIu32, region->device);
    fprintf(out,
            ",\"count\":%" PRIu64 ",\"failed\":%" PRIu64 ",\"not_ended\":%" PRIu64
            ",\"total_us\":%.3f,\"mean_us\":%.3f,\"max_us\":%.3f,\"bytes_to\":%" PRIu64
            ",\"bytes_back\":%" PRIu64 ",\"waited_us\":%.3f}",
            region->count, region->failed, region->unended, (double)region->total_ns / 1e3,
            (double)region->total_ns / 1e3 / (double)region->count, (double)region->most_ns / 1e3,
            region->to, region->back, (double)region->waited_ns / 1e3);
}

static void print_device(const struct recording *recording, int number, FILE *out)
{
    const struct recorded_device *device = &recording->device[number];
    const char *before = "";

    fprintf(out, "{\"device\":%d,", number);
    print_text(out, "host", recording_words(recording, device->host));
    fprintf(out, ",\"lost\":%s,\"launches\":%" PRIu64 ",\"paths\":[",
            device->lost ? "true" : "false", device->stats.launches);
    for (int kind = 0; kind < RECORDING_KINDS; kind++)
        for (int path = 0; path < RECORDING_PATHS; path++) {
            const struct stats_cell *cell = &device->stats.cell[kind][path];

            if (!cell->operations)
                continue;
            fprintf(out,
                    "%s{\"op\":\"%s\",\"path\":\"%s\",\"operations\":%" PRIu64 ",\"bytes\":%" PRIu64
                    ",\"total_us\":%.3f}",
                    before, recording_words(recording, recording->kind[kind]),
                    recording_words(recording, recording->path[kind][path]), cell->operations,
                    cell->bytes, (double)cell->ns / 1e3);
            before = ",";
        }
    fprintf(out, "]}");
}

void report_json(const struct recording *recording, FILE *out)
{
    uint32_t count;
    const struct recorded_region **regions = region_rows(recording, &count);

    fputc('{', out);
    print_text(out, "omprma", OMPRMA_VERSION_STRING);
    fputc(',', out);
    print_text(out, "program", recording_words(recording, recording->program));
    fputc(',', out);
    print_text(out, "data_path", recording_words(recording, recording->choice));
    fprintf(out, ",\"ended_in_order\":%s,\"run_us\":%.3f,\"start_up_us\":%.3f,\n\"regions\":[",
            recording->cut ? "false" : "true",
            (double)(recording->end_ns - recording->launch_ns) / 1e3,
            (double)(recording->origin_ns - recording->launch_ns) / 1e3);
    for (uint32_t i = 0; i < count && regions; i++) {
        fprintf(out, "%s\n", i ? "," : "");
        print_region(recording, regions[i], out);
    }
    fprintf(out, "],\n\"devices\":[");
    for (int i = 0; i < recording->device_count; i++) {
        fprintf(out, "%s\n", i ? "," : "");
        print_device(recording, i, out);
    }
    fprintf(out, "]}\n");
    free(regions);
}
