/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* near.h: how far a mistyped name is from one that there is. Knows nothing of what has names. */
#ifndef OMPRMA_BASE_NEAR_H
#define OMPRMA_BASE_NEAR_H

#include <stddef.h>

/* Number of letters to change, add or drop to make `b` of the first `length` letters of `a`;
 * SIZE_MAX for a `b` of more than 64. */
size_t near_distance(const char *a, size_t length, const char *b);

#endif
