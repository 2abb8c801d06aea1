/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* placed.c: gives the devices one memory, as the OpenMP runtime does, to see whether that can be.
 */
#include "tools/info/placed.h"

#include <stdio.h>
#include <string.h>

#include <omprma/omprma.h>
#include <omprma_private/common.h>

#include "base/error.h"
#include "base/log.h"

enum { DEVICES_MOST = 64 }; /* as placement has it */

/* Those that a construct can be placed on. */
static int devices_find(int *devices)
{
    int found = 0;
    for (int i = 0; i < omprma_device_count() && found < DEVICES_MOST; i++) {
        omprma_device_info_t info;
        if (omprma_device_info(i, &info) == OMPRMA_OK && info.native)
            devices[found++] = i;
    }
    return found;
}

static bool devices_join(const int *devices, int count)
{
    return omprma_device_count() <= DEVICES_MOST && count > 0 &&
           (count == 1 || omprma_memory_join(devices, count) == OMPRMA_OK);
}

/* What it takes to bring 1 MiB, at least and at most, of the pairs on one host or on two. */
struct range {
    double least, most;
    int pairs;
};

static void range_take(struct range *range, double us)
{
    if (range->pairs++ == 0 || us < range->least)
        range->least = us;
    if (us > range->most)
        range->most = us;
}

/* [0]: on one host. What was not measured is left out. */
static void ranges_find(const int *devices, int count, struct range ranges[2])
{
    for (int i = 0; i < count; i++)
        for (int k = 0; k < count; k++) {
            omprma_device_info_t from, to;
            omprma_exchange_cost_t cost = {0};
            if (i == k || omprma_device_info(devices[i], &from) != OMPRMA_OK ||
                omprma_device_info(devices[k], &to) != OMPRMA_OK ||
                omprma_exchange_cost(devices[i], devices[k], &cost) != OMPRMA_OK ||
                cost.us_per_mib <= 0)
                continue;
            range_take(&ranges[strcmp(from.host, to.host) != 0], cost.us_per_mib);
        }
}

static void print_ranges(const struct range ranges[2])
{
    static const char *const where[] = {"within a host", "between hosts"};
    printf("  to bring 1 MiB from one to another takes, as start-up has measured:");
    for (int i = 0; i < 2; i++)
        if (ranges[i].pairs)
            printf("%s %.0f to %.0f us %s", i && ranges[0].pairs ? "," : "", ranges[i].least,
                   ranges[i].most, where[i]);
    puts(ranges[0].pairs || ranges[1].pairs ? "" : " it had no time to");
}

static const char *word_of(const struct config *config)
{
    return config->placement == PLACEMENT_NAMED ? "named" : "auto";
}

bool placed_print(const struct config *config)
{
    int devices[DEVICES_MOST], count = devices_find(devices);
    struct range ranges[2] = {{0}};
    if (config->placement == PLACEMENT_PROGRAM)
        return true;
    if (!devices_join(devices, count)) {
        log_write(LOG_ERROR, "%s=%s: %s", config_known_as("OMPRMA_PLACEMENT"), word_of(config),
                  count > 0 && omprma_device_count() <= DEVICES_MOST
                      ? omprma_error()
                      : "it serves 1 to 64 workers that run code for this kind of machine");
        return false;
    }
    printf("\nplacement %s: a program sees one device, and its regions run on %d worker%s; memory "
           "has the same addresses on each\n",
           word_of(config), count, count == 1 ? "" : "s");
    ranges_find(devices, count, ranges);
    if (count > 1)
        print_ranges(ranges);
    return true;
}

void placed_add(const struct config *config, cJSON *root)
{
    int devices[DEVICES_MOST], count = devices_find(devices);
    static const char *const names[] = {"bring_us_per_mib_within_host",
                                        "bring_us_per_mib_between_hosts"};
    struct range ranges[2] = {{0}};
    if (config->placement == PLACEMENT_PROGRAM)
        return;
    cJSON *placed = cJSON_AddObjectToObject(root, "placement");
    cJSON_AddStringToObject(placed, "kind", word_of(config));
    cJSON_AddNumberToObject(placed, "workers", count);
    cJSON_AddBoolToObject(placed, "can_be", devices_join(devices, count));
    ranges_find(devices, count, ranges);
    for (int i = 0; i < 2; i++) {
        const double ends[] = {ranges[i].least, ranges[i].most};
        if (ranges[i].pairs)
            cJSON_AddItemToObject(placed, names[i], cJSON_CreateDoubleArray(ends, 2));
    }
}
