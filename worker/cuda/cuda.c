/* cuda.c: the backend "cuda", see cuda.h. What is started here never waits for the GPU. */
#include "worker/cuda/cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "control/world.h"
#include "worker/device.h"
#include "worker/worker.h"

/* Whose context is the calling thread's. Nobody else sets one here: kernels of native devices run
 * on threads of their own where there are GPUs, too. */
static _Thread_local const struct cuda *entered;

static void enter(const struct cuda *cuda)
{
    if (entered != cuda)
        entered = cuda->driver->context_set(cuda->context) == DRIVER_OK ? cuda : NULL;
}

static enum backend_step over(struct backend_job *job, omprma_status_t status)
{
    job->status = status;
    return BACKEND_OVER;
}

/* ---- faults ---- */

/* An earlier launch of the same kernel is under way. */
static bool is_named(const struct cuda *cuda, const struct cuda_task *task)
{
    const struct cuda_task *other = cuda->tasks;

    while (other != task && strcmp(other->kernel, task->kernel) != 0)
        other = other->next;
    return other != task;
}

/* The driver does not say which kernel it was: the ones that are under way, the first ones first.
 */
static void name_kernels(const struct cuda *cuda, char *names, size_t bytes)
{
    size_t used = 0;
    int count = 0;

    names[0] = 0;
    for (const struct cuda_task *task = cuda->tasks; task; task = task->next) {
        if (!task->kernel[0] || is_named(cuda, task))
            continue;
        if (used < bytes - 1)
            used += (size_t)snprintf(names + used, bytes - used, "%s%s", count ? " or " : "kernel ",
                                     task->kernel);
        count++;
    }
    if (count == 0)
        snprintf(names, bytes, "no kernel that is known to run");
}

/* Nothing that is under way ends any more; the core is told by fault(). */
static void lose(struct cuda *cuda, int code)
{
    char names[400];

    if (cuda->fault[0])
        return;
    name_kernels(cuda, names, sizeof(names));
    snprintf(cuda->fault, sizeof(cuda->fault), "%.96s: %.300s: %.200s", cuda->name, names,
             driver_words(cuda->driver, code));
    cuda->device->fault_code = code;
}

static const char *cuda_fault(struct worker_device *device)
{
    const struct cuda *cuda = device->state;

    return cuda->fault[0] ? cuda->fault : NULL;
}

/* ---- tasks ---- */

static struct cuda_task *task_take(struct cuda *cuda, struct backend_job *job)
{
    struct cuda_task *task = cuda->spare_tasks;

    if (task)
        cuda->spare_tasks = task->next;
    else
        task = calloc(1, sizeof(*task));
    if (!task) {
        job->status = error_set(OMPRMA_ERR_HOST_MEMORY, "the worker has no memory for a job");
        return NULL;
    }
    task->job = job;
    task->stream = NULL;
    task->behind = NULL;
    task->marked = task->over = task->prints = false;
    task->kernel[0] = 0;
    task->value = 0;
    task->code = 0;
    task->next = NULL;
    if (cuda->tasks)
        cuda->last_task->next = task;
    else
        cuda->tasks = task;
    cuda->last_task = task;
    job->handle = task;
    return task;
}

static void task_give(struct cuda *cuda, struct cuda_task *task)
{
    struct cuda_task **link = &cuda->tasks, *before = NULL;

    while (*link != task) {
        before = *link;
        link = &before->next;
    }
    *link = task->next;
    if (cuda->last_task == task)
        cuda->last_task = before;
    task->next = cuda->spare_tasks;
    cuda->spare_tasks = task;
}

/* ---- streams ---- */

/* There is always room to give one back. */
static int stream_take(struct cuda *cuda, driver_stream *stream)
{
    driver_stream *streams;

    if (cuda->idle_count) {
        *stream = cuda->streams[--cuda->idle_count];
        return DRIVER_OK;
    }
    streams = realloc(cuda->streams, (cuda->stream_count + 1) * sizeof(*streams));
    if (!streams)
        return DRIVER_OUT_OF_MEMORY;
    cuda->streams = streams;
    cuda->stream_count++;
    return cuda->driver->stream_create(stream, DRIVER_NON_BLOCKING);
}

static void stream_give(struct cuda *cuda, driver_stream stream)
{
    cuda->streams[cuda->idle_count++] = stream;
}

static int stream_mark(const struct cuda *cuda, struct cuda_task *task)
{
    int code = DRIVER_OK;

    if (!task->end)
        code = cuda->driver->event_create(&task->end, DRIVER_DISABLE_TIMING);
    if (code == DRIVER_OK)
        code = cuda->driver->event_record(task->end, task->stream);
    task->marked = code == DRIVER_OK;
    return code;
}

/* The stream of the task before, whose end is marked in it if somebody wants to know it. */
static int stream_share(const struct cuda *cuda, struct cuda_task *before, driver_stream *stream)
{
    *stream = before->stream;
    return before->marked || before->job->ends_with_next ? DRIVER_OK : stream_mark(cuda, before);
}

/* A job that a stream is to run: its task, with the context current; NULL: it is over, or the GPU
 * is lost. */
static struct cuda_task *begin(struct cuda *cuda, struct backend_job *job)
{
    struct cuda_task *task = task_take(cuda, job);
    int code;

    if (!task)
        return NULL;
    enter(cuda);
    code = job->behind ? stream_share(cuda, job->behind->handle, &task->stream)
                       : stream_take(cuda, &task->stream);
    if (code == DRIVER_OK)
        return task;
    task_give(cuda, task);
    job->status = driver_error(cuda->driver, code, "%s has no stream", cuda->name);
    return NULL;
}

/* What calls for a task have begun before the last one. */
enum part { PART_NONE, PART_WRITE, PART_LAUNCH };

/* Its last driver call has returned `code`; if that is an error, job->status says so for anything
 * but a fault. What was begun may still use memory of ours. */
static enum backend_step begun(struct cuda *cuda, struct cuda_task *task, int code, enum part part,
                               omprma_status_t status)
{
    struct backend_job *job = task->job;

    if (driver_is_fatal(code)) {
        if (job->behind && part != PART_LAUNCH) /* it is about something before */
            task->kernel[0] = 0;
        lose(cuda, code);
        return BACKEND_PENDING;
    }
    if (code == DRIVER_OK || part != PART_NONE) {
        job->status = status;
        if (job->behind)
            ((struct cuda_task *)job->behind->handle)->behind = task;
        return BACKEND_PENDING;
    }
    if (!job->behind)
        stream_give(cuda, task->stream);
    task_give(cuda, task);
    return over(job, status);
}

static omprma_status_t refuse_range(int code, const char *what, uint64_t address, uint64_t bytes)
{
    return error_note_code(worker_device_refuse_range(what, address, bytes, address), code);
}

/* ---- memory of this process that data goes through ---- */

/* In vain where pages may not be locked: then the driver copies once more. */
static void cuda_pin(struct worker_device *device, void *memory, uint64_t bytes)
{
    const struct cuda *cuda = device->state;
    int code;

    enter(cuda);
    code = cuda->driver->host_register(memory, bytes, DRIVER_PORTABLE);
    if (code != DRIVER_OK)
        log_write(LOG_CHOICE, "%s: its staging memory is not page-locked, transfers are slower: %s",
                  cuda->name, driver_words(cuda->driver, code));
}

static void cuda_unpin(struct worker_device *device, void *memory)
{
    const struct cuda *cuda = device->state;

    if (cuda->fault[0])
        return;
    enter(cuda);
    cuda->driver->host_unregister(memory);
}

/* ---- with the clerk ---- */

static enum backend_step give_clerk(struct cuda *cuda, struct cuda_task *task,
                                    omprma_status_t (*work)(struct cuda *, struct cuda_task *))
{
    task->work = work;
    clerk_give(cuda, task);
    return BACKEND_PENDING;
}

static enum backend_step cuda_grow(struct worker_device *device, struct backend_job *job,
                                   uint64_t bytes)
{
    struct cuda_task *task = task_take(device->state, job);

    if (!task)
        return BACKEND_OVER;
    task->bytes = bytes;
    return give_clerk(device->state, task, memory_work_grow);
}

static enum backend_step cuda_release(struct worker_device *device, struct backend_job *job,
                                      uint64_t address)
{
    struct cuda *cuda = device->state;
    struct cuda_task *task;

    if (!cuda->clerk.running) /* the end: close() frees what is left */
        return over(job, OMPRMA_OK);
    task = task_take(cuda, job);
    if (!task)
        return BACKEND_OVER;
    task->address = address;
    return give_clerk(cuda, task, memory_work_release);
}

static enum backend_step cuda_load(struct worker_device *device, struct backend_job *job,
                                   const struct backend_load *load)
{
    struct cuda_task *task = task_take(device->state, job);

    if (!task)
        return BACKEND_OVER;
    task->load = load;
    return give_clerk(device->state, task, module_work_load);
}

static enum backend_step cuda_ask(struct worker_device *device, struct backend_job *job,
                                  struct backend_ask *ask)
{
    struct cuda_task *task = task_take(device->state, job);

    if (!task)
        return BACKEND_OVER;
    task->ask = ask;
    return give_clerk(device->state, task, question_work);
}

/* ---- copies and fills ---- */

static int give_copy(const struct cuda *cuda, const struct backend_copy *copy, driver_stream stream)
{
    const struct driver *driver = cuda->driver;
    size_t bytes = copy->bytes;

    if (!copy->from_device)
        return driver->copy_in(copy->to, (const void *)(uintptr_t)copy->from, bytes, stream);
    if (!copy->to_device)
        return driver->copy_out((void *)(uintptr_t)copy->to, copy->from, bytes, stream);
    if (copy->to_device == copy->from_device)
        return driver->copy_inside(copy->to, copy->from, bytes, stream);
    return driver->copy_peer(copy->to, cuda_of(copy->to_device)->context, copy->from, cuda->context,
                             bytes, stream);
}

static omprma_status_t copy_error(const struct cuda *cuda, const struct backend_copy *copy,
                                  int code)
{
    if (code == DRIVER_INVALID_VALUE)
        return refuse_range(code, copy->what, copy->from_device ? copy->from : copy->to,
                            copy->bytes);
    return driver_error(cuda->driver, code, "%s of %llu bytes on %s", copy->what,
                        (unsigned long long)copy->bytes, cuda->name);
}

/* *status is set if it does not begin. */
static int start_copy(const struct cuda *cuda, const struct backend_copy *copy,
                      const struct cuda_task *task, omprma_status_t *status)
{
    int code = give_copy(cuda, copy, task->stream);

    if (code != DRIVER_OK)
        *status = copy_error(cuda, copy, code);
    return code;
}

static enum backend_step cuda_copy(struct worker_device *device, struct backend_job *job,
                                   const struct backend_copy *copy)
{
    struct cuda *cuda = device->state;
    struct cuda_task *task;
    omprma_status_t status = OMPRMA_OK;
    int code;

    if (backend_copy_overlaps(copy)) {
        task = task_take(cuda, job);
        if (!task)
            return BACKEND_OVER;
        task->copy = *copy;
        return give_clerk(cuda, task, memory_work_overlap);
    }
    task = begin(cuda, job);
    if (!task)
        return BACKEND_OVER;
    code = start_copy(cuda, copy, task, &status);
    return begun(cuda, task, code, PART_NONE, status);
}

/* Patterns of 8 bytes are two columns of 4. */
static int start_fill(const struct driver *driver, const struct backend_fill *fill,
                      driver_stream stream)
{
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

static enum backend_step cuda_fill(struct worker_device *device, struct backend_job *job,
                                   const struct backend_fill *fill)
{
    struct cuda *cuda = device->state;
    uint64_t bytes = fill->count * fill->pattern_bytes;
    struct cuda_task *task = begin(cuda, job);
    omprma_status_t status = OMPRMA_OK;
    int code;

    if (!task)
        return BACKEND_OVER;
    code = start_fill(cuda->driver, fill, task->stream);
    if (code == DRIVER_INVALID_VALUE)
        status = refuse_range(code, "fill", fill->to, bytes);
    else if (code != DRIVER_OK)
        status = driver_error(cuda->driver, code, "fill of %llu bytes on %s",
                              (unsigned long long)bytes, cuda->name);
    return begun(cuda, task, code, PART_NONE, status);
}

/* ---- launches ---- */

/* Each word is a parameter, of which the driver takes as many bytes as it has. Where it does not
 * say how many there are, what lies behind the last word is zero, and further ones are too. */
static int launch_words(const struct cuda *cuda, const struct cuda_kernel *kernel,
                        const struct wire_launch *with, const unsigned dimension[6],
                        driver_stream stream)
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
    return cuda->driver->launch(kernel->function, dimension[0], dimension[1], dimension[2],
                                dimension[3], dimension[4], dimension[5],
                                (unsigned)with->geometry.shared_bytes, stream, parameters, NULL);
}

static int launch_packed(const struct cuda *cuda, const struct cuda_kernel *kernel,
                         const struct wire_launch *with, const unsigned dimension[6],
                         driver_stream stream)
{
    size_t bytes = with->packed_bytes;
    /* Of the driver interface: 1 is "buffer", 2 "its size", 0 the end. */
    void *extra[] = {(void *)1, (void *)(uintptr_t)with->arguments, (void *)2, &bytes, NULL};

    return cuda->driver->launch(
        kernel->function, dimension[0], dimension[1], dimension[2], dimension[3], dimension[4],
        dimension[5], (unsigned)with->geometry.shared_bytes, stream, NULL, bytes ? extra : NULL);
}

/* What is left to the device is 1. */
static void fill_dimensions(const omprma_geometry_t *geometry, unsigned dimension[6])
{
    for (int i = 0; i < 3; i++) {
        dimension[i] = geometry->teams[i] ? geometry->teams[i] : 1;
        dimension[3 + i] = geometry->threads[i] ? geometry->threads[i] : 1;
    }
}

static omprma_status_t check_launch(const struct cuda_kernel *kernel, const char *name,
                                    const struct wire_launch *with)
{
    if (with->geometry.shared_bytes > UINT32_MAX)
        return error_set(OMPRMA_ERR_ARGUMENT, "launch of %s with %llu bytes of shared memory", name,
                         (unsigned long long)with->geometry.shared_bytes);
    if (with->packed || kernel->parameters < 0)
        return OMPRMA_OK;
    if (!kernel->words)
        return error_set(OMPRMA_ERR_ARGUMENT,
                         "kernel %s has parameters of more than 8 bytes; use "
                         "omprma_launch_packed()",
                         name);
    if (with->count < (uint32_t)kernel->parameters)
        return error_set(OMPRMA_ERR_ARGUMENT, "launch of %s with %u arguments; it has %d", name,
                         with->count, kernel->parameters);
    return OMPRMA_OK;
}

static int start_launch(const struct cuda *cuda, const struct cuda_kernel *kernel,
                        const struct wire_launch *with, const struct cuda_task *task,
                        omprma_status_t *status)
{
    unsigned dimension[6];
    int code;

    fill_dimensions(&with->geometry, dimension);
    code = with->packed ? launch_packed(cuda, kernel, with, dimension, task->stream)
                        : launch_words(cuda, kernel, with, dimension, task->stream);
    if (code != DRIVER_OK)
        *status = driver_error(cuda->driver, code,
                               "launch of %s with %u x %u x %u teams of %u x %u x %u threads",
                               task->kernel, dimension[0], dimension[1], dimension[2], dimension[3],
                               dimension[4], dimension[5]);
    return code;
}

static omprma_status_t find_kernel(struct cuda *cuda, const struct backend_launch *launch,
                                   struct cuda_kernel *kernel, char *name)
{
    omprma_status_t status;

    if (!module_find_kernel(cuda, launch->kernel, kernel, name))
        return error_set(OMPRMA_ERR_ADDRESS,
                         "launch of 0x%llx, which is not a kernel of a loaded image",
                         (unsigned long long)launch->kernel);
    status = check_launch(kernel, name, &launch->with);
    return status == OMPRMA_OK ? status : error_note_code(status, DRIVER_INVALID_VALUE);
}

/* What stands before a launch that is refused is done. */
static enum backend_step cuda_region(struct worker_device *device, struct backend_job *job,
                                     const struct backend_copy *write,
                                     const struct backend_launch *launch,
                                     const struct backend_copy *read)
{
    struct cuda *cuda = device->state;
    struct cuda_kernel kernel;
    char name[CUDA_NAME_BYTES];
    struct cuda_task *task;
    omprma_status_t status = find_kernel(cuda, launch, &kernel, name);
    enum part part = PART_NONE;
    int code = DRIVER_OK;

    if (status != OMPRMA_OK && !write)
        return over(job, status);
    task = begin(cuda, job);
    if (!task)
        return BACKEND_OVER;
    if (write) {
        code = start_copy(cuda, write, task, &status);
        if (code == DRIVER_OK)
            part = PART_WRITE;
    }
    if (code == DRIVER_OK && status == OMPRMA_OK) {
        strcpy(task->kernel, name);
        task->prints = kernel.prints;
        code = start_launch(cuda, &kernel, &launch->with, task, &status);
        if (code == DRIVER_OK) {
            part = PART_LAUNCH;
            if (read)
                code = start_copy(cuda, read, task, &status);
        }
    }
    return begun(cuda, task, code, part, status);
}

static enum backend_step cuda_launch(struct worker_device *device, struct backend_job *job,
                                     const struct backend_launch *launch)
{
    return cuda_region(device, job, NULL, launch, NULL);
}

/* ---- the end of jobs ---- */

static bool clerk_has_ended(struct cuda *cuda, struct cuda_task *task)
{
    struct backend_job *job = task->job;

    if (!atomic_load_explicit(&task->done, memory_order_acquire))
        return false;
    if (task->status != OMPRMA_OK && driver_is_fatal(task->code)) {
        lose(cuda, task->code);
        return false;
    }
    job->value = task->value;
    job->status = task->status;
    if (task->status != OMPRMA_OK) {
        error_set(task->status, "%s", task->text);
        error_note_code(task->status, task->code);
    }
    task_give(cuda, task);
    return true;
}

/* The driver prints what kernels have printed only in a call that waits. `end`: a task with which
 * this one ends. */
static int query(const struct cuda *cuda, const struct cuda_task *task, struct cuda_task *end)
{
    const struct driver *driver = cuda->driver;
    int code = DRIVER_OK;

    if (!end->over)
        code = end->marked ? driver->event_query(end->end) : driver->stream_query(task->stream);
    if (code == DRIVER_OK && task->prints)
        code = end->marked ? driver->event_synchronize(end->end)
                           : driver->stream_synchronize(task->stream);
    end->over = code == DRIVER_OK;
    return code;
}

static bool stream_has_ended(struct cuda *cuda, struct cuda_task *task)
{
    struct backend_job *job = task->job;
    struct cuda_task *end = task;
    int code;

    while (!end->marked && end->behind)
        end = end->behind;
    enter(cuda);
    code = query(cuda, task, end);
    if (code == DRIVER_NOT_READY)
        return false;
    if (driver_is_fatal(code)) {
        lose(cuda, code);
        return false;
    }
    if (code != DRIVER_OK) /* what it is about may still use memory of ours */
        cuda->driver->stream_synchronize(task->stream);
    if (code != DRIVER_OK && job->status == OMPRMA_OK)
        job->status =
            driver_error(cuda->driver, code, "%s%s on %s",
                         task->kernel[0] ? "kernel " : "a transfer", task->kernel, cuda->name);
    if (!task->behind)
        stream_give(cuda, task->stream);
    task_give(cuda, task);
    return true;
}

static bool cuda_poll(struct worker_device *device, struct backend_job *job)
{
    struct cuda *cuda = device->state;
    struct cuda_task *task = job->handle;

    if (cuda->fault[0])
        return false;
    return task->stream ? stream_has_ended(cuda, task) : clerk_has_ended(cuda, task);
}

/* ---- life ---- */

/* So that copies between GPUs need not go through memory of this machine; where that cannot be, the
 * driver copies all the same. */
static omprma_status_t cuda_start(struct worker_device *device)
{
    const struct server *server = device->server;
    struct cuda *cuda = device->state;

    enter(cuda);
    for (int i = 0; i < server->device_count; i++) {
        const struct cuda *other = cuda_of(&server->devices[i]);
        int can = 0;

        if (other && other != cuda &&
            cuda->driver->can_access_peer(&can, cuda->handle, other->handle) == DRIVER_OK && can)
            cuda->driver->enable_peer(other->context, 0);
    }
    return OMPRMA_OK;
}

static void cuda_stop(struct worker_device *device)
{
    struct cuda *cuda = device->state;

    if (cuda->fault[0])
        return;
    clerk_stop(cuda);
    enter(cuda);
    for (struct cuda_task *task = cuda->tasks; task; task = task->next)
        if (task->stream) /* it may use memory of the program's session, which ends next */
            cuda->driver->stream_synchronize(task->stream);
}

static void free_tasks(const struct cuda *cuda, struct cuda_task *task)
{
    while (task) {
        struct cuda_task *next = task->next;

        if (task->end)
            cuda->driver->event_destroy(task->end);
        free(task);
        task = next;
    }
}

/* After a fault the driver refuses everything, and its thread may be in there. */
static void cuda_close(struct worker_device *device)
{
    struct cuda *cuda = device->state;

    if (cuda->fault[0])
        return;
    clerk_stop(cuda);
    if (cuda->context) {
        enter(cuda);
        for (struct cuda_task *task = cuda->tasks; task; task = task->next)
            if (task->stream && !task->behind)
                cuda->driver->stream_destroy(task->stream);
        free_tasks(cuda, cuda->tasks);
        free_tasks(cuda, cuda->spare_tasks);
        for (uint32_t i = 0; i < cuda->idle_count; i++)
            cuda->driver->stream_destroy(cuda->streams[i]);
        module_unload_all(cuda);
        memory_free_all(cuda);
        cuda->driver->context_release(cuda->handle);
    }
    entered = NULL;
    free(cuda->streams);
    free(cuda);
    device->state = NULL;
}

static const struct backend cuda_backend = {
    .name = "cuda",
    .keeps_order = true,
    .grow = cuda_grow,
    .release = cuda_release,
    .pin = cuda_pin,
    .unpin = cuda_unpin,
    .copy = cuda_copy,
    .fill = cuda_fill,
    .load = cuda_load,
    .launch = cuda_launch,
    .region = cuda_region,
    .ask = cuda_ask,
    .poll = cuda_poll,
    .fault = cuda_fault,
    .start = cuda_start,
    .stop = cuda_stop,
    .close = cuda_close,
};

struct cuda *cuda_of(const struct worker_device *device)
{
    return device->backend == &cuda_backend ? device->state : NULL;
}

/* Everything up to the clerk. Returns the driver's code, and what it was about. */
static int open_gpu(struct cuda *cuda, const char **what)
{
    const struct driver *driver = cuda->driver;
    size_t free_bytes = 0, total_bytes = 0;
    int code = driver->device_get(&cuda->handle, cuda->options.ordinal);

    *what = "cannot be used";
    if (code == DRIVER_OK)
        code = driver->device_name(cuda->name, sizeof(cuda->name), cuda->handle);
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
    enter(cuda);
    *what = "does not say how much memory it has";
    code = driver->memory_info(&free_bytes, &total_bytes);
    if (cuda->options.memory_bytes == 0)
        cuda->options.memory_bytes = free_bytes / 10 * 9;
    return code;
}

omprma_status_t cuda_open(struct worker_device *device, const struct cuda_options *options)
{
    struct cuda *cuda = calloc(1, sizeof(*cuda));
    const char *what;
    omprma_status_t status = OMPRMA_OK;
    int code;

    if (!cuda)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a device");
    cuda->device = device;
    cuda->options = *options;
    cuda->driver = options->driver;
    pthread_mutex_init(&cuda->kernel_lock, NULL);
    device->backend = &cuda_backend;
    device->state = cuda;
    code = open_gpu(cuda, &what);
    if (code != DRIVER_OK)
        status = driver_error(cuda->driver, code, "GPU %d %s", options->ordinal, what);
    else
        status = clerk_start(cuda);
    if (status != OMPRMA_OK)
        cuda_close(device);
    return status;
}

/* ---- description ---- */

/* The node that the GPU hangs on, -1: not known. */
static int numa_node(const struct cuda *cuda)
{
    char bus[32] = "", path[96];
    int node = -1;
    FILE *file;

    if (cuda->driver->device_bus(bus, sizeof(bus), cuda->handle) != DRIVER_OK)
        return -1;
    for (char *c = bus; *c; c++)
        *c = (char)(*c >= 'A' && *c <= 'F' ? *c + 32 : *c);
    snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/numa_node", bus);
    file = fopen(path, "re");
    if (!file)
        return -1;
    if (fscanf(file, "%d", &node) != 1)
        node = -1;
    fclose(file);
    return node;
}

void cuda_describe(const struct worker_device *device, struct world_device *description)
{
    const struct cuda *cuda = cuda_of(device);

    snprintf(description->model, sizeof(description->model), "%s", cuda->name);
    cuda->driver->device_attribute(&description->cores, DRIVER_MULTIPROCESSORS, cuda->handle);
    description->numa_node = numa_node(cuda);
    description->memory_limit = cuda->options.memory_bytes;
}
