/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * image.h: device images on the worker: checked with libelf, loaded by dlopen() from where
 * image_file.h puts them, and searched by symbol name. Knows nothing of MPI or messages.
 *
 * Thread: any; one internal lock. Blocks: no (dlopen reads files).
 */
#ifndef OMPRMA_WORKER_IMAGE_H
#define OMPRMA_WORKER_IMAGE_H

#include <stdbool.h>
#include <omprma/omprma.h>

struct image;

/* Loads [bytes, bytes + size) for `owner`, a device, unless it has an image with the same content;
 * then gives that one. Each owner has its own globals. The memory may be freed after the call.
 * Errors: IMAGE, SYMBOL (a library or symbol that it needs is missing; the text names it and says
 * which folders were searched), HOST_MEMORY. */
omprma_status_t image_open(const void *bytes, size_t size, const void *owner, struct image **image);

/* Address of a symbol. `size` 0: a kernel. Else the symbol's size in the image must be `size`.
 * Kernels are remembered for image_kernel_name(). Errors: SYMBOL, naming symbol and image. */
omprma_status_t image_symbol(struct image *image, const char *name, uint64_t size,
                             uint64_t *address);

/* A symbol of the libraries that an image of the owner needs, NULL if there is none. */
void *image_library_symbol(const void *owner, const char *name);

/* Name of the kernel at `address`, "?" if it is not one. Async-signal-safe. */
const char *image_kernel_name(uint64_t address);

/* True if `address` is a kernel of the owner that image_symbol() gave out (constant or logarithmic
 * time). */
bool image_is_kernel(const void *owner, uint64_t address);

/* True if `address` lies in a loaded image; *offset is then its distance from the image's start,
 * as tools for object files count it. Async-signal-safe. */
bool image_offset(uint64_t address, uint64_t *offset);

/* The owner of the image in which `address` lies, NULL if it lies in none. Async-signal-safe. */
const void *image_owner(uint64_t address);

/* Writes where images are, as far as there is room. */
struct fault_question;
void image_list(struct fault_question *question);

/* Number of images loaded. */
size_t image_count(void);

#endif
