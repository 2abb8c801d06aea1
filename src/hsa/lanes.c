/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * lanes.c: lanes are made when they are first needed. The lanes of a GPU have one lock: what is put
 * into them goes to one worker, one thing after another, anyway.
 */
#include "hsa/lanes.h"

#include <stdlib.h>

#include "face/driver/guard.h"
#include "hsa/attendant.h"
#include "hsa/gpu.h"
#include "hsa/result.h"

/* ---- life ----------------------------------------------------------------------------------- */

static struct all_lanes {
    pthread_mutex_t lock;
    struct lanes **all; /* by the ordinal of the GPU */
    int count;
} all_lanes = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct lanes *lanes_make(struct gpu *gpu)
{
    struct lanes *lanes = calloc(1, sizeof(*lanes));

    if (!lanes)
        return NULL;
    lanes->gpu = gpu;
    pthread_mutex_init(&lanes->lock, NULL);
    pthread_mutex_init(&lanes->fence_lock, NULL);
    atomic_flag_clear(&lanes->looks);
    LIST_INIT(&lanes->all);
    return lanes;
}

/* Those of all GPUs at once, so that nobody meets a table that grows. */
static void all_lanes_make(void)
{
    int count = gpu_count();
    struct lanes **all = calloc((size_t)count, sizeof(struct lanes *));

    for (int i = 0; i < count; i++)
        if (!all || !(all[i] = lanes_make(gpu_at(i))))
            abort(); /* a few hundred bytes, at the start */
    all_lanes.all = all;
    __atomic_store_n(&all_lanes.count, count, __ATOMIC_RELEASE);
}

struct lanes *lanes_of(struct gpu *gpu)
{
    if (__atomic_load_n(&all_lanes.count, __ATOMIC_ACQUIRE) == 0) {
        pthread_mutex_lock(&all_lanes.lock);
        if (all_lanes.count == 0)
            all_lanes_make();
        pthread_mutex_unlock(&all_lanes.lock);
    }
    return all_lanes.all[gpu->ordinal];
}

/* With the lock held. */
static omprma_status_t lane_make(struct lanes *lanes, struct lane **lane)
{
    struct lane *made = calloc(1, sizeof(*made));
    omprma_status_t status = made ? guard_go_on() : OMPRMA_ERR_HOST_MEMORY;

    if (status == OMPRMA_OK)
        status = omprma_queue_create(lanes->gpu->device, &made->queue);
    if (status != OMPRMA_OK) {
        free(made);
        return status;
    }
    made->lanes = lanes;
    atomic_store(&made->references, 1);
    LIST_INSERT_HEAD(&lanes->all, made, link);
    *lane = made;
    return OMPRMA_OK;
}

omprma_status_t lane_open(struct lanes *lanes, struct lane **lane)
{
    lanes_lock(lanes);
    omprma_status_t status = lane_make(lanes, lane);
    lanes_unlock(lanes);
    return status;
}

static void lane_drop(struct lane *lane)
{
    if (atomic_fetch_sub(&lane->references, 1) == 1)
        free(lane);
}

void lane_close(struct lane *lane)
{
    struct lanes *lanes = lane->lanes;

    omprma_queue_synchronize(lane->queue);
    lanes_lock(lanes);
    LIST_REMOVE(lane, link);
    if (lanes->recent == lane)
        lanes->recent = NULL;
    omprma_queue_destroy(lane->queue);
    lanes_unlock(lanes);
    lane_drop(lane);
}

void lanes_lock(struct lanes *lanes)
{
    pthread_mutex_lock(&lanes->lock);
}

void lanes_unlock(struct lanes *lanes)
{
    pthread_mutex_unlock(&lanes->lock);
}

/* The attendant's. */
static void look_run(struct watch *watch)
{
    struct lanes *lanes = (struct lanes *)((char *)watch - offsetof(struct lanes, look));

    atomic_flag_clear(&lanes->looks);
    lanes_look(lanes);
}

/* In a callback of omprma's, which cannot look itself. */
static void lane_fails(struct lane *lane)
{
    struct lanes *lanes = lane->lanes;

    atomic_store(&lane->failed, true);
    if (attendant_start(false) && !atomic_flag_test_and_set(&lanes->looks)) {
        lanes->look = (struct watch){.run = look_run};
        attendant_give(&lanes->look);
    }
}

/* With the lock held. What has failed for any reason has left the program's data in a state that
 * it does not expect, and some programs would wait for ever: the GPU is lost to it. */
static void lane_take_error(struct lane *lane)
{
    omprma_status_t status = omprma_queue_synchronize(lane->queue);

    if (status != OMPRMA_OK)
        gpu_lose(lane->lanes->gpu, result_of(lane->lanes->gpu, status));
}

void lanes_look(struct lanes *lanes)
{
    struct lane *lane = NULL;

    lanes_lock(lanes);
    LIST_FOREACH(lane, &lanes->all, link)
    {
        if (atomic_exchange(&lane->failed, false))
            lane_take_error(lane);
    }
    lanes_unlock(lanes);
}

void lanes_settle(struct lanes *lanes)
{
    struct lane *lane = NULL;

    lanes_lock(lanes);
    LIST_FOREACH(lane, &lanes->all, link)
    {
        lane_take_error(lane);
    }
    lanes_unlock(lanes);
}

void lanes_settle_all(void)
{
    for (int i = 0; i < __atomic_load_n(&all_lanes.count, __ATOMIC_ACQUIRE); i++)
        lanes_settle(all_lanes.all[i]);
}

/* ---- order ---------------------------------------------------------------------------------- */

bool lane_is_idle(const struct lane *lane)
{
    return atomic_load(&lane->issued) == atomic_load(&lane->over);
}

/* The lane of the GPU that holds the last of what is needed; NULL: none does. */
static struct lane *lane_of_needs(struct lanes *lanes, const struct needs *needs)
{
    for (int i = needs->count - 1; i >= 0; i--) {
        struct lane *lane = NULL;
        if (needs->marks[i]->lanes != lanes)
            continue;
        LIST_FOREACH(lane, &lanes->all, link)
        {
            if (lane == needs->marks[i]->lane)
                return lane;
        }
    }
    return NULL;
}

struct lane *lane_for_copy(struct lanes *lanes, const struct needs *needs, bool to_gpu,
                           omprma_status_t *status)
{
    struct lane **own = to_gpu ? &lanes->in : &lanes->out;
    struct lane *lane = lane_of_needs(lanes, needs);

    *status = OMPRMA_OK;
    if (!lane && lanes->recent && lane_is_idle(lanes->recent))
        lane = lanes->recent;
    if (lane)
        return lane;
    if (!*own)
        *status = lane_make(lanes, own);
    return *own;
}

static omprma_status_t join_mark(struct lane *lane, const struct mark *mark)
{
    return mark->lane == lane ? OMPRMA_OK : omprma_event_wait(mark->event, lane->queue);
}

omprma_status_t lane_join(struct lane *lane, const struct needs *needs)
{
    struct lanes *lanes = lane->lanes;
    omprma_status_t status = OMPRMA_OK;

    if (lane->fence != lanes->fence)
        status = join_mark(lane, lanes->fence_mark);
    if (status == OMPRMA_OK)
        lane->fence = lanes->fence;
    for (int i = 0; i < needs->count && status == OMPRMA_OK; i++)
        status = join_mark(lane, needs->marks[i]);
    return status;
}

struct mark *lanes_fence_mark(struct lanes *lanes)
{
    pthread_mutex_lock(&lanes->fence_lock);
    struct mark *mark = lanes->fence_mark;
    if (mark)
        atomic_fetch_add(&mark->references, 1);
    pthread_mutex_unlock(&lanes->fence_lock);
    return mark;
}

/* At what the lane holds now. */
static omprma_status_t mark_make(struct lane *lane, struct mark **mark)
{
    struct mark *made = malloc(sizeof(*made));
    omprma_status_t status = OMPRMA_ERR_HOST_MEMORY;

    if (!made)
        return status;
    *made = (struct mark){.references = 1, .lane = lane, .lanes = lane->lanes};
    status = omprma_event_create(&made->event);
    if (status == OMPRMA_OK)
        status = omprma_event_record(made->event, lane->queue);
    if (status == OMPRMA_OK)
        *mark = made;
    else
        mark_drop(made);
    return status;
}

omprma_status_t lane_fence(struct lane *lane)
{
    struct lanes *lanes = lane->lanes;
    struct mark *mark = NULL;
    omprma_status_t status = mark_make(lane, &mark);

    if (status != OMPRMA_OK)
        return status;
    pthread_mutex_lock(&lanes->fence_lock);
    struct mark *before = lanes->fence_mark;
    lanes->fence_mark = mark;
    pthread_mutex_unlock(&lanes->fence_lock);
    mark_drop(before);
    lane->fence = ++lanes->fence;
    return OMPRMA_OK;
}

void lane_issued(struct lane *lane)
{
    atomic_fetch_add(&lane->issued, 1);
}

/* ---- ends ----------------------------------------------------------------------------------- */

static void operation_over(void *data, omprma_status_t status)
{
    struct operation *operation = data;
    struct lane *lane = operation->lane;

    if (status != OMPRMA_OK)
        lane_fails(lane);
    atomic_store(&lane->over, operation->number);
    if (operation->over)
        operation->over(operation, status);
    signal_arrived(&operation->arrival, status != OMPRMA_OK);
    lane_drop(lane);
}

static void operation_notified(void *data, omprma_status_t status)
{
    operation_over(data, status);
    free(data);
}

static void operation_begin(struct operation *operation, struct lane *lane,
                            void (*over)(struct operation *operation, omprma_status_t status),
                            void *data)
{
    *operation = (struct operation){
        .lane = lane, .number = atomic_load(&lane->issued), .over = over, .data = data};
    atomic_fetch_add(&lane->references, 1);
}

/* Without memory for more. */
static void lane_tell_now(struct lane *lane, struct signal *signal,
                          void (*over)(struct operation *operation, omprma_status_t status),
                          void *data)
{
    struct operation operation;

    operation_begin(&operation, lane, over, data);
    signal_expect(signal, &operation.arrival, NULL);
    operation_over(&operation, omprma_queue_synchronize(lane->queue));
}

void lane_tell(struct lane *lane, struct signal *signal,
               void (*over)(struct operation *operation, omprma_status_t status), void *data)
{
    struct operation *operation = malloc(sizeof(*operation));
    struct mark *mark = NULL;

    if (!operation || mark_make(lane, &mark) != OMPRMA_OK) {
        free(operation);
        lane_tell_now(lane, signal, over, data);
        return;
    }
    operation_begin(operation, lane, over, data);
    signal_expect(signal, &operation->arrival, mark);
    if (omprma_queue_notify(lane->queue, operation_notified, operation) != OMPRMA_OK)
        operation_notified(operation, omprma_queue_synchronize(lane->queue));
}
