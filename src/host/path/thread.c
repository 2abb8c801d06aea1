/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * thread.c: within a host, a thread of ours copies to a worker's arena or from it, by the kernel,
 * as put and get do there, but beside the thread that has asked for it: for copies that the program
 * does not wait for. Whoever looks sees when one is over.
 */
#include "base/error.h"
#include "host/path/path.h"
#include "host/queue/append.h"

enum {
    LEAST = 64 << 10 /* the program makes a smaller copy in about the time of waking a thread */
};

static bool takes(const struct hop *hop)
{
    const struct hop_end *there = hop_there(hop);

    return hop_is_of_program(hop) && hop->bytes >= LEAST && there->arena &&
           there->device->peer->local && !device_is_staged(there->device);
}

static bool wants(const struct hop *hop)
{
    return hop->queue->unwaited;
}

static omprma_status_t append(const struct hop *hop, struct operation **operation)
{
    struct transfer transfer = hop_transfer(hop, 0);
    omprma_status_t status = queue_append_transfer(hop->queue, &path_thread, &transfer, operation);

    if (status == OMPRMA_OK)
        (*operation)->is_part = hop->is_part;
    return status;
}

static struct copying **copy_of(struct operation *move)
{
    return (struct copying **)(void *)move->move.transfer.state;
}

static void note_begin(struct omprma_queue *queue)
{
    struct runtime *runtime = queue->device->runtime;

    runtime->copying++;
    runtime->copying_queues += queue->copying++ == 0;
}

static void note_end(struct omprma_queue *queue)
{
    struct runtime *runtime = queue->device->runtime;

    runtime->copying--;
    runtime->copying_queues -= --queue->copying == 0;
}

static omprma_status_t start(struct operation *move)
{
    const struct device *device = move->queue->device;
    omprma_status_t status = copier_copy(&device->runtime->copier, device->peer->local,
                                         &move->move.transfer, copy_of(move));

    if (status == OMPRMA_OK)
        note_begin(move->queue);
    return status;
}

static omprma_status_t progress(struct operation *move, bool *done)
{
    const struct device *device = move->queue->device;
    struct transfer *transfer = &move->move.transfer;
    struct copying *copy = *copy_of(move);
    omprma_status_t status;

    transfer->issued = transfer->completed = copying_moved(copy);
    if (!copying_is_over(copy))
        return OMPRMA_OK;
    note_end(move->queue);
    status = copying_end(copy);
    *done = status == OMPRMA_OK;
    return *done ? status : error_set(status, "%s: %s", device_name(device), error_text());
}

/* Its device is lost. */
static void abandon(struct operation *move)
{
    copier_leave(&move->queue->device->runtime->copier, *copy_of(move));
    note_end(move->queue);
}

const struct path_ops path_thread = {
    .name = "thread",
    .path = PATH_THREAD,
    .moves = {"copy by a thread", "copy by a thread"},
    .flushes = true,
    .takes = takes,
    .wants = wants,
    .append = append,
    .start = start,
    .progress = progress,
    .abandon = abandon,
};
