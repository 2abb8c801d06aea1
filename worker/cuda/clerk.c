/*
 * clerk.c: a thread per GPU for calls of the driver that may wait: for kernels that run (freeing
 * memory, unloading), or for the compiler (loading PTX). Who serves must not. See cuda.h.
 */
#include <stdio.h>

#include "worker/cuda/cuda.h"

static struct cuda_task *take(struct cuda_clerk *clerk)
{
    struct cuda_task *task;

    pthread_mutex_lock(&clerk->lock);
    while (!clerk->first && !clerk->stop)
        pthread_cond_wait(&clerk->wake, &clerk->lock);
    task = clerk->first;
    if (task)
        clerk->first = task->next_work;
    pthread_mutex_unlock(&clerk->lock);
    return task;
}

static void *work(void *data)
{
    struct cuda *cuda = data;
    struct cuda_task *task;

    cuda->driver->context_set(cuda->context);
    while ((task = take(&cuda->clerk))) {
        task->status = task->work(cuda, task);
        if (task->status != OMPRMA_OK) {
            task->code = error_code();
            snprintf(task->text, sizeof(task->text), "%s", error_text());
        }
        atomic_store_explicit(&task->done, true, memory_order_release);
    }
    return NULL;
}

omprma_status_t clerk_start(struct cuda *cuda)
{
    struct cuda_clerk *clerk = &cuda->clerk;

    pthread_mutex_init(&clerk->lock, NULL);
    pthread_cond_init(&clerk->wake, NULL);
    clerk->running = pthread_create(&clerk->thread, NULL, work, cuda) == 0;
    return clerk->running ? OMPRMA_OK
                          : error_set(OMPRMA_ERR_HOST_MEMORY, "cannot start a GPU's thread");
}

/* What it was given before is done first. */
void clerk_stop(struct cuda *cuda)
{
    struct cuda_clerk *clerk = &cuda->clerk;

    if (!clerk->running)
        return;
    pthread_mutex_lock(&clerk->lock);
    clerk->stop = true;
    pthread_cond_signal(&clerk->wake);
    pthread_mutex_unlock(&clerk->lock);
    pthread_join(clerk->thread, NULL);
    clerk->running = false;
}

void clerk_give(struct cuda *cuda, struct cuda_task *task)
{
    struct cuda_clerk *clerk = &cuda->clerk;

    task->next_work = NULL;
    atomic_store(&task->done, false);
    pthread_mutex_lock(&clerk->lock);
    if (clerk->first)
        clerk->last->next_work = task;
    else
        clerk->first = task;
    clerk->last = task;
    pthread_cond_signal(&clerk->wake);
    pthread_mutex_unlock(&clerk->lock);
}
