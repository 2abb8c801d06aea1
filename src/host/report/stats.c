/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * stats.c: one struct of counters per device behind the observer. Launches are counted when they
 * are appended; data is counted where observer.h tells of it.
 */
#include "host/report/stats.h"

#include <stdlib.h>

#include "base/error.h"
#include "host/queue/queue.h"

struct statistics {
    struct observer observer; /* the first member */
    struct stats of[];        /* by number of the device */
};

static struct stats *counters(struct observer *observer, const struct device *device)
{
    return &((struct statistics *)observer)->of[device->number];
}

static void see_appended(struct observer *observer, struct operation *operation, bool was_idle)
{
    uint16_t code = operation->kind == OPERATION_COMMAND ? operation->command.code : 0;

    (void)was_idle;
    if (code == WIRE_LAUNCH || code == WIRE_REGION)
        counters(observer, operation->queue->device)->launches++;
}

static void see_carried(struct observer *observer, const struct carried *carried)
{
    struct stats_cell *cell =
        &counters(observer, carried->device)->cell[carried->kind][carried->path];

    cell->operations++;
    cell->bytes += carried->bytes;
    cell->ns += carried->ns;
}

omprma_status_t stats_open(struct runtime *runtime)
{
    struct statistics *statistics;

    if (!runtime->config.stats)
        return OMPRMA_OK;
    statistics =
        calloc(1, sizeof(*statistics) + (size_t)runtime->device_count * sizeof(statistics->of[0]));
    if (!statistics)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for statistics");
    statistics->observer = (struct observer){.appended = see_appended, .carried = see_carried};
    observer_add(&runtime->observers, &statistics->observer);
    runtime->statistics = statistics;
    return OMPRMA_OK;
}

const struct stats *stats_of(const struct runtime *runtime, int device)
{
    return &runtime->statistics->of[device];
}

void stats_close(struct runtime *runtime)
{
    if (!runtime->statistics)
        return;
    observer_remove(&runtime->observers, &runtime->statistics->observer);
    free(runtime->statistics);
    runtime->statistics = NULL;
}
