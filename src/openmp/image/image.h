/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * image.h: one device image: is it for us, and bringing it to a device with its variables. The
 * registry serialises the calls per image and device.
 *
 * Thread: see registry.h. Blocks: image_place() and image_displace() do.
 */
#ifndef OMPRMA_OPENMP_IMAGE_IMAGE_H
#define OMPRMA_OPENMP_IMAGE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <omprma/omprma.h>

#include "openmp/abi/abi.h"
#include "openmp/abi/elf.h"
#include "openmp/device/device.h"
#include "openmp/image/entries.h"

struct image {
    struct image *next;
    const struct abi_library *library;
    const char *start;
    size_t bytes;
    uint64_t copy; /* more than 0: devices may hold the same bytes of a library that has gone */
    unsigned long order; /* more than that of images that came before */
    uintptr_t low, high; /* the program or shared object that it came with */
    struct compilers by;
    struct entry *entries;
    size_t count;
    omprma_addr_t *
        *addresses; /* per device, of each entry; NULL: not there. For `devices` devices */
    int devices;
};

/* NULL: it is for another kind of device, or (reported) damaged, or there is no memory. */
struct image *image_make(const struct abi_library *library, const struct abi_image *registered,
                         uint64_t copy);
void image_free(struct image *image);

/* Does this lie in the program or shared object that the image came with? */
static inline bool image_is_of(const struct image *image, const void *address)
{
    return (uintptr_t)address >= image->low && (uintptr_t)address < image->high;
}

/* Has it variables: those of the program, or others that its code may write? */
bool image_has_variables(const struct image *image);

bool image_is_placed(const struct image *image, const struct device *device);

/* Loads it, maps its variables for good, runs its constructors. False: reported. */
bool image_place(struct image *image, struct device *device, const struct location *where);

/* Before its library goes: runs destructors, and forgets the variables. */
void image_displace(struct image *image, struct device *device);

#endif
