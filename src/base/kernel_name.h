/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* kernel_name.h: what people call a target region, from the symbol that a compiler gives its
 * kernel. */
#ifndef OMPRMA_BASE_KERNEL_NAME_H
#define OMPRMA_BASE_KERNEL_NAME_H

#include <stdbool.h>
#include <stddef.h>

/* The function that a region is in, as it is called in the object file, and its line. */
struct kernel_name {
    const char *function; /* inside of the symbol */
    size_t bytes;
    int line;
};

/* "main" and 42 for __omp_offloading_fe00_a7669a_main_l42, whatever a compiler appends to it.
 * False: it is no symbol of that kind. Any thread; blocks: no. */
bool kernel_name_split(const char *symbol, struct kernel_name *name);

enum { KERNEL_NAME_SHOWN = 200, KERNEL_NAME_WORDS = 256 };

/* A symbol as lines have it: as it is, but of one that is longer than KERNEL_NAME_SHOWN the
 * function without its template's arguments, "space::work<...>:42", or its beginning. Returns that,
 * which may be in `text`. Async-signal-safe. */
const char *kernel_name_words(const char *symbol, char text[KERNEL_NAME_WORDS]);

#endif
