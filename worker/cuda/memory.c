/* memory.c: arenas of a GPU, on its clerk. See cuda.h. */
#include "worker/cuda/cuda.h"

#include "worker/device.h"

omprma_status_t memory_work_grow(struct cuda *cuda, struct cuda_task *task)
{
    uint64_t limit = cuda->options.memory_bytes;
    int code;

    if (cuda->arena_count == WIRE_ARENAS_MOST)
        return error_set(OMPRMA_ERR_DEVICE_MEMORY,
                         "all %d arenas of the device are in use; raise OMPRMA_ARENA",
                         cuda->arena_count);
    if (task->bytes > limit || cuda->used_bytes > limit - task->bytes) {
        error_set(OMPRMA_ERR_DEVICE_MEMORY,
                  "%llu MiB more would pass the %llu MiB of %s that may be used (%llu MiB are in "
                  "arenas); free memory, use more devices, or set OMPRMA_MEMORY",
                  (unsigned long long)(task->bytes >> 20), (unsigned long long)(limit >> 20),
                  cuda->name, (unsigned long long)(cuda->used_bytes >> 20));
        return error_note_code(OMPRMA_ERR_DEVICE_MEMORY, DRIVER_OUT_OF_MEMORY);
    }
    code = cuda->driver->memory_alloc(&task->value, task->bytes);
    if (code != DRIVER_OK)
        return driver_error(cuda->driver, code, "%s has no %llu MiB more for an arena", cuda->name,
                            (unsigned long long)(task->bytes >> 20));
    cuda->arenas[cuda->arena_count++] = (struct cuda_arena){task->value, task->bytes};
    cuda->used_bytes += task->bytes;
    return OMPRMA_OK;
}

static omprma_status_t drop(struct cuda *cuda, int index)
{
    struct cuda_arena arena = cuda->arenas[index];
    int code = cuda->driver->memory_free(arena.base);

    cuda->arenas[index] = cuda->arenas[--cuda->arena_count];
    cuda->used_bytes -= arena.bytes;
    return code == DRIVER_OK
               ? OMPRMA_OK
               : driver_error(cuda->driver, code, "an arena of %s cannot be freed", cuda->name);
}

omprma_status_t memory_work_release(struct cuda *cuda, struct cuda_task *task)
{
    for (int i = 0; i < cuda->arena_count; i++)
        if (cuda->arenas[i].base == task->address)
            return drop(cuda, i);
    return error_set(OMPRMA_ERR_ADDRESS, "0x%llx is not the start of an arena",
                     (unsigned long long)task->address);
}

void memory_free_all(struct cuda *cuda)
{
    while (cuda->arena_count)
        drop(cuda, cuda->arena_count - 1);
}

/* The driver copies only between ranges that do not meet: by way of other memory, then. */
omprma_status_t memory_work_overlap(struct cuda *cuda, struct cuda_task *task)
{
    const struct driver *driver = cuda->driver;
    const struct backend_copy *copy = &task->copy;
    driver_stream stream = NULL;
    uint64_t between = 0;
    int code = driver->memory_alloc(&between, copy->bytes);

    if (code == DRIVER_OK)
        code = driver->stream_create(&stream, DRIVER_NON_BLOCKING);
    if (code == DRIVER_OK)
        code = driver->copy_inside(between, copy->from, copy->bytes, stream);
    if (code == DRIVER_OK)
        code = driver->copy_inside(copy->to, between, copy->bytes, stream);
    if (code == DRIVER_OK)
        code = driver->stream_synchronize(stream);
    if (stream)
        driver->stream_destroy(stream);
    if (between)
        driver->memory_free(between);
    if (code == DRIVER_INVALID_VALUE) {
        worker_device_refuse_range(copy->what, copy->from, copy->bytes, copy->from);
        return error_note_code(OMPRMA_ERR_ADDRESS, code);
    }
    return code == DRIVER_OK ? OMPRMA_OK
                             : driver_error(driver, code, "%s of %llu bytes on %s", copy->what,
                                            (unsigned long long)copy->bytes, cuda->name);
}
