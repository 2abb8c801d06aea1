/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * registry.h: the libraries that have registered themselves, their images, and their regions by the
 * addresses that programs call them with. Brings images to devices when these are first used.
 *
 * Thread: any function from any thread. Blocks: registry_prepare() and registry_remove() may.
 */
#ifndef OMPRMA_OPENMP_IMAGE_REGISTRY_H
#define OMPRMA_OPENMP_IMAGE_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <omprma/omprma.h>

#include "openmp/abi/abi.h"
#include "openmp/abi/elf.h"
#include "openmp/device/device.h"

struct image;

/* Does any of its images concern us? */
bool registry_add(const struct abi_library *library);
void registry_remove(const struct abi_library *library);

/* Removes all libraries, the newest first, when the process ends and nobody else offloads any more.
 * `sites`: how many there are. */
void registry_clear(int sites);

/* Clauses of a requires directive. Those that every part of a program has to have or none has to
 * agree with what came before; else this ends the process. */
void registry_require(int64_t clauses);

/* With placement: has an image that a device has been prepared with variables that its code may
 * write, or that the program knows? */
bool registry_has_variables(void);

/* Brings what is registered and new to the device. False: reported. */
bool registry_prepare(struct device *device, const struct location *where);

/* The plan of a region on a device that is prepared, with its kernel; valid while the caller holds
 * the device's lock. Where the region is new the lock is released and taken again meanwhile: what
 * was read before has to be looked up again. NULL: reported. */
struct plan *registry_plan(struct device *device, const void *host_id,
                           const struct location *where);

/* Calls for each image, the oldest first, that a device has been prepared with, until `call`
 * returns false. */
void registry_each(bool (*call)(const struct image *image, void *context), void *context);

/* More after each change. */
unsigned long registry_changes(void);

/* Which versions of clang made the images so far. */
struct compilers registry_compilers(void);

#endif
