/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * queue.c: queues of packets. Each has a thread that takes packets in order, once the doorbell was
 * rung for them, and runs kernels later: without the barrier bit also behind the packets that
 * follow. See standin.h.
 */
#include "standin.h"

#include <stdlib.h>
#include <string.h>

enum { QUEUE_LEAST = 64, QUEUE_MOST = 131072, PACKET_BYTES = 64 };

/* A kernel that was taken and has not run. */
struct pending {
    struct pending *next;
    hsa_kernel_dispatch_packet_t packet;
};

static struct queue *queues; /* with world_lock */

typedef union {
    uint16_t header;
    hsa_kernel_dispatch_packet_t kernel;
    hsa_barrier_and_packet_t barrier;
    char bytes[PACKET_BYTES];
} packet_t;

static packet_t *packet_at(const struct queue *queue, uint64_t index)
{
    return (packet_t *)queue->amd.hsa_queue.base_address + index % queue->amd.hsa_queue.size;
}

static unsigned type_of(uint16_t header)
{
    return header >> HSA_PACKET_HEADER_TYPE & ((1 << HSA_PACKET_HEADER_WIDTH_TYPE) - 1);
}

/* ---- taking packets; with world_lock ---- */

static bool barrier_holds(const packet_t *packet, unsigned type)
{
    bool all = true, any = false;

    for (int i = 0; i < 5; i++) {
        bool zero;

        if (!packet->barrier.dep_signal[i].handle)
            continue;
        zero = signal_load(packet->barrier.dep_signal[i]) == 0;
        all &= zero;
        any |= zero;
    }
    return type == HSA_PACKET_TYPE_BARRIER_AND ? all : any;
}

static bool is_barrier(unsigned type)
{
    return type == HSA_PACKET_TYPE_BARRIER_AND || type == HSA_PACKET_TYPE_BARRIER_OR;
}

static int64_t doorbell_of(const struct queue *queue)
{
    return __atomic_load_n(&queue->doorbell->value, __ATOMIC_ACQUIRE);
}

/* The next packet, if it can be taken now. */
static packet_t *next_packet(const struct queue *queue)
{
    uint64_t index = queue->amd.read_dispatch_id;
    packet_t *packet = packet_at(queue, index);
    uint16_t header = __atomic_load_n(&packet->header, __ATOMIC_ACQUIRE);

    if ((int64_t)index > doorbell_of(queue) || type_of(header) == HSA_PACKET_TYPE_INVALID)
        return NULL;
    if (header >> HSA_PACKET_HEADER_BARRIER & 1 && queue->pending)
        return NULL;
    if (is_barrier(type_of(header)) && !barrier_holds(packet, type_of(header)))
        return NULL;
    return packet;
}

/* The room of a packet is free from then on. */
static void give_room_back(struct queue *queue, packet_t *packet)
{
    memset(packet->bytes + sizeof(packet->header), 0xdd, sizeof(*packet) - sizeof(packet->header));
    __atomic_store_n(&packet->header, HSA_PACKET_TYPE_INVALID, __ATOMIC_RELEASE);
    __atomic_fetch_add(&queue->amd.read_dispatch_id, 1, __ATOMIC_SEQ_CST);
    world_changed();
}

static void add_pending(struct queue *queue, const packet_t *packet)
{
    struct pending *pending = malloc(sizeof(*pending)), **link = &queue->pending;

    if (!pending)
        abort();
    *pending = (struct pending){.packet = packet->kernel};
    while (*link)
        link = &(*link)->next;
    *link = pending;
    queue->pending_count++;
}

static void take(struct queue *queue, packet_t *packet)
{
    packet_t copy = *packet;
    unsigned type = type_of(copy.header);

    if (type == HSA_PACKET_TYPE_KERNEL_DISPATCH)
        add_pending(queue, &copy);
    give_room_back(queue, packet);
    pthread_mutex_unlock(&world_lock);
    if (is_barrier(type)) {
        be_late(&queue->seed);
        signal_subtract(copy.barrier.completion_signal, 1);
    } else if (type != HSA_PACKET_TYPE_KERNEL_DISPATCH) {
        queue_fault(queue, HSA_STATUS_ERROR_INVALID_PACKET_FORMAT, "a packet of no known type");
    }
    pthread_mutex_lock(&world_lock);
}

/* ---- kernels; with world_lock, not while one runs ---- */

static void run_pending(struct queue *queue)
{
    struct pending **link = &queue->pending, *pending;

    for (int skip = rand_r(&queue->seed) % queue->pending_count; skip > 0; skip--)
        link = &(*link)->next;
    pending = *link;
    pthread_mutex_unlock(&world_lock);
    be_late(&queue->seed);
    kernel_run(queue, &pending->packet);
    pthread_mutex_lock(&world_lock);
    while (*link != pending)
        link = &(*link)->next;
    *link = pending->next;
    queue->pending_count--;
    free(pending);
}

static bool step(struct queue *queue)
{
    bool dead = queue->inactive || queue->agent->lost;
    packet_t *packet = dead ? NULL : next_packet(queue);

    if (packet && (!queue->pending || rand_r(&queue->seed) % 2))
        take(queue, packet);
    else if (queue->pending && !dead)
        run_pending(queue);
    else
        return false;
    return true;
}

bool queues_step(void)
{
    for (struct queue *queue = queues; queue; queue = queue->next)
        if (!queue->stop && step(queue))
            return true;
    return false;
}

void queue_rung(struct queue *queue)
{
    if (settings_measure()) /* whoever rings does it, and wakes nobody */
        return;
    pthread_mutex_lock(&world_lock);
    pthread_cond_broadcast(&queue->rung);
    pthread_mutex_unlock(&world_lock);
}

/* It sleeps until it is rung, or where a packet waits for signals until one of these changes. */
static void *run(void *data)
{
    struct queue *queue = data;

    pthread_mutex_lock(&world_lock);
    while (!queue->stop) {
        if (!settings_measure() && step(queue))
            continue;
        if (settings_measure() || (int64_t)queue->amd.read_dispatch_id > doorbell_of(queue))
            pthread_cond_wait(&queue->rung, &world_lock);
        else
            world_wait(500);
    }
    pthread_mutex_unlock(&world_lock);
    return NULL;
}

/* ---- queues ---- */

static struct queue *queue_of(const hsa_queue_t *queue)
{
    return (struct queue *)(uintptr_t)queue;
}

static void *make_ring(uint32_t size)
{
    packet_t *ring = aligned_alloc(4096, size * sizeof(packet_t));

    for (uint32_t i = 0; ring && i < size; i++) {
        memset(&ring[i], 0xdd, sizeof(ring[i]));
        ring[i].header = HSA_PACKET_TYPE_INVALID;
    }
    return ring;
}

static void free_queue(struct queue *queue)
{
    while (queue->pending) {
        struct pending *pending = queue->pending;

        queue->pending = pending->next;
        free(pending);
    }
    free(queue->amd.hsa_queue.base_address);
    free(queue->doorbell);
    free(queue);
}

static struct queue *make_queue(struct agent *agent, uint32_t size, hsa_queue_type32_t type)
{
    static _Atomic uint64_t ids;
    struct queue *queue = aligned_alloc(64, (sizeof(*queue) + 63) / 64 * 64);

    if (!queue)
        return NULL;
    memset(queue, 0, sizeof(*queue));
    queue->agent = agent;
    queue->seed = (unsigned)(uintptr_t)queue;
    pthread_cond_init(&queue->rung, NULL);
    queue->doorbell = aligned_alloc(64, sizeof(*queue->doorbell));
    queue->amd.hsa_queue.base_address = make_ring(size);
    if (!queue->doorbell || !queue->amd.hsa_queue.base_address) {
        free_queue(queue);
        return NULL;
    }
    /* Headers of ROCm from 6.4 on give the pointer another type. */
    *queue->doorbell = (amd_signal_t){
        .kind = AMD_SIGNAL_KIND_DOORBELL, {.value = -1}, .queue_ptr = (void *)&queue->amd};
    queue->amd.hsa_queue.type = type;
    queue->amd.hsa_queue.features = HSA_QUEUE_FEATURE_KERNEL_DISPATCH;
    queue->amd.hsa_queue.doorbell_signal.handle = (uint64_t)(uintptr_t)queue->doorbell;
    queue->amd.hsa_queue.size = size;
    queue->amd.hsa_queue.id = ids++;
    return queue;
}

hsa_status_t hsa_queue_create(hsa_agent_t handle, uint32_t size, hsa_queue_type32_t type,
                              void (*on_error)(hsa_status_t status, hsa_queue_t *queue, void *data),
                              void *data, uint32_t private_bytes, uint32_t group_bytes,
                              hsa_queue_t **out)
{
    struct agent *agent = agent_of(handle);
    struct queue *queue;

    ENTER;
    (void)private_bytes, (void)group_bytes;
    if (!agent)
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (agent->device < 0)
        return HSA_STATUS_ERROR_INVALID_QUEUE_CREATION;
    if (size < QUEUE_LEAST || size > QUEUE_MOST || size & (size - 1) || !out ||
        type > HSA_QUEUE_TYPE_COOPERATIVE)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    queue = make_queue(agent, size, type);
    if (!queue)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    queue->on_error = on_error;
    queue->data = data;
    if (pthread_create(&queue->thread, NULL, run, queue) != 0) {
        free_queue(queue);
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    counts_add(&counts.queues, 1);
    pthread_mutex_lock(&world_lock);
    queue->next = queues;
    queues = queue;
    pthread_mutex_unlock(&world_lock);
    *out = &queue->amd.hsa_queue;
    return HSA_STATUS_SUCCESS;
}

/* What has not run does not run any more. */
static void stop_queue(struct queue *queue)
{
    struct queue **link = &queues;

    pthread_mutex_lock(&world_lock);
    while (*link != queue)
        link = &(*link)->next;
    *link = queue->next;
    queue->stop = true;
    pthread_cond_broadcast(&queue->rung);
    world_changed();
    pthread_mutex_unlock(&world_lock);
    pthread_join(queue->thread, NULL);
    free_queue(queue);
}

hsa_status_t hsa_queue_destroy(hsa_queue_t *handle)
{
    ENTER;
    if (!handle)
        return HSA_STATUS_ERROR_INVALID_QUEUE;
    stop_queue(queue_of(handle));
    counts_add(&counts.queues, -1);
    return HSA_STATUS_SUCCESS;
}

void queues_end(void)
{
    while (queues)
        stop_queue(queues);
}

hsa_status_t hsa_queue_inactivate(hsa_queue_t *handle)
{
    ENTER;
    pthread_mutex_lock(&world_lock);
    queue_of(handle)->inactive = true;
    pthread_mutex_unlock(&world_lock);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_profiling_set_profiler_enabled(hsa_queue_t *queue, int enable)
{
    ENTER;
    (void)enable;
    return queue ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_QUEUE;
}

hsa_status_t hsa_amd_queue_set_priority(hsa_queue_t *queue, hsa_amd_queue_priority_t priority)
{
    ENTER;
    (void)priority;
    return queue ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_QUEUE;
}

hsa_status_t hsa_amd_queue_cu_set_mask(const hsa_queue_t *queue, uint32_t count,
                                       const uint32_t *mask)
{
    ENTER;
    (void)count, (void)mask;
    return queue ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_QUEUE;
}

/* ---- indices ---- */

#define LOAD(name, index)                                                                          \
    uint64_t name(const hsa_queue_t *queue)                                                        \
    {                                                                                              \
        return __atomic_load_n(&queue_of(queue)->amd.index, __ATOMIC_SEQ_CST);                     \
    }
LOAD(hsa_queue_load_read_index_relaxed, read_dispatch_id)
LOAD(hsa_queue_load_read_index_scacquire, read_dispatch_id)
LOAD(hsa_queue_load_read_index_acquire, read_dispatch_id)
LOAD(hsa_queue_load_write_index_relaxed, write_dispatch_id)
LOAD(hsa_queue_load_write_index_scacquire, write_dispatch_id)
LOAD(hsa_queue_load_write_index_acquire, write_dispatch_id)

#define ADD(name)                                                                                  \
    uint64_t name(const hsa_queue_t *queue, uint64_t value)                                        \
    {                                                                                              \
        return __atomic_fetch_add(&queue_of(queue)->amd.write_dispatch_id, value,                  \
                                  __ATOMIC_SEQ_CST);                                               \
    }
ADD(hsa_queue_add_write_index_relaxed)
ADD(hsa_queue_add_write_index_scacquire)
ADD(hsa_queue_add_write_index_acquire)
ADD(hsa_queue_add_write_index_screlease)
ADD(hsa_queue_add_write_index_release)
ADD(hsa_queue_add_write_index_scacq_screl)
ADD(hsa_queue_add_write_index_acq_rel)

#define STORE(name)                                                                                \
    void name(const hsa_queue_t *queue, uint64_t value)                                            \
    {                                                                                              \
        __atomic_store_n(&queue_of(queue)->amd.write_dispatch_id, value, __ATOMIC_SEQ_CST);        \
    }
STORE(hsa_queue_store_write_index_relaxed)
STORE(hsa_queue_store_write_index_screlease)
STORE(hsa_queue_store_write_index_release)

#define CAS(name)                                                                                  \
    uint64_t name(const hsa_queue_t *queue, uint64_t expected, uint64_t value)                     \
    {                                                                                              \
        __atomic_compare_exchange_n(&queue_of(queue)->amd.write_dispatch_id, &expected, value,     \
                                    false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                    \
        return expected;                                                                           \
    }
CAS(hsa_queue_cas_write_index_relaxed)
CAS(hsa_queue_cas_write_index_scacquire)
CAS(hsa_queue_cas_write_index_screlease)
CAS(hsa_queue_cas_write_index_scacq_screl)
