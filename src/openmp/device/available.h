/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * available.h: devices as OMP_AVAILABLE_DEVICES and OMP_DEFAULT_DEVICE of OpenMP 6.0 name them: by
 * traits, that is kind(cpu), arch(x86_64), vendor(intel) and uid(NAME), or by "*". Asks nothing of
 * omprma or libomp.
 *
 * Thread: any. Blocks: no. Errors: a clause in `why`, which says what is wrong with the text.
 */
#ifndef OMPRMA_OPENMP_DEVICE_AVAILABLE_H
#define OMPRMA_OPENMP_DEVICE_AVAILABLE_H

#include <stdbool.h>
#include <stddef.h>

/* What traits are about. All are processors, of the kind that this process runs on. */
struct traits {
    const char *uid;
    const char *model; /* which names the vendor */
};

/* Numbers of devices in the order in which the text names them, each once, into `chosen`, which has
 * room for `count`. How many there are; 0: an error. */
int available_choose(const char *text, const struct traits *devices, int count, int *chosen,
                     char *why, size_t room);

/* Which device of those is the default: the first one that an item of the text names. The host's
 * number is `count`. -1: an error. */
int available_default(const char *text, const struct traits *devices, int count, char *why,
                      size_t room);

#endif
