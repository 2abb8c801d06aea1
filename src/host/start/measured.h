/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * measured.h: what the first program of a run has measured between itself and a device of its host,
 * for the programs that follow there: they try the ways, and need not measure them again.
 */
#ifndef OMPRMA_HOST_START_MEASURED_H
#define OMPRMA_HOST_START_MEASURED_H

#include <stdbool.h>

#include "host/core/device.h"

/* If another program has told what holds for `device`: fills its costs. */
bool measured_take(struct device *device);

/* The same for exchanges within its host. */
bool measured_take_exchange(const struct runtime *runtime, struct exchange_paths *paths);

/* Tells programs that follow, unless this one was told all that it knows. */
void measured_tell(const struct runtime *runtime);

#endif
