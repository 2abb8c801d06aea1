/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* launch.c: prepares a run: finds everything, writes the command line. See supervise.h for what
 * happens then. */
#include "tools/launch/launch.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/error.h"
#include "base/exit_status.h"
#include "base/gpu_library.h"
#include "base/log.h"
#include "base/progress_line.h"
#include "base/units.h"
#include "control/agent/far.h"
#include "control/agent/join.h"
#include "tools/launch/allocation.h"
#include "control/direct/packet.h"
#include "control/direct/local_rank.h"
#include "tools/launch/command.h"
#include "tools/launch/direct.h"
#include "tools/launch/inherited.h"
#include "tools/launch/launcher.h"
#include "tools/launch/llvm.h"
#include "tools/launch/networks.h"
#include "tools/launch/options.h"
#include "tools/launch/paths.h"
#include "tools/launch/program.h"
#include "tools/launch/rank.h"
#include "tools/launch/signals.h"
#include "tools/launch/starter.h"
#include "tools/launch/supervise.h"
#include "tools/launch/wrap.h"

extern char **environ;

struct preparation {
    const struct launcher *launcher;
    char launcher_name[LAUNCHER_NAME_BYTES];
    char *mpirun, *worker, *path, *folder, *shell, *networks;
    struct llvm_plan plan;
    int64_t began_ns;
    bool starts_mpi;     /* the command is a launcher of an MPI library */
    bool direct;         /* the run goes without MPI */
    int here;            /* workers on this host; only if direct */
    struct hosts others; /* other hosts with their workers; only if direct */
};

/* For mpirun's session files and for links; short, because socket names may grow from it. */
static omprma_status_t prepare_folder(char **folder)
{
    omprma_status_t status = path_make_folder("omprma", folder);
    if (status != OMPRMA_OK)
        return status;
    const char *path = *folder;
    if (access(path, R_OK | W_OK | X_OK) == 0)
        return OMPRMA_OK;
    mode_t mask = umask(0);
    umask(mask);
    return error_set(
        OMPRMA_ERR_CONFIG,
        "cannot use folders made here, for example %s: %s; the umask is %04o, and 0077 "
        "or less is needed (umask 077)",
        path, strerror(errno), (unsigned)mask);
}

static rlim_t files_open(void)
{
    DIR *folder = opendir("/proc/self/fd");
    rlim_t count = 0;
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count > 6 ? count - 6 : 0; /* ".", "..", this one, and the standard streams */
}

/* mpirun, when it may open too few files, says so in its own words and hangs. It gets those that
 * are open already, and so does the program. */
static omprma_status_t prepare_files(int workers)
{
    enum { BASE = 32, EACH = 4, MARGIN = 2 }; /* by measurement */
    struct rlimit limit;
    rlim_t open = files_open(), more = BASE + EACH * (rlim_t)workers;
    rlim_t least = open + more, good = open + MARGIN * more;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= good)
        return OMPRMA_OK;
    if (limit.rlim_max < least)
        return error_set(OMPRMA_ERR_CONFIG,
                         "only %llu files may be open at a time, %llu are open already, and %d "
                         "worker%s take%s %llu; raise the limit (ulimit -n)",
                         (unsigned long long)limit.rlim_max, (unsigned long long)open, workers,
                         units_plural(workers), workers == 1 ? "s" : "", (unsigned long long)more);
    limit.rlim_cur = limit.rlim_max < good ? limit.rlim_max : good;
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
        log_write(LOG_DETAIL, "%llu files may be open at a time from now on",
                  (unsigned long long)limit.rlim_cur);
    return OMPRMA_OK;
}

/* A process that makes a larger file is killed. */
static omprma_status_t prepare_sizes(const struct launcher *launcher)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur >= (rlim_t)launcher->file_bytes)
        return OMPRMA_OK;
    return error_set(OMPRMA_ERR_CONFIG,
                     "files may have at most %llu KiB, and memory that processes share counts as "
                     "files; allow %d KiB or more (ulimit -f)",
                     (unsigned long long)limit.rlim_cur >> 10, launcher->file_bytes >> 10);
}

/* What exec hands on lies on the stack, and MPI adds some KiB. */
static omprma_status_t prepare_environment(const struct launch *launch)
{
    enum { ADDED = 16 << 10, STACK_LEAST = 240 << 10, MOST = 6 << 20 }; /* by measurement; Linux */
    struct rlimit stack;
    long room = sysconf(_SC_ARG_MAX);
    size_t used = 0, most = room > 0 && room < MOST ? (size_t)room - ADDED : MOST - ADDED;
    for (char **text = environ; *text; text++)
        used += strlen(*text) + 1 + sizeof(*text);
    for (char **text = launch->argv; *text; text++)
        used += strlen(*text) + 1 + sizeof(*text);
    if (getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur < most + STACK_LEAST)
        most = stack.rlim_cur > STACK_LEAST ? stack.rlim_cur - STACK_LEAST : 0;
    if (used <= most)
        return OMPRMA_OK;
    return error_set(
        OMPRMA_ERR_CONFIG,
        "the environment and the program's arguments have %zu KiB, and with this limit "
        "on the stack they may have %zu; unset what is large, or raise the limit "
        "(ulimit -s)",
        (used + 1023) >> 10, most >> 10);
}

/* Under these, a process that waits for another on its core keeps that from running. */
static omprma_status_t prepare_policy(void)
{
    int policy = sched_getscheduler(0);
    if (policy != SCHED_FIFO && policy != SCHED_DEADLINE)
        return OMPRMA_OK;
    return error_set(OMPRMA_ERR_CONFIG,
                     "the scheduling policy is %s, under which processes that wait for each other "
                     "on one core do not take turns; choose another, for example with chrt --rr",
                     policy == SCHED_FIFO ? "FIFO" : "DEADLINE");
}

/* hwloc, which MPI and workers use, asks again and again until it is told (EINVAL: there are more
 * than fit here). */
static omprma_status_t prepare_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0 || errno == EINVAL)
        return OMPRMA_OK;
    return error_set(OMPRMA_ERR_CONFIG,
                     "no process may ask here which processors it has (sched_getaffinity: %s), and "
                     "workers and MPI cannot do without; allow it in the filter of system calls "
                     "(seccomp)",
                     strerror(errno));
}

/* All processes of the job start in the current folder. */
static omprma_status_t prepare_place(void)
{
    char *here = getcwd(NULL, 0);
    omprma_status_t status = OMPRMA_OK;
    if (!here)
        status =
            error_set(OMPRMA_ERR_CONFIG, "the current folder cannot be used: %s; change to another",
                      strerror(errno));
    free(here);
    return status;
}

static omprma_status_t prepare_own_name(const struct preparation *made)
{
    struct utsname own;
    int most = made->launcher->name_most;
    if (!most || uname(&own) || strlen(own.nodename) <= (size_t)most)
        return OMPRMA_OK;
    return error_set(
        OMPRMA_ERR_CONFIG,
        "this host's name, %s, has %zu characters, and %s of %s takes %d at most: give "
        "the host a shorter one",
        own.nodename, strlen(own.nodename), made->mpirun, made->launcher_name, most);
}

static omprma_status_t prepare_names(struct preparation *made, const struct launch *launch)
{
    omprma_status_t status =
        made->launcher->cuts_names ? hosts_check_names(&launch->hosts) : OMPRMA_OK;
    if (status == OMPRMA_OK && launch->hosts.total > 0)
        made->networks = networks_inner(&launch->hosts);
    return status;
}

/* ---- what connects the processes ------------------------------------------------------------ */

/* An mpirun of Open MPI around us, which allows no other one inside. */
static bool mpirun_is_around(void)
{
    return getenv("OMPI_COMM_WORLD_SIZE") != NULL;
}

/* mpirun starts an omprma-run in each of its processes, or one of them does. That is right for
 * programs that use MPI. */
static omprma_status_t look_around(const struct preparation *made, const struct launch *launch)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *size = getenv("OMPI_COMM_WORLD_SIZE");
    if (!mpirun_is_around() || launch->transport == TRANSPORT_DIRECT)
        return OMPRMA_OK;
    if (!launch->offloading || launch->hosts.total > 0 || launch->transport == TRANSPORT_MPI)
        return error_set(
            OMPRMA_ERR_CONFIG,
            "mpirun has started this, and it allows no other mpirun inside: leave mpirun out; "
            "-n and --hosts say how many workers there are, and where");
    if (made->plan.offloads && !made->plan.uses_mpi && rank && strcmp(rank, "0") == 0 &&
        strcmp(size, "1") != 0)
        log_write(
            LOG_WARNING,
            "omprma-run runs inside of mpirun (process 0 of %s), and each process that starts "
            "it gets a program of its own: for one program with %s workers write omprma-run "
            "-n %s PROGRAM, without mpirun",
            size, size, size);
    return OMPRMA_OK;
}

/* Settings that this transport does not look at. */
static void say_without_effect(const struct preparation *made, const struct launch *launch)
{
    const char *osc = getenv("OMPRMA_OSC"), *network = getenv("OMPRMA_NETWORK");
    const char *offload = getenv("OMP_TARGET_OFFLOAD");
    if (launch->continues && offload && strcasecmp(offload, "mandatory") == 0)
        log_write(LOG_WARNING,
                  "--on-loss continue: OMP_TARGET_OFFLOAD=%s keeps regions from being "
                  "computed on the host, so it has no effect",
                  offload);
    if (network && strcasecmp(network, "ucx") == 0 && (!made->direct || launch->hosts.total == 0))
        log_write(LOG_WARNING,
                  "OMPRMA_NETWORK=ucx chooses what carries data to other hosts without MPI, and "
                  "this run %s: it has no effect",
                  made->direct ? "stays on this host" : "goes by MPI (--transport mpi)");
    if (made->direct && osc && *osc && strcasecmp(osc, "auto") != 0)
        log_write(LOG_WARNING,
                  "--osc %s chooses among ways of MPI, and this run goes without MPI (--transport "
                  "direct): it has no effect",
                  osc);
}

/* Those that use MPI themselves, and several, are beyond MPI. */
static omprma_status_t prepare_transport(struct preparation *made, const struct launch *launch)
{
    bool needed = made->starts_mpi || made->plan.starts_mpi;
    bool better = launch->offloading && (needed || made->plan.uses_mpi || !made->plan.offloads ||
                                         made->plan.several || mpirun_is_around());
    omprma_status_t status = look_around(made, launch);
    if (status != OMPRMA_OK)
        return status;
    if (needed && launch->transport == TRANSPORT_MPI)
        return error_set(OMPRMA_ERR_CONFIG,
                         "%s %s, which --transport mpi cannot serve; leave it out", made->path,
                         made->starts_mpi ? "starts programs of an MPI library" : "calls MPI_Init");
    made->direct =
        launch->transport == TRANSPORT_DIRECT || (launch->transport == TRANSPORT_AUTO && better);
    if (made->direct && launch->hosts.total == 0 && launch->mpi_args.count > 0)
        return error_set(OMPRMA_ERR_CONFIG,
                         "--mpi-arg %s: this run goes without MPI and within this host "
                         "(--transport direct)",
                         launch->mpi_args.items[0]);
    say_without_effect(made, launch);
    log_write(LOG_CHOICE, "program and workers are connected %s",
              made->direct ? "without MPI (--transport direct)" : "by MPI (--transport mpi)");
    return OMPRMA_OK;
}

static omprma_status_t prepare_mpi(struct preparation *made, const struct launch *launch)
{
    omprma_status_t status = prepare_files(command_workers(launch));
    if (status == OMPRMA_OK)
        status = launcher_find(&made->launcher, &made->mpirun, made->launcher_name);
    if (status == OMPRMA_OK)
        status = prepare_own_name(made);
    if (status == OMPRMA_OK)
        status = prepare_names(made, launch);
    if (status == OMPRMA_OK)
        status = prepare_sizes(made->launcher);
    return status;
}

/* A rank of a job around us has workers of its own, which are not to be split as if they were the
 * job's. */
static void prepare_direct(struct preparation *made)
{
    if (!made->starts_mpi && local_rank_find().variable)
        setenv("OMPRMA_SHARE", "all", 0);
}

/* Where workers of a run without MPI run. */
static omprma_status_t prepare_hosts(struct preparation *made, const struct launch *launch)
{
    int workers = command_workers(launch);
    made->here = launch->hosts.total > 0
                     ? hosts_divide(&launch->hosts, workers, launch->by_node, &made->others)
                     : workers;
    return made->here < 0 ? OMPRMA_ERR_HOST_MEMORY : OMPRMA_OK;
}

/* ---- which LLVM ----------------------------------------------------------------------------- */

/* Tells the program which option or variable asked for GPUs, so that it can name that when no
 * worker has one. */
static void say_gpus(const struct launch *launch)
{
    const char *kinds = getenv("OMPRMA_BACKENDS"), *option = option_of("BACKENDS");
    unsetenv(CONFIG_GPUS_VARIABLE);
    bool native = !kinds || !*kinds || strcmp(kinds, "native") == 0;
    if (launch->gpus || !native)
        setenv(CONFIG_GPUS_VARIABLE,
               launch->gpus ? launch->gpus_by
               : option     ? option
                            : "OMPRMA_BACKENDS",
               1);
}

/* Workers offer those kinds of GPU, unless the user wants others. */
static omprma_status_t offer_gpus(const struct launch *launch, int gpus)
{
    char kinds[GPU_WORDS_BYTES];
    struct config config;
    config_write_set("BACKENDS", 1 << BACKEND_NATIVE | gpus, kinds, sizeof(kinds));
    setenv("OMPRMA_BACKENDS", kinds, 0);
    omprma_status_t status = config_load(&config);
    if (status == OMPRMA_OK && launch->gpus & ~config.backends)
        return error_set(OMPRMA_ERR_CONFIG,
                         "%s %s: OMPRMA_BACKENDS is %s; leave out one of the two", launch->gpus_by,
                         gpu_kinds_write(launch->gpus, kinds), getenv("OMPRMA_BACKENDS"));
    log_write(LOG_CHOICE, "workers offer devices of these kinds: %s", getenv("OMPRMA_BACKENDS"));
    return status;
}

static omprma_status_t prepare_llvm(struct preparation *made, const struct launch *launch)
{
    bool starts = launch->transport != TRANSPORT_MPI;
    omprma_status_t status;
    if (!launch->offloading)
        status = llvm_plan_workers(&made->plan, launch->llvm);
    else
        status = llvm_plan_make(&made->plan, made->path, launch->argv, launch->llvm,
                                launch->runtime, launch->gpus, starts, made->folder);
    if (status == OMPRMA_OK && made->plan.llvm)
        setenv(CONFIG_LLVM_VARIABLE, "1", 1);
    else /* another omprma-run may have set it */
        unsetenv(CONFIG_LLVM_VARIABLE);
    say_gpus(launch);
    if (status == OMPRMA_OK && launch->places && made->plan.llvm)
        return error_set(
            OMPRMA_ERR_CONFIG,
            "--placement: LLVM's OpenMP runtime serves this program, which leaves "
            "devices to the program; leave out --placement, or --runtime llvm and GPUs");
    if (status == OMPRMA_OK && (made->plan.gpus | launch->gpus))
        status = offer_gpus(launch, made->plan.gpus | launch->gpus);
    return status;
}

/* UCX writes its log on stdout, into what the program prints, unless it is told otherwise. */
static void prepare_logs(void)
{
    setenv("UCX_LOG_FILE", "stderr", 0);
}

static omprma_status_t prepare(struct preparation *made, const struct launch *launch)
{
    omprma_status_t status = path_program(launch->argv[0], &made->path);
    prepare_logs();
    if (status == OMPRMA_OK)
        status = path_check_root();
    if (status == OMPRMA_OK)
        status = prepare_place();
    if (status == OMPRMA_OK)
        status = prepare_environment(launch);
    if (status == OMPRMA_OK)
        status = prepare_policy();
    if (status == OMPRMA_OK)
        status = prepare_processors();
    if (status == OMPRMA_OK)
        status = path_worker(&made->worker);
    if (status == OMPRMA_OK)
        status = wrap_check(launch->hosts.total == 0, command_workers(launch));
    if (status == OMPRMA_OK)
        status = prepare_folder(&made->folder);
    if (status != OMPRMA_OK)
        return status;
    made->starts_mpi = launch->offloading && starter_is_launcher(made->path);
    status = prepare_llvm(made, launch);
    if (status == OMPRMA_OK)
        status = prepare_transport(made, launch);
    if (status == OMPRMA_OK && made->direct) {
        prepare_direct(made);
        status = prepare_hosts(made, launch);
    }
    if (status == OMPRMA_OK && made->direct && made->others.total == 0)
        rmdir(made->folder); /* mostly nothing is in it */
    else if (status == OMPRMA_OK)
        status = prepare_mpi(made, launch);
    return status;
}

/* Other hosts are reached through a link to this executable, which names those that fail. */
static omprma_status_t prepare_shell(struct preparation *made, const struct launch *launch,
                                     const char *socket_name)
{
    if (launch->hosts.total == 0)
        return OMPRMA_OK;
    setenv(SHELL_SOCKET, socket_name, 1);
    char *hosts = hosts_format(&launch->hosts, 0);
    setenv(SHELL_HOSTS, hosts, 1);
    free(hosts);
    const char *users = made->launcher->users_shell(launch);
    const char *own = launch->slurm ? ALLOCATION_SLURM_SHELL : "ssh";
    setenv(SHELL_COMMAND, users ? users : own, 1);
    made->shell = text_make("%s/%s", made->folder, SHELL_NAME);
    char *self = path_self();
    omprma_status_t status = OMPRMA_OK;
    if (symlink(self, made->shell))
        status = error_set(OMPRMA_ERR_CONFIG, "cannot make the link %s: %s", made->shell,
                           strerror(errno));
    free(self);
    return status;
}

static struct command command_of(const struct preparation *made, const struct launch *launch,
                                 const struct list *first)
{
    const char *osc = getenv("OMPRMA_OSC");
    return (struct command){.launch = launch,
                            .launcher = made->launcher,
                            .workers = command_workers(launch),
                            .mpirun = made->mpirun,
                            .worker = made->worker,
                            .worker_path = made->plan.worker_path,
                            .inner_networks = made->networks,
                            .osc = osc && *osc ? osc : "auto",
                            .first = first};
}

/* The launcher's, with rank 0's stand-in, which reports to the socket of that name. Workers get an
 * option and more variables; NULL: none, and they are counted as they come up. */
static omprma_status_t make_line(struct preparation *made, const struct launch *launch,
                                 const char *name, const char *option, const struct list *more,
                                 struct list *line)
{
    struct list first = {0};
    omprma_status_t status = prepare_shell(made, launch, name);
    if (status != OMPRMA_OK)
        return status;
    char *self = path_self();
    list_add(&first, self);
    list_add(&first, RANK_OPTION);
    list_add(&first, name);
    struct command command = command_of(made, launch, &first);
    command.own_tmpdir = true;
    command.shell = made->shell;
    command.option = option;
    command.more = more;
    command.counts = !option && progress_line_possible();
    command_make(line, &command);
    free(self);
    list_clear(&first);
    return OMPRMA_OK;
}

static struct program program_of(const struct preparation *made, const struct launch *launch)
{
    return (struct program){.launcher = made->launcher,
                            .launcher_name = made->launcher ? made->launcher_name : NULL,
                            .path = made->path,
                            .argv = launch->argv,
                            .plan = &made->plan,
                            .offloading = launch->offloading,
                            .continues = launch->continues,
                            .workers = command_workers(launch),
                            .launch_ns = made->began_ns,
                            .alone = launch->hosts.total == 0,
                            .coming = -1,
                            .with_us = SIGKILL};
}

/* `env` in front of the program with what it gets, as far as that is not in our own environment. */
static void add_environment(struct list *line, const struct program *program)
{
    static const char *const names[] = {"OMP_TARGET_OFFLOAD", "LD_LIBRARY_PATH",
                                        "LD_PRELOAD",         "UCX_HANDLE_ERRORS",
                                        "UCX_DEBUG_SIGNO",    DIRECT_JOIN_VARIABLE};
    struct list environment = {0};
    for (char **variable = environ; *variable; variable++)
        list_add(&environment, *variable);
    program_environment(program, &environment);
    size_t before = line->count;
    list_add(line, "env");
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = list_get(&environment, names[i]), *old = getenv(names[i]);
        if (value && (!old || strcmp(value, old) != 0))
            list_addf(line, "%s=%s", names[i], value);
    }
    if (line->count == before + 1)
        list_drop(line);
    list_clear(&environment);
}

/* By hand the program is rank 0 itself, with its variables set by env. */
static void launch_print(const struct preparation *made, const struct launch *launch)
{
    struct list first = {0}, line = {0};
    struct program program = program_of(made, launch);
    add_environment(&first, &program);
    list_add(&first, made->path);
    for (char **argument = launch->argv + 1; *argument; argument++)
        list_add(&first, *argument);
    struct command command = command_of(made, launch, &first);
    command_make(&line, &command);
    list_print_shell(&line, stdout);
    list_clear(&first);
    list_clear(&line);
}

/* ---- without MPI ---------------------------------------------------------------------------- */

/* The runtime is preloaded into the programs alone; what starts them has the small library. */
static void add_preload(const struct llvm_plan *plan, struct list *line)
{
    const char *users = getenv("LD_PRELOAD");
    char *both = preload_join(plan->preload, users),
         *passed = preload_join(plan->passed_preload, users);
    list_add(line, "env");
    list_addf(line, "LD_PRELOAD=%s", both);
    list_addf(line, "OMPRMA_INTERNAL_LD_PRELOAD=%s", passed);
    free(both);
    free(passed);
}

/* A launcher may start several programs, with colons between them. */
static void direct_arguments(const struct preparation *made, const struct launch *launch,
                             struct list *line)
{
    bool ours = made->starts_mpi && made->plan.preload;
    int at = made->plan.at;
    for (int i = 0; launch->argv[i]; i++) {
        if (ours && i > 0 && i == at)
            add_preload(&made->plan, line);
        list_add(line, launch->argv[i]);
        if (i > at && strcmp(launch->argv[i], ":") == 0)
            at = i + llvm_find_program(launch->argv + i);
    }
}

/* What ranks on other hosts need, besides what is the user's: settings, and where libraries are. */
static void hand_on(const struct program *program, struct list *line)
{
    static const char settings[] = "OMPRMA_", internal[] = "OMPRMA_INTERNAL_";
    static const char *const others[] = {
        "LD_LIBRARY_PATH",    "LD_PRELOAD",           "OMP_TOOL_LIBRARIES", "OMP_TARGET_OFFLOAD",
        CONFIG_LLVM_VARIABLE, CONFIG_WARNED_VARIABLE, CONFIG_GPUS_VARIABLE};
    const struct launcher *launcher = launcher_of(program->path);
    struct list environment = {0}, names = {0};
    if (!launcher || !launcher->hand_on)
        return;
    for (char **variable = environ; *variable; variable++)
        if (strncmp(*variable, internal, sizeof(internal) - 1) != 0)
            list_add(&environment, *variable);
    program_environment(program, &environment);
    list_add(&names, DIRECT_JOIN_VARIABLE);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (list_get(&environment, others[i]) || getenv(others[i]))
            list_add(&names, others[i]);
    for (size_t i = 0; i < environment.count; i++)
        if (strncmp(environment.items[i], settings, sizeof(settings) - 1) == 0) {
            char *name =
                text_make("%.*s", (int)strcspn(environment.items[i], "="), environment.items[i]);
            list_add(&names, name);
            free(name);
        }
    launcher->hand_on(line, &names);
    list_clear(&names);
    list_clear(&environment);
}

/* --tag-output: the ranks' own lines, which workers' stand among. */
static void mark_lines(const struct program *program, struct list *line)
{
    const struct launcher *launcher = launcher_of(program->path);
    struct list made = {0};
    if (!launcher || list_contains(line, launcher->mark_lines[0]))
        return;
    list_add(&made, line->items[0]);
    for (const char *const *word = launcher->mark_lines; *word; word++)
        list_add(&made, *word);
    for (size_t i = 1; i < line->count; i++)
        list_add(&made, line->items[i]);
    list_clear(line);
    *line = made;
}

/* Several command lines, because one has to listen where others join. */
static void direct_print(const struct direct *direct)
{
    struct list line = {0};
    printf(
        "# what omprma-run starts: workers, %sand the command; NAME is where programs join, %s are "
        "other sockets of its own\n",
        direct->far ? "those of other hosts, " : "",
        direct->far ? "LISTENER, CONTROL and NETWORK" : "LISTENER and CONTROL");
    direct_describe(direct, &line);
    list_print_shell(&line, stdout);
    list_clear(&line);
    if (direct->far)
        list_print_shell(direct->far->command, stdout);
    struct program program = *direct->program;
    program.join = DIRECT_JOIN_FORM "NAME";
    add_environment(&line, &program);
    list_add(&line, program.path);
    for (char **argument = program.argv + 1; *argument; argument++)
        list_add(&line, *argument);
    list_print_shell(&line, stdout);
    list_clear(&line);
}

static int direct_begin(struct preparation *made, const struct launch *launch,
                        const struct direct *where)
{
    struct list line = {0};
    struct direct direct = *where;
    struct program program = program_of(made, launch);
    struct llvm_plan plan = made->plan;
    int result = 0;
    direct_arguments(made, launch, &line);
    program.launcher = NULL; /* it is not the program's */
    program.launcher_name = NULL;
    if (made->starts_mpi) {
        plan.preload = plan.passed_preload;
        program.plan = &plan;
        program.with_us = SIGTERM; /* its processes are not ours, and it can end them */
        program.outer_job = local_rank_find().variable != NULL;
    }
    if (made->starts_mpi)
        hand_on(&program, &line);
    if (made->starts_mpi && launch->tags_output)
        mark_lines(&program, &line);
    program.argv = line.items;
    direct.program = &program;
    direct.worker = made->worker;
    direct.worker_path = made->plan.worker_path;
    direct.folder = made->folder;
    direct.offloads = made->plan.offloads && !made->plan.several;
    direct.one = !made->starts_mpi && direct.offloads;
    if (launch->dry_run)
        direct_print(&direct);
    else
        result = direct_run(&direct);
    list_clear(&line);
    return result;
}

static omprma_status_t direct_with_hosts(struct preparation *made, const struct launch *launch,
                                         int *result)
{
    struct launch far_launch = *launch;
    struct list line = {0}, more = {0};
    char name[PACKET_NAME_BYTES];
    int listener;
    omprma_status_t status = packet_listen("omprma-", name, &listener);
    if (status != OMPRMA_OK)
        return status;
    list_add(&more, FAR_SECRET_VARIABLE);
    list_add(&more, FAR_HOME_VARIABLE);
    list_add(&more, FAR_JOIN_VARIABLE);
    far_launch.hosts = made->others;
    far_launch.workers = made->others.total; /* an agent for each slot, */
    far_launch.continues = true;             /* and none ends with another */
    status = make_line(made, &far_launch, name, DIRECT_FAR_OPTION, &more, &line);
    const struct far_plan far = {.launcher = made->launcher,
                                 .hosts = &made->others,
                                 .command = &line,
                                 .worker = made->worker,
                                 .folder = made->folder,
                                 .listener = listener};
    const struct direct direct = {.here = made->here, .there = made->others.total, .far = &far};
    if (status == OMPRMA_OK)
        *result = direct_begin(made, launch, &direct);
    close(listener);
    list_clear(&more);
    list_clear(&line);
    return status;
}

static omprma_status_t direct_start(struct preparation *made, const struct launch *launch,
                                    int *result)
{
    const struct direct direct = {.here = made->here};
    if (made->others.total > 0)
        return direct_with_hosts(made, launch, result);
    *result = direct_begin(made, launch, &direct);
    return OMPRMA_OK;
}

/* ---- by MPI --------------------------------------------------------------------------------- */

static omprma_status_t launch_start(struct preparation *made, const struct launch *launch,
                                    int *result)
{
    char name[PACKET_NAME_BYTES];
    int listener;
    struct list line = {0};
    omprma_status_t status = packet_listen("omprma-", name, &listener);
    if (status == OMPRMA_OK)
        status = make_line(made, launch, name, NULL, NULL, &line);
    if (status != OMPRMA_OK)
        return status;
    struct program program = program_of(made, launch);
    *result = supervise(&program, &line, made->worker, made->folder, listener);
    list_clear(&line);
    return OMPRMA_OK;
}

int launch_run(const struct launch *launch)
{
    struct preparation made = {.began_ns = clock_ns()};
    int result = 0;
    /* From here on a signal must not leave a folder behind. */
    signals_block();
    omprma_status_t status = prepare(&made, launch);
    if (status == OMPRMA_OK && made.direct)
        status = direct_start(&made, launch, &result);
    else if (status == OMPRMA_OK && launch->dry_run)
        launch_print(&made, launch);
    else if (status == OMPRMA_OK)
        status = launch_start(&made, launch, &result);
    if (status != OMPRMA_OK) {
        log_write(LOG_ERROR, "%s", error_text());
        result = error_code() ? error_code() : EXIT_OWN;
    }
    if (made.folder)
        path_remove_tree(made.folder);
    if (launch->dry_run) /* else a late signal must not replace the program's status */
        inherited_give_back();
    llvm_plan_clear(&made.plan);
    free(made.mpirun);
    free(made.worker);
    free(made.path);
    free(made.folder);
    free(made.shell);
    free(made.networks);
    hosts_clear(&made.others);
    return result;
}

void launch_clear(struct launch *launch)
{
    hosts_clear(&launch->hosts);
    list_clear(&launch->mpi_args);
    list_clear(&launch->exports);
}

bool launch_internal(int argc, char **argv, int *status)
{
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    if (slash && strcmp(slash + 1, SHELL_NAME) == 0) {
        *status = shell_main(argc, argv);
        return true;
    }
    if (argc == 3 && strcmp(argv[1], RANK_OPTION) == 0) {
        *status = rank_main(argv[2]);
        return true;
    }
    if (!program_inside()) { /* the workers of a run around us are not those of ours */
        unsetenv(DIRECT_JOIN_VARIABLE);
        llvm_forget_outer();
    }
    return false;
}
