/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * helper_thread.c: a thread per GPU for calls of the driver that may wait: for kernels that run
 * (freeing memory, unloading), or for a compiler (loading). Who serves must not. It takes tasks
 * from a list, one at a time and in order, and says that one is done by its flag, which the serving
 * thread polls; an error goes along in the task.
 */
#include <stdio.h>

#include "worker/device.h"
#include "worker/gpu/gpu.h"

static struct gpu_task *next_task(struct gpu_helper_thread *helper)
{
    struct gpu_task *task;

    pthread_mutex_lock(&helper->lock);
    while (!helper->first && !helper->stop)
        pthread_cond_wait(&helper->wake, &helper->lock);
    task = helper->first;
    if (task)
        helper->first = task->next_work;
    pthread_mutex_unlock(&helper->lock);
    return task;
}

static void *run(void *data)
{
    struct gpu *gpu = data;
    struct gpu_task *task;

    gpu->driver->make_current(gpu);
    while ((task = next_task(&gpu->helper))) {
        task->status = task->work.run(gpu, task);
        if (task->status != OMPRMA_OK) {
            task->code = error_code();
            snprintf(task->text, sizeof(task->text), "%s", error_text());
        }
        atomic_store_explicit(&task->done, true, memory_order_release);
    }
    return NULL;
}

omprma_status_t gpu_helper_start(struct gpu *gpu)
{
    struct gpu_helper_thread *helper = &gpu->helper;

    pthread_mutex_init(&helper->lock, NULL);
    pthread_cond_init(&helper->wake, NULL);
    helper->running = pthread_create(&helper->thread, NULL, run, gpu) == 0;
    return helper->running ? OMPRMA_OK
                           : error_set(OMPRMA_ERR_HOST_MEMORY, "cannot start a GPU's thread");
}

void gpu_helper_stop(struct gpu *gpu)
{
    struct gpu_helper_thread *helper = &gpu->helper;

    if (!helper->running)
        return;
    pthread_mutex_lock(&helper->lock);
    helper->stop = true;
    pthread_cond_signal(&helper->wake);
    pthread_mutex_unlock(&helper->lock);
    pthread_join(helper->thread, NULL);
    helper->running = false;
}

enum backend_step gpu_hand_over(struct worker_device *device, struct backend_job *job,
                                const struct gpu_work *work)
{
    struct gpu *gpu = device->state;
    struct gpu_helper_thread *helper = &gpu->helper;
    struct gpu_task *task = gpu_task_take(gpu, job);

    if (!task)
        return BACKEND_OVER;
    task->work = *work;
    task->next_work = NULL;
    atomic_store(&task->done, false);
    pthread_mutex_lock(&helper->lock);
    if (helper->first)
        helper->last->next_work = task;
    else
        helper->first = task;
    helper->last = task;
    pthread_cond_signal(&helper->wake);
    pthread_mutex_unlock(&helper->lock);
    return BACKEND_PENDING;
}

bool gpu_helper_has_ended(struct gpu *gpu, struct gpu_task *task)
{
    struct backend_job *job = task->job;

    if (!atomic_load_explicit(&task->done, memory_order_acquire))
        return false;
    if (task->status != OMPRMA_OK && gpu->driver->is_fatal(task->code)) {
        gpu_note_fault(gpu, task->code);
        return false;
    }
    job->value = task->value;
    job->status = task->status;
    if (task->status != OMPRMA_OK) {
        error_set(task->status, "%s", task->text);
        error_note_code(task->status, task->code);
    }
    gpu_task_give(gpu, task);
    return true;
}

/* ---- loads and questions ---- */

static omprma_status_t load(struct gpu *gpu, struct gpu_task *task)
{
    return gpu->driver->load(gpu, task->work.load, &task->value);
}

enum backend_step gpu_load(struct worker_device *device, struct backend_job *job,
                           const struct backend_load *what)
{
    return gpu_hand_over(device, job, &(struct gpu_work){.run = load, .load = what});
}

static omprma_status_t ask(struct gpu *gpu, struct gpu_task *task)
{
    return gpu->driver->ask(gpu, task->work.ask);
}

enum backend_step gpu_ask(struct worker_device *device, struct backend_job *job,
                          struct backend_ask *what)
{
    return gpu_hand_over(device, job, &(struct gpu_work){.run = ask, .ask = what});
}
