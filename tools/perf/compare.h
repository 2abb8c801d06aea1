/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* compare.h: two files that --json has written, one beside the other. Measures nothing. */
#ifndef OMPRMA_PERF_COMPARE_H
#define OMPRMA_PERF_COMPARE_H

#include <omprma/omprma.h>

/* Prints a line for each operation, path and size that both have: medians, and their ratio; then
 * how many became faster and slower by more than a tenth. Errors: CONFIG (a file cannot be read, or
 * is not one of ours; they have nothing in common). */
omprma_status_t compare_print(const char *old_path, const char *new_path);

#endif
