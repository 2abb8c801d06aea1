/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * arena.c: arenas of a GPU, and copies within one GPU whose ranges overlap. The driver copies only
 * between ranges that do not meet: such a copy goes by way of a block that is allocated for that.
 * All of it is done by the helper thread, because freeing memory waits for what runs.
 */
#include "worker/device.h"
#include "worker/gpu/gpu.h"

/* ---- arenas ---- */

static omprma_status_t grow(struct gpu *gpu, struct gpu_task *task)
{
    uint64_t limit = gpu->memory_bytes, bytes = task->work.bytes;
    int code;

    if (gpu->arena_count == WIRE_ARENAS_MOST)
        return error_set(OMPRMA_ERR_DEVICE_MEMORY,
                         "all %d arenas of the device are in use; raise OMPRMA_ARENA",
                         gpu->arena_count);
    if (bytes > limit || gpu->used_bytes > limit - bytes) {
        error_set(OMPRMA_ERR_DEVICE_MEMORY,
                  "%llu MiB more would pass the %llu MiB of %s that may be used (%llu MiB are in "
                  "arenas); free memory, use more devices, or set OMPRMA_MEMORY",
                  (unsigned long long)(bytes >> 20), (unsigned long long)(limit >> 20), gpu->name,
                  (unsigned long long)(gpu->used_bytes >> 20));
        return error_note_code(OMPRMA_ERR_DEVICE_MEMORY, gpu->driver->no_memory);
    }
    code = gpu->driver->memory_alloc(gpu, &task->value, bytes);
    if (code != 0)
        return gpu_error(gpu, code, "%s has no %llu MiB more for an arena", gpu->name,
                         (unsigned long long)(bytes >> 20));
    gpu->arenas[gpu->arena_count++] = (struct gpu_arena){task->value, bytes};
    gpu->used_bytes += bytes;
    return OMPRMA_OK;
}

/* Drivers choose addresses by themselves. */
enum backend_step gpu_grow(struct worker_device *device, struct backend_job *job, uint64_t bytes,
                           uint64_t wish)
{
    if (wish) {
        job->status = error_set(OMPRMA_ERR_ADDRESS, "an arena of a GPU cannot begin at 0x%llx",
                                (unsigned long long)wish);
        return BACKEND_OVER;
    }
    return gpu_hand_over(device, job, &(struct gpu_work){.run = grow, .bytes = bytes});
}

static omprma_status_t drop(struct gpu *gpu, int index)
{
    struct gpu_arena arena = gpu->arenas[index];
    int code = gpu->driver->memory_free(gpu, arena.base);

    gpu->arenas[index] = gpu->arenas[--gpu->arena_count];
    gpu->used_bytes -= arena.bytes;
    return code == 0 ? OMPRMA_OK
                     : gpu_error(gpu, code, "an arena of %s cannot be freed", gpu->name);
}

static omprma_status_t release(struct gpu *gpu, struct gpu_task *task)
{
    for (int i = 0; i < gpu->arena_count; i++)
        if (gpu->arenas[i].base == task->work.address)
            return drop(gpu, i);
    return error_set(OMPRMA_ERR_ADDRESS, "0x%llx is not the start of an arena",
                     (unsigned long long)task->work.address);
}

enum backend_step gpu_release(struct worker_device *device, struct backend_job *job,
                              uint64_t address)
{
    const struct gpu *gpu = device->state;

    if (gpu->helper.running)
        return gpu_hand_over(device, job, &(struct gpu_work){.run = release, .address = address});
    job->status = OMPRMA_OK; /* the end: gpu_close() frees what is left */
    return BACKEND_OVER;
}

void gpu_arenas_free(struct gpu *gpu)
{
    while (gpu->arena_count)
        drop(gpu, gpu->arena_count - 1);
}

/* ---- copies that overlap ---- */

static int copy_by_way_of(const struct gpu *gpu, const struct backend_copy *copy, uint64_t block,
                          gpu_stream stream)
{
    struct backend_copy there = *copy, back = *copy;
    int code;

    there.to = back.from = block;
    code = gpu->driver->copy(gpu, &there, stream);
    if (code == 0)
        code = gpu->driver->copy(gpu, &back, stream);
    return code == 0 ? gpu->driver->stream_wait(gpu, stream) : code;
}

static omprma_status_t copy_overlap(struct gpu *gpu, struct gpu_task *task)
{
    const struct gpu_driver *driver = gpu->driver;
    const struct backend_copy *copy = &task->work.copy;
    gpu_stream stream = NULL;
    uint64_t block = 0;
    int code = driver->memory_alloc(gpu, &block, copy->bytes);

    if (code == 0)
        code = driver->stream_create(gpu, &stream);
    if (code == 0)
        code = copy_by_way_of(gpu, copy, block, stream);
    if (stream)
        driver->stream_destroy(gpu, stream);
    if (block)
        driver->memory_free(gpu, block);
    return code == 0 ? OMPRMA_OK : gpu_range_error(gpu, code, copy->what, copy->from, copy->bytes);
}

enum backend_step gpu_copy_overlap(struct worker_device *device, struct backend_job *job,
                                   const struct backend_copy *copy)
{
    return gpu_hand_over(device, job, &(struct gpu_work){.run = copy_overlap, .copy = *copy});
}
