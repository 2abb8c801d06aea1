/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * versus.h: --versus runs the program with one-sided data and with two-sided data, in turns, and
 * compares what the statistics say of each target construct.
 *
 * Thread: the first one; there must be no other. Blocks: until all runs have ended.
 */
#ifndef OMPRMA_RUN_VERSUS_H
#define OMPRMA_RUN_VERSUS_H

#include "tools/launch/launch.h"

/* Runs it two times in each mode, and prints a table and a sentence to stderr. The first run has
 * the user's stdin and stdout, the others have none. Returns the exit status of the program, or
 * EXIT_OWN where nothing could be compared; the first run that does not end with 0 is the last. */
int versus_run(const struct launch *launch);

#endif
