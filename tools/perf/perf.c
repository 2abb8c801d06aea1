/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * perf.c: omprma-perf. Reads the options, starts itself beside workers as omprma-run would start a
 * program, and there measures what was asked for. Knows nothing of how anything is measured.
 */
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <omprma/omprma.h>

#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "base/streams.h"
#include "base/table.h"
#include "host/report/placement.h"
#include "tools/launch/launch.h"
#include "tools/launch/options.h"
#include "tools/launch/paths.h"
#include "tools/launch/program.h"
#include "tools/perf/bench.h"
#include "tools/perf/compare.h"
#include "tools/perf/versus.h"

enum {
    KEY_OPS = 512,
    KEY_PATHS,
    KEY_SIZES,
    KEY_SPREAD,
    KEY_REPS,
    KEY_TRANSFERS,
    KEY_BACKEND,
    KEY_JSON,
    KEY_PLOT,
    KEY_REPORT,
    KEY_COMPARE,
    KEY_VERSUS
};
enum { REPS_MOST = 1000000 };

static const struct argp_option options[] = {
    {"ops", KEY_OPS, "LIST", 0,
     "What to measure. One or several, with commas between: submit, retrieve, exchange, launch, "
     "region, alloc (default: these); broadcast, idle, settle, ways, maps, head, turns",
     HELP_OWN},
    {"paths", KEY_PATHS, "LIST", 0,
     "Which paths (default all). One or several, with commas between: raw, raw-two-sided (bare "
     "MPI), direct (of GPUs: this host's driver, called without omprma), rma (or one-sided), "
     "two-sided, auto, via-application (exchange and broadcast only)",
     HELP_OWN},
    {"sizes", KEY_SIZES, "FROM:TO", 0,
     "Sizes in bytes, doubling (default 8:256M). FROM:TO:FACTOR and comma lists are possible",
     HELP_OWN},
    {"spread", KEY_SPREAD, "BYTES", 0,
     "Take another address each time (cold caches). For submit and retrieve: in a block of so many "
     "bytes, not always at the same place",
     HELP_OWN},
    {"reps", KEY_REPS, "N", 0,
     "Samples of each operation, size and path. Default: 11 to 2000, as many as fit into 0.4 s",
     HELP_OWN},
    {"transfers", KEY_TRANSFERS, "N", 0,
     "Transfers made before the chosen path is told (default 0). For settle: of each size",
     HELP_OWN},
    {"backend", KEY_BACKEND, "KIND", 0,
     "Kind of the devices: native (default) or cuda. Of GPUs the driver of this host is measured, "
     "too. There is no code for AMD GPUs in omprma-perf: perf/gpu of the sources measures them",
     HELP_OWN},
    {"json", KEY_JSON, "FILE", 0, "Write the results there as JSON", HELP_OWN},
    {"plot", KEY_PLOT, "FILE", 0, "Draw them there, as .svg or .png (needs gnuplot)", HELP_OWN},
    {"report", KEY_REPORT, "FILE", 0,
     "Write table and plots there, as one page of HTML. Without plots where gnuplot is missing",
     HELP_OWN},
    {"versus", KEY_VERSUS, 0, 0,
     "Compare one-sided with two-sided data: a row for each size, with both and bare MPI's beside "
     "each other, and what follows. --plot draws it, without gnuplot",
     HELP_OWN},
    {"compare", KEY_COMPARE, "OLD", 0,
     "Compare two files of --json, OLD and NEW. Measure nothing; print them beside each other, "
     "with the ratio of their medians",
     HELP_OWN},
    {0}};

struct arguments {
    struct launch launch;
    struct choice choice;
    bool ops_given, sizes_given, paths_given;
    const char *old_results, *new_results; /* to be compared */
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    struct choice *choice = &arguments->choice;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->launch;
        return 0;
    case KEY_OPS:
        choice_ops(choice, value);
        arguments->ops_given = true;
        return 0;
    case KEY_PATHS:
        choice_paths(choice, value);
        arguments->paths_given = true;
        return 0;
    case KEY_SIZES:
        choice_sizes(choice, value);
        arguments->sizes_given = true;
        return 0;
    case KEY_SPREAD:
        choice_spread(choice, value);
        return 0;
    case KEY_REPS:
        choice->reps = option_number("--reps", value, REPS_MOST);
        return 0;
    case KEY_TRANSFERS:
        choice->transfers = option_number("--transfers", value, REPS_MOST);
        return 0;
    case KEY_BACKEND:
        choice_backend(choice, value);
        return 0;
    case KEY_JSON:
        choice->json = value;
        return 0;
    case KEY_PLOT:
        choice->plot = value;
        return 0;
    case KEY_REPORT:
        choice->report = value;
        return 0;
    case KEY_COMPARE:
        arguments->old_results = value;
        return 0;
    case KEY_VERSUS:
        choice->versus = true;
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->old_results && !arguments->new_results) {
            arguments->new_results = value;
            return 0;
        }
        option_fail("\"%s\": omprma-perf takes options only; see --help", value);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct tool tool = {
    .help = {.program = "omprma-perf",
             .usage = "[OPTION...]",
             .about = "Measures omprma's operations on its data paths, and bare MPI between the "
                      "same processes to compare with, in one job and in turns. Prints a table.",
             .examples = "  omprma-perf --versus --plot versus.svg\n"
                         "  omprma-perf -n 1 --ops launch,region --paths auto\n"
                         "  omprma-perf --ops submit --report submit.html\n",
             .status = "0 when all went well; 1 when it could not be measured or written; 125 when "
                       "an option is wrong or the run failed.",
             .options = {options, launch_options},
             .few = 1u << HELP_PROGRAM | 1u << HELP_DIAGNOSTICS | 1u << HELP_DATA},
    .parse = parse_option};

static char **parse(char **argv, struct arguments *arguments)
{
    *arguments = (struct arguments){0};
    choice_begin(&arguments->choice);
    return options_read(&tool, argv, arguments);
}

/* ---- beside the workers -------------------------------------------------------------------- */

static omprma_status_t run_op(struct bench *bench, enum perf_op op)
{
    const struct choice *choice = bench->choice;
    omprma_status_t status = OMPRMA_OK;
    if (!isatty(STDERR_FILENO)) /* where there is a progress line instead */
        log_write(LOG_NOTE, "measuring %s", perf_op_names[op]);
    if (op == OP_SETTLE || op == OP_WAYS)
        return settle_run(bench, op);
    if (op == OP_IDLE || op >= OP_MAPS)
        return extras_run(bench, op);
    if (!perf_op_sized(op))
        return turns_run(bench, op, op == OP_REGION ? sizeof(int64_t) : 0);
    for (int i = 0; i < choice->size_count && status == OMPRMA_OK; i++)
        status = turns_run(bench, op, choice->sizes[i]);
    return status;
}

static int steps_of(const struct choice *choice, enum perf_op op)
{
    return op == OP_SETTLE || op == OP_WAYS || perf_op_sized(op) ? choice->size_count : 1;
}

static omprma_status_t run_all(struct bench *bench)
{
    unsigned ops = bench->choice->ops;
    omprma_status_t status = OMPRMA_OK;
    for (enum perf_op op = 0; op < OP_COUNT; op++)
        bench->steps += ops & 1u << op ? steps_of(bench->choice, op) : 0;
    if (ops & 1u << OP_IDLE)
        status = run_op(bench, OP_IDLE);
    if (status == OMPRMA_OK)
        status = bench_open_blocks(bench);
    for (enum perf_op op = OP_IDLE + 1; op < OP_COUNT && status == OMPRMA_OK; op++)
        if (ops & 1u << op)
            status = run_op(bench, op);
    return status;
}

static omprma_status_t write_files(const struct bench *bench)
{
    omprma_status_t status = OMPRMA_OK;
    if (bench->choice->json)
        status = results_write_json(&bench->results, bench->choice->json);
    if (status == OMPRMA_OK && bench->choice->plot)
        status = (bench->choice->versus ? versus_plot_write : plot_write)(&bench->results,
                                                                          bench->choice->plot);
    if (status == OMPRMA_OK && bench->choice->report)
        status = report_write(&bench->results, bench->choice->report);
    return status;
}

/* How it was measured, as words for the report. */
static void describe(struct bench *bench, char **argv)
{
    struct list words = {0};
    size_t bytes;
    FILE *command = open_memstream(&bench->results.command, &bytes);
    FILE *places = open_memstream(&bench->results.places, &bytes);
    list_add(&words, "omprma-perf");
    for (char **word = argv + 1; *word; word++)
        list_add(&words, *word);
    if (command)
        list_print_shell(&words, command);
    if (places)
        placement_print(bench->runtime, places);
    list_clear(&words);
    if (command)
        fclose(command);
    if (places)
        fclose(places);
}

static int measure(const struct choice *choice, char **argv)
{
    struct bench bench;
    struct config config;
    if (config_load(&config) != OMPRMA_OK || omprma_init() != OMPRMA_OK) {
        log_write(LOG_ERROR, "%s", error_text());
        return 1;
    }
    omprma_status_t status = bench_open(&bench, choice);
    if (status == OMPRMA_OK && choice->report)
        describe(&bench, argv);
    if (status == OMPRMA_OK)
        status = run_all(&bench);
    if (status == OMPRMA_OK && choice->versus)
        versus_print_words(&bench.results);
    bench_close(&bench);
    if (status == OMPRMA_OK)
        status = write_files(&bench);
    if (status != OMPRMA_OK)
        log_write(LOG_ERROR, "%s", error_text());
    results_clear(&bench.results);
    omprma_finalize();
    return status == OMPRMA_OK ? 0 : 1;
}

/* ---- before them ---------------------------------------------------------------------------- */

static void check_file(const char *option, const char *path)
{
    FILE *file = path ? fopen(path, "a") : NULL;
    if (path && !file)
        option_fail("%s %s: %s", option, path, strerror(errno));
    if (file)
        fclose(file);
}

/* What would fail only after minutes of measuring is looked at first. */
static void check(const struct choice *choice, struct launch *launch)
{
    const char *data = getenv("OMPRMA_DATA");
    int workers = launch->workers ? launch->workers : launch->hosts.total;
    if (data && *data && strcasecmp(data, "auto") != 0)
        option_fail("omprma-perf compares the data paths: choose with --paths, not with --data or "
                    "OMPRMA_DATA");
    if (choice->paths == 1u << WAY_DIRECT && strcmp(choice->backend, "native") == 0)
        option_fail("--paths direct is of GPUs: give their kind by --backend");
    if (choice->spread && choice->ops & ~(1u << OP_SUBMIT | 1u << OP_RETRIEVE))
        option_fail("--spread: only with --ops submit, retrieve, or both");
    unsigned several = 1u << OP_EXCHANGE | 1u << OP_BROADCAST;
    if (choice->ops & several && workers == 0)
        launch->workers = 2;
    else if (choice->ops & several && workers < 2)
        option_fail("--ops exchange and broadcast need two workers");
    if (choice->plot &&
        (choice->versus ? versus_plot_check : plot_check)(choice->plot) != OMPRMA_OK)
        option_fail("%s", error_text());
    check_file("--plot", choice->plot);
    check_file("--json", choice->json);
    check_file("--report", choice->report);
    if (choice->report && !plot_possible())
        log_write(LOG_WARNING, "the report will have no plots: gnuplot is not installed (Debian "
                               "package gnuplot-nox)");
}

/* Options that say the same in other words, or nothing beside these. */
static void settle_options(struct arguments *arguments)
{
    const struct launch *launch = &arguments->launch;
    struct choice *choice = &arguments->choice;
    int workers = launch->workers ? launch->workers : launch->hosts.total;
    if (arguments->old_results && !arguments->new_results)
        option_fail("--compare needs two files, OLD and NEW");
    if (arguments->old_results && (choice->versus || choice->plot || choice->report))
        option_fail("--compare measures nothing: it goes without --versus, --plot and --report");
    if (workers == 1 && !arguments->ops_given)
        choice->ops &= ~(1u << OP_EXCHANGE); /* there is no other one */
    if (!choice->versus)
        return;
    if (arguments->paths_given || arguments->ops_given)
        option_fail("--versus says what is measured and on which paths: leave out --ops and "
                    "--paths");
    versus_choose(choice, workers != 1, arguments->sizes_given);
}

int main(int argc, char **argv)
{
    struct arguments arguments;
    int status;
    streams_begin();
    if (launch_internal(argc, argv, &status))
        return status;
    options_begin();
    argv = parse(argv, &arguments);
    settle_options(&arguments);
    if (arguments.old_results) {
        status = EXIT_SUCCESS;
        if (compare_print(arguments.old_results, arguments.new_results) != OMPRMA_OK)
            option_fail("%s", error_text());
    } else if (program_inside()) {
        status = measure(&arguments.choice, argv);
    } else {
        check(&arguments.choice, &arguments.launch);
        table_hand_on_width();
        argv[0] = path_self(); /* the same words again, beside the workers */
        arguments.launch.argv = argv;
        status = launch_run(&arguments.launch);
        free(argv[0]);
    }
    launch_clear(&arguments.launch);
    return status;
}
