/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * habits.h: options as users type them: what they know from mpirun is taken for the option of ours
 * that does the same, or answered; a mistyped one is answered with the nearest. Knows nothing of
 * what options do.
 */
#ifndef OMPRMA_LAUNCH_HABITS_H
#define OMPRMA_LAUNCH_HABITS_H

#include <argp.h>
#include <stdbool.h>

#include "tools/launch/list.h"

/* Fills `words` with `argv` in our words. `tables` are the options that there are, ended by NULL; a
 * command (`starts_program`) has options before the program alone. Returns NULL, or what is to be
 * said of a word that is not understood, to be freed. */
char *habits_read(char *const *argv, const struct argp_option *const *tables, bool starts_program,
                  struct list *words);

#endif
