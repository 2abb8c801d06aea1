/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * options.h: the command line options that omprma's tools share, as an argp child parser. They fill
 * a struct launch and set OMPRMA_* variables, validated by the table of settings.
 */
#ifndef OMPRMA_LAUNCH_OPTIONS_H
#define OMPRMA_LAUNCH_OPTIONS_H

#include <argp.h>

#include "tools/launch/launch.h"

/* For struct argp_child; its input is a struct launch (state->child_inputs[0]). Options: -n,
 * --workers-per-host, --cores-per-worker, --map-by, --hosts,
 * --hostfile, --data, --osc, --llvm, --runtime, --mpi-arg, -v. */
extern const struct argp launch_argp;

/* For one's own options: OMPRMA_<name> = value, checked; a bad one ends the program with status 2
 * and one line. `option` is how the user wrote it, "--data". */
void option_set(const char *option, const char *name, const char *value);

/* Prints one line "omprma: ..." and ends the program with status 2. */
void option_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Reads "1" to "limit". */
int option_number(const char *option, const char *text, int limit);

/* Sets up the log, argp's exit status and the name in its messages, and puts aside what is
 * inherited and in the way; call before argp_parse(). */
void options_begin(char *program, char **argv);

/* The option that has set OMPRMA_NAME, "--data"; NULL: none has. */
const char *option_of(const char *name);

#endif
