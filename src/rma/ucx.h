/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ucx.h: bulk data between this process and memory of others by UCX's put and get, which a card
 * that does RDMA carries out without the other process. Elsewhere UCX sends messages instead, so
 * whoever has memory attached calls datapath_progress() often. See control/datapath.h.
 *
 * Before anything is transferred, processes tell each other their addresses by a way of their own,
 * and a secret: memory can be reached only with a key, and who does not know the secret gets none.
 *
 * Thread: calls are serialised by the caller. Blocks: ucx_open() for some ms; destroying for a
 * second at most.
 */
#ifndef OMPRMA_RMA_UCX_H
#define OMPRMA_RMA_UCX_H

#include <stdbool.h>
#include <stddef.h>

#include "control/datapath.h"

enum { UCX_SECRET_BYTES = 16 };

struct ucx_options {
    int rank, size;       /* this process, of so many */
    bool any_network;     /* not only what does RDMA: TCP and shared memory, too */
    uint64_t piece_bytes; /* the most that UCX gets at once */
};

/* Name and version of the library, once it was opened; else an empty text. */
const char *ucx_name(void);

/* Opens UCX. Destroying the path closes it. Errors: UNSUPPORTED, with the reason; HOST_MEMORY. */
omprma_status_t ucx_open(const struct ucx_options *options, struct datapath **path);

/* What peers need to reach this process; as long as the path. */
const void *ucx_address(const struct datapath *path, size_t *bytes);

/* Can be read when something has come since datapath_prepare(); as long as the path. -1: there is
 * none. */
int ucx_descriptor(const struct datapath *path);

/* What a peer has said of itself; it is copied. Once for each peer. Errors: HOST_MEMORY. */
omprma_status_t ucx_meet(struct datapath *path, int rank, const void *address, size_t bytes);

/* The same for all processes; before anything else is done. */
void ucx_share_secret(struct datapath *path, const unsigned char secret[UCX_SECRET_BYTES]);

#endif
