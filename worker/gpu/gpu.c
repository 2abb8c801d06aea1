/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * gpu.c: the life of a GPU. Each thread notes which GPU it has made current last, so that a call of
 * the driver is saved where that is still the one. After a fault nothing is given back: the driver
 * refuses everything, and the helper thread may be in there. The driver does not say which kernel
 * it was: the line names those whose end had not been seen, each once, the first ones first.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "worker/device.h"
#include "worker/gpu/gpu.h"
#include "worker/worker.h"

/* Nobody else makes one current here: kernels of native devices run on threads of their own where
 * there are GPUs, too. */
static _Thread_local const struct gpu *entered;

void gpu_enter(const struct gpu *gpu)
{
    if (entered != gpu)
        entered = gpu->driver->make_current(gpu) == 0 ? gpu : NULL;
}

struct gpu *gpu_sibling(const struct gpu *gpu, const struct worker_device *device)
{
    return device->backend == gpu->device->backend ? device->state : NULL;
}

/* ---- errors ---- */

omprma_status_t gpu_error(const struct gpu *gpu, int code, const char *format, ...)
{
    char what[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(what, sizeof(what), format, arguments);
    va_end(arguments);
    return gpu->driver->error(gpu, code, what);
}

omprma_status_t gpu_range_error(const struct gpu *gpu, int code, const char *what, uint64_t address,
                                uint64_t bytes)
{
    if (code == gpu->driver->invalid)
        return error_note_code(worker_device_refuse_range(what, address, bytes, address), code);
    return gpu_error(gpu, code, "%s of %llu bytes on %s", what, (unsigned long long)bytes,
                     gpu->name);
}

/* ---- faults ---- */

/* An earlier launch of the same kernel is under way. */
static bool is_named(const struct gpu *gpu, const struct gpu_task *task)
{
    const struct gpu_task *other = gpu->tasks;

    while (other != task && strcmp(other->kernel, task->kernel) != 0)
        other = other->next;
    return other != task;
}

static void name_kernels(const struct gpu *gpu, char *names, size_t bytes)
{
    size_t used = 0;
    int count = 0;

    names[0] = 0;
    for (const struct gpu_task *task = gpu->tasks; task; task = task->next) {
        if (!task->kernel[0] || is_named(gpu, task))
            continue;
        if (used < bytes - 1)
            used += (size_t)snprintf(names + used, bytes - used, "%s%s", count ? " or " : "kernel ",
                                     task->kernel);
        count++;
    }
    if (count == 0)
        snprintf(names, bytes, "no kernel that is known to run");
}

void gpu_note_fault(struct gpu *gpu, int code)
{
    char names[400];

    if (gpu->fault[0])
        return;
    name_kernels(gpu, names, sizeof(names));
    gpu_error(gpu, code, "%.96s: %.300s", gpu->name, names);
    snprintf(gpu->fault, sizeof(gpu->fault), "%s", error_text());
    gpu->device->fault_code = code;
    if (gpu->driver->fault_address)
        gpu->device->fault_address = gpu->driver->fault_address(gpu);
}

const char *gpu_fault(struct worker_device *device)
{
    const struct gpu *gpu = device->state;

    return gpu->fault[0] ? gpu->fault : NULL;
}

/* ---- memory of this process that data goes through ---- */

/* Where its pages may not be locked, the driver copies once more. */
void gpu_pin(struct worker_device *device, void *memory, uint64_t bytes)
{
    const struct gpu *gpu = device->state;
    int code;

    gpu_enter(gpu);
    code = gpu->driver->host_lock(gpu, memory, bytes);
    if (code == 0)
        return;
    gpu_error(gpu, code, "%s: its staging memory is not page-locked, transfers are slower",
              gpu->name);
    log_write(LOG_CHOICE, "%s", error_text());
}

void gpu_unpin(struct worker_device *device, void *memory)
{
    const struct gpu *gpu = device->state;

    if (gpu->fault[0])
        return;
    gpu_enter(gpu);
    gpu->driver->host_unlock(gpu, memory);
}

/* ---- where it is ---- */

int gpu_bus_node(const char *bus)
{
    char path[96];
    int node = -1;
    FILE *file;

    snprintf(path, sizeof(path), "/sys/bus/pci/devices/%.32s/numa_node", bus);
    for (char *c = path; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    file = fopen(path, "re");
    if (!file)
        return -1;
    if (fscanf(file, "%d", &node) != 1)
        node = -1;
    fclose(file);
    return node;
}

/* ---- life ---- */

void gpu_open(struct gpu *gpu, struct worker_device *device, const struct gpu_driver *driver)
{
    gpu->driver = driver;
    gpu->device = device;
    pthread_mutex_init(&gpu->kernel_lock, NULL);
    device->backend = &driver->backend;
    device->state = gpu;
}

/* Where copies between two GPUs cannot go directly, the driver copies all the same. */
omprma_status_t gpu_start(struct worker_device *device)
{
    const struct server *server = device->server;
    const struct gpu *gpu = device->state;

    gpu_enter(gpu);
    for (int i = 0; i < server->device_count; i++) {
        const struct gpu *other = gpu_sibling(gpu, &server->devices[i]);

        if (other && other != gpu)
            gpu->driver->reach(gpu, other);
    }
    return OMPRMA_OK;
}

void gpu_stop(struct worker_device *device)
{
    struct gpu *gpu = device->state;

    if (gpu->fault[0])
        return;
    gpu_helper_stop(gpu);
    gpu_enter(gpu);
    gpu_tasks_wait(gpu);
}

void gpu_close(struct worker_device *device)
{
    struct gpu *gpu = device->state;

    if (gpu->fault[0])
        return;
    gpu_helper_stop(gpu);
    gpu_enter(gpu);
    gpu_tasks_free(gpu);
    gpu_arenas_free(gpu);
    gpu->driver->close(gpu);
    entered = NULL;
    device->state = NULL;
}
