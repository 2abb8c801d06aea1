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
#include <stdlib.h>

#include "base/error.h"
#include "base/log.h"
#include "host/core/device.h"
#include "host/core/peer.h"
#include "host/start/trial.h"
#include "control/shm/local.h"

static omprma_status_t move(struct peer *peer, bool out, omprma_addr_t there, char *here)
{
    struct datapath *path = peer->runtime->local;
    struct transfer transfer = {
        .direction = out ? TRANSFER_OUT : TRANSFER_IN,
        .peer = peer->rank,
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
static omprma_status_t carry(struct peer *peer, omprma_queue_t *queue, omprma_addr_t there,
                             struct trial *trial, char *here)
{
    omprma_status_t status;

    trial_fill(trial, here);
    status = move(peer, true, there, here);
    if (status == OMPRMA_OK)
        status = trial_look(trial, queue, there);
    if (status == OMPRMA_OK)
        status = omprma_queue_synchronize(queue);
    if (status == OMPRMA_OK)
        status = move(peer, false, there, here + TRIAL_SURE);
    if (status == OMPRMA_OK &&
        (trial_seen(trial) < TRIAL_SURE || trial_compare(trial, here + TRIAL_SURE) < TRIAL_SURE))
        return error_set(OMPRMA_ERR_UNSUPPORTED, "the kernel's copies deliver wrong data");
    return status;
}

/* With a queue and memory of its own. */
static omprma_status_t try_copies(struct peer *peer, struct trial *trial, char *here)
{
    const struct device *device = peer_device(peer, 0);
    omprma_queue_t *queue = NULL;
    omprma_addr_t there = 0;
    char why[ERROR_TEXT_BYTES] = "";
    omprma_status_t status = omprma_alloc(device->number, TRIAL_SURE, &there);

    if (status == OMPRMA_OK)
        status = omprma_queue_create(device->number, &queue);
    trial->number++;
    if (status == OMPRMA_OK)
        status = carry(peer, queue, there, trial, here);
    if (status != OMPRMA_OK)
        snprintf(why, sizeof(why), "%s", error_text());
    omprma_queue_destroy(queue);
    if (there)
        omprma_free(device->number, there);
    return status == OMPRMA_OK ? status : error_set(status, "%s", why);
}

static omprma_status_t try_peer(struct peer *peer, struct trial *trial, char *here)
{
    omprma_status_t status = try_copies(peer, trial, here);

    if (status == OMPRMA_OK)
        peer->local = peer->runtime->local;
    if (status == OMPRMA_OK || peer->lost)
        return status;
    log_write(LOG_CHOICE, "%s: no thread copies beside the program: %s", peer_name(peer),
              error_text());
    return OMPRMA_OK;
}

/* One path for all peers. */
static omprma_status_t make_path(struct runtime *runtime)
{
    size_t ranks = (size_t)runtime->world.size;
    pid_t *pids = calloc(ranks, sizeof(*pids));
    omprma_status_t status;

    if (!pids)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for %zu peers", ranks);
    for (size_t rank = 0; rank < ranks; rank++)
        if (runtime->peers[rank])
            pids[rank] = runtime->peers[rank]->hello.bell.pid;
    status = local_create(pids, runtime->bells, runtime->world.size, &runtime->local);
    free(pids);
    return status;
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
    omprma_status_t status;

    if (!has_processors())
        return OMPRMA_OK;
    status = make_path(runtime);
    if (status != OMPRMA_OK)
        return status;
    if (!trial_map(&memory, 2 * TRIAL_SURE))
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for trials at start-up");
    for (int rank = 0; rank < runtime->world.size && status == OMPRMA_OK; rank++)
        if (may_be(runtime, runtime->peers[rank]))
            status = try_peer(runtime->peers[rank], &trial, memory.here);
    trial_unmap(&memory);
    return status;
}
