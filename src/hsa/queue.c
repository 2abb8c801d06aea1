/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * queue.c: Indices and packets are in memory of the host, as programs expect them. A queue is there
 * as long as the program has it, or a thread of the library is to come back to it.
 */
#include "hsa/queue.h"

#include <stdlib.h>
#include <string.h>

#include "hsa/attendant.h"
#include "hsa/operations.h"

static struct queues {
    pthread_mutex_t lock;
    LIST_HEAD(queue_list_head, queue) list;
    uint64_t made;
} queues = {.lock = PTHREAD_MUTEX_INITIALIZER, .list = LIST_HEAD_INITIALIZER(queues.list)};

/* ---- life ----------------------------------------------------------------------------------- */

void queue_drop(struct queue *queue)
{
    struct taken *taken = NULL;

    if (atomic_fetch_sub(&queue->references, 1) != 1)
        return;
    while ((taken = STAILQ_FIRST(&queue->taken))) {
        STAILQ_REMOVE_HEAD(&queue->taken, link);
        free(taken);
    }
    needs_drop(&queue->needs);
    signal_free(queue->doorbell);
    free(queue->amd.hsa_queue.base_address);
    free(queue);
}

struct queue *queue_make(uint32_t size)
{
    struct queue *queue = aligned_alloc(64, (sizeof(*queue) + 63) / 64 * 64);
    size_t bytes = size * sizeof(union packet);
    union packet *packets = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    struct signal *doorbell = signal_make(0);

    if (!queue || !packets || !doorbell) {
        free(queue);
        free(packets);
        signal_free(doorbell);
        return NULL;
    }
    memset(packets, 0, bytes);
    for (uint32_t i = 0; i < size; i++)
        packets[i].header = HSA_PACKET_TYPE_INVALID;
    memset(queue, 0, sizeof(*queue));
    atomic_store(&queue->references, 1);
    pthread_mutex_init(&queue->lock, NULL);
    STAILQ_INIT(&queue->taken);
    queue->doorbell = doorbell;
    queue->amd.hsa_queue = (hsa_queue_t){.features = HSA_QUEUE_FEATURE_KERNEL_DISPATCH,
                                         .base_address = packets,
                                         .doorbell_signal = signal_handle(doorbell),
                                         .size = size};
    queue->amd.read_dispatch_id_field_base_byte_offset = offsetof(amd_queue_t, read_dispatch_id);
    return queue;
}

void queue_list(struct queue *queue)
{
    pthread_mutex_lock(&queues.lock);
    queue->amd.hsa_queue.id = queues.made++;
    LIST_INSERT_HEAD(&queues.list, queue, link);
    pthread_mutex_unlock(&queues.lock);
}

void queue_unlist(struct queue *queue)
{
    pthread_mutex_lock(&queues.lock);
    LIST_REMOVE(queue, link);
    pthread_mutex_unlock(&queues.lock);
}

struct queue *queue_of(const hsa_queue_t *handle)
{
    return (struct queue *)(uintptr_t)handle; // NOLINT(performance-no-int-to-ptr)
}

/* ---- waits ---------------------------------------------------------------------------------- */

/* A wait of a queue for a signal. */
struct turn {
    struct watch watch;  /* first */
    struct queue *queue; /* a reference */
    uint64_t number;
};

static void turn_run(struct watch *watch)
{
    struct turn *turn = (struct turn *)watch;
    struct queue *queue = turn->queue;

    pthread_mutex_lock(&queue->lock);
    if (queue->waits && queue->turn == turn->number && !queue->stopped)
        queue->go_on(queue);
    pthread_mutex_unlock(&queue->lock);
    queue_drop(queue);
    free(turn);
}

void queue_waits_for(struct queue *queue, struct signal *signal, hsa_signal_condition_t condition,
                     hsa_signal_value_t compare, hsa_signal_value_t mask)
{
    struct turn *turn = malloc(sizeof(*turn));

    queue->waits = true;
    if (turn) {
        *turn = (struct turn){
            .watch = {.condition = condition, .compare = compare, .mask = mask, .run = turn_run},
            .queue = queue,
            .number = queue->turn};
        atomic_fetch_add(&queue->references, 1);
        if (signal_watch(signal, &turn->watch))
            return;
        queue_drop(queue);
        free(turn);
    }
    queue_fail(queue, HSA_STATUS_ERROR_OUT_OF_RESOURCES);
}

/* ---- failures ------------------------------------------------------------------------------- */

/* A queue whose callback is to be called. */
struct failure {
    struct watch watch;  /* first */
    struct queue *queue; /* a reference */
    hsa_status_t status;
};

/* On the caller (attendant.h). */
static void queue_call_back(struct queue *queue, hsa_status_t status)
{
    attendant_leave();
    queue->callback(status, &queue->amd.hsa_queue, queue->data);
    if (!attendant_enter())
        pthread_exit(NULL);
}

static void failure_run(struct watch *watch)
{
    struct failure *failure = (struct failure *)watch;

    queue_call_back(failure->queue, failure->status);
    queue_drop(failure->queue);
    free(failure);
}

void queue_fail(struct queue *queue, hsa_status_t status)
{
    struct failure *failure = NULL;

    queue->stopped = true;
    queue->waits = false;
    if (queue->callback && attendant_start(true))
        failure = malloc(sizeof(*failure));
    if (!failure)
        return;
    *failure = (struct failure){
        .watch = {.calls_program = true, .run = failure_run}, .queue = queue, .status = status};
    atomic_fetch_add(&queue->references, 1);
    attendant_give(&failure->watch);
}

/* The next queue of the GPU that has a callback, behind `before` (NULL: the first), referenced; the
 * reference to `before` is dropped. */
static struct queue *queue_next(const struct gpu *gpu, struct queue *before)
{
    struct queue *queue = NULL;

    pthread_mutex_lock(&queues.lock);
    LIST_FOREACH(queue, &queues.list, link)
    {
        if (queue->gpu == gpu && queue->callback &&
            (!before || queue->amd.hsa_queue.id < before->amd.hsa_queue.id))
            break;
    }
    if (queue)
        atomic_fetch_add(&queue->references, 1);
    pthread_mutex_unlock(&queues.lock);
    if (before)
        queue_drop(before);
    return queue;
}

bool queues_tell(struct gpu *gpu, hsa_status_t status)
{
    struct queue *queue = NULL;
    bool any = false;

    while ((queue = queue_next(gpu, queue))) {
        queue_call_back(queue, status);
        any = true;
    }
    return any;
}

/* ---- operations.h --------------------------------------------------------------------------- */

uint64_t queue_load_read_index(const hsa_queue_t *queue)
{
    return __atomic_load_n(&queue_of(queue)->amd.read_dispatch_id, __ATOMIC_SEQ_CST);
}

uint64_t queue_load_write_index(const hsa_queue_t *queue)
{
    return __atomic_load_n(&queue_of(queue)->amd.write_dispatch_id, __ATOMIC_SEQ_CST);
}

void queue_store_read_index(const hsa_queue_t *queue, uint64_t value)
{
    __atomic_store_n(&queue_of(queue)->amd.read_dispatch_id, value, __ATOMIC_SEQ_CST);
}

void queue_store_write_index(const hsa_queue_t *queue, uint64_t value)
{
    __atomic_store_n(&queue_of(queue)->amd.write_dispatch_id, value, __ATOMIC_SEQ_CST);
}

uint64_t queue_add_write_index(const hsa_queue_t *queue, uint64_t value)
{
    return __atomic_fetch_add(&queue_of(queue)->amd.write_dispatch_id, value, __ATOMIC_SEQ_CST);
}

uint64_t queue_cas_write_index(const hsa_queue_t *queue, uint64_t expected, uint64_t value)
{
    __atomic_compare_exchange_n(&queue_of(queue)->amd.write_dispatch_id, &expected, value, false,
                                __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return expected;
}
