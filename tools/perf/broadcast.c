/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* broadcast.c: the same data to all devices, passed on from worker to worker or submitted to each.
 */
#include <stdlib.h>

#include "base/error.h"
#include "tools/perf/bench.h"

omprma_status_t broadcast_open(struct bench *bench)
{
    size_t devices = (size_t)bench->runtime->device_count;
    omprma_status_t status = OMPRMA_OK;
    bench->queues = calloc(devices, sizeof(*bench->queues));
    bench->blocks = calloc(devices, sizeof(*bench->blocks));
    if (!bench->queues || !bench->blocks)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for %zu queues", devices);
    for (size_t i = 0; i < devices && status == OMPRMA_OK; i++) {
        status = omprma_queue_create((int)i, &bench->queues[i]);
        if (status == OMPRMA_OK)
            status = omprma_alloc((int)i, bench->block_bytes, &bench->blocks[i]);
    }
    return status;
}

void broadcast_close(struct bench *bench)
{
    for (int i = 0; i < bench->runtime->device_count; i++) {
        if (bench->queues)
            omprma_queue_destroy(bench->queues[i]);
        if (bench->blocks)
            omprma_free(i, bench->blocks[i]);
    }
    free(bench->queues);
    free(bench->blocks);
    bench->queues = NULL;
    bench->blocks = NULL;
}

static omprma_status_t synchronize_all(const struct bench *bench, omprma_status_t status)
{
    for (int i = 0; i < bench->runtime->device_count && status == OMPRMA_OK; i++)
        status = omprma_queue_synchronize(bench->queues[i]);
    return status;
}

static omprma_status_t passed_on(struct bench *bench, uint64_t bytes)
{
    omprma_status_t status = omprma_broadcast(
        bench->queues, bench->blocks, (size_t)bench->runtime->device_count, bench->buffer, bytes);
    return synchronize_all(bench, status);
}

static omprma_status_t submitted_to_each(struct bench *bench, uint64_t bytes)
{
    omprma_status_t status = OMPRMA_OK;
    for (int i = 0; i < bench->runtime->device_count && status == OMPRMA_OK; i++)
        status = omprma_submit(bench->queues[i], bench->blocks[i], bench->buffer, bytes);
    return synchronize_all(bench, status);
}

static omprma_status_t time_passed_on(struct bench *bench, uint64_t bytes, int samples, int batch,
                                      double *us)
{
    return bench_time_steps(bench, passed_on, bytes, samples, batch, us);
}

static omprma_status_t time_submitted(struct bench *bench, uint64_t bytes, int samples, int batch,
                                      double *us)
{
    return bench_time_steps(bench, submitted_to_each, bytes, samples, batch, us);
}

bench_way broadcast_way(enum perf_path path)
{
    return path == WAY_AUTO ? time_passed_on : path == WAY_APPLICATION ? time_submitted : NULL;
}
