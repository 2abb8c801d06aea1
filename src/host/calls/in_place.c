/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * in_place.c: the copy is a task of the user's queue. Each look at it copies some runs, so that
 * other queues get on. Small submits may be on their way to the memory, so it waits for them first.
 */
#include "host/calls/in_place.h"

#include <stdlib.h>

#include "base/error.h"
#include "control/shm/arena.h"
#include "host/path/path.h"
#include "host/queue/append.h"
#include "host/queue/issue.h"
#include "host/queue/order.h"

enum {
    LOOK_BYTES = 1 << 20, /* that one look copies */
    LINE_BYTES = 64
};

struct in_place {
    struct side from, to;
    uint64_t runs, done;
};

/* Of the program's memory, or of an arena that it has mapped. */
static bool is_here(const struct side *side)
{
    return !side->device ||
           (side->device->paths.shared &&
            mapped_find(&side->device->mapped, side->at, shape_reach(&side->shape)));
}

/* Each run is in a cache line that nothing else of the shape is in. */
static bool is_sparse(const struct shape *shape)
{
    return shape->bytes < LINE_BYTES && shape->stride[0] >= LINE_BYTES;
}

bool in_place_takes(const struct side *from, const struct side *to)
{
    return is_here(from) && is_here(to) && !(is_sparse(&from->shape) && is_sparse(&to->shape));
}

static char *here(const struct side *side)
{
    const struct arena *arena =
        side->device ? mapped_find(&side->device->mapped, side->at, shape_reach(&side->shape))
                     : NULL;

    return arena ? arena_here(arena, side->at) : (char *)(uintptr_t)side->at;
}

static enum data_kind data_of(const struct side *from, const struct side *to)
{
    return !from->device ? DATA_SUBMIT : to->device ? DATA_EXCHANGE : DATA_RETRIEVE;
}

static bool waits(struct operation *task, const struct side *side)
{
    return side->device &&
           (order_await_write(task, side->device, side->at, shape_reach(&side->shape)) ||
            operation_has_ended(task)); /* by asking: the device is lost */
}

/* What is lost is not mapped any more. */
static omprma_status_t check_alive(const struct in_place *copy)
{
    const struct device *from = copy->from.device, *to = copy->to.device;
    omprma_status_t status = from ? device_check_alive(from) : OMPRMA_OK;

    if (status == OMPRMA_OK && to)
        status = device_check_alive(to);
    return status == OMPRMA_OK || !from || !to
               ? status
               : error_set(status, "exchange from device %d to device %d: %s", from->number,
                           to->number, error_text());
}

static omprma_status_t start(struct operation *task, bool *started)
{
    const struct in_place *copy = task->task.data;
    omprma_status_t status = check_alive(copy);

    *started = status == OMPRMA_OK && !waits(task, &copy->from) && !waits(task, &copy->to);
    return status;
}

static void account(const struct operation *task, const struct in_place *copy)
{
    struct device *from = copy->from.device, *to = copy->to.device;
    const struct carried carried = {task->queue, task->data,
                                    PATH_SHARED, copy->runs * copy->from.shape.bytes,
                                    0,           from && from != to ? to : NULL};

    if (task->queue->device->runtime->observers)
        observers_carried(task->queue->device->runtime->observers, &carried);
}

static omprma_status_t step(struct operation *task, bool *done)
{
    struct in_place *copy = task->task.data;
    const struct shape *from = &copy->from.shape;
    uint64_t left = copy->runs - copy->done, runs = LOOK_BYTES / from->bytes + 1;
    omprma_status_t status = check_alive(copy);

    if (status != OMPRMA_OK)
        return status;
    runs = runs < left ? runs : left;
    shape_copy(from, here(&copy->from), &copy->to.shape, here(&copy->to), copy->done, runs);
    copy->done += runs;
    task->queue->device->runtime->moves++;
    *done = copy->done == copy->runs;
    if (*done)
        account(task, copy);
    return OMPRMA_OK;
}

static void end(struct operation *task)
{
    free(task->task.data);
}

/* No hop goes by it. */
static const struct path_ops path_in_place = {.name = "shared"};

omprma_status_t in_place_append(struct omprma_queue *queue, const struct side *from,
                                const struct side *to)
{
    static const struct operation_task task = {
        .name = "copy of runs",
        .waits_for = "the program, which copies when it looks",
        .start = start,
        .step = step,
        .end = end,
    };
    struct in_place *copy = malloc(sizeof(*copy));
    struct operation *operation;
    omprma_status_t status;

    if (!copy)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for an operation");
    *copy = (struct in_place){.from = *from, .to = *to, .runs = shape_runs(&from->shape)};
    status = queue_append_task(queue, &task, copy, &operation);
    if (status != OMPRMA_OK) {
        free(copy);
        return status;
    }
    operation->by = &path_in_place;
    operation->data = data_of(from, to);
    packed_use(operation, from, to);
    queue_advance(queue);
    return OMPRMA_OK;
}
