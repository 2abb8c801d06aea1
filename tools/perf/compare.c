/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compare.c: each new result looks for the old one of the same operation, path, size and workers.
 */
#include "tools/perf/compare.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "tools/perf/results.h"

/* The whole file; NULL: errno says why. */
static char *file_read(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL, part[4096];
    size_t bytes = 0, got;
    FILE *all = file ? open_memstream(&text, &bytes) : NULL;
    bool right = false;
    if (file && all) {
        while ((got = fread(part, 1, sizeof(part), file)) > 0)
            fwrite(part, 1, got, all);
        right = !ferror(file);
    }
    int code = errno;
    if (all)
        fclose(all);
    if (file)
        fclose(file);
    if (right)
        return text;
    free(text);
    errno = code;
    return NULL;
}

static omprma_status_t results_read(const char *path, cJSON **root)
{
    char *text = file_read(path);
    if (!text)
        return error_set(OMPRMA_ERR_CONFIG, "--compare: cannot read %s: %s", path, strerror(errno));
    *root = cJSON_Parse(text);
    free(text);
    if (cJSON_IsArray(cJSON_GetObjectItem(*root, "results")))
        return OMPRMA_OK;
    cJSON_Delete(*root);
    *root = NULL;
    return error_set(OMPRMA_ERR_CONFIG, "--compare: %s is no file that omprma-perf --json has made",
                     path);
}

static bool same(const cJSON *one, const cJSON *other, const char *name)
{
    return cJSON_Compare(cJSON_GetObjectItem(one, name), cJSON_GetObjectItem(other, name), true);
}

static double median(const cJSON *result)
{
    const cJSON *value = cJSON_GetObjectItem(result, "us_median");
    return cJSON_IsNumber(value) ? value->valuedouble : 0;
}

/* The result of the same thing; NULL: there is none that has a time. */
static const cJSON *counterpart(const cJSON *results, const cJSON *wanted)
{
    static const char *const names[] = {"op", "path", "bytes", "workers"};
    const cJSON *each;
    cJSON_ArrayForEach(each, results)
    {
        bool equal = median(each) > 0;
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
            equal = equal && same(each, wanted, names[i]);
        if (equal)
            return each;
    }
    return NULL;
}

static const char *words_of(const cJSON *result, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(result, name));
    return text ? text : "";
}

static void line_print(const cJSON *old, const cJSON *new)
{
    const cJSON *bytes = cJSON_GetObjectItem(new, "bytes");
    const cJSON *workers = cJSON_GetObjectItem(new, "workers");
    double ratio = median(new) / median(old);
    printf("%-9s %-15s %9.0f %7.0f %10.3f %10.3f %6.2f%s\n", words_of(new, "op"),
           words_of(new, "path"), cJSON_IsNumber(bytes) ? bytes->valuedouble : 0,
           cJSON_IsNumber(workers) ? workers->valuedouble : 0, median(old), median(new), ratio,
           ratio > RESULTS_DIFFER       ? "  slower"
           : ratio < 1 / RESULTS_DIFFER ? "  faster"
                                        : "");
}

omprma_status_t compare_print(const char *old_path, const char *new_path)
{
    cJSON *old = NULL, *new = NULL;
    const cJSON *each;
    int all = 0, faster = 0, slower = 0;
    omprma_status_t status = results_read(old_path, &old);
    if (status == OMPRMA_OK)
        status = results_read(new_path, &new);
    if (status != OMPRMA_OK)
        goto done;
    cJSON_ArrayForEach(each, cJSON_GetObjectItem(new, "results"))
    {
        const cJSON *before = counterpart(cJSON_GetObjectItem(old, "results"), each);
        if (!before || !(median(each) > 0))
            continue;
        if (all++ == 0)
            printf("%-9s %-15s %9s %7s %10s %10s %6s\n", "op", "path", "bytes", "workers", "old us",
                   "new us", "ratio");
        line_print(before, each);
        slower += median(each) > RESULTS_DIFFER * median(before);
        faster += median(before) > RESULTS_DIFFER * median(each);
    }
    if (all == 0)
        status = error_set(OMPRMA_ERR_CONFIG, "--compare: %s and %s have no operation in common",
                           old_path, new_path);
    else
        printf("%d compared: %d faster and %d slower by more than 10 %%\n", all, faster, slower);
    if (status == OMPRMA_OK &&
        !same(cJSON_GetObjectItem(old, "machine"), cJSON_GetObjectItem(new, "machine"), "cpu"))
        printf("They are of different processors: %s, %s\n",
               words_of(cJSON_GetObjectItem(old, "machine"), "cpu"),
               words_of(cJSON_GetObjectItem(new, "machine"), "cpu"));
done:
    cJSON_Delete(old);
    cJSON_Delete(new);
    return status;
}
