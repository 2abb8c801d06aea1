/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * environment.h: which devices the program has, and which is its default, as OMP_AVAILABLE_DEVICES
 * and OMP_DEFAULT_DEVICE say (available.h reads them).
 *
 * Thread: the one that starts the devices. Blocks: no.
 */
#ifndef OMPRMA_OPENMP_DEVICE_ENVIRONMENT_H
#define OMPRMA_OPENMP_DEVICE_ENVIRONMENT_H

#include <stdbool.h>

enum { ENVIRONMENT_BYTES = 2048 };

/* Of omprma's devices with these numbers, in the program's order: keeps those that it has, and
 * returns how many they are. libomp knows the number of the default one from then on. -1: one of
 * the two names no device, or there is no memory, as `text` says. */
int environment_devices(int *remotes, int count, char text[ENVIRONMENT_BYTES]);

/* Has OMP_DEFAULT_DEVICE named the host by a word, and not by a number? */
bool environment_names_host(void);

#endif
