/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * orphan.c: a list under a lock. Nobody is told when a queue becomes idle: whoever makes or drops a
 * stream has the list looked through, so it stays short.
 */
#include "face/driver/orphan.h"

#include <stdlib.h>

struct orphan {
    struct orphan *next;
    omprma_queue_t *queue;
};

void orphans_open(struct orphans *orphans)
{
    pthread_mutex_init(&orphans->lock, NULL);
    orphans->first = NULL;
}

bool orphans_add(struct orphans *orphans, omprma_queue_t *queue)
{
    struct orphan *made = malloc(sizeof(*made));

    if (!made)
        return false;
    pthread_mutex_lock(&orphans->lock);
    *made = (struct orphan){orphans->first, queue};
    orphans->first = made;
    pthread_mutex_unlock(&orphans->lock);
    return true;
}

void orphans_destroy_idle(struct orphans *orphans)
{
    pthread_mutex_lock(&orphans->lock);
    for (struct orphan **at = &orphans->first; *at;) {
        struct orphan *each = *at;
        bool done = false;
        if (omprma_queue_query(each->queue, &done) == OMPRMA_OK && !done) {
            at = &each->next;
            continue;
        }
        *at = each->next;
        omprma_queue_destroy(each->queue);
        free(each);
    }
    pthread_mutex_unlock(&orphans->lock);
}

omprma_queue_t *orphans_take(struct orphans *orphans)
{
    omprma_queue_t *queue = NULL;

    pthread_mutex_lock(&orphans->lock);
    struct orphan *first = orphans->first;
    if (first) {
        queue = first->queue;
        orphans->first = first->next;
    }
    pthread_mutex_unlock(&orphans->lock);
    free(first);
    return queue;
}
