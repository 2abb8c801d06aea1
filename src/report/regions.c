/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* regions.c: of a file's path the last part is enough, as for a compiler's own messages. */
#include "report/regions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/kernel_name.h"

const char *region_name(const char *symbol, const char *source, char text[REGION_NAME_BYTES])
{
    const char *slash = strrchr(source, '/');
    char words[KERNEL_NAME_WORDS];
    struct kernel_name name;

    if (!kernel_name_split(symbol, &name))
        snprintf(text, REGION_NAME_BYTES, "%s", kernel_name_words(symbol, words));
    else if (*source)
        snprintf(text, REGION_NAME_BYTES, "%s:%d", slash ? slash + 1 : source, name.line);
    else if (name.bytes <= KERNEL_NAME_SHOWN)
        snprintf(text, REGION_NAME_BYTES, "%.*s:%d", (int)name.bytes, name.function, name.line);
    else
        snprintf(text, REGION_NAME_BYTES, "%s", kernel_name_words(symbol, words));
    return text;
}

/* A kernel's source stands behind its name. */
const char *region_row_name(const struct recording *recording, const struct recorded_region *region,
                            char text[REGION_NAME_BYTES])
{
    const char *name = recording_words(recording, region->name);

    if (!region->name)
        return strcpy(text, "all others");
    if (strcmp(name, "data") == 0)
        return strcpy(text, "data only");
    return region_name(name, name + strlen(name) + 1, text);
}

static int compare_regions(const void *a, const void *b)
{
    const struct recorded_region *x = *(const struct recorded_region *const *)a;
    const struct recorded_region *y = *(const struct recorded_region *const *)b;

    if (x->total_ns != y->total_ns)
        return x->total_ns > y->total_ns ? -1 : 1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

const struct recorded_region **region_rows(const struct recording *recording, uint32_t *count)
{
    const struct recorded_region **regions = calloc(RECORDING_ROWS, sizeof(*regions));

    *count = 0;
    for (uint32_t i = 0; i < RECORDING_ROWS && regions; i++)
        if (recording->row[i].count)
            regions[(*count)++] = &recording->row[i];
    if (regions)
        qsort(regions, *count, sizeof(*regions), compare_regions);
    return regions;
}
