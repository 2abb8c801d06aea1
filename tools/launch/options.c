/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* options.c: options that the tools share. Knows nothing of how a run is made. */
#include "tools/launch/options.h"

#include <ctype.h>
#include <argp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/error.h"
#include "base/exit_status.h"
#include "base/gpu_library.h"
#include "base/log.h"
#include "base/units.h"
#include "tools/launch/allocation.h"
#include "tools/launch/habits.h"
#include "tools/launch/inherited.h"
#include "tools/launch/program.h"

enum {
    KEY_HOSTS = 256,
    KEY_HOSTFILE,
    KEY_DATA,
    KEY_OSC,
    KEY_LLVM,
    KEY_RUNTIME,
    KEY_TRANSPORT,
    KEY_SHARE,
    KEY_MPI_ARG,
    KEY_DEVICES,
    KEY_CUDA,
    KEY_GPUS,
    KEY_BACKENDS,
    KEY_ON_LOSS,
    KEY_PLACEMENT,
    KEY_CHECK,
    KEY_MAP_BY,
    KEY_CORES,
    KEY_PER_HOST,
    KEY_WRAP,
    KEY_WRAP_WORKERS,
    KEY_DEBUG
};
enum { WORKERS_MAX = 4096, PER_HOST_MAX = 1024, VERBOSE_MAX = 3 };

#define GPU_HELP(NAME, name, maker, ...) " " #name " (" maker "),"

const struct argp_option launch_options[] = {
    {"workers", 'n', "N", 0, "Number of workers (default 1, or one per slot)", HELP_WORKERS},
    {"hosts", KEY_HOSTS, "H1:N,H2:N", 0,
     "Place N workers on each of these hosts. node[1-4]:N is node1 to node4. Default: this host",
     HELP_WORKERS},
    {"hostfile", KEY_HOSTFILE, "FILE", 0, "The same by a file of lines \"HOST slots=N\"",
     HELP_WORKERS},
    {"workers-per-host", KEY_PER_HOST, "N", 0,
     "Workers on each host, whatever slots or tasks it has", HELP_WORKERS},
    {"devices-per-worker", KEY_DEVICES, "K|numa", 0,
     "Devices of each worker (default 1). numa: one per NUMA node of its cores", HELP_WORKERS},
    {"backends", KEY_BACKENDS, "KINDS", 0,
     "Kinds of devices of workers:" GPU_TABLE(
         GPU_HELP) " native (default, the machine itself), or several with commas between",
     HELP_WORKERS},
    {"cores-per-worker", KEY_CORES, "N", 0,
     "Cores of each worker (default: equal shares, and idle workers lend theirs)", HELP_PLACEMENT},
    {"map-by", KEY_MAP_BY, "core|numa|node", 0,
     "Where consecutive workers go (default core). core: to neighbouring cores, one host after the "
     "other; numa: to different NUMA nodes; node: to different hosts",
     HELP_PLACEMENT},
    {"data", KEY_DATA, "HOW", 0,
     "Data path: auto, rma, one-sided or two-sided (default auto). rma and one-sided are the same",
     HELP_DATA},
    {"transport", KEY_TRANSPORT, "auto|mpi|direct", 0,
     "What connects the processes (default auto). auto takes mpi for one program that does not use "
     "MPI; direct goes without MPI, and also serves programs that use MPI themselves, and several "
     "programs",
     HELP_DATA},
    {"osc", KEY_OSC, "COMPONENT", 0,
     "Open MPI's one-sided component: auto, ucx, rdma. Default: auto", HELP_ADVANCED},
    {"llvm", KEY_LLVM, "auto|VERSION|DIR", 0,
     "LLVM of the program (default auto). auto is what the program itself asks for; DIR is a "
     "folder with LLVM's libraries",
     HELP_PROGRAM},
    {"runtime", KEY_RUNTIME, "auto|omprma|llvm", 0,
     "OpenMP runtime of the program (default auto). auto and omprma: omprma's own; llvm: LLVM's "
     "libomptarget with omprma's plugin, which LLVM 13 to 18 can load",
     HELP_PROGRAM},
    {"gpus", KEY_GPUS, "KINDS", 0,
     "Offer GPUs to scripts and other programs. It is for those whose file does not show that they "
     "use them; others get them without it. KINDS:" GPU_TABLE(
         GPU_HELP) " or several with commas between",
     HELP_PROGRAM},
    {"cuda", KEY_CUDA, NULL, 0, "The same as --gpus cuda", HELP_PROGRAM},
    {"on-loss", KEY_ON_LOSS, "end|continue", 0,
     "What happens when a worker is lost (default end). end: the run ends; continue: it goes on "
     "without the worker's devices",
     HELP_PROGRAM},
    {"placement", KEY_PLACEMENT, "program|auto|named", 0,
     "Which worker a target construct runs on (default program). program: the program says, by "
     "device(); auto: omprma chooses, and the program sees one device; named: the same, for "
     "programs whose regions name all device memory that they use",
     HELP_PROGRAM},
    {"share", KEY_SHARE, "auto|split|all", 0,
     "Workers of each of several programs. split: its part of the host's; all: all of them; auto "
     "(default): split among the processes of a launcher, as mpirun",
     HELP_ADVANCED},
    {"check", KEY_CHECK, NULL, 0,
     "Find wrong uses of device memory. It is written out of bounds, used after it was freed, or "
     "never freed; the same as OMPRMA_CHECK=full",
     HELP_DIAGNOSTICS},
    {"debug", KEY_DEBUG, NULL, 0,
     "Keep target code as files, set no limits of time. For debuggers and profilers: the folder is "
     "omprma-images (OMPRMA_KEEP_IMAGES), and OMPRMA_TIMEOUT is 0",
     HELP_DIAGNOSTICS},
    {"wrap", KEY_WRAP, "COMMAND", 0,
     "Start workers by COMMAND, such as 'gdb --args'. In 'perf record -o perf.{worker}' {worker} "
     "is a "
     "worker's number; {host} is its host",
     HELP_DIAGNOSTICS},
    {"wrap-workers", KEY_WRAP_WORKERS, "LIST", 0,
     "Which workers that is for, as in 0,2-3. A list of numbers and ranges (default: all)",
     HELP_DIAGNOSTICS},
    {"verbose", 'v', NULL, 0, "Say what was chosen and why; -vv for details", HELP_DIAGNOSTICS},
    {"export", 'x', "NAME[=VALUE]", 0,
     "Set a variable, also for workers on other hosts. May be repeated; OMP_*, OMPRMA_* and some "
     "others come there without it",
     HELP_ADVANCED},
    {"mpi-arg", KEY_MPI_ARG, "ARG", 0, "One more argument for mpirun. May be repeated",
     HELP_ADVANCED},
    {"help", 'h', "all", OPTION_ARG_OPTIONAL,
     "Print this. all: with all that options do, and the "
     "settings",
     HELP_ADVANCED},
    {"version", 'V', NULL, 0, "Print the version", HELP_ADVANCED},
    {0}};

/* The tool whose command line is read. */
static const struct tool *reads;

void option_fail(const char *format, ...)
{
    char line[ERROR_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    log_write(LOG_ERROR, "%s", line);
    exit(EXIT_OWN);
}

/* NAME=OPTION for each setting that an option has set. */
static struct list given;

const char *option_of(const char *name)
{
    return list_get(&given, name);
}

void option_fail_for_setting(const char *text)
{
    size_t begin = strncmp(text, "OMPRMA_", 7) == 0 ? 7 : 0;
    char *name = text_make("%.*s", (int)strcspn(text + begin, "=: "), text + begin);
    const char *option = begin ? option_of(name) : NULL, *rest = text + begin + strlen(name);
    if (!option)
        option_fail("%s", text);
    option_fail("%s%s%s", option, *rest == '=' ? " " : "", rest + (*rest == '='));
}

void option_set(const char *option, const char *name, const char *value)
{
    /* An empty variable means unset, an empty option is a mistake. */
    if (!*value)
        option_fail("%s needs a value", option);
    list_set(&given, name, option);
    if (config_check(name, value) != OMPRMA_OK)
        option_fail_for_setting(error_text());
    char *variable = text_make("OMPRMA_%s", name), *by = text_make(CONFIG_OPTION_PREFIX "%s", name);
    setenv(variable, value, 1);
    setenv(by, option, 1);
    free(variable);
    free(by);
}

/* What the user's environment says holds. */
static void option_set_unless(const char *option, const char *name, const char *value)
{
    char *variable = text_make("OMPRMA_%s", name);
    const char *users = getenv(variable);
    if (!users || !*users)
        option_set(option, name, value);
    free(variable);
}

int option_number(const char *option, const char *text, int limit)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || value < 1 || value > limit)
        option_fail("%s %s: not a number from 1 to %d", option, text, limit);
    return (int)value;
}

static void option_verbose(void)
{
    const char *now = getenv("OMPRMA_VERBOSE");
    int level = (now ? atoi(now) : 0) + 1;
    char text[16];
    snprintf(text, sizeof(text), "%d", level < VERBOSE_MAX ? level : VERBOSE_MAX);
    option_set("--verbose", "VERBOSE", text);
}

static void option_hosts(struct launch *launch, const char *option, const char *value)
{
    bool file = strcmp(option, "--hostfile") == 0;
    if (launch->hosts.total > 0)
        option_fail("%s: hosts were given before; give one of --hosts and --hostfile, once",
                    option);
    omprma_status_t status =
        file ? hosts_read(&launch->hosts, value) : hosts_parse(&launch->hosts, value);
    if (status != OMPRMA_OK)
        option_fail("%s: %s", option, error_text());
}

/* Which hosts, and how many workers on each. */
static void option_places(struct launch *launch)
{
    int workers = launch->workers, most = launch->per_host;
    if (most > 0)
        launch->workers = 0;
    if (allocation_take(launch) != OMPRMA_OK)
        option_fail("%s", error_text());
    if (most == 0)
        return;
    if (launch->hosts.total > 0) {
        hosts_level(&launch->hosts, most);
        most = launch->hosts.total;
    }
    if (workers > most)
        option_fail("-n %d: --workers-per-host %d has room for %d worker%s", workers,
                    launch->per_host, most, units_plural(most));
    launch->workers = workers > 0 ? workers : most;
}

/* "NAME" or "NAME=VALUE" */
static void option_export(struct launch *launch, const char *text)
{
    size_t length = strcspn(text, "=");
    char *name = text_make("%.*s", (int)length, text);
    if (!*name)
        option_fail("--export %s: write NAME or NAME=VALUE", text);
    if (text[length])
        setenv(name, text + length + 1, 1);
    if (!getenv(name))
        option_fail("--export %s: there is no such variable; write NAME=VALUE", name);
    list_add(&launch->exports, name);
    free(name);
}

static void option_gpus(struct launch *launch, const char *option, const char *value)
{
    int kinds;
    if (!gpu_kinds_read(value, &kinds))
        option_fail(
            "%s %s: unknown kind; there are:" GPU_TABLE(GPU_HELP) " or several with commas between",
            option, value);
    launch->gpus |= kinds;
    launch->gpus_by = option;
}

static void option_help(const char *value)
{
    if (value && strcmp(value, "all") != 0)
        option_fail("--help=%s: write --help, or --help=all", value);
    help_print(&reads->help, value != NULL, stdout);
    exit(EXIT_SUCCESS);
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct launch *launch = state->input;
    switch (key) {
    case 'n':
        launch->workers = option_number("-n", value, WORKERS_MAX);
        return 0;
    case KEY_PER_HOST:
        launch->per_host = option_number("--workers-per-host", value, PER_HOST_MAX);
        return 0;
    case KEY_CORES:
        option_number("--cores-per-worker", value, 65536);
        option_set("--cores-per-worker", "CORES", value);
        return 0;
    case KEY_MAP_BY:
        option_set("--map-by", "MAP_BY", value);
        return 0;
    case KEY_HOSTS:
        option_hosts(launch, "--hosts", value);
        return 0;
    case KEY_HOSTFILE:
        option_hosts(launch, "--hostfile", value);
        return 0;
    case KEY_DEVICES:
        option_set("--devices-per-worker", "DEVICES", value);
        return 0;
    case KEY_BACKENDS:
        option_set("--backends", "BACKENDS", value);
        return 0;
    case KEY_DATA:
        option_set("--data", "DATA", value);
        return 0;
    case KEY_OSC:
        option_set("--osc", "OSC", value);
        return 0;
    case KEY_LLVM:
        option_set("--llvm", "LLVM", value);
        return 0;
    case KEY_RUNTIME:
        option_set("--runtime", "RUNTIME", value);
        return 0;
    case KEY_ON_LOSS:
        option_set("--on-loss", "ON_LOSS", value);
        return 0;
    case KEY_PLACEMENT:
        option_set("--placement", "PLACEMENT", value);
        return 0;
    case KEY_TRANSPORT:
        option_set("--transport", "TRANSPORT", value);
        return 0;
    case KEY_SHARE:
        option_set("--share", "SHARE", value);
        return 0;
    case KEY_CHECK:
        option_set("--check", "CHECK", "full");
        return 0;
    case KEY_CUDA:
        option_gpus(launch, "--cuda", "cuda");
        return 0;
    case KEY_GPUS:
        option_gpus(launch, "--gpus", value);
        return 0;
    case KEY_WRAP:
        option_set("--wrap", "WRAP", value);
        return 0;
    case KEY_WRAP_WORKERS:
        option_set("--wrap-workers", "WRAP_WORKERS", value);
        return 0;
    case KEY_DEBUG:
        option_set_unless("--debug", "KEEP_IMAGES", "omprma-images");
        option_set_unless("--debug", "TIMEOUT", "0");
        return 0;
    case KEY_MPI_ARG:
        list_add(&launch->mpi_args, value);
        return 0;
    case 'v':
        option_verbose();
        return 0;
    case 'x':
        option_export(launch, value);
        return 0;
    case 'h':
        option_help(value);
        return 0;
    case 'V':
        printf("%s %s\n", reads->help.program, OMPRMA_VERSION_STRING);
        exit(EXIT_SUCCESS);
    case ARGP_KEY_END: {
        /* What the environment says and no option replaced is checked like an option. */
        struct config config;
        if (config_load(&config) != OMPRMA_OK)
            option_fail("%s", error_text());
        const char *llvm = getenv("OMPRMA_LLVM");
        launch->llvm = llvm && *llvm ? llvm : "auto";
        launch->runtime = config.runtime;
        launch->transport = (int)config.transport;
        launch->by_node = config.map_by == MAP_BY_NODE;
        launch->continues = config.on_loss == ON_LOSS_CONTINUE;
        launch->tags_output = config.tag_output;
        launch->places = config.placement != PLACEMENT_PROGRAM;
        if (launch->continues && config.osc == OSC_UCX)
            option_fail("--on-loss continue: not with --osc ucx, because UCX ends a process whose "
                        "peer has died; take another component, or --on-loss end");
        log_open("", (int)config.verbose);
        config_warn();
        setenv(CONFIG_WARNED_VARIABLE, "1", 1);
        if (!program_inside())
            option_places(launch);
        return 0;
    }
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp launch_argp = {launch_options, parse_option, NULL, NULL, NULL, NULL, NULL};

void options_begin(void)
{
    inherited_put_aside();
    log_open("", LOG_NOTE);
}

char **options_read(const struct tool *tool, char **argv, void *input)
{
    static struct list words; /* options keep what they are given */
    struct argp_child children[] = {{&launch_argp, 0, NULL, 0}, {0}};
    struct argp parser = {tool->help.options[0], tool->parse, NULL, NULL, children, NULL, NULL};
    unsigned flags = ARGP_NO_HELP | ARGP_NO_ERRS | (tool->starts_program ? ARGP_IN_ORDER : 0);
    reads = tool;
    char *answer = habits_read(argv, tool->help.options, tool->starts_program, &words);
    if (answer)
        option_fail("%s", answer);
    error_t code = argp_parse(&parser, (int)words.count, words.items, flags, NULL, input);
    if (code)
        option_fail("the command line cannot be read: %s; see --help", strerror(code));
    return words.items;
}
