/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* results.c: statistics, table and JSON. See results.h. */
#include "tools/perf/results.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/progress_line.h"
#include "base/table.h"

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The value that a share of the sorted samples does not exceed. */
static double percentile(const double *us, int samples, double share)
{
    int at = (int)(share * samples);
    return us[at < samples ? at : samples - 1];
}

/* Puts them into order. */
static double median_of(double *us, int samples)
{
    qsort(us, (size_t)samples, sizeof(*us), by_value);
    return samples % 2 ? us[samples / 2] : (us[samples / 2 - 1] + us[samples / 2]) / 2;
}

void results_add(struct results *results, struct result *result, double *us, int samples)
{
    int part = samples / RESULT_PARTS;
    for (int i = 0; part > 0 && i < RESULT_PARTS; i++)
        result->us_part[i] = median_of(us + i * part, part);
    result->us_median = median_of(us, samples);
    result->us_min = us[0];
    result->us_p99 = percentile(us, samples, 0.99);
    struct result *items = realloc(results->items, (results->count + 1) * sizeof(*results->items));
    if (!items) {
        log_write(LOG_ERROR, "no memory for results");
        exit(1);
    }
    results->items = items;
    results->items[results->count++] = *result;
}

const char *size_words(uint64_t bytes, char text[SIZE_WORDS_BYTES])
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
    size_t unit = 0;
    while (unit < 3 && bytes >= 1024 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    snprintf(text, SIZE_WORDS_BYTES, "%llu %s", (unsigned long long)bytes, units[unit]);
    return text;
}

double result_gbps(const struct result *result)
{
    bool moves = perf_op_moves(result->op);
    return moves && result->us_median > 0 ? (double)result->bytes / result->us_median / 1e3 : 0;
}

double result_share(const struct result *r)
{
    double slower = r->us_raw > r->us_direct ? r->us_raw : r->us_direct;
    return perf_op_moves(r->op) && r->us_raw > 0 && r->us_direct > 0 ? slower / r->us_median : 0;
}

double result_more(const struct result *r)
{
    bool measured = !perf_op_moves(r->op) && r->us_raw > 0 && r->us_direct > 0;
    return measured ? (r->us_median - r->us_direct) / r->us_raw : 0;
}

void result_remark(const struct result *r, char text[REMARK_BYTES])
{
    *text = 0;
    if (result_share(r) > 0)
        snprintf(text, REMARK_BYTES, "%.2f of the slower of raw and direct", result_share(r));
    else if (r->us_raw > 0 && r->us_direct > 0)
        snprintf(text, REMARK_BYTES, "%+.2f ping-pongs beside direct", result_more(r));
    if (r->op == OP_TURNS)
        snprintf(text, REMARK_BYTES, "mean %.3f us", r->us_mean);
    if (r->op == OP_MAPS)
        snprintf(text, REMARK_BYTES, "with up to %d mapped", r->live);
    if (r->op == OP_IDLE)
        snprintf(text, REMARK_BYTES, "device %d: %.1f MiB, %.2f %% of a core while idle", r->device,
                 (double)r->memory_bytes / (1 << 20), 100 * r->cpu_share);
    if (r->op == OP_SETTLE)
        snprintf(text, REMARK_BYTES, "%s by %s, later %s", perf_op_names[r->direction],
                 paths_names[r->chosen], paths_names[r->settled]);
    if (r->op == OP_WAYS)
        snprintf(text, REMARK_BYTES, "%s: inline %.2f, rma %.2f, two-sided %.2f us",
                 perf_op_names[r->direction], r->us[PATH_INLINE], r->us[PATH_RMA],
                 r->us[PATH_TWO_SIDED]);
}

void results_clear(struct results *results)
{
    free(results->command);
    free(results->places);
    free(results->items);
    *results = (struct results){0};
}

/* ---- table --------------------------------------------------------------------------------- */

static const struct table_column columns[] = {
    {"op", 9, true, 0},          {"path", 15, true, 0},    {"bytes", 10, false, 0},
    {"workers", 7, false, 4},    {"reps", 7, false, 3},    {"us min", 11, false, 2},
    {"us median", 11, false, 0}, {"us p99", 11, false, 1}, {"GB/s", 9, false, 0},
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]), CELL_BYTES = 32 };

void results_print(const struct results *results, size_t number)
{
    const struct result *r = &results->items[number];
    char cells[COLUMNS][CELL_BYTES] = {""}, remark[REMARK_BYTES];
    const char *row[COLUMNS] = {perf_op_names[r->op], perf_path_names[r->path]};
    struct table table;
    table_open(&table, stdout, "", columns, COLUMNS, table_terminal_width(STDOUT_FILENO));
    progress_line_clear();
    if (number == 0)
        table_print_titles(&table);
    snprintf(cells[2], CELL_BYTES, "%llu", (unsigned long long)r->bytes);
    snprintf(cells[3], CELL_BYTES, "%d", r->workers);
    snprintf(cells[4], CELL_BYTES, "%d", r->reps);
    snprintf(cells[5], CELL_BYTES, "%.3f", r->us_min);
    snprintf(cells[6], CELL_BYTES, "%.3f", r->us_median);
    snprintf(cells[7], CELL_BYTES, "%.3f", r->us_p99);
    if (result_gbps(r) > 0)
        snprintf(cells[8], CELL_BYTES, "%.4g", result_gbps(r));
    for (int i = 2; i < COLUMNS; i++)
        row[i] = cells[i];
    result_remark(r, remark);
    table_print_row(&table, row, remark);
    fflush(stdout);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

/* As short as the measurement is exact. */
static void add_number(cJSON *object, const char *name, double value, int digits)
{
    char text[64];
    snprintf(text, sizeof(text), "%.*f", digits, value);
    cJSON_AddRawToObject(object, name, text);
}

static cJSON *machine_json(const struct machine *machine)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "cpu", machine->cpu);
    cJSON_AddNumberToObject(object, "cores", machine->cores);
    cJSON_AddStringToObject(object, "kernel", machine->kernel);
    cJSON_AddStringToObject(object, "mpi", machine->mpi);
    cJSON_AddStringToObject(object, "osc", machine->osc);
    cJSON_AddStringToObject(object, "omprma", OMPRMA_VERSION_STRING);
    cJSON_AddStringToObject(object, "date", machine->date);
    return object;
}

static cJSON *result_json(const struct result *r)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "op", perf_op_names[r->op]);
    cJSON_AddStringToObject(object, "path", perf_path_names[r->path]);
    cJSON_AddNumberToObject(object, "bytes", (double)r->bytes);
    cJSON_AddNumberToObject(object, "workers", r->workers);
    cJSON_AddNumberToObject(object, "reps", r->reps);
    add_number(object, "us_min", r->us_min, 4);
    add_number(object, "us_median", r->us_median, 4);
    add_number(object, "us_p99", r->us_p99, 4);
    add_number(object, "gbps", result_gbps(r), 6);
    if (r->us_direct > 0)
        add_number(object, "us_direct", r->us_direct, 4);
    if (r->us_raw > 0 && r->us_direct > 0 && perf_op_moves(r->op))
        add_number(object, "of_slower", result_share(r), 4);
    else if (r->us_raw > 0 && r->us_direct > 0)
        add_number(object, "ping_pongs_more", result_more(r), 4);
    if (r->op == OP_TURNS)
        add_number(object, "us_mean", r->us_mean, 4);
    if (r->op == OP_MAPS)
        cJSON_AddNumberToObject(object, "live", r->live);
    if (r->op == OP_SETTLE || r->op == OP_WAYS)
        cJSON_AddStringToObject(object, "direction", perf_op_names[r->direction]);
    if (r->op == OP_SETTLE) {
        cJSON_AddStringToObject(object, "chosen", paths_names[r->chosen]);
        cJSON_AddStringToObject(object, "settled", paths_names[r->settled]);
        cJSON_AddNumberToObject(object, "revisions", r->revisions);
    }
    for (enum path path = PATH_INLINE; path < PATH_APPLICATION; path++)
        if (r->us[path] > 0)
            add_number(object, paths_names[path], r->us[path], 4);
    if (r->op == OP_IDLE) {
        cJSON_AddNumberToObject(object, "device", r->device);
        add_number(object, "cpu_share", r->cpu_share, 5);
        cJSON_AddNumberToObject(object, "memory_bytes", (double)r->memory_bytes);
    }
    return object;
}

omprma_status_t results_write_json(const struct results *results, const char *path)
{
    cJSON *root = cJSON_CreateObject(), *list;
    cJSON_AddItemToObject(root, "machine", machine_json(&results->machine));
    list = cJSON_AddArrayToObject(root, "results");
    for (size_t i = 0; i < results->count; i++)
        cJSON_AddItemToArray(list, result_json(&results->items[i]));
    char *text = cJSON_Print(root);
    cJSON_Delete(root);
    if (!text)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for the JSON text");
    FILE *file = fopen(path, "w");
    bool written = file && fprintf(file, "%s\n", text) > 0;
    if (file && fclose(file) != 0)
        written = false;
    free(text);
    if (!written)
        return error_set(OMPRMA_ERR_CONFIG, "--json %s: %s", path, strerror(errno));
    return OMPRMA_OK;
}
