/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * options.h: the command line options that omprma's tools share, as an argp child parser. They fill
 * a struct launch and set OMPRMA_* variables, validated by the table of settings.
 */
#ifndef OMPRMA_LAUNCH_OPTIONS_H
#define OMPRMA_LAUNCH_OPTIONS_H

#include <argp.h>
#include <stdbool.h>

#include "tools/launch/help.h"
#include "tools/launch/request.h"

/* Those that all tools have. */
extern const struct argp_option launch_options[];

/* A tool as users see it. `help.options` has its own options, and launch_options; `parse` reads its
 * own, and sets state->child_inputs[0] to a struct launch for the ones that all share. */
struct tool {
    struct help help;
    argp_parser_t parse;
    bool starts_program; /* the first word that is no option is a command, and has the rest */
};

/* Reads the command line into what `parse` and the struct launch keep; a wrong one ends the program
 * with a line. Returns the words as they were understood, which live on. */
char **options_read(const struct tool *tool, char **argv, void *input);

/* For one's own options: OMPRMA_<name> = value, checked; a bad one ends the program with status
 * EXIT_OWN and one line. `option` is how the user wrote it, "--data". */
void option_set(const char *option, const char *name, const char *value);

/* Prints one line "omprma: error: ..." and ends the program with status EXIT_OWN. */
void option_fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* The same with a text that begins with the name of a setting, in place of which the option stands
 * that has set it. */
void option_fail_for_setting(const char *text) __attribute__((noreturn));

/* Reads "1" to "limit". */
int option_number(const char *option, const char *text, int limit);

/* Sets up the log, and puts aside what is inherited and in the way; call before options_read(). */
void options_begin(void);

/* The option that has set OMPRMA_NAME, "--data"; NULL: none has. */
const char *option_of(const char *name);

#endif
