/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * help.h: what --help prints: options in groups, a line for each, and --help=all, which says all of
 * each and lists the settings. Made from the tables of options. The text of an option is a short
 * sentence, which --help prints, and may go on behind ". ".
 */
#ifndef OMPRMA_LAUNCH_HELP_H
#define OMPRMA_LAUNCH_HELP_H

#include <argp.h>
#include <stdbool.h>
#include <stdio.h>

/* The groups of options (argp_option.group), in the order in which they are printed. */
enum help_group {
    HELP_OWN = 1, /* of omprma-info and omprma-perf alone */
    HELP_WORKERS,
    HELP_PLACEMENT,
    HELP_DATA,
    HELP_PROGRAM,
    HELP_DIAGNOSTICS,
    HELP_ADVANCED,
    HELP_GROUPS
};

struct help {
    const char *program, *usage, *about;
    const char *examples;                 /* lines, each with its end */
    const char *status;                   /* what the exit status says */
    const struct argp_option *options[3]; /* one's own, those that are shared, NULL */
    unsigned few; /* set of 1 << group: those that are for --help=all alone */
};

/* Lines are as wide as COLUMNS says, 80 without. */
void help_print(const struct help *help, bool all, FILE *out);

#endif
