/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * starter.h: commands that start the program that is named behind them: env, timeout, gdb, mpirun.
 * Knows nothing of what their options mean: what counts is what stands among the arguments.
 */
#ifndef OMPRMA_LAUNCH_STARTER_H
#define OMPRMA_LAUNCH_STARTER_H

#include <stdbool.h>

#include "tools/launch/needs.h"

/* Is it one that starts programs of an MPI library, by the name of its file? */
bool starter_is_launcher(const char *path);

/* Is it a shell, or another one that may start several programs, by the name of its file? */
bool starter_of_several(const char *path);

/* Is it a program of the kind that is looked for? */
typedef bool starter_wants(const struct needs *needs);

/* The first of argv[1] and what follows that is a program for which `wants` is true: its index, its
 * path, malloced, and what it needs, for needs_clear(); 0: there is none, and both are as they
 * were. Blocks: while the loader looks at each program. */
int starter_find(char **argv, starter_wants *wants, char **path, struct needs *needs);

#endif
