/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * worker.c: within a host the worker reads the program's memory, or writes to it, as the program
 * does the worker's: for copies that the program does not wait for, beside which it computes. They
 * are commands: the worker has them in order with launches, and other queues of it can wait there.
 * Not where a run goes on without a worker that is lost: one that comes back to life might still
 * write.
 */
#include "host/path/path.h"
#include "host/queue/append.h"

enum { LEAST = 64 << 10 /* below this the program copies in about the time that telling takes */ };

static bool takes(const struct hop *hop)
{
    const struct device *device = hop_there(hop)->device;

    return hop_is_of_program(hop) && hop->bytes >= LEAST && device->peer->reaches &&
           !device_is_staged(device) && device->runtime->config.on_loss != ON_LOSS_CONTINUE;
}

static omprma_status_t append(const struct hop *hop, struct operation **operation)
{
    struct transfer transfer = hop_transfer(hop, 0);
    omprma_status_t status = queue_append_reach(hop->queue, &transfer, operation);

    if (status == OMPRMA_OK)
        hop_carried(hop, &path_worker, *operation);
    return status;
}

const struct path_ops path_worker = {
    .name = "worker", .path = PATH_WORKER, .takes = takes, .append = append};
