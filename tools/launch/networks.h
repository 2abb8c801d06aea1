/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * networks.h: which networks of this host end within it. Docker and the like give each host a
 * bridge with the same address, so that a message to another host over it comes back, or gets lost.
 * Knows nothing of launchers.
 */
#ifndef OMPRMA_LAUNCH_NETWORKS_H
#define OMPRMA_LAUNCH_NETWORKS_H

#include "tools/launch/hosts.h"

/* Their names, separated by commas, with those that such networks often have on other hosts: all
 * but those in which one of `hosts` lies. The caller frees it. May ask a name service. */
char *networks_inner(const struct hosts *hosts);

#endif
