/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cores.h: who divides the cores of a host. Workers that have not run a region yet do not count, so
 * that a program that uses one device of several has all cores. With the first region of each the
 * others are told. Knows nothing of cores: workers divide them.
 *
 * Thread: with runtime->lock held.
 */
#ifndef OMPRMA_HOST_CALLS_CORES_H
#define OMPRMA_HOST_CALLS_CORES_H

#include "host/core/peer.h"

/* Before each launch. */
void cores_begin(struct peer *peer);

#endif
