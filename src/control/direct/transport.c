/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * transport.c: a transport without MPI: sockets, copies by the kernel within a host, and UCX
 * between hosts. With ucx_transport.c the only file here that knows the data paths, because it
 * hands them out.
 */
#include "control/transport.h"

#include <stdlib.h>

#include "base/error.h"
#include "control/direct/by_host.h"
#include "control/direct/channel.h"
#include "control/direct/data.h"
#include "control/direct/ucx_transport.h"
#include "control/direct/world.h"
#include "control/shm/local.h"

static omprma_status_t connect_all(struct world *world)
{
    omprma_status_t status = direct_connect(world);

    return status == OMPRMA_OK ? ucx_transport_agree(world) : status;
}

/* Between hosts by UCX. Within them by the kernel, unless it refuses that anywhere. */
static omprma_status_t open_by_host(const struct world *world, struct datapath *near,
                                    struct datapath **path)
{
    struct datapath *far = world->direct->ucx;
    bool *is_elsewhere = calloc((size_t)world->size, sizeof(*is_elsewhere));
    omprma_status_t status;

    if (!is_elsewhere) {
        datapath_destroy(near);
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a data path");
    }
    world->direct->ucx = NULL;
    for (int rank = 0; rank < world->size; rank++)
        is_elsewhere[rank] = !world->direct->copies || direct_is_elsewhere(world, rank);
    status = by_host_create(near, far, is_elsewhere, world->size, path);
    free(is_elsewhere);
    return status;
}

static omprma_status_t open_one_sided(const struct world *world, struct doorbell *const *bells,
                                      struct deadline *deadline, struct datapath **path)
{
    struct datapath *near;
    omprma_status_t status = local_create(world->direct->pids, bells, world->size, &near);

    (void)deadline; /* no call waits for a peer */
    if (status == OMPRMA_OK && world->direct->ucx)
        return open_by_host(world, near, path);
    if (status == OMPRMA_OK)
        *path = near;
    return status;
}

static void say_library(char *text, size_t bytes)
{
    snprintf(text, bytes, "none: sockets");
}

static void print_no_quirks(const struct world *world, const char *title, FILE *out)
{
    (void)world, (void)title, (void)out;
}

const struct transport transport_direct = {
    .name = "sockets",
    .library = say_library,
    .print_quirks = print_no_quirks,
    .start = direct_start,
    .connect = connect_all,
    .begin = direct_begin,
    .started = direct_started,
    .tell_measured = direct_tell_measured,
    .leave = direct_leave,
    .abort = direct_abort,
    .open_channel = direct_channel_create,
    .open_one_sided = open_one_sided,
    .open_two_sided = direct_data_create,
};
