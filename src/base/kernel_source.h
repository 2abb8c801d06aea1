/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* kernel_source.h: the source file of a target region, where the program knows it: compilers leave
 * locations, ";FILE;FUNCTION;LINE;COLUMN;;", in programs that are built with -g. */
#ifndef OMPRMA_BASE_KERNEL_SOURCE_H
#define OMPRMA_BASE_KERNEL_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/kernel_name.h"

/* Looks through all constants of the program and its libraries. False: nothing is there, or several
 * files have such a function with a region in that line. Any thread; blocks: for milliseconds. */
bool kernel_source_find(const struct kernel_name *name, char *file, size_t bytes);

/* The same in some memory: `file` must be empty, or what was found before. False: it is ambiguous.
 */
bool kernel_source_search(const char *memory, size_t length, const struct kernel_name *name,
                          char *file, size_t bytes);

#endif
