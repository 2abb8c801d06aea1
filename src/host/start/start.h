/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * start.h: start and end of the application's side; omprma_init() and omprma_finalize() are here.
 */
#ifndef OMPRMA_HOST_START_START_H
#define OMPRMA_HOST_START_START_H

#include "host/core/runtime.h"

/* Builds a runtime over a channel and paths that exist (tests). peers[1] to peers[workers] describe
 * the workers of these ranks. Makes it the one runtime. Takes over channel and paths.
 * Errors: HOST_MEMORY, what measuring fails with. */
omprma_status_t runtime_adopt(const struct config *config, struct channel *channel,
                              struct datapath *one_sided, struct datapath *two_sided,
                              const struct world_peer *peers, int workers,
                              const struct limits *limits);

#endif
