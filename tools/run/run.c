/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * run.c: omprma-run, the command that starts an OpenMP program with workers as its devices. Only
 * options and help; tools/launch does the work.
 */
#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "base/streams.h"
#include "report/report.h"
#include "tools/launch/launch.h"
#include "tools/launch/options.h"
#include "tools/run/versus.h"

enum { KEY_STATS = 512, KEY_TRACE, KEY_VERSUS, KEY_TAG_OUTPUT, KEY_DRY_RUN };

static const struct argp_option options[] = {
    {"stats", KEY_STATS, "FILE", OPTION_ARG_OPTIONAL,
     "Print at the end what regions and transfers cost. With -v in all details; or write it to "
     "FILE, as JSON; if FILE ends in .csv, the regions as CSV",
     HELP_DIAGNOSTICS},
    {"trace", KEY_TRACE, "FILE", 0,
     "Write a timeline to FILE, for ui.perfetto.dev. It is Chrome's trace JSON, with files and "
     "lines of programs compiled with -g; compressed if FILE ends in .gz",
     HELP_DIAGNOSTICS},
    {"versus", KEY_VERSUS, NULL, 0,
     "Compare one-sided with two-sided data for this program. Run it two times each, in turns, and "
     "print where the time of regions differs; later runs have no stdin and no stdout",
     HELP_DIAGNOSTICS},
    {"tag-output", KEY_TAG_OUTPUT, NULL, 0,
     "Mark each line that a worker prints. It begins with [worker 3 on node1]; lines without a "
     "mark are the program's own, and an mpirun that omprma-run starts marks those of its ranks",
     HELP_DIAGNOSTICS},
    {"dry-run", KEY_DRY_RUN, NULL, 0,
     "Print command lines that do the same, and end. They are mpirun's, or of --transport direct",
     HELP_DIAGNOSTICS},
    {0}};

/* It may have become the value of an option. */
__attribute__((noreturn)) static void fail_without_program(const struct argp_state *state)
{
    const char *last = state->argv[state->argc - 1];
    bool is_one = state->argc > 2 && access(last, X_OK) == 0;
    option_fail("no PROGRAM is given; usage: omprma-run [OPTION...] [--] PROGRAM [ARGS...]%s%s%s%s",
                is_one ? "; " : "", is_one ? last : "", is_one ? " was taken as the value of " : "",
                is_one ? state->argv[state->argc - 2] : "");
}

struct run {
    struct launch launch;
    bool versus;
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct run *run = state->input;
    struct launch *launch = &run->launch;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = launch;
        return 0;
    case KEY_VERSUS:
        run->versus = true;
        return 0;
    case KEY_STATS:
        option_set("--stats", value ? "STATS_FILE" : "STATS", value ? value : "1");
        return 0;
    case KEY_TRACE:
        option_set("--trace", "TRACE", value);
        return 0;
    case KEY_TAG_OUTPUT:
        option_set("--tag-output", "TAG_OUTPUT", "1");
        return 0;
    case KEY_DRY_RUN:
        launch->dry_run = true;
        return 0;
    case ARGP_KEY_ARGS:
        launch->argv = state->argv + state->next;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS:
        fail_without_program(state);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* A file that cannot be written is known before anything runs. */
static void check_files(void)
{
    struct config config;
    if (config_load(&config) != OMPRMA_OK || report_try(&config) != OMPRMA_OK)
        option_fail_for_setting(error_text());
}

/* It chooses how data travels, and has the statistics for itself. */
static void check_versus(const struct run *run)
{
    static const char *const others[] = {"DATA", "STATS", "STATS_FILE", "TRACE"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (option_of(others[i]))
            option_fail("--versus runs the program in each mode, with statistics of its own: leave "
                        "out %s",
                        option_of(others[i]));
    if (run->launch.dry_run)
        option_fail("--versus: leave out --dry-run");
    if (run->launch.runtime == RUNTIME_LLVM)
        option_fail("--versus: leave out --runtime llvm, which does not know its regions' lines");
}

/* What hardly any program has as an option of its own. `--` says that it is meant. */
static void say_misplaced(char *const *program)
{
    static const char *const ours[] = {"--stats",
                                       "--workers",
                                       "--workers-per-host",
                                       "--cores-per-worker",
                                       "--devices-per-worker",
                                       "--backends"};
    if (strcmp(program[-1], "--") == 0) /* at least argv[0] stands there */
        return;
    for (char *const *word = program + 1; *program && *word; word++)
        for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
            if (strlen(ours[i]) == strcspn(*word, "=") &&
                strncmp(*word, ours[i], strlen(ours[i])) == 0)
                log_write(LOG_WARNING,
                          "%s stands behind the program, which gets it: options of omprma-run go "
                          "before the program",
                          ours[i]);
}

static const struct tool tool = {
    .help = {.program = "omprma-run",
             .usage = "[OPTION...] [--] PROGRAM [ARGS...]",
             .about = "Runs the OpenMP target regions of PROGRAM on N workers, which are processes "
                      "on this host or on others. PROGRAM is compiled by clang -fopenmp "
                      "-fopenmp-targets=x86_64-pc-linux-gnu.",
             .examples = "  omprma-run -n 2 ./saxpy\n"
                         "  omprma-run --hosts node1:2,node2:2 --stats ./saxpy\n",
             .status =
                 "that of PROGRAM (128 + signal if one ended it); 125 when an option is wrong "
                 "or the run failed; 126 when PROGRAM cannot be executed; 127 when there is "
                 "none.",
             .options = {options, launch_options}},
    .parse = parse_option,
    .starts_program = true};

int main(int argc, char **argv)
{
    int status;
    streams_begin();
    if (launch_internal(argc, argv, &status))
        return status;
    options_begin();
    struct run run = {.launch = {.offloading = true}};
    options_read(&tool, argv, &run);
    say_misplaced(run.launch.argv);
    if (run.versus)
        check_versus(&run);
    check_files();
    status = run.versus ? versus_run(&run.launch) : launch_run(&run.launch);
    launch_clear(&run.launch);
    return status;
}
