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

static double us(int64_t ns)
{
    return (double)ns / 1e3;
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
            ",\"total_us\":%.3f,\"mean_us\":%.3f,\"first_us\":%.3f,\"median_us\":%.3f,"
            "\"max_us\":%.3f,\"bytes_to\":%" PRIu64 ",\"bytes_back\":%" PRIu64
            ",\"kernel_us\":%.3f,\"data_us\":%.3f,\"waited_us\":%.3f,\"under_way_us\":%.3f}",
            region->count, region->failed, region->unended, us(region->total_ns),
            us(region->total_ns) / (double)region->count, us(region->first_ns),
            us(recording_median(region)), us(region->most_ns), region->to, region->back,
            us(region->kernel_ns), us(region->data_ns), us(region->waited_ns),
            us(region->covered_ns));
}

static void print_device(const struct recording *recording, int number, FILE *out)
{
    const struct recorded_device *device = &recording->device[number];
    const char *before = "";

    fprintf(out, "{\"device\":%d,", number);
    print_text(out, "host", recording_words(recording, device->host));
    fprintf(out,
            ",\"lost\":%s,\"launches\":%" PRIu64 ",\"kernel_us\":%.3f,\"received\":%" PRIu64
            ",\"received_bytes\":%" PRIu64 ",\"paths\":[",
            device->lost ? "true" : "false", device->stats.launches, us(device->kernel_ns),
            device->given.operations, device->given.bytes);
    for (int kind = 0; kind < RECORDING_KINDS; kind++)
        for (int path = 0; path < RECORDING_PATHS; path++) {
            const struct stats_cell *cell = &device->stats.cell[kind][path];

            if (!cell->operations)
                continue;
            fprintf(out,
                    "%s{\"op\":\"%s\",\"path\":\"%s\",\"operations\":%" PRIu64 ",\"bytes\":%" PRIu64
                    ",\"total_us\":%.3f,\"timed_bytes\":%" PRIu64 "}",
                    before, recording_words(recording, recording->kind[kind]),
                    recording_words(recording, recording->path[kind][path]), cell->operations,
                    cell->bytes, (double)cell->ns / 1e3, cell->timed_bytes);
            before = ",";
        }
    fprintf(out, "]}");
}

static void print_chain(const struct chain *chain, FILE *out)
{
    fprintf(out,
            "\"critical_path\":{\"kernels_us\":%.3f,\"kernels\":%" PRIu64
            ",\"data_us\":%.3f,\"program_us\":%.3f,\"messages_us\":%.3f},\n",
            us(chain->ns[CHAIN_KERNELS]), chain->kernels, us(chain->ns[CHAIN_DATA]),
            us(chain->ns[CHAIN_PROGRAM]), us(chain->ns[CHAIN_MESSAGES]));
}

static void print_graph(const struct recorded_graph *graph, FILE *out)
{
    fprintf(out,
            "\"placed\":{\"regions\":%" PRIu64 ",\"longest_chain\":%" PRIu64
            ",\"least_bytes\":%" PRIu64 "}",
            graph->regions, graph->longest, graph->least_bytes);
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
    fprintf(out,
            ",\"ended_in_order\":%s,\"run_us\":%.3f,\"start_up_us\":%.3f,\"repeated\":%" PRIu64
            ",\n\"regions\":[",
            recording->cut ? "false" : "true",
            (double)(recording->end_ns - recording->launch_ns) / 1e3,
            (double)(recording->origin_ns - recording->launch_ns) / 1e3, recording->repeated);
    for (uint32_t i = 0; i < count && regions; i++) {
        fprintf(out, "%s\n", i ? "," : "");
        print_region(recording, regions[i], out);
    }
    fprintf(out, "],\n\"devices\":[");
    for (int i = 0; i < recording->device_count; i++) {
        fprintf(out, "%s\n", i ? "," : "");
        print_device(recording, i, out);
    }
    fputs("],\n", out);
    print_chain(&recording->chain, out);
    print_graph(&recording->graph, out);
    fprintf(out, "}\n");
    free(regions);
}
