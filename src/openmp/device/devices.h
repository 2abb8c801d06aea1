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
