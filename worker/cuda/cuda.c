/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cuda.c: the CUDA driver as worker/gpu calls it, and its GPUs. Most calls are one of the driver's;
 * codes are the driver's, too. A GPU is current by its primary context, which whatever else uses
 * the GPU in this process shares, and in which threads that wait for the GPU sleep.
 */
#include "worker/cuda/cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/world.h"
#include "worker/device.h"

/* Of all GPUs. */
static struct driver opened;

static const struct driver *driver_of(const struct gpu *gpu)
{
    return cuda_of(gpu)->driver;
}

/* ---- errors ---- */

static omprma_status_t error(const struct gpu *gpu, int code, const char *what)
{
    return driver_error(driver_of(gpu), code, "%s", what);
}

/* ---- calls ---- */

/* One that is a call of the driver's. */
#define CALL(NAME, PARAMETERS, FUNCTION)                                                           \
    static int NAME PARAMETERS                                                                     \
    {                                                                                              \
        return driver_of(gpu)->FUNCTION;                                                           \
    }

CALL(make_current, (const struct gpu *gpu), context_set(cuda_of(gpu)->context))
CALL(memory_alloc, (const struct gpu *gpu, uint64_t *address, uint64_t bytes),
     memory_alloc(address, bytes))
CALL(memory_free, (const struct gpu *gpu, uint64_t address), memory_free(address))
CALL(host_lock, (const struct gpu *gpu, void *memory, size_t bytes),
     host_register(memory, bytes, DRIVER_PORTABLE))
CALL(host_unlock, (const struct gpu *gpu, void *memory), host_unregister(memory))
CALL(stream_create, (const struct gpu *gpu, gpu_stream *stream),
     stream_create(stream, DRIVER_NON_BLOCKING))
CALL(stream_destroy, (const struct gpu *gpu, gpu_stream stream), stream_destroy(stream))
CALL(stream_query, (const struct gpu *gpu, gpu_stream stream), stream_query(stream))
CALL(stream_wait, (const struct gpu *gpu, gpu_stream stream), stream_synchronize(stream))
CALL(event_destroy, (const struct gpu *gpu, gpu_event event), event_destroy(event))
CALL(event_query, (const struct gpu *gpu, gpu_event event), event_query(event))
CALL(event_wait, (const struct gpu *gpu, gpu_event event), event_synchronize(event))

static void reach(const struct gpu *gpu, const struct gpu *other)
{
    const struct driver *driver = driver_of(gpu);
    int can = 0;

    if (driver->can_access_peer(&can, cuda_of(gpu)->handle, cuda_of(other)->handle) == DRIVER_OK &&
        can)
        driver->enable_peer(cuda_of(other)->context, 0);
}

static int event_record(const struct gpu *gpu, gpu_event *event, gpu_stream stream)
{
    const struct driver *driver = driver_of(gpu);
    int code = *event ? DRIVER_OK : driver->event_create(event, DRIVER_DISABLE_TIMING);

    return code == DRIVER_OK ? driver->event_record(*event, stream) : code;
}

/* ---- what is put into streams ---- */

static int copy(const struct gpu *gpu, const struct backend_copy *copy, gpu_stream stream)
{
    const struct driver *driver = driver_of(gpu);
    size_t bytes = copy->bytes;

    if (!copy->from_device)
        return driver->copy_in(copy->to, (const void *)(uintptr_t)copy->from, bytes, stream);
    if (!copy->to_device)
        return driver->copy_out((void *)(uintptr_t)copy->to, copy->from, bytes, stream);
    if (copy->to_device == copy->from_device)
        return driver->copy_inside(copy->to, copy->from, bytes, stream);
    return driver->copy_peer(copy->to, cuda_of(copy->to_device->state)->context, copy->from,
                             cuda_of(gpu)->context, bytes, stream);
}

/* Patterns of 8 bytes are two columns of 4. */
static int fill(const struct gpu *gpu, const struct backend_fill *fill, gpu_stream stream)
{
    const struct driver *driver = driver_of(gpu);
    uint32_t low = (uint32_t)fill->pattern, high = (uint32_t)(fill->pattern >> 32);
    int code;

    switch (fill->pattern_bytes) {
    case 1:
        return driver->fill_8(fill->to, (unsigned char)low, fill->count, stream);
    case 2:
        return driver->fill_16(fill->to, (unsigned short)low, fill->count, stream);
    case 4:
        return driver->fill_32(fill->to, low, fill->count, stream);
    default:
        break;
    }
    if (low == high)
        return driver->fill_32(fill->to, low, 2 * fill->count, stream);
    code = driver->fill_columns_32(fill->to, 8, low, 1, fill->count, stream);
    return code != DRIVER_OK
               ? code
               : driver->fill_columns_32(fill->to + 4, 8, high, 1, fill->count, stream);
}

static driver_function function_of(const struct gpu_kernel *kernel)
{
    return (driver_function)(uintptr_t)kernel->address;
}

/* Each word is a parameter, of which the driver takes as many bytes as it has. Where it does not
 * say how many there are, what lies behind the last word is zero, and further ones are too. */
static int launch_words(const struct gpu *gpu, const struct gpu_kernel *kernel,
                        const struct wire_launch *with, const unsigned size[6], gpu_stream stream)
{
    enum { LARGEST = 4096 / 8 /* words of a parameter whose size is not known */, MORE = 64 };
    uint64_t words[OMPRMA_LAUNCH_ARGUMENTS + LARGEST];
    void *parameters[OMPRMA_LAUNCH_ARGUMENTS + MORE];
    uint32_t count = with->count;
    bool known = kernel->parameters >= 0;

    if (count)
        memcpy(words, with->arguments, 8 * (size_t)count);
    if (!known)
        memset(words + count, 0, 8 * (size_t)LARGEST);
    for (uint32_t i = 0; i < count + (known ? 0 : MORE); i++)
        parameters[i] = &words[i < count ? i : count];
    return driver_of(gpu)->launch(function_of(kernel), size[0], size[1], size[2], size[3], size[4],
                                  size[5], (unsigned)with->geometry.shared_bytes, stream,
                                  parameters, NULL);
}

static int launch_packed(const struct gpu *gpu, const struct gpu_kernel *kernel,
                         const struct wire_launch *with, const unsigned size[6], gpu_stream stream)
{
    size_t bytes = with->packed_bytes;
    /* Of the driver interface: 1 is "buffer", 2 "its size", 0 the end. */
    void *extra[] = {(void *)0x1, (void *)(uintptr_t)with->arguments, (void *)0x2, &bytes, NULL};

    return driver_of(gpu)->launch(function_of(kernel), size[0], size[1], size[2], size[3], size[4],
                                  size[5], (unsigned)with->geometry.shared_bytes, stream, NULL,
                                  bytes ? extra : NULL);
}

static int launch(const struct gpu *gpu, const struct gpu_kernel *kernel,
                  const struct wire_launch *with, const unsigned size[6], gpu_stream stream)
{
    return with->packed ? launch_packed(gpu, kernel, with, size, stream)
                        : launch_words(gpu, kernel, with, size, stream);
}

/* ---- life ---- */

static void close_gpu(struct gpu *gpu)
{
    struct cuda *cuda = cuda_of(gpu);

    module_unload_all(cuda);
    if (cuda->context)
        cuda->driver->context_release(cuda->handle);
    free(cuda);
}

static const struct gpu_driver calls = {
    .backend = GPU_BACKEND("cuda"),
    .not_ready = DRIVER_NOT_READY,
    .invalid = DRIVER_INVALID_VALUE,
    .no_memory = DRIVER_OUT_OF_MEMORY,
    .is_fatal = driver_is_fatal,
    .error = error,
    .make_current = make_current,
    .reach = reach,
    .memory_alloc = memory_alloc,
    .memory_free = memory_free,
    .host_lock = host_lock,
    .host_unlock = host_unlock,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_query = stream_query,
    .stream_wait = stream_wait,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_query = event_query,
    .event_wait = event_wait,
    .copy = copy,
    .fill = fill,
    .launch = launch,
    .load = cuda_load,
    .ask = cuda_answer,
    .close = close_gpu,
};

/* Everything up to the helper thread. Returns the driver's code, and what it was about. */
static int make_context(struct cuda *cuda, int ordinal, const char **what)
{
    const struct driver *driver = cuda->driver;
    size_t free_bytes = 0, total_bytes = 0;
    int code = driver->device_get(&cuda->handle, ordinal);

    *what = "cannot be used";
    if (code == DRIVER_OK)
        code = driver->device_name(cuda->gpu.name, sizeof(cuda->gpu.name), cuda->handle);
    if (code != DRIVER_OK)
        return code;
    /* In vain where somebody has made the context already. */
    driver->context_flags(cuda->handle, DRIVER_BLOCKING_SYNC);
    *what = "has no context";
    code = driver->context_retain(&cuda->context, cuda->handle);
    if (code != DRIVER_OK) {
        cuda->context = NULL;
        return code;
    }
    gpu_enter(&cuda->gpu);
    *what = "does not say how much memory it has";
    code = driver->memory_info(&free_bytes, &total_bytes);
    if (cuda->gpu.memory_bytes == 0)
        cuda->gpu.memory_bytes = free_bytes / 10 * 9;
    return code;
}

static omprma_status_t make_gpu(struct worker_device *device, int ordinal, uint64_t memory_bytes)
{
    struct cuda *cuda = calloc(1, sizeof(*cuda));
    const char *what;
    omprma_status_t status;
    int code;

    if (!cuda)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a device");
    cuda->driver = &opened;
    cuda->gpu.memory_bytes = memory_bytes;
    gpu_open(&cuda->gpu, device, &calls);
    code = make_context(cuda, ordinal, &what);
    if (code != DRIVER_OK)
        status = driver_error(cuda->driver, code, "GPU %d %s", ordinal, what);
    else
        status = gpu_helper_start(&cuda->gpu);
    if (status != OMPRMA_OK)
        gpu_close(device);
    return status;
}

/* ---- description ---- */

static int numa_node(const struct cuda *cuda)
{
    char bus[32] = "";

    return cuda->driver->device_bus(bus, sizeof(bus), cuda->handle) == DRIVER_OK ? gpu_bus_node(bus)
                                                                                 : -1;
}

static void describe(const struct worker_device *device, struct world_device *description)
{
    const struct cuda *cuda = device->state;

    snprintf(description->model, sizeof(description->model), "%s", cuda->gpu.name);
    cuda->driver->device_attribute(&description->cores, DRIVER_MULTIPROCESSORS, cuda->handle);
    description->numa_node = numa_node(cuda);
    description->memory_limit = cuda->gpu.memory_bytes;
}

/* ---- the kind ---- */

static omprma_status_t open_driver(int *count)
{
    omprma_status_t status = driver_open(&opened);

    *count = opened.count;
    return status;
}

static void close_driver(void)
{
    driver_close(&opened);
}

const struct gpu_kind cuda_kind = {
    .open = open_driver, .make = make_gpu, .describe = describe, .close = close_driver};
