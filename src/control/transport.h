/*
 * transport.h: what a library that connects the processes of a job does for omprma: start-up, and
 * the ways that messages and data take. One is behind it, MPI: mpi/world.c, mpi/transport.c.
 */
#ifndef OMPRMA_CONTROL_TRANSPORT_H
#define OMPRMA_CONTROL_TRANSPORT_H

#include "control/channel.h"
#include "control/datapath.h"

struct doorbell;
struct deadline;
struct world;

/* ---- start-up, in this order; world.c calls these ---- */

/* Starts the library where that is needed, and fills world->bootstrap and what of the world belongs
 * to the library. Errors: MPI, HOST_MEMORY; world->torn if only this process may have failed. */
omprma_status_t transport_start(struct world *world);

/* Makes what messages and data go through, together with all others, and says what it can
 * (world->can). Without one-sided transfers world->why_no_window says why. Errors: MPI. */
omprma_status_t transport_connect(struct world *world);

/* All have attached their first memory: one-sided transfers may begin. Errors: MPI. */
omprma_status_t transport_begin(struct world *world);

/* Start-up is over. */
void transport_started(struct world *world);

/* ---- ways ---- */

struct transport {
    /* Control messages. `own` is rung by peers; `bells[peer]` (entries may be NULL) ring peers that
     * sleep after each message; NULL if the caller rings them. Both stay the caller's. `remote_ns`
     * bounds a sleep when `can_sleep` is false, i.e. when some peer that may send cannot ring. The
     * world must outlive it. Errors: HOST_MEMORY, MPI. */
    omprma_status_t (*open_channel)(const struct world *world, struct doorbell *own,
                                    struct doorbell **bells, bool can_sleep, int64_t remote_ns,
                                    struct channel **channel);

    /* From now on short messages to and from `peer` may go through `memory`, which both have
     * mapped: shared_bytes, zero at first, of one of the two (`is_owner`). Once per peer. */
    void (*share)(struct channel *channel, int peer, void *memory, bool is_owner);
    size_t shared_bytes;

    /* See rma/mpi.h and twosided/mpi.h. The first only if the world has a window. */
    omprma_status_t (*open_one_sided)(const struct world *world, struct doorbell *const *bells,
                                      struct deadline *deadline, struct datapath **path);
    omprma_status_t (*open_two_sided)(const struct world *world, struct datapath **path);
};

extern const struct transport transport_mpi;

#endif
