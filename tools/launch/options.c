/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* options.c: options that the tools share. Knows nothing of how a run is made. */
#include "tools/launch/options.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "tools/launch/allocation.h"
#include "tools/launch/inherited.h"

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
    KEY_BACKENDS,
    KEY_ON_LOSS,
    KEY_CHECK,
    KEY_MAP_BY,
    KEY_CORES,
    KEY_PER_HOST,
    KEY_WRAP,
    KEY_WRAP_WORKERS,
    KEY_DEBUG
};
enum { WORKERS_MAX = 4096, PER_HOST_MAX = 1024, VERBOSE_MAX = 3 };

static const struct argp_option options[] = {
    {"workers", 'n', "N", 0, "Number of workers (default 1, or one per slot of the hosts)", 0},
    {"workers-per-host", KEY_PER_HOST, "N", 0,
     "Number of workers on each host, whatever its slots or tasks are", 0},
    {"cores-per-worker", KEY_CORES, "N", 0,
     "Cores of each worker (default: equal shares; cores of devices that have not run a region yet "
     "are lent to the others)",
     0},
    {"map-by", KEY_MAP_BY, "core|numa|node", 0,
     "Where consecutive workers go: core: to neighbouring cores, one host after the other; numa: "
     "to different NUMA nodes; node: to different hosts (default core)",
     0},
    {"devices-per-worker", KEY_DEVICES, "K|numa", 0,
     "Number of devices of each worker, or one per NUMA node of its cores (default 1)", 0},
    {"backends", KEY_BACKENDS, "KINDS", 0,
     "Kinds of devices that workers offer, with commas between: native (the machine itself), cuda "
     "(its NVIDIA GPUs) (default native)",
     0},
    {"hosts", KEY_HOSTS, "H1:N,H2:N", 0,
     "Place workers on these hosts, N on each (default: this host)", 0},
    {"hostfile", KEY_HOSTFILE, "FILE", 0,
     "Place workers on the hosts of a file with lines \"HOST slots=N\"", 0},
    {"data", KEY_DATA, "HOW", 0, "How data travels: auto, rma or two-sided (default auto)", 0},
    {"osc", KEY_OSC, "COMPONENT", 0,
     "Open MPI's one-sided component: auto, ucx or rdma (default auto)", 0},
    {"llvm", KEY_LLVM, "auto|VERSION|DIR", 0,
     "LLVM of the program, or the folder with its libraries (default auto: what the program itself "
     "asks for)",
     0},
    {"runtime", KEY_RUNTIME, "auto|omprma|llvm", 0,
     "OpenMP runtime of the program: omprma's own, or LLVM's libomptarget with omprma's plugin, "
     "which LLVM 13 to 18 can load (default auto: omprma's)",
     0},
    {"cuda", KEY_CUDA, NULL, 0,
     "Offer the workers' NVIDIA GPUs to a program whose file does not show that it uses them, such "
     "as a script",
     0},
    {"on-loss", KEY_ON_LOSS, "end|continue", 0,
     "What happens when a worker is lost: the run ends, or it continues without the worker's "
     "devices (default end)",
     0},
    {"check", KEY_CHECK, NULL, 0,
     "Look for device memory that is written out of bounds, used after it was freed, or never "
     "freed; the same as OMPRMA_CHECK=full",
     0},
    {"transport", KEY_TRANSPORT, "auto|mpi|direct", 0,
     "What connects program and workers; direct goes without MPI, also serves programs that use "
     "MPI themselves and several programs (default auto: mpi for one program that does not use "
     "MPI)",
     0},
    {"share", KEY_SHARE, "auto|split|all", 0,
     "Workers that each of several programs gets: its part of the host's, or all (default auto: "
     "split among the processes of a launcher, as mpirun)",
     0},
    {"wrap", KEY_WRAP, "COMMAND", 0,
     "Start workers by COMMAND, such as 'gdb --args' or 'perf record -o perf.{worker}'; "
     "{worker} is a worker's number, {host} its host",
     0},
    {"wrap-workers", KEY_WRAP_WORKERS, "LIST", 0,
     "Which workers --wrap is for: numbers and ranges, as in 0,2-3 (default all)", 0},
    {"debug", KEY_DEBUG, NULL, 0,
     "For debuggers and profilers: keep target code as files in the folder omprma-images "
     "(OMPRMA_KEEP_IMAGES), and set no limits of time (OMPRMA_TIMEOUT=0)",
     0},
    {"mpi-arg", KEY_MPI_ARG, "ARG", 0, "One more argument for mpirun; may be repeated", 0},
    {"verbose", 'v', NULL, 0, "Say what was chosen and why; -vv for details", 0},
    {0}};

void option_fail(const char *format, ...)
{
    char line[ERROR_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    log_write(LOG_ERROR, "%s", line);
    exit(2);
}

/* NAME=OPTION for each setting that an option has set. */
static struct list given;

const char *option_of(const char *name)
{
    return list_get(&given, name);
}

void option_set(const char *option, const char *name, const char *value)
{
    /* An empty variable means unset, an empty option is a mistake. */
    if (!*value)
        option_fail("%s needs a value", option);
    if (config_check(name, value) != OMPRMA_OK)
        option_fail("%s: %s", option, error_text());
    char *variable = text_make("OMPRMA_%s", name);
    setenv(variable, value, 1);
    list_set(&given, name, option);
    free(variable);
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
        option_fail("%s %s: not a number from 1 to %d%s", option, text, limit,
                    strcmp(text, "p") == 0 ? "; in place of mpirun's -np N write -n N" : "");
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
        option_fail("-n %d: --workers-per-host %d has room for %d workers", workers,
                    launch->per_host, most);
    launch->workers = workers > 0 ? workers : most;
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
        launch->cuda = true;
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
        if (launch->continues && config.osc == OSC_UCX)
            option_fail("--on-loss continue: not with --osc ucx, because UCX ends a process whose "
                        "peer has died; take another component, or --on-loss end");
        log_open("omprma", (int)config.verbose);
        if (!launch_inside())
            option_places(launch);
        return 0;
    }
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp launch_argp = {options, parse_option, NULL, NULL, NULL, NULL, NULL};

void options_begin(char *program, char **argv)
{
    argv[0] = program;
    inherited_put_aside();
    log_open(program, 0);
    argp_err_exit_status = 2;
}
