/* launch.c: prepares a run: finds everything, writes the command line. See supervise.h for what
 * happens then. */
#include "tools/launch/launch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/error.h"
#include "base/log.h"
#include "base/progress_line.h"
#include "tools/launch/allocation.h"
#include "tools/launch/local.h"
#include "tools/launch/command.h"
#include "tools/launch/llvm.h"
#include "tools/launch/paths.h"
#include "tools/launch/program.h"
#include "tools/launch/rank.h"
#include "tools/launch/signals.h"
#include "tools/launch/supervise.h"

extern char **environ;

struct preparation {
    char *mpirun, *worker, *path, *folder, *agent;
    struct llvm_plan plan;
    int64_t began_ns;
    sigset_t mask; /* signal mask from before */
};

static omprma_status_t prepare_mpirun(char **mpirun)
{
    if (path_program("mpirun", mpirun) == OMPRMA_OK)
        return OMPRMA_OK;
    return error_set(OMPRMA_ERR_CONFIG, "cannot find mpirun in PATH; install Open MPI (Debian: "
                                        "openmpi-bin)");
}

/* For mpirun's session files and for links; short, because socket names may grow from it. */
static omprma_status_t prepare_folder(char **folder)
{
    const char *base = getenv("TMPDIR");
    char *path = text_make("%s/omprma-XXXXXX", base && *base == '/' ? base : "/tmp");
    if (!mkdtemp(path)) {
        omprma_status_t status =
            error_set(OMPRMA_ERR_CONFIG, "cannot make the folder %s: %s", path, strerror(errno));
        free(path);
        return status;
    }
    *folder = path;
    return OMPRMA_OK;
}

/* mpirun, when it may open too few files, says so in its own words and hangs. */
static omprma_status_t prepare_files(int workers)
{
    enum { BASE = 32, EACH = 4, MARGIN = 2 }; /* by measurement */
    struct rlimit limit;
    rlim_t least = BASE + EACH * (rlim_t)workers, good = MARGIN * least;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= good)
        return OMPRMA_OK;
    if (limit.rlim_max < least)
        return error_set(OMPRMA_ERR_CONFIG,
                         "only %llu files may be open at a time, and %d workers take %llu; raise "
                         "the limit (ulimit -n)",
                         (unsigned long long)limit.rlim_max, workers, (unsigned long long)least);
    limit.rlim_cur = limit.rlim_max < good ? limit.rlim_max : good;
    if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
        log_write(LOG_DETAIL, "%llu files may be open at a time from now on",
                  (unsigned long long)limit.rlim_cur);
    return OMPRMA_OK;
}

/* A process that makes a larger file is killed. */
static omprma_status_t prepare_sizes(void)
{
    enum { LEAST = 8 << 20 }; /* by measurement: Open MPI's shared memory has 4 MiB */
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur >= LEAST)
        return OMPRMA_OK;
    return error_set(OMPRMA_ERR_CONFIG,
                     "files may have at most %llu KiB, and memory that processes share counts as "
                     "files; allow %d KiB or more (ulimit -f)",
                     (unsigned long long)limit.rlim_cur >> 10, LEAST >> 10);
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

static omprma_status_t prepare(struct preparation *made, const struct launch *launch)
{
    omprma_status_t status = path_program(launch->argv[0], &made->path);
    if (status == OMPRMA_OK)
        status = prepare_place();
    if (status == OMPRMA_OK)
        status = prepare_files(command_workers(launch));
    if (status == OMPRMA_OK)
        status = prepare_sizes();
    if (status == OMPRMA_OK)
        status = prepare_mpirun(&made->mpirun);
    if (status == OMPRMA_OK)
        status = path_worker(&made->worker);
    if (status == OMPRMA_OK)
        status = prepare_folder(&made->folder);
    if (status != OMPRMA_OK)
        return status;
    if (launch->offloading)
        status = llvm_plan_make(&made->plan, made->path, launch->llvm, launch->runtime,
                                launch->cuda, made->folder);
    else
        status = llvm_plan_workers(&made->plan, launch->llvm);
    if (status == OMPRMA_OK && (made->plan.cuda || launch->cuda)) {
        setenv("OMPRMA_BACKENDS", "native,cuda", 0); /* unless the user wants others */
        log_write(LOG_CHOICE, "workers offer devices of these kinds: %s",
                  getenv("OMPRMA_BACKENDS"));
    }
    return status;
}

/* Other hosts are reached through a link to this executable, which names those that fail. */
static omprma_status_t prepare_agent(struct preparation *made, const struct launch *launch,
                                     const char *socket_name)
{
    const char *users;
    if (launch->hosts.total == 0)
        return OMPRMA_OK;
    setenv(AGENT_SOCKET, socket_name, 1);
    const char *own = launch->slurm ? ALLOCATION_SLURM_SHELL : "ssh";
    setenv(AGENT_COMMAND, command_mca_set(launch, "plm_rsh_agent", &users) ? users : own, 1);
    made->agent = text_make("%s/%s", made->folder, AGENT_NAME);
    char *self = path_self();
    omprma_status_t status = OMPRMA_OK;
    if (symlink(self, made->agent))
        status = error_set(OMPRMA_ERR_CONFIG, "cannot make the link %s: %s", made->agent,
                           strerror(errno));
    free(self);
    return status;
}

static struct command command_of(const struct preparation *made, const struct launch *launch,
                                 const struct list *first)
{
    const char *osc = getenv("OMPRMA_OSC");
    return (struct command){.launch = launch,
                            .workers = command_workers(launch),
                            .mpirun = made->mpirun,
                            .worker = made->worker,
                            .worker_path = made->plan.worker_path,
                            .osc = osc && *osc ? osc : "auto",
                            .first = first};
}

static struct program program_of(const struct preparation *made, const struct launch *launch)
{
    /* supervise() adds what it knows of signals */
    return (struct program){.path = made->path,
                            .argv = launch->argv,
                            .plan = &made->plan,
                            .offloading = launch->offloading,
                            .continues = launch->continues,
                            .workers = command_workers(launch),
                            .launch_ns = made->began_ns,
                            .alone = launch->hosts.total == 0,
                            .coming = -1,
                            .mask = &made->mask};
}

/* By hand the program is rank 0 itself, with its variables set by env. */
static void launch_print(const struct preparation *made, const struct launch *launch)
{
    struct list environment = {0}, first = {0}, line = {0};
    for (char **variable = environ; *variable; variable++)
        list_add(&environment, *variable);
    struct program program = program_of(made, launch);
    program_environment(&program, &environment);
    list_add(&first, "env");
    static const char *const names[] = {"OMP_TARGET_OFFLOAD", "LD_LIBRARY_PATH", "LD_PRELOAD"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = list_get(&environment, names[i]), *old = getenv(names[i]);
        if (value && (!old || strcmp(value, old) != 0))
            list_addf(&first, "%s=%s", names[i], value);
    }
    if (first.count == 1)
        list_clear(&first);
    list_add(&first, made->path);
    for (char **argument = launch->argv + 1; *argument; argument++)
        list_add(&first, *argument);
    struct command command = command_of(made, launch, &first);
    command_make(&line, &command);
    list_print_shell(&line, stdout);
    list_clear(&environment);
    list_clear(&first);
    list_clear(&line);
}

static omprma_status_t launch_start(struct preparation *made, const struct launch *launch,
                                    int *result)
{
    char name[LOCAL_NAME_BYTES];
    int listener;
    omprma_status_t status = local_listen(name, &listener);
    if (status == OMPRMA_OK)
        status = prepare_agent(made, launch, name);
    if (status != OMPRMA_OK)
        return status;
    struct list first = {0}, line = {0};
    char *self = path_self();
    list_add(&first, self);
    list_add(&first, RANK_OPTION);
    list_add(&first, name);
    struct command command = command_of(made, launch, &first);
    command.own_tmpdir = true;
    command.agent = made->agent;
    command.counts = progress_line_possible();
    command_make(&line, &command);
    struct program program = program_of(made, launch);
    *result = supervise(&program, &line, made->folder, listener);
    free(self);
    list_clear(&first);
    list_clear(&line);
    return OMPRMA_OK;
}

int launch_run(const struct launch *launch)
{
    struct preparation made = {.began_ns = clock_ns()};
    int result = 0;
    /* From here on a signal must not leave a folder behind. */
    signals_block(&made.mask);
    omprma_status_t status = prepare(&made, launch);
    if (status == OMPRMA_OK && launch->dry_run)
        launch_print(&made, launch);
    else if (status == OMPRMA_OK)
        status = launch_start(&made, launch, &result);
    if (status != OMPRMA_OK) {
        log_write(LOG_ERROR, "%s", error_text());
        result = 1;
    }
    if (made.folder)
        path_remove_tree(made.folder);
    if (launch->dry_run) /* else a late signal must not replace the program's status */
        sigprocmask(SIG_SETMASK, &made.mask, NULL);
    llvm_plan_clear(&made.plan);
    free(made.mpirun);
    free(made.worker);
    free(made.path);
    free(made.folder);
    free(made.agent);
    return result;
}

bool launch_internal(int argc, char **argv, int *status)
{
    const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
    if (slash && strcmp(slash + 1, AGENT_NAME) == 0) {
        *status = agent_main(argc, argv);
        return true;
    }
    if (argc == 3 && strcmp(argv[1], RANK_OPTION) == 0) {
        *status = rank_main(argv[2]);
        return true;
    }
    return false;
}

bool launch_inside(void)
{
    return getenv("OMPRMA_INTERNAL_FD") != NULL;
}
