/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * transport.c: a transport without MPI: sockets, and copies by the kernel within a host. The only
 * file here that knows the data paths, because it hands them out.
 */
#include "control/transport.h"

#include "control/direct/channel.h"
#include "control/direct/data.h"
#include "control/direct/world.h"
#include "control/shm/local.h"

static omprma_status_t open_one_sided(const struct world *world, struct doorbell *const *bells,
                                      struct deadline *deadline, struct datapath **path)
{
    (void)deadline; /* no call waits for a peer */
    return local_create(world->direct->pids, bells, world->size, path);
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
    .connect = direct_connect,
    .begin = direct_begin,
    .started = direct_started,
    .leave = direct_leave,
    .abort = direct_abort,
    .open_channel = direct_channel_create,
    .open_one_sided = open_one_sided,
    .open_two_sided = direct_data_create,
};
