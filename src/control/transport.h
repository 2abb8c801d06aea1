/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * transport.h: what connects the processes of a job for omprma: start-up, the end, and the ways
 * that messages and data take. There are two: MPI (mpi/transport.c), in a module of its own
 * (module.h), and sockets, for programs that omprma-run offers an agent (direct/transport.c). What
 * processes of a host share beside them is shm/channel.h.
 */
#ifndef OMPRMA_CONTROL_TRANSPORT_H
#define OMPRMA_CONTROL_TRANSPORT_H

#include <stdio.h>

#include "control/channel.h"
#include "control/datapath.h"

struct bench_ops;
struct doorbell;
struct deadline;
struct world;

struct transport {
    const char *name; /* of the library, in messages */

    /* ---- at any time, also before start-up and after the end ---- */

    /* Name and version of the library, one line. */
    void (*library)(char *text, size_t bytes);

    /* See world_prepare(). NULL: there is nothing to prepare. */
    void (*prepare)(bool is_worker);

    /* See world_print_quirks(). */
    void (*print_quirks)(const struct world *world, const char *title, FILE *out);

    /* ---- start-up, in this order, and the end; world.c calls these ---- */

    /* Starts the library where that is needed, and fills world->bootstrap and what of the world
     * belongs to the library. Errors: MPI, HOST_MEMORY; world->torn if only this process may have
     * failed. */
    omprma_status_t (*start)(struct world *world);

    /* Makes what messages and data go through, together with all others, and says what it can
     * (world->can). Without one-sided transfers world->why_no_window says why. Errors: MPI. */
    omprma_status_t (*connect)(struct world *world);

    /* Hands on to programs of this host that follow what this one has measured,
     * WORLD_MEASURED_BYTES at most. NULL: there are none. */
    void (*tell_measured)(const struct world *world, const void *data, size_t bytes);

    /* All have attached their first memory: one-sided transfers may begin. Errors: MPI. */
    omprma_status_t (*begin)(struct world *world);

    /* Start-up is over. */
    void (*started)(struct world *world);

    /* Gives all of it back, together with all others, and ends the library where start() has
     * started it. At any time after start(), also if that has failed. Errors: MPI. */
    omprma_status_t (*leave)(struct world *world);

    /* Has all processes ended at once, where it can; the caller then ends this one. At any time. */
    void (*abort)(int code);

    /* ---- ways; the world must outlive them ---- */

    /* Control messages. It does not sleep: see shm/channel.h. Errors: HOST_MEMORY, MPI. */
    omprma_status_t (*open_channel)(const struct world *world, struct channel **channel);

    /* See rma/mpi.h and twosided/mpi.h. The first only if the world has a window. */
    omprma_status_t (*open_one_sided)(const struct world *world, struct doorbell *const *bells,
                                      struct deadline *deadline, struct datapath **path);
    omprma_status_t (*open_two_sided)(const struct world *world, struct datapath **path);

    /* The library without omprma, to compare with; NULL: it is not measured. */
    const struct bench_ops *bench;
};

extern const struct transport transport_direct;

#endif
