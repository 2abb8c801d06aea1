/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* copier.c: the first copy of the list is moved on, a piece at a time, without the list's lock. */
#include "host/core/copier.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

void copier_begin(struct copier *copier, void (*tell)(void *data), void *data)
{
    *copier = (struct copier){.tell = tell, .data = data};
    pthread_mutex_init(&copier->lock, NULL);
    pthread_cond_init(&copier->wake, NULL);
    pthread_cond_init(&copier->turned, NULL);
    STAILQ_INIT(&copier->copies);
}

/* Moves a piece. *stays: there is more to move. */
static omprma_status_t move_on(const struct copy *copy, bool *stays)
{
    uint64_t before = copy->transfer->completed;
    bool done = false;
    omprma_status_t status = datapath_test(copy->path, copy->transfer, &done);

    *stays = status == OMPRMA_OK && !done && copy->transfer->completed > before;
    return status;
}

/* One whose peer has died does not move, and is never over: whoever loses the peer leaves it. */
static void finish(struct copy *copy, omprma_status_t status)
{
    if (status == OMPRMA_OK && copy->transfer->completed < copy->transfer->bytes)
        return;
    copy->status = status;
    copy->text = status == OMPRMA_OK ? NULL : strdup(error_text());
    atomic_store_explicit(&copy->over, true, memory_order_release);
}

/* With the lock held, which is released meanwhile. */
static void turn(struct copier *copier, struct copy *copy)
{
    omprma_status_t status;
    bool stays;

    copier->moving = copy;
    pthread_mutex_unlock(&copier->lock);
    status = move_on(copy, &stays);
    pthread_mutex_lock(&copier->lock);
    copier->moving = NULL;
    pthread_cond_broadcast(&copier->turned);
    if (stays)
        return;
    STAILQ_REMOVE(&copier->copies, copy, copy, next);
    finish(copy, status);
    copier->tell(copier->data);
}

static void *copy_all(void *data)
{
    struct copier *copier = data;

    pthread_mutex_lock(&copier->lock);
    while (!copier->ends) {
        struct copy *copy = STAILQ_FIRST(&copier->copies);

        if (copy)
            turn(copier, copy);
        else
            pthread_cond_wait(&copier->wake, &copier->lock);
    }
    pthread_mutex_unlock(&copier->lock);
    return NULL;
}

/* With the lock held. Signals are the program's. */
static bool make(struct copier *copier)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    copier->made = pthread_create(&copier->thread, NULL, copy_all, copier) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return copier->made;
}

omprma_status_t copier_copy(struct copier *copier, struct copy *copy)
{
    bool right;

    copy->status = OMPRMA_OK;
    copy->text = NULL;
    atomic_init(&copy->over, false);
    copy->transfer->issued = copy->transfer->completed = 0;
    pthread_mutex_lock(&copier->lock);
    right = copier->made || make(copier);
    if (right)
        STAILQ_INSERT_TAIL(&copier->copies, copy, next);
    pthread_cond_signal(&copier->wake);
    pthread_mutex_unlock(&copier->lock);
    return right ? OMPRMA_OK
                 : error_set(OMPRMA_ERR_HOST_MEMORY, "cannot start the thread that copies");
}

void copier_leave(struct copier *copier, struct copy *copy)
{
    struct copy *each;

    pthread_mutex_lock(&copier->lock);
    while (copier->moving == copy)
        pthread_cond_wait(&copier->turned, &copier->lock);
    STAILQ_FOREACH(each, &copier->copies, next)
    if (each == copy)
        break;
    if (each)
        STAILQ_REMOVE(&copier->copies, copy, copy, next);
    pthread_mutex_unlock(&copier->lock);
    free(copy->text);
    copy->text = NULL;
}

void copier_end(struct copier *copier)
{
    pthread_mutex_lock(&copier->lock);
    copier->ends = true;
    pthread_cond_signal(&copier->wake);
    pthread_mutex_unlock(&copier->lock);
    if (copier->made)
        pthread_join(copier->thread, NULL);
    pthread_cond_destroy(&copier->turned);
    pthread_cond_destroy(&copier->wake);
    pthread_mutex_destroy(&copier->lock);
}
