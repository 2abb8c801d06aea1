/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* bench.c: start and end of a measurement. See bench.h. */
#include "tools/perf/bench.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/progress_line.h"
#include "host/start/measure.h"
#include "tools/perf/kernels.h"

enum { HUGE_PAGE = 2 << 20 };

static omprma_status_t load_kernels(struct bench *bench)
{
    int devices = bench->runtime->device_count;
    bench->add = calloc((size_t)devices, sizeof(*bench->add));
    if (!bench->add)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for %d devices", devices);
    for (int device = 0; device < devices; device++) {
        omprma_symbol_t symbols[] = {{.name = "perf_empty"}, {.name = "perf_add"}};
        const char *backend = bench->runtime->devices[device]->about.backend;
        struct kernels kernels;
        if (!kernels_find(backend, &kernels))
            return error_set(OMPRMA_ERR_UNSUPPORTED,
                             "device %d: omprma-perf has no kernels for devices of kind %s", device,
                             backend);
        omprma_status_t status =
            omprma_image_load(device, kernels.image, kernels.bytes, symbols, 2);
        if (status != OMPRMA_OK)
            return status;
        if (device == 0)
            bench->empty = symbols[0].address;
        bench->add[device] = symbols[1].address;
    }
    return OMPRMA_OK;
}

static uint64_t largest(const struct choice *choice)
{
    uint64_t bytes = choice->spread > 4096 ? choice->spread : 4096;
    for (int i = 0; i < choice->size_count; i++)
        if (choice->sizes[i] > bytes)
            bytes = choice->sizes[i];
    return bytes;
}

omprma_status_t bench_open(struct bench *bench, const struct choice *choice)
{
    *bench = (struct bench){.choice = choice};
    omprma_status_t status = runtime_require(&bench->runtime);
    if (status != OMPRMA_OK)
        return status;
    bench->device = bench->runtime->devices[0];
    bench->peer = bench->runtime->device_count > 1 ? bench->runtime->devices[1] : NULL;
    bench->started = bench->chosen = bench->device->paths;
    bench->chosen.adapt = NULL;
    for (int far = 0; far < 2; far++)
        bench->started_exchange[far] = bench->chosen_exchange[far] = bench->runtime->exchange[far];
    bench_force(bench, WAY_AUTO);
    machine_describe(&bench->results.machine);
    snprintf(bench->results.machine.osc, sizeof(bench->results.machine.osc), "%s",
             bench->runtime->world.component);
    status = omprma_queue_create(0, &bench->queue);
    if (status == OMPRMA_OK && bench->peer)
        status = omprma_queue_create(1, &bench->peer_queue);
    return status == OMPRMA_OK ? load_kernels(bench) : status;
}

omprma_status_t bench_open_blocks(struct bench *bench)
{
    bool moves = bench->choice->ops & 1u << OP_SETTLE && bench->choice->transfers > 0;
    for (enum perf_op op = 0; op < OP_COUNT; op++)
        moves |= perf_op_moves(op) && bench->choice->ops & 1u << op;
    bench->block_bytes = moves ? largest(bench->choice) : 4096;
    omprma_status_t status = omprma_alloc(0, bench->block_bytes, &bench->block);
    if (status == OMPRMA_OK && bench->peer && bench->choice->ops & 1u << OP_EXCHANGE)
        status = omprma_alloc(1, bench->block_bytes, &bench->peer_block);
    if (status == OMPRMA_OK && bench->choice->ops & 1u << OP_BROADCAST)
        status = broadcast_open(bench);
    if (status != OMPRMA_OK)
        return status;
    size_t bytes = (bench->block_bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    bench->buffer = aligned_alloc(HUGE_PAGE, bytes);
    if (!bench->buffer)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a buffer of %zu bytes", bytes);
    memset(bench->buffer, 1, bytes);
    return direct_open(bench, bytes);
}

uint64_t bench_next(struct bench *bench, uint64_t bytes)
{
    uint64_t at = bench->next + bytes <= bench->block_bytes ? bench->next : 0;
    bench->next = bench->choice->spread ? at + bytes : 0;
    return at;
}

void bench_close(struct bench *bench)
{
    if (bench->queue)
        omprma_queue_destroy(bench->queue);
    if (bench->peer_queue)
        omprma_queue_destroy(bench->peer_queue);
    if (bench->block)
        omprma_free(0, bench->block);
    if (bench->peer_block)
        omprma_free(1, bench->peer_block);
    broadcast_close(bench);
    direct_close(bench);
    if (bench->device)
        bench_adapt(bench);
    free(bench->buffer);
    free(bench->add);
    bench->add = NULL;
    bench->queue = bench->peer_queue = NULL;
    bench->block = bench->peer_block = 0;
    bench->buffer = NULL;
}

static void take(struct bench *bench, const struct paths *paths,
                 const struct exchange_paths *exchange)
{
    runtime_lock(bench->runtime);
    memcpy(bench->runtime->exchange, exchange, sizeof(bench->runtime->exchange));
    bench->device->paths = *paths;
    if (bench->peer)
        bench->peer->paths = *paths;
    runtime_unlock(bench->runtime);
}

void bench_adapt(struct bench *bench)
{
    take(bench, &bench->started, bench->started_exchange);
}

void bench_force(struct bench *bench, enum perf_path path)
{
    struct paths paths = bench->chosen;
    bool window = bench->runtime->one_sided != NULL;
    enum config_data data = path == WAY_RMA ? DATA_RMA : DATA_TWO_SIDED;
    bool forced = path == WAY_RMA || path == WAY_TWO_SIDED;
    struct exchange_paths exchange[2] = {bench->chosen_exchange[0], bench->chosen_exchange[1]};
    if (forced)
        measure_choose(&paths, window, data);
    for (int far = 0; far < 2 && forced; far++)
        measure_choose_exchange(&exchange[far], window, data);
    take(bench, &paths, exchange);
}

omprma_status_t bench_region(omprma_queue_t *queue, omprma_addr_t kernel, omprma_addr_t at,
                             const int64_t *in, int64_t *out, bool waits)
{
    const omprma_part_t part = {.to = out, .bytes = sizeof(*out)};
    const omprma_region_t region = {
        .to = at,
        .from = in,
        .bytes = sizeof(*in),
        .kernel = kernel,
        .arguments = &at,
        .count = 1,
        .back = at,
        .back_bytes = sizeof(*out),
        .parts = &part,
        .part_count = 1,
    };
    return waits ? omprma_region_wait(queue, &region, NULL, NULL) : omprma_region(queue, &region);
}

void bench_step_begins(struct bench *bench, enum perf_op op, uint64_t bytes)
{
    char size[48] = "";
    if (bench->step++ == 0)
        progress_line_begin();
    if (bytes)
        snprintf(size, sizeof(size), " of %llu bytes", (unsigned long long)bytes);
    progress_line_show("omprma-perf: %s%s, %d of %d", perf_op_names[op], size, bench->step,
                       bench->steps);
}
