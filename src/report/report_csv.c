/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* report_csv.c: for spreadsheets and scripts; columns are called as in the JSON. */
#include "report/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/regions.h"

/* A quote in it is written twice. */
static void print_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputs("\",", out);
}

static void print_region(const struct recording *recording, const struct recorded_region *region,
                         FILE *out)
{
    char name[REGION_NAME_BYTES];
    const char *symbol = recording_words(recording, region->name);
    bool kernel = region->name && strcmp(symbol, "data") != 0;
    const int64_t times[] = {region->total_ns,  region->first_ns,  recording_median(region),
                             region->most_ns,   region->kernel_ns, region->data_ns,
                             region->waited_ns, region->covered_ns};

    print_text(out, region_row_name(recording, region, name));
    print_text(out, kernel ? symbol : "");
    print_text(out, kernel ? symbol + strlen(symbol) + 1 : "");
    if (region->device != UINT32_MAX)
        fprintf(out, "%" PRIu32, region->device);
    fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64, region->count, region->failed,
            region->unended);
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        fprintf(out, ",%.3f", (double)times[i] / 1e3);
    fprintf(out, ",%" PRIu64 ",%" PRIu64 "\n", region->to, region->back);
}

void report_csv(const struct recording *recording, FILE *out)
{
    uint32_t count;
    const struct recorded_region **regions = region_rows(recording, &count);

    fputs("region,kernel,source,device,count,failed,not_ended,total_us,first_us,median_us,max_us,"
          "kernel_us,data_us,waited_us,under_way_us,bytes_to,bytes_back\n",
          out);
    for (uint32_t i = 0; i < count && regions; i++)
        print_region(recording, regions[i], out);
    free(regions);
}
