/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * devices.h: all devices of this process.
 *
 * Thread: any function from any thread, but for devices_make(). Blocks: no.
 */
#ifndef OMPRMA_OPENMP_DEVICE_DEVICES_H
#define OMPRMA_OPENMP_DEVICE_DEVICES_H

#include <stdbool.h>

#include "openmp/device/device.h"

/* Once, when omprma has started: all that run code for this kind of machine, less what the
 * environment leaves out. Their number; 0: none, or (reported) no memory. */
int devices_make(void);

/* 0 until then, and where there are none. */
int devices_made(void);

/* Does the runtime choose the worker for each construct (OMPRMA_PLACEMENT=auto)? All workers serve
 * one space then, and the program sees one device. */
bool devices_are_placed(void);

/* The same, and regions have an address of all device memory that they use without a map
 * (OMPRMA_PLACEMENT=named), see place/addressed.h. */
bool devices_are_named(void);

/* The value of OMPRMA_PLACEMENT, where it is one with which they are placed. */
const char *devices_placement(void);

/* Who said so: "--placement" or "OMPRMA_PLACEMENT". */
const char *devices_placed_by(void);

/* Sites, at least one for each device that the program sees; 0: as above. Each has a struct device:
 * those of the program first. */
int devices_sites(void);
struct device *device_of_site(int index);

/* The same, and 0 once the process has begun to end. */
int devices_started(void);

/* True from that moment. */
bool devices_ended(void);

/* Is this process a child of the one that has the devices? It sees them, and cannot use them. */
bool devices_forked(void);

/* Has this process made them? Right in a child, too, that was made without fork(), by vfork() or
 * clone(), of which devices_forked() does not know. */
bool devices_are_here(void);

/* Device 0 <= number < devices_made(); NULL for another number. */
struct device *device_at(int number);

#endif
