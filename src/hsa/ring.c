/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ring.c: packets are taken when the doorbell is rung: copied, their places given back, and put
 * into the lane, in their order. One that has to wait for a signal of the program holds back those
 * behind it. Whoever rings takes what is there, under the queue's lock; the attendant goes on with
 * what had to wait.
 */
#include <stdlib.h>

#include "hsa/driver.h"
#include "hsa/exports.h"
#include "hsa/fault.h"
#include "hsa/gpu.h"
#include "hsa/packets.h"
#include "hsa/result.h"

enum { PACKETS_MOST = 4096 };

/* ---- packets -------------------------------------------------------------------------------- */

/* Under the lock. The first packet's wait is over. */
static void queue_go_on(struct queue *queue)
{
    struct taken *taken = NULL;

    queue->waits = false;
    queue->turn++;
    while (!queue->stopped && (taken = STAILQ_FIRST(&queue->taken))) {
        if (packet_run(queue, &taken->packet) == PACKET_WAITS)
            return;
        STAILQ_REMOVE_HEAD(&queue->taken, link);
        free(taken);
    }
}

/* Under the lock. Puts the packet into the lane, or behind those that wait. */
static void queue_accept(struct queue *queue, const union packet *packet)
{
    if (!queue->waits && packet_run(queue, packet) != PACKET_WAITS)
        return;
    struct taken *taken = malloc(sizeof(*taken));
    if (!taken) {
        queue_fail(queue, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
        return;
    }
    taken->packet = *packet;
    STAILQ_INSERT_TAIL(&queue->taken, taken, link);
}

/* Under the lock. Takes the next packet and gives its place back. False: there is none. */
static bool queue_take(struct queue *queue, union packet *packet)
{
    const hsa_queue_t *handle = &queue->amd.hsa_queue;
    uint64_t read = __atomic_load_n(&queue->amd.read_dispatch_id, __ATOMIC_RELAXED);
    union packet *place = (union packet *)handle->base_address + read % handle->size;
    uint16_t header = __atomic_load_n(&place->header, __ATOMIC_ACQUIRE);

    if ((header & 0xff) == HSA_PACKET_TYPE_INVALID ||
        read >= __atomic_load_n(&queue->amd.write_dispatch_id, __ATOMIC_ACQUIRE))
        return false;
    *packet = *place;
    packet->header = header;
    __atomic_store_n(&place->header, HSA_PACKET_TYPE_INVALID, __ATOMIC_RELEASE);
    __atomic_store_n(&queue->amd.read_dispatch_id, read + 1, __ATOMIC_RELEASE);
    return true;
}

/* The doorbell's. */
static void queue_ring(void *ringer)
{
    struct queue *queue = ringer;
    struct call call;
    union packet packet;

    if (api_begin(&call) == HSA_STATUS_SUCCESS) {
        pthread_mutex_lock(&queue->lock);
        while (!queue->stopped && queue_take(queue, &packet))
            queue_accept(queue, &packet);
        pthread_mutex_unlock(&queue->lock);
    }
    api_end(&call, HSA_STATUS_SUCCESS);
}

/* ---- exported ------------------------------------------------------------------------------- */

static hsa_status_t queue_open(struct gpu *gpu, uint32_t size, hsa_queue_type32_t type,
                               hsa_queue_callback_t callback, void *data, hsa_queue_t **handle)
{
    struct queue *queue = queue_make(size);

    if (!queue)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    faults_start(queues_tell);
    queue->gpu = gpu;
    queue->amd.hsa_queue.type = type;
    queue->callback = callback;
    queue->data = data;
    hsa_status_t status = result_of(gpu, lane_open(lanes_of(gpu), &queue->lane));
    if (status != HSA_STATUS_SUCCESS) {
        queue_drop(queue);
        return status;
    }
    queue->go_on = queue_go_on;
    queue->doorbell->rings = queue_ring;
    queue->doorbell->ringer = queue;
    queue->doorbell->amd.queue_ptr = &queue->amd;
    queue_list(queue);
    *handle = &queue->amd.hsa_queue;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_queue_create(hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
                              hsa_queue_callback_t callback, void *data, uint32_t private_bytes,
                              uint32_t group_bytes, hsa_queue_t **queue)
{
    struct call call;
    hsa_status_t status = api_begin(&call);
    struct gpu *gpu = status == HSA_STATUS_SUCCESS ? gpu_of(agent) : NULL;

    (void)private_bytes, (void)group_bytes; /* packets say it */
    if (status == HSA_STATUS_SUCCESS && !agent_exists(agent))
        status = HSA_STATUS_ERROR_INVALID_AGENT;
    if (status == HSA_STATUS_SUCCESS && !gpu)
        status = HSA_STATUS_ERROR_INVALID_QUEUE_CREATION;
    if (status == HSA_STATUS_SUCCESS && (!queue || size == 0 || (size & (size - 1)) != 0 ||
                                         size > PACKETS_MOST || type > HSA_QUEUE_TYPE_COOPERATIVE))
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    if (status == HSA_STATUS_SUCCESS)
        status = gpu_usable(gpu);
    if (status == HSA_STATUS_SUCCESS)
        status = queue_open(gpu, size, type, callback, data, queue);
    return api_end(&call, status);
}

hsa_status_t hsa_queue_inactivate(hsa_queue_t *handle)
{
    struct call call;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS && !handle)
        status = HSA_STATUS_ERROR_INVALID_QUEUE;
    if (status == HSA_STATUS_SUCCESS) {
        pthread_mutex_lock(&queue_of(handle)->lock);
        queue_of(handle)->stopped = true;
        pthread_mutex_unlock(&queue_of(handle)->lock);
    }
    return api_end(&call, status);
}

/* What is in its lane is waited for; what waits for the program is dropped. */
hsa_status_t hsa_queue_destroy(hsa_queue_t *handle)
{
    struct call call;
    hsa_status_t status = hsa_queue_inactivate(handle);

    if (status != HSA_STATUS_SUCCESS)
        return status;
    status = api_begin(&call);
    if (status == HSA_STATUS_SUCCESS) {
        struct queue *queue = queue_of(handle);
        queue_unlist(queue);
        lane_close(queue->lane);
        queue_drop(queue);
    }
    return api_end(&call, status);
}

hsa_status_t hsa_amd_queue_set_priority(hsa_queue_t *queue, hsa_amd_queue_priority_t priority)
{
    struct call call;
    hsa_status_t status = api_begin(&call);

    if (status == HSA_STATUS_SUCCESS && !queue)
        status = HSA_STATUS_ERROR_INVALID_QUEUE;
    if (status == HSA_STATUS_SUCCESS && priority > HSA_AMD_QUEUE_PRIORITY_HIGH)
        status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return api_end(&call, status);
}
