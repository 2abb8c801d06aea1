/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * doctor.h: omprma-info --check: does this machine, and do the hosts that are named, have what a
 * run needs? Starts no workers.
 */
#ifndef OMPRMA_INFO_DOCTOR_H
#define OMPRMA_INFO_DOCTOR_H

#include <stdbool.h>

#include "tools/launch/launch.h"

/* Prints a line for each thing: ok, warning or failure, and what to do, or all as JSON. `compiler`:
 * tried too, see compiler.h; NULL: none. Returns the exit status: 0, or 1 after a failure. Blocks:
 * some seconds for each host. */
int doctor_run(const struct launch *launch, const char *compiler, bool json);

#endif
