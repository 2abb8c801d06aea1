/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * run.c: omprma-run, the command that starts an OpenMP program with workers as its devices. Only
 * options and help; tools/launch does the work.
 */
#include <argp.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "base/streams.h"
#include "host/report/report.h"
#include "tools/launch/launch.h"
#include "tools/launch/options.h"

enum { KEY_STATS = 512, KEY_TRACE, KEY_DRY_RUN };

OMPRMA_API const char *argp_program_version = "omprma-run " OMPRMA_VERSION_STRING;

static const struct argp_option options[] = {
    {"stats", KEY_STATS, "FILE", OPTION_ARG_OPTIONAL,
     "Print what regions and transfers cost when the program ends, with -v in all details; or "
     "write "
     "it to FILE, as JSON",
     1},
    {"trace", KEY_TRACE, "FILE", 0,
     "Write a timeline (Chrome trace JSON) to FILE, for ui.perfetto.dev; with files and lines of "
     "programs compiled with -g; compressed if FILE ends in .gz",
     1},
    {"dry-run", KEY_DRY_RUN, NULL, 0, "Print an mpirun command line that does the same, and end",
     1},
    {0}};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct launch *launch = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = launch;
        return 0;
    case KEY_STATS:
        option_set("--stats", value ? "STATS_FILE" : "STATS", value ? value : "1");
        return 0;
    case KEY_TRACE:
        option_set("--trace", "TRACE", value);
        return 0;
    case KEY_DRY_RUN:
        launch->dry_run = true;
        return 0;
    case ARGP_KEY_ARGS:
        launch->argv = state->argv + state->next;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS:
        option_fail("no PROGRAM given; usage: omprma-run [OPTION...] [--] PROGRAM [ARGS...]");
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* The settings' table belongs to the help. */
static char *help_filter(int key, const char *text, void *input)
{
    (void)input;
    if (key != ARGP_KEY_HELP_EXTRA)
        return (char *)text;
    char *help = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&help, &bytes);
    if (!stream)
        return NULL;
    fputs("Environment of omprma-run and of the program (options win):\n\n", stream);
    config_print_help(stream);
    fputs("\nExit status: that of PROGRAM (128 + signal if one ended it); 1 when the run failed; 2 "
          "for wrong options.",
          stream);
    fclose(stream);
    return help;
}

/* A file that cannot be written is known before anything runs. */
static void check_files(void)
{
    struct config config;
    if (config_load(&config) != OMPRMA_OK || report_try(&config) != OMPRMA_OK)
        option_fail("%s", error_text());
}

static const char description[] =
    "Runs PROGRAM with its OpenMP target regions on N workers: processes on this host or on "
    "others, "
    "each of which is one device. PROGRAM is compiled with clang 13 or newer, -fopenmp "
    "-fopenmp-targets=x86_64-pc-linux-gnu; nothing else is needed.\v";

int main(int argc, char **argv)
{
    int status;
    streams_begin();
    if (launch_internal(argc, argv, &status))
        return status;
    options_begin("omprma-run", argv);
    struct argp_child children[] = {{&launch_argp, 0, NULL, 0}, {0}};
    struct argp parser = {
        options, parse_option, "[--] PROGRAM [ARGS...]", description, children, help_filter, NULL};
    struct launch launch = {.offloading = true};
    argp_parse(&parser, argc, argv, ARGP_IN_ORDER, NULL, &launch);
    check_files();
    status = launch_run(&launch);
    hosts_clear(&launch.hosts);
    list_clear(&launch.mpi_args);
    return status;
}
