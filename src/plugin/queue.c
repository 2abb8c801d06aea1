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

static omprma_queue_t *pool_take(int device)
{
    struct pool *pool = &pools[device];
    omprma_queue_t *queue = NULL;
    pthread_mutex_lock(&pool->lock);
    if (pool->count > 0)
        queue = pool->free[--pool->count];
    pthread_mutex_unlock(&pool->lock);
    if (!queue && omprma_queue_create(plugin_number(device), &queue) != OMPRMA_OK) {
        plugin_fail(-1, omprma_error());
        return NULL;
    }
    return queue;
}

static void pool_give(int device, omprma_queue_t *queue)
{
    struct pool *pool = &pools[device];
    pthread_mutex_lock(&pool->lock);
    if (pool->count < KEPT_QUEUES) {
        pool->free[pool->count++] = queue;
        queue = NULL;
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
    int32_t result = plugin_result(omprma_queue_synchronize(queue));
    async->queue = NULL;
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
