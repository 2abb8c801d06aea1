/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * bootstrap.h: what start-up tells between one process, the hub, and all others, point to point. No
 * other two processes send each other anything, so it works where only the hub can be reached. Each
 * call is made by all processes; the hub's cost grows with their number, by two messages of some
 * hundred bytes each. Whoever can send and receive such messages can be behind it.
 */
#ifndef OMPRMA_CONTROL_BOOTSTRAP_H
#define OMPRMA_CONTROL_BOOTSTRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <omprma/omprma.h>

/* How this process reaches the others. Both functions wait for the other end, and say why they have
 * failed by error_set(). Messages of a pair keep their order. */
struct bootstrap {
    int rank, size;
    omprma_status_t (*send)(const void *data, size_t bytes, int to);
    omprma_status_t (*receive)(void *data, size_t bytes, int from);
};

/* Everybody's `bytes` at `mine` to the hub's `all`, in order of ranks. Errors of all functions
 * here: those of send() and receive(). */
omprma_status_t bootstrap_gather(const struct bootstrap *bootstrap, int hub, const void *mine,
                                 void *all, size_t bytes);

/* The same where each process says how much: the hub's all[rank] has room for all_bytes[rank]. */
omprma_status_t bootstrap_collect(const struct bootstrap *bootstrap, int hub, const void *mine,
                                  size_t bytes, void *const *all, const size_t *all_bytes);

/* The reverse: from the hub's `all` to everybody's `mine`. */
omprma_status_t bootstrap_scatter(const struct bootstrap *bootstrap, int hub, const void *all,
                                  void *mine, size_t bytes);

/* The same `bytes` from the hub to everybody. */
omprma_status_t bootstrap_spread(const struct bootstrap *bootstrap, int hub, void *data,
                                 size_t bytes);

/* Whether any process says true. */
omprma_status_t bootstrap_any(const struct bootstrap *bootstrap, int hub, bool mine, bool *any);

#endif
