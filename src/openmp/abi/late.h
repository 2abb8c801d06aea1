/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * late.h: where this library is not there from the program's start, but comes with a library that
 * the program opens later: a plugin, a module of Python. Then libomp may have looked for our
 * functions already, in vain, and does not look again; and what is opened for one library alone is
 * out of libomp's sight, which would say that there are no devices. So this library makes itself
 * visible to all.
 */
#ifndef OMPRMA_OPENMP_ABI_LATE_H
#define OMPRMA_OPENMP_ABI_LATE_H

#include <stdbool.h>

/* Had libomp started in this process when this library came? Any thread. Blocks: no. */
bool late_for_libomp(void);

#endif
