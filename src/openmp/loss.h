/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * loss.h: a device that is lost while the run goes on (OMPRMA_ON_LOSS=continue, and offloading is
 * not mandatory): from then on the host is the device. Its constructs keep the books of the table
 * as before, move nothing, and let the program compute their regions on the host. What the device
 * had is lost: values of ranges that were mapped before, by another construct. A construct that
 * needs them fails; a range has values again when the host has given all of it anew, or when it was
 * unmapped and mapped again.
 *
 * Thread: any.
 */
#ifndef OMPRMA_OPENMP_LOSS_H
#define OMPRMA_OPENMP_LOSS_H

#include <stdbool.h>

#include "openmp/device.h"

struct location;
struct work;

/* Does the program go on when a device is lost? The same answer always. */
bool loss_goes_on(void);

/* report_status() for what a device was asked for. Where the run goes on, a status that says that
 * the device is lost is told once, and device_is_lost() from then on; it returns false then. */
bool loss_status(const struct location *where, struct device *device, int status);

/* The same for how a work has ended, with fault_report()'s words. The caller holds no device's
 * lock. */
bool loss_end_status(struct work *work, int status);

/* For functions of the program that cannot use a lost device, while the run goes on: says so, once
 * for each device. True: `device` (NULL: the host) is lost. */
bool loss_refuses(const char *function, struct device *device);

/* The end of a work whose device is lost: does the host have the values that it needs? False:
 * reported. The caller holds the device's lock. */
bool loss_spares(const struct work *work);

#endif
