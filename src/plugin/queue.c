/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * queue.c: queues behind AsyncInfo. libomptarget asks for a queue per construct, so free queues are
 * kept per device. Knows nothing of operations.
 */
#include <pthread.h>
#include <stdlib.h>

#include "plugin/plugin.h"

/* Free queues of one device. More than KEPT_QUEUES are only in use when as many threads offload at
 * once; what is beyond is destroyed. */
enum { KEPT_QUEUES = 64 };

struct pool {
    pthread_mutex_t lock;
    int count;
    omprma_queue_t *free[KEPT_QUEUES];
    omprma_queue_t **all; /* free or not */
    size_t all_count;
};

static struct pool *pools; /* one per device; written once, before the first use */

bool queue_pool_create(int devices)
{
    pools = calloc((size_t)devices, sizeof(*pools));
    if (!pools)
        return false;
    for (int i = 0; i < devices; i++)
        pthread_mutex_init(&pools[i].lock, NULL);
    return true;
}

/* A new one. NULL after plugin_fail(). */
static omprma_queue_t *pool_add(int device)
{
    struct pool *pool = &pools[device];
    omprma_queue_t *queue;
    if (omprma_queue_create(plugin_number(device), &queue) != OMPRMA_OK) {
        plugin_fail(-1, omprma_error());
        return NULL;
    }
    pthread_mutex_lock(&pool->lock);
    omprma_queue_t **all = reallocarray(pool->all, pool->all_count + 1, sizeof(queue));
    if (all) {
        pool->all = all;
        all[pool->all_count++] = queue;
    }
    pthread_mutex_unlock(&pool->lock);
    if (all)
        return queue;
    plugin_fail(device, "no host memory for a queue");
    omprma_queue_destroy(queue);
    return NULL;
}

/* With the pool's lock. Its place among all; all_count: it is none of ours. */
static size_t pool_find(const struct pool *pool, const omprma_queue_t *queue)
{
    size_t i = 0;
    while (i < pool->all_count && pool->all[i] != queue)
        i++;
    return i;
}

static bool pool_has(int device, const omprma_queue_t *queue)
{
    struct pool *pool = &pools[device];
    pthread_mutex_lock(&pool->lock);
    bool has = pool_find(pool, queue) < pool->all_count;
    pthread_mutex_unlock(&pool->lock);
    return has;
}

static omprma_queue_t *pool_take(int device)
{
    struct pool *pool = &pools[device];
    omprma_queue_t *queue = NULL;
    pthread_mutex_lock(&pool->lock);
    if (pool->count > 0)
        queue = pool->free[--pool->count];
    pthread_mutex_unlock(&pool->lock);
    return queue ? queue : pool_add(device);
}

static void pool_give(int device, omprma_queue_t *queue)
{
    struct pool *pool = &pools[device];
    pthread_mutex_lock(&pool->lock);
    if (pool->count < KEPT_QUEUES) {
        pool->free[pool->count++] = queue;
        queue = NULL;
    } else {
        pool->all[pool_find(pool, queue)] = pool->all[--pool->all_count];
    }
    pthread_mutex_unlock(&pool->lock);
    omprma_queue_destroy(queue);
}

omprma_queue_t *queue_of(int device, struct tgt_async *async)
{
    if (!async->queue)
        async->queue = pool_take(device);
    return async->queue;
}

int32_t queue_finish(int device, struct tgt_async *async)
{
    omprma_queue_t *queue = async->queue;
    if (!queue)
        return RTL_SUCCESS;
    async->queue = NULL;
    if (mixed_is() && !pool_has(device, queue))
        return mixed_synchronize(queue);
    int32_t result = plugin_result(omprma_queue_synchronize(queue));
    pool_give(device, queue);
    return result;
}

int32_t queue_issued(int device, struct tgt_async *async, bool wait, omprma_status_t status)
{
    int32_t result = plugin_result(status);
    if (wait && queue_finish(device, async) != RTL_SUCCESS)
        result = RTL_FAIL;
    return result;
}
