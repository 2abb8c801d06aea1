/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * reach.c: known data goes to an arena of each worker, a look at it, and back. Yama, a filter of
 * system calls, or another user may refuse that; put and get of MPI, which copy in the same way,
 * have asked Yama for it then. A program that has one processor only copies by itself.
 */
#define _GNU_SOURCE
#include "host/start/reach.h"

#include <sched.h>
#include <stdio.h>

#include "base/error.h"
#include "base/log.h"
#include "host/core/device.h"
#include "host/core/peer.h"
#include "host/start/trial.h"
#include "control/shm/local.h"

static omprma_status_t move(struct datapath *path, bool out, omprma_addr_t there, char *here)
{
    struct transfer transfer = {
        .direction = out ? TRANSFER_OUT : TRANSFER_IN,
        .local = here,
        .remote = there,
        .bytes = TRIAL_SURE,
    };
    bool done = false;
    omprma_status_t status = datapath_start(path, &transfer);

    if (status == OMPRMA_OK)
        status = datapath_test(path, &transfer, &done);
    return status == OMPRMA_OK && !done
               ? error_set(OMPRMA_ERR_UNSUPPORTED, "the worker has ended, or copies are short")
               : status;
}

/* There, a look at it, and back into the second half of the memory. */
static omprma_status_t carry(struct datapath *path, omprma_queue_t *queue, omprma_addr_t there,
                             struct trial *trial, char *here)
{
    omprma_status_t status;

    trial_fill(trial, here);
    status = move(path, true, there, here);
    if (status == OMPRMA_OK)
        status = trial_look(trial, queue, there);
    if (status == OMPRMA_OK)
        status = omprma_queue_synchronize(queue);
    if (status == OMPRMA_OK)
        status = move(path, false, there, here + TRIAL_SURE);
    if (status == OMPRMA_OK &&
        (trial_seen(trial) < TRIAL_SURE || trial_compare(trial, here + TRIAL_SURE) < TRIAL_SURE))
        return error_set(OMPRMA_ERR_UNSUPPORTED, "the kernel's copies deliver wrong data");
    return status;
}

/* With a queue and memory of its own. */
static omprma_status_t try_path(const struct device *device, struct datapath *path,
                                struct trial *trial, char *here)
{
    omprma_queue_t *queue = NULL;
    omprma_addr_t there = 0;
    char why[ERROR_TEXT_BYTES] = "";
    omprma_status_t status = omprma_alloc(device->number, TRIAL_SURE, &there);

    if (status == OMPRMA_OK)
        status = omprma_queue_create(device->number, &queue);
    trial->number++;
    if (status == OMPRMA_OK)
        status = carry(path, queue, there, trial, here);
    if (status != OMPRMA_OK)
        snprintf(why, sizeof(why), "%s", error_text());
    omprma_queue_destroy(queue);
    if (there)
        omprma_free(device->number, there);
    return status == OMPRMA_OK ? status : error_set(status, "%s", why);
}

static omprma_status_t try_peer(struct peer *peer, struct trial *trial, char *here)
{
    struct datapath *path;
    omprma_status_t status =
        local_create(peer->hello.bell.pid, peer->runtime->bells[peer->rank], &path);

    if (status != OMPRMA_OK)
        return status;
    status = try_path(peer_device(peer, 0), path, trial, here);
    if (status == OMPRMA_OK) {
        peer->local = path;
        return OMPRMA_OK;
    }
    datapath_destroy(path);
    if (peer->lost)
        return status;
    log_write(LOG_CHOICE, "%s: no thread copies beside the program: %s", peer_name(peer),
              error_text());
    return OMPRMA_OK;
}

static bool may_be(const struct runtime *runtime, const struct peer *peer)
{
    return peer && peer->is_near && peer->device_count > 0 && runtime->config.data == DATA_AUTO &&
           !device_is_staged(peer_device(peer, 0));
}

static bool has_processors(void)
{
    cpu_set_t allowed;

    return sched_getaffinity(0, sizeof(allowed), &allowed) != 0 || CPU_COUNT(&allowed) > 1;
}

omprma_status_t reach_try(struct runtime *runtime)
{
    struct trial trial = {.bytes = TRIAL_SURE};
    struct trial_memory memory;
    omprma_status_t status = OMPRMA_OK;

    if (!has_processors())
        return OMPRMA_OK;
    if (!trial_map(&memory, 2 * TRIAL_SURE))
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for trials at start-up");
    for (int rank = 0; rank < runtime->world.size && status == OMPRMA_OK; rank++)
        if (may_be(runtime, runtime->peers[rank]))
            status = try_peer(runtime->peers[rank], &trial, memory.here);
    trial_unmap(&memory);
    return status;
}
