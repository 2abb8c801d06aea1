/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * networks.h: which networks of this host end within it. Docker and the like give each host a
 * bridge with the same address, so that a message to another host over it comes back, or gets lost.
 * Knows nothing of launchers.
 */
#ifndef OMPRMA_LAUNCH_NETWORKS_H
#define OMPRMA_LAUNCH_NETWORKS_H

#include "tools/launch/hosts.h"

/* They as "172.17.0.0/16,...", which the caller frees; NULL: there are none, or where one of the
 * hosts lies is not known here. Asks a name service where there are any. */
char *networks_inner(const struct hosts *hosts);

#endif
