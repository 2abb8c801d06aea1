/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * thread.c: within a host, a thread of ours copies to a worker's arena or from it, by the kernel,
 * as put and get do there, but beside the thread that has asked for it: for copies that the program
 * does not wait for. Whoever looks sees when one is over.
 */
#include <stdlib.h>

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

static omprma_status_t append(const struct hop *hop, struct operation **operation)
{
    struct transfer transfer = hop_transfer(hop, 0);
    omprma_status_t status = queue_append_transfer(hop->queue, &path_thread, &transfer, operation);

    if (status == OMPRMA_OK)
        (*operation)->is_part = hop->is_part;
    return status;
}

static struct copy *copy_of(struct operation *move)
{
    return (struct copy *)move->move.transfer.state;
}

static omprma_status_t start(struct operation *move)
{
    struct runtime *runtime = move->queue->device->runtime;
    struct copy *copy = copy_of(move);
    omprma_status_t status;

    copy->path = move->queue->device->peer->local;
    copy->transfer = &move->move.transfer;
    status = copier_copy(&runtime->copier, copy);
    runtime->copying += status == OMPRMA_OK;
    return status;
}

static omprma_status_t progress(struct operation *move, bool *done)
{
    struct copy *copy = copy_of(move);

    if (!copy_is_over(copy))
        return OMPRMA_OK;
    move->queue->device->runtime->copying--;
    *done = copy->status == OMPRMA_OK;
    if (*done)
        return OMPRMA_OK;
    error_set(copy->status, "%s: %s", device_name(move->queue->device),
              copy->text ? copy->text : "no memory to say why a copy has failed");
    free(copy->text);
    return copy->status;
}

/* Its device is lost. */
static void abandon(struct operation *move)
{
    struct runtime *runtime = move->queue->device->runtime;

    copier_leave(&runtime->copier, copy_of(move));
    runtime->copying--;
}

const struct path_ops path_thread = {
    .name = "thread",
    .path = PATH_THREAD,
    .moves = {"copy by a thread", "copy by a thread"},
    .takes = takes,
    .append = append,
    .start = start,
    .progress = progress,
    .abandon = abandon,
};
