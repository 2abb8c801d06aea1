/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * stream.c: jobs in streams. A job that begins before the one in front of it in its queue has ended
 * is put behind that one, into the same stream, which keeps them in order; a job with nothing in
 * front takes an idle stream. An event behind the job in front then tells when that has ended; of
 * the last in a stream the stream itself tells, by being idle. A job that may end with the next one
 * gets no event. A region is one job, whose parts go into the stream at once: no event at all.
 * Tasks stand in a list in the order in which they began. Spare ones keep their event.
 */
#include <stdlib.h>
#include <string.h>

#include "worker/device.h"
#include "worker/gpu/gpu.h"

/* ---- tasks ---- */

struct gpu_task *gpu_task_take(struct gpu *gpu, struct backend_job *job)
{
    struct gpu_task *task = gpu->spare_tasks;

    if (task)
        gpu->spare_tasks = task->next;
    else
        task = calloc(1, sizeof(*task));
    if (!task) {
        job->status = error_set(OMPRMA_ERR_HOST_MEMORY, "the worker has no memory for a job");
        return NULL;
    }
    task->job = job;
    task->stream = NULL;
    task->behind = NULL;
    task->recorded = task->over = task->prints = task->astray = false;
    task->other = NULL;
    task->kernel[0] = 0;
    task->value = 0;
    task->code = 0;
    task->next = NULL;
    if (gpu->tasks)
        gpu->last_task->next = task;
    else
        gpu->tasks = task;
    gpu->last_task = task;
    job->handle = task;
    return task;
}

void gpu_task_give(struct gpu *gpu, struct gpu_task *task)
{
    struct gpu_task **link = &gpu->tasks, *before = NULL;

    while (*link != task) {
        before = *link;
        link = &before->next;
    }
    *link = task->next;
    if (gpu->last_task == task)
        gpu->last_task = before;
    task->next = gpu->spare_tasks;
    gpu->spare_tasks = task;
}

/* ---- streams ---- */

/* There is always room to give one back. */
static int stream_take(struct gpu *gpu, gpu_stream *stream)
{
    gpu_stream *streams;

    if (gpu->idle_count) {
        *stream = gpu->streams[--gpu->idle_count];
        return 0;
    }
    streams = realloc(gpu->streams, (gpu->stream_count + 1) * sizeof(*streams));
    if (!streams)
        return gpu->driver->no_memory;
    gpu->streams = streams;
    gpu->stream_count++;
    return gpu->driver->stream_create(gpu, stream);
}

static void stream_give(struct gpu *gpu, gpu_stream stream)
{
    gpu->streams[gpu->idle_count++] = stream;
}

static int record_end(const struct gpu *gpu, struct gpu_task *task)
{
    int code = gpu->driver->event_record(gpu, &task->event, task->stream);

    task->recorded = code == 0;
    return code;
}

/* The stream of the task before, behind which an event stands if somebody wants to know its end. */
static int stream_share(const struct gpu *gpu, struct gpu_task *before, gpu_stream *stream)
{
    *stream = before->stream;
    return before->recorded || before->job->ends_with_next ? 0 : record_end(gpu, before);
}

/* ---- begin ---- */

/* A task in a stream, with the GPU current. NULL: not_begun(). */
static struct gpu_task *begin(struct gpu *gpu, struct backend_job *job)
{
    struct gpu_task *task = gpu_task_take(gpu, job);
    int code;

    if (!task)
        return NULL;
    gpu_enter(gpu);
    code = job->behind ? stream_share(gpu, job->behind->handle, &task->stream)
                       : stream_take(gpu, &task->stream);
    if (code == 0)
        return task;
    if (gpu->driver->is_fatal(code)) {
        gpu_note_fault(gpu, code);
        return NULL;
    }
    gpu_task_give(gpu, task);
    job->status = gpu_error(gpu, code, "%s has no stream", gpu->name);
    return NULL;
}

/* The job is over, and says why, unless the GPU is lost with all that it has begun. */
static enum backend_step not_begun(const struct gpu *gpu)
{
    return gpu->fault[0] ? BACKEND_PENDING : BACKEND_OVER;
}

/* What of a task stands in the stream, before its last call. */
enum before { NOTHING_BEFORE, WRITE_BEFORE, LAUNCH_BEFORE };

/* Its last call has returned `code`; if that is an error, `status` says so for anything but a
 * fault. What was begun may still use memory of ours. */
static enum backend_step begun(struct gpu *gpu, struct gpu_task *task, int code, enum before before,
                               omprma_status_t status)
{
    struct backend_job *job = task->job;

    if (gpu->driver->is_fatal(code)) {
        if (job->behind && before != LAUNCH_BEFORE) /* it is about another job's kernel */
            task->kernel[0] = 0;
        gpu_note_fault(gpu, code);
        return BACKEND_PENDING;
    }
    job->status = status;
    if (code == 0 || before != NOTHING_BEFORE) {
        if (job->behind)
            ((struct gpu_task *)job->behind->handle)->behind = task;
        return BACKEND_PENDING;
    }
    if (!job->behind)
        stream_give(gpu, task->stream);
    gpu_task_give(gpu, task);
    return BACKEND_OVER;
}

/* ---- copies and fills ---- */

/* *status is set if it does not begin. */
static int start_copy(const struct gpu *gpu, const struct backend_copy *copy,
                      const struct gpu_task *task, omprma_status_t *status)
{
    int code = gpu->driver->copy(gpu, copy, task->stream);

    if (code != 0)
        *status = gpu_range_error(gpu, code, copy->what, copy->from_device ? copy->from : copy->to,
                                  copy->bytes);
    return code;
}

enum backend_step gpu_copy(struct worker_device *device, struct backend_job *job,
                           const struct backend_copy *copy)
{
    struct gpu *gpu = device->state;
    struct gpu_task *task;
    omprma_status_t status = OMPRMA_OK;
    int code;

    if (backend_copy_overlaps(copy))
        return gpu_copy_overlap(device, job, copy);
    task = begin(gpu, job);
    if (!task)
        return not_begun(gpu);
    if (copy->from_device && copy->to_device && copy->to_device != copy->from_device)
        task->other = copy->to_device->state;
    code = start_copy(gpu, copy, task, &status);
    return begun(gpu, task, code, NOTHING_BEFORE, status);
}

enum backend_step gpu_fill(struct worker_device *device, struct backend_job *job,
                           const struct backend_fill *fill)
{
    struct gpu *gpu = device->state;
    struct gpu_task *task = begin(gpu, job);
    omprma_status_t status = OMPRMA_OK;
    int code;

    if (!task)
        return not_begun(gpu);
    code = gpu->driver->fill(gpu, fill, task->stream);
    if (code != 0)
        status = gpu_range_error(gpu, code, "fill", fill->to, fill->count * fill->pattern_bytes);
    return begun(gpu, task, code, NOTHING_BEFORE, status);
}

/* ---- launches and regions ---- */

static omprma_status_t check(const struct gpu_kernel *kernel, const struct wire_launch *with)
{
    if (with->geometry.shared_bytes > UINT32_MAX)
        return error_set(OMPRMA_ERR_ARGUMENT, "launch of %s with %llu bytes of shared memory",
                         kernel->name, (unsigned long long)with->geometry.shared_bytes);
    if (with->context)
        return error_set(OMPRMA_ERR_UNSUPPORTED,
                         "launch of %s with an array of arguments; GPUs take each as a parameter",
                         kernel->name);
    if (!with->packed && with->count > OMPRMA_LAUNCH_ARGUMENTS)
        return error_set(OMPRMA_ERR_ARGUMENT,
                         "launch of %s with %u arguments; at most %d are possible", kernel->name,
                         with->count, OMPRMA_LAUNCH_ARGUMENTS);
    if (with->packed || kernel->parameters < 0)
        return OMPRMA_OK;
    if (!kernel->words)
        return error_set(OMPRMA_ERR_ARGUMENT,
                         "kernel %s has parameters of more than 8 bytes; use "
                         "omprma_launch_packed()",
                         kernel->name);
    if (with->count < (uint32_t)kernel->parameters)
        return error_set(OMPRMA_ERR_ARGUMENT, "launch of %s with %u arguments; it has %d",
                         kernel->name, with->count, kernel->parameters);
    return OMPRMA_OK;
}

static omprma_status_t find_kernel(struct gpu *gpu, const struct backend_launch *launch,
                                   struct gpu_kernel *kernel)
{
    omprma_status_t status;

    if (!gpu_kernel_find(gpu, launch->kernel, kernel))
        return error_set(OMPRMA_ERR_ADDRESS,
                         "launch of 0x%llx, which is not a kernel of a loaded image",
                         (unsigned long long)launch->kernel);
    status = check(kernel, &launch->with);
    return status == OMPRMA_OK ? status : error_note_code(status, gpu->driver->invalid);
}

/* What is left to the device is 1. */
static void fill_size(const omprma_geometry_t *geometry, unsigned size[6])
{
    for (int i = 0; i < 3; i++) {
        size[i] = geometry->teams[i] ? geometry->teams[i] : 1;
        size[3 + i] = geometry->threads[i] ? geometry->threads[i] : 1;
    }
}

static int start_launch(const struct gpu *gpu, const struct gpu_kernel *kernel,
                        const struct wire_launch *with, struct gpu_task *task,
                        omprma_status_t *status)
{
    unsigned size[6];
    int code;

    strcpy(task->kernel, kernel->name);
    task->prints = kernel->prints;
    fill_size(&with->geometry, size);
    code = gpu->driver->launch(gpu, kernel, with, size, task->stream);
    if (code != 0)
        *status =
            gpu_error(gpu, code, "launch of %s with %u x %u x %u teams of %u x %u x %u threads",
                      task->kernel, size[0], size[1], size[2], size[3], size[4], size[5]);
    return code;
}

/* What stands before a launch that is refused is done. */
enum backend_step gpu_region(struct worker_device *device, struct backend_job *job,
                             const struct backend_copy *write, const struct backend_launch *launch,
                             const struct backend_copy *read)
{
    struct gpu *gpu = device->state;
    struct gpu_kernel kernel;
    struct gpu_task *task;
    enum before before = NOTHING_BEFORE;
    omprma_status_t status = find_kernel(gpu, launch, &kernel);
    int code = 0;

    if (status != OMPRMA_OK && !write) {
        job->status = status;
        return BACKEND_OVER;
    }
    task = begin(gpu, job);
    if (!task)
        return not_begun(gpu);
    if (write) {
        code = start_copy(gpu, write, task, &status);
        if (code == 0)
            before = WRITE_BEFORE;
    }
    if (code == 0 && status == OMPRMA_OK) {
        code = start_launch(gpu, &kernel, &launch->with, task, &status);
        if (code == 0) {
            before = LAUNCH_BEFORE;
            if (read)
                code = start_copy(gpu, read, task, &status);
        }
    }
    return begun(gpu, task, code, before, status);
}

enum backend_step gpu_launch(struct worker_device *device, struct backend_job *job,
                             const struct backend_launch *launch)
{
    return gpu_region(device, job, NULL, launch, NULL);
}

/* ---- end ---- */

/* What kernels have printed shows only after a call that waits. `end`: a task with which this one
 * ends. */
static int query(const struct gpu *gpu, const struct gpu_task *task, struct gpu_task *end)
{
    const struct gpu_driver *driver = gpu->driver;
    int code = 0;

    if (!end->over)
        code = end->recorded ? driver->event_query(gpu, end->event)
                             : driver->stream_query(gpu, task->stream);
    if (code == 0 && task->prints)
        code = end->recorded ? driver->event_wait(gpu, end->event)
                             : driver->stream_wait(gpu, task->stream);
    end->over = code == 0;
    return code;
}

/* It copies to a GPU that is lost: nobody waits until it ends by itself. */
static void let_go(const struct gpu *gpu, struct gpu_task *task)
{
    if (task->astray || !task->other || !task->other->fault[0] || !gpu->driver->stream_let_go)
        return;
    gpu->driver->stream_let_go(gpu, task->stream);
    task->astray = true;
}

static omprma_status_t other_is_lost(const struct gpu *other)
{
    return error_note_code(error_set(OMPRMA_ERR_DEVICE_LOST, "%s", other->fault),
                           other->device->fault_code);
}

static bool stream_has_ended(struct gpu *gpu, struct gpu_task *task)
{
    struct backend_job *job = task->job;
    struct gpu_task *end = task;
    int code;

    while (!end->recorded && end->behind)
        end = end->behind;
    gpu_enter(gpu);
    code = query(gpu, task, end);
    if (code == gpu->driver->not_ready) {
        let_go(gpu, task);
        return false;
    }
    if (gpu->driver->is_fatal(code)) {
        gpu_note_fault(gpu, code);
        return false;
    }
    if (code != 0) /* what it is about may still use memory of ours */
        gpu->driver->stream_wait(gpu, task->stream);
    if (code != 0 && job->status == OMPRMA_OK)
        job->status = gpu_error(gpu, code, "%s%s on %s", task->kernel[0] ? "kernel " : "a transfer",
                                task->kernel, gpu->name);
    if (code == 0 && task->astray && job->status == OMPRMA_OK)
        job->status = other_is_lost(task->other);
    if (!task->behind)
        stream_give(gpu, task->stream);
    gpu_task_give(gpu, task);
    return true;
}

bool gpu_poll(struct worker_device *device, struct backend_job *job)
{
    struct gpu *gpu = device->state;
    struct gpu_task *task = job->handle;

    if (gpu->fault[0])
        return false;
    return task->stream ? stream_has_ended(gpu, task) : gpu_helper_has_ended(gpu, task);
}

/* ---- all of them ---- */

void gpu_tasks_wait(const struct gpu *gpu)
{
    for (const struct gpu_task *task = gpu->tasks; task; task = task->next)
        if (task->stream)
            gpu->driver->stream_wait(gpu, task->stream);
}

static void free_tasks(const struct gpu *gpu, struct gpu_task *task)
{
    while (task) {
        struct gpu_task *next = task->next;

        if (task->event)
            gpu->driver->event_destroy(gpu, task->event);
        free(task);
        task = next;
    }
}

void gpu_tasks_free(struct gpu *gpu)
{
    for (const struct gpu_task *task = gpu->tasks; task; task = task->next)
        if (task->stream && !task->behind)
            gpu->driver->stream_destroy(gpu, task->stream);
    free_tasks(gpu, gpu->tasks);
    free_tasks(gpu, gpu->spare_tasks);
    for (uint32_t i = 0; i < gpu->idle_count; i++)
        gpu->driver->stream_destroy(gpu, gpu->streams[i]);
    free(gpu->streams);
}
