/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * recorded.h: what the program has recorded for --trace and --stats, in memory that it shares with
 * omprma-run, becomes files and tables when it has ended, in whatever way.
 */
#ifndef OMPRMA_LAUNCH_RECORDED_H
#define OMPRMA_LAUNCH_RECORDED_H

#include <stddef.h>

#include "base/config.h"

/* How much memory it takes; 0: nobody wants to know. */
size_t recorded_bytes(const struct config *config, int workers);

/* Prepares that memory; NULL: there is none. */
void recorded_begin(void *memory, const struct config *config, int workers);

/* Reports. `status` is the run's; returns it, or 1 if it is 0 and something could not be written.
 * The program may have written anything over the memory. */
int recorded_end(void *memory, const struct config *config, int workers, int status);

#endif
