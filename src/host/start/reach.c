/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * reach.c: known data goes there and back by the worker's hand. What refuses that is Yama, where
 * the program has to allow it, a filter of system calls, or a user that is not the program's. Yama
 * is asked for it only where the trial has failed: the worker is no child of this process.
 */
#include "host/start/reach.h"

#include <string.h>
#include <sys/prctl.h>

#include "base/error.h"
#include "base/log.h"
#include "host/core/device.h"
#include "host/core/peer.h"
#include "host/path/path.h"
#include "host/queue/issue.h"
#include "host/start/trial.h"

static omprma_status_t move(omprma_queue_t *queue, bool submit, omprma_addr_t there, char *here)
{
    struct hop hop = hop_of_program(queue, submit, there, here, TRIAL_SURE, true);
    struct operation *operation;
    omprma_status_t status;

    runtime_lock(queue->device->runtime);
    status = path_worker.append(&hop, &operation);
    runtime_unlock(queue->device->runtime);
    return status;
}

/* There, a look at it, and back into the second half of the memory. */
static omprma_status_t carry(struct trial *trial, omprma_queue_t *queue, omprma_addr_t there,
                             char *here)
{
    omprma_status_t status;

    trial_fill(trial, here);
    status = move(queue, true, there, here);
    if (status == OMPRMA_OK)
        status = trial_look(trial, queue, there);
    if (status == OMPRMA_OK)
        status = move(queue, false, there, here + TRIAL_SURE);
    if (status == OMPRMA_OK)
        status = omprma_queue_synchronize(queue);
    if (status == OMPRMA_OK &&
        (trial_seen(trial) < TRIAL_SURE || trial_compare(trial, here + TRIAL_SURE) < TRIAL_SURE))
        return error_set(OMPRMA_ERR_UNSUPPORTED, "its copies deliver wrong data");
    return status;
}

/* With a queue and memory of its own. */
static omprma_status_t try_once(const struct device *device, struct trial *trial, char *here)
{
    omprma_queue_t *queue = NULL;
    omprma_addr_t there = 0;
    char why[ERROR_TEXT_BYTES];
    omprma_status_t status = omprma_alloc(device->number, TRIAL_SURE, &there);

    if (status == OMPRMA_OK)
        status = omprma_queue_create(device->number, &queue);
    trial->number++;
    if (status == OMPRMA_OK)
        status = carry(trial, queue, there, here);
    snprintf(why, sizeof(why), "%s", status == OMPRMA_OK ? "" : error_text());
    omprma_queue_destroy(queue);
    if (there)
        omprma_free(device->number, there);
    return status == OMPRMA_OK ? status : error_set(status, "%s", why);
}

/* True if it may help. */
static bool allow(void)
{
    return prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0) == 0;
}

static omprma_status_t try_peer(struct peer *peer, struct trial *trial, char *here)
{
    const struct device *device = peer_device(peer, 0);
    omprma_status_t status = try_once(device, trial, here);

    if (status == OMPRMA_ERR_UNSUPPORTED && allow())
        status = try_once(device, trial, here);
    peer->reaches = status == OMPRMA_OK;
    if (status == OMPRMA_OK || status == OMPRMA_ERR_DEVICE_LOST || status == OMPRMA_ERR_MPI)
        return status;
    log_write(LOG_CHOICE, "%s: copies beside which the program computes are its own: %s",
              peer_name(peer), error_text());
    return OMPRMA_OK;
}

static bool may_reach(const struct runtime *runtime, const struct peer *peer)
{
    return peer && peer->is_near && peer->device_count > 0 && runtime->config.data == DATA_AUTO &&
           runtime->config.on_loss != ON_LOSS_CONTINUE && !device_is_staged(peer_device(peer, 0));
}

omprma_status_t reach_try(struct runtime *runtime)
{
    struct trial trial = {.bytes = TRIAL_SURE};
    struct trial_memory memory;
    omprma_status_t status = OMPRMA_OK;

    if (!trial_map(&memory, 2 * TRIAL_SURE))
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for trials at start-up");
    for (int rank = 0; rank < runtime->world.size && status == OMPRMA_OK; rank++)
        if (may_reach(runtime, runtime->peers[rank]))
            status = try_peer(runtime->peers[rank], &trial, memory.here);
    trial_unmap(&memory);
    return status;
}
