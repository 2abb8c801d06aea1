/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * reach.c: known data goes to an arena of each worker, a look at it, and back. Yama, a filter of
 * system calls, or another user may refuse copies by the kernel; put and get of MPI, which copy in
 * the same way, have asked Yama for it then. A program that has one processor only copies by
 * itself. Memory that is mapped is tried in the same way, for each device.
 */
#define _GNU_SOURCE
#include "host/start/reach.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/units.h"
#include "control/shm/arena.h"
#include "host/core/device.h"
#include "host/core/peer.h"
#include "host/start/trial.h"
#include "control/shm/local.h"

/* TRIAL_SURE bytes. */
typedef omprma_status_t move_fn(struct device *device, bool out, omprma_addr_t there, char *here);

static omprma_status_t move_by_kernel(struct device *device, bool out, omprma_addr_t there,
                                      char *here)
{
    struct datapath *path = device->runtime->local;
    struct transfer transfer = {
        .direction = out ? TRANSFER_OUT : TRANSFER_IN,
        .peer = device->peer->rank,
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

static omprma_status_t move_mapped(struct device *device, bool out, omprma_addr_t there, char *here)
{
    const struct arena *arena = mapped_find(&device->mapped, there, TRIAL_SURE);

    if (!arena)
        return error_set(OMPRMA_ERR_UNSUPPORTED, "its first arena is full");
    arena_copy(arena, out, here, there, TRIAL_SURE, false);
    return OMPRMA_OK;
}

/* By staging memory that this process has as well: paths.shared has pieces go so. */
static omprma_status_t move_staged(struct device *device, bool out, omprma_addr_t there, char *here)
{
    omprma_queue_t *queue = NULL;
    omprma_status_t status = omprma_queue_create(device->number, &queue);

    device->paths.shared = true;
    if (status == OMPRMA_OK)
        status = out ? omprma_submit(queue, there, here, TRIAL_SURE)
                     : omprma_retrieve(queue, here, there, TRIAL_SURE);
    if (status == OMPRMA_OK)
        status = omprma_queue_synchronize(queue);
    omprma_queue_destroy(queue);
    return status;
}

/* There, a look at it, and back into the second half of the memory. */
static omprma_status_t carry(struct device *device, move_fn *move, omprma_queue_t *queue,
                             omprma_addr_t there, struct trial *trial, char *here)
{
    omprma_status_t status;

    trial->number++;
    trial_fill(trial, here);
    status = move(device, true, there, here);
    if (status == OMPRMA_OK)
        status = trial_look(trial, queue, there);
    if (status == OMPRMA_OK)
        status = omprma_queue_synchronize(queue);
    if (status == OMPRMA_OK)
        status = move(device, false, there, here + TRIAL_SURE);
    if (status == OMPRMA_OK &&
        (trial_seen(trial) < TRIAL_SURE || trial_compare(trial, here + TRIAL_SURE) < TRIAL_SURE))
        return error_set(OMPRMA_ERR_UNSUPPORTED, "copies deliver wrong data");
    return status;
}

/* With a queue and memory of its own. */
static omprma_status_t try_copies(struct device *device, move_fn *move, struct trial *trial,
                                  char *here)
{
    omprma_queue_t *queue = NULL;
    omprma_addr_t there = 0;
    char why[ERROR_TEXT_BYTES] = "";
    omprma_status_t status = omprma_alloc(device->number, TRIAL_SURE, &there);

    if (status == OMPRMA_OK)
        status = omprma_queue_create(device->number, &queue);
    if (status == OMPRMA_OK)
        status = carry(device, move, queue, there, trial, here);
    if (status != OMPRMA_OK)
        snprintf(why, sizeof(why), "%s", error_text());
    omprma_queue_destroy(queue);
    if (there)
        omprma_free(device->number, there);
    return status == OMPRMA_OK ? status : error_set(status, "%s", why);
}

static omprma_status_t try_peer(struct peer *peer, struct trial *trial, char *here)
{
    omprma_status_t status = try_copies(peer_device(peer, 0), move_by_kernel, trial, here);

    if (status == OMPRMA_OK)
        peer->local = peer->runtime->local;
    if (status == OMPRMA_OK)
        return status;
    if (peer->lost) /* which copies by the kernel see first, in other words */
        return error_set(OMPRMA_ERR_DEVICE_LOST, "%s", peer_device(peer, 0)->lost_text);
    log_write(LOG_CHOICE, "%s: no thread copies beside the program: %s", peer_name(peer),
              error_text());
    return OMPRMA_OK;
}

static omprma_status_t try_mapped(struct device *device, struct trial *trial, char *here)
{
    omprma_status_t status =
        try_copies(device, device_is_staged(device) ? move_staged : move_mapped, trial, here);

    device->paths.shared = status == OMPRMA_OK;
    if (status == OMPRMA_OK || device->lost)
        return status;
    log_write(LOG_CHOICE, "%s: the program does not copy by itself: %s", device_name(device),
              error_text());
    return OMPRMA_OK;
}

/* ---- from worker to worker ---- */

static bool may_exchange(const struct device *from, const struct device *to)
{
    return from->peer != to->peer && from->paths.shared && to->paths.shared &&
           !device_is_staged(from) && !device_is_staged(to) &&
           peer_shares_host(from->peer, to->peer);
}

/* Known data to the source, from there to the destination, and back. */
static omprma_status_t pass_on(omprma_queue_t *queue, struct device *from, struct device *to,
                               omprma_addr_t source, omprma_addr_t target, struct trial *trial,
                               char *here)
{
    omprma_status_t status;

    trial->number++;
    trial_fill(trial, here);
    status = move_mapped(from, true, source, here);
    if (status == OMPRMA_OK)
        status = omprma_exchange(queue, source, to->number, target, TRIAL_SURE);
    if (status == OMPRMA_OK)
        status = omprma_queue_synchronize(queue);
    if (status == OMPRMA_OK)
        status = move_mapped(to, false, target, here + TRIAL_SURE);
    return status == OMPRMA_OK && trial_compare(trial, here + TRIAL_SURE) < TRIAL_SURE
               ? error_set(OMPRMA_ERR_UNSUPPORTED, "copies between workers deliver wrong data")
               : status;
}

static omprma_status_t try_exchange(struct device *from, struct device *to, struct trial *trial,
                                    char *here)
{
    omprma_queue_t *queue = NULL;
    omprma_addr_t source = 0, target = 0;
    omprma_status_t status = omprma_alloc(from->number, TRIAL_SURE, &source);
    char why[ERROR_TEXT_BYTES] = "";

    if (status == OMPRMA_OK)
        status = omprma_alloc(to->number, TRIAL_SURE, &target);
    if (status == OMPRMA_OK)
        status = omprma_queue_create(from->number, &queue);
    if (status == OMPRMA_OK)
        status = pass_on(queue, from, to, source, target, trial, here);
    if (status != OMPRMA_OK)
        snprintf(why, sizeof(why), "%s", error_text());
    omprma_queue_destroy(queue);
    omprma_free(from->number, source);
    omprma_free(to->number, target);
    return status == OMPRMA_OK ? status : error_set(status, "%s", why);
}

/* One pair of them. */
static omprma_status_t try_neighbours(struct runtime *runtime, struct trial *trial, char *here)
{
    omprma_status_t status;
    int i = 1;

    while (i < runtime->device_count && !may_exchange(runtime->devices[i - 1], runtime->devices[i]))
        i++;
    if (i >= runtime->device_count || runtime->config.exchange != EXCHANGE_AUTO)
        return OMPRMA_OK;
    runtime->exchange[0].copies = true;
    status = try_exchange(runtime->devices[i - 1], runtime->devices[i], trial, here);
    runtime->exchange[0].copies = status == OMPRMA_OK;
    if (status == OMPRMA_OK || runtime->devices[i - 1]->lost || runtime->devices[i]->lost)
        return status;
    log_write(LOG_CHOICE, "workers do not copy to each other by themselves: %s", error_text());
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

static omprma_status_t try_peers(struct runtime *runtime, struct trial *trial, char *here)
{
    omprma_status_t status;

    if (!has_processors())
        return OMPRMA_OK;
    status = make_path(runtime);
    for (int rank = 0; rank < runtime->world.size && status == OMPRMA_OK; rank++)
        if (may_be(runtime, runtime->peers[rank]))
            status = try_peer(runtime->peers[rank], trial, here);
    return status;
}

/* The choice as users are told it. */
static void say(struct runtime *runtime)
{
    size_t used = strlen(runtime->choice);
    int count = 0;

    for (int i = 0; i < runtime->device_count; i++)
        count += runtime->devices[i]->paths.shared;
    if (count == 0)
        return;
    snprintf(runtime->choice + used, sizeof(runtime->choice) - used,
             "; memory of %d device%s is shared: the program copies by itself", count,
             units_plural(count));
    log_write(LOG_CHOICE, "data path: %s", runtime->choice);
}

omprma_status_t reach_try(struct runtime *runtime)
{
    struct trial trial = {.bytes = TRIAL_SURE};
    struct trial_memory memory;
    omprma_status_t status;

    if (!trial_map(&memory, 2 * TRIAL_SURE))
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for trials at start-up");
    status = try_peers(runtime, &trial, memory.here);
    for (int i = 0; i < runtime->device_count && status == OMPRMA_OK; i++)
        if (runtime->devices[i]->mapped.count > 0 && runtime->config.data == DATA_AUTO)
            status = try_mapped(runtime->devices[i], &trial, memory.here);
    if (status == OMPRMA_OK)
        status = try_neighbours(runtime, &trial, memory.here);
    trial_unmap(&memory);
    say(runtime);
    return status;
}
