/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * launcher_openmpi5.c: the table of mpirun of Open MPI 5 and 6, which becomes prterun. Parameters
 * of the library belong to the program before which they stand; those of mpirun itself are PRTE's.
 */
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/launch/launcher_openmpi.h"
#include "tools/launch/words.h"

/* The remote shell's parameter: mpirun's own, and what it was called before. */
static const char *const shell_names[] = {"plm_ssh_agent", "plm_rsh_agent", NULL};

/* The library always loads UCX, which would take signals from the program and from kernels, and
 * reads its variables before main(). */
static const char *const crashes[][2] = {{"UCX_HANDLE_ERRORS", "none"}, {"UCX_DEBUG_SIGNO", "0"}};

/* A parameter of mpirun itself; what the user set in its variable wins. */
static void set_own(struct list *line, const char *name, const char *value)
{
    char *variable = text_make("PRTE_MCA_%s", name);
    if (!getenv(variable)) {
        list_add(line, "--prtemca");
        list_add(line, name);
        list_add(line, value);
    }
    free(variable);
}

/* mpirun would leave all to Slurm, which has no place for rank 0 where the program is. */
static void set_slurm(struct list *line)
{
    set_own(line, "plm", "ssh");
    set_own(line, "ras", "^slurm");
}

static void set_hosts(struct list *line, const struct command *command)
{
    list_add(line, "--prtemca");
    list_add(line, shell_names[0]);
    list_add(line, command->shell);
    /* Every host is reached from here, so that one that is not can be named. */
    set_own(line, "plm_ssh_no_tree_spawn", "1");
    char *hosts = text_make("%zu", command->launch->hosts.names.count);
    set_own(line, "plm_ssh_num_concurrent", hosts); /* no shell ends before the job */
    free(hosts);
    list_add(line, "--leave-session-attached"); /* what outlives its shell may be ended there */
    if (command->launch->slurm)
        set_slurm(line);
}

/* Without its part for several programs (pmdl) mpirun knows whose a parameter is by a list of
 * names, in which "mpi" is not, and drops others. */
static void say_whose(struct list *line, size_t first)
{
    for (size_t i = first; i + 1 < line->count; i++) {
        const char *option = line->items[i] + strspn(line->items[i], "-");
        if (strcmp(option, "mca") != 0 || strncmp(line->items[i + 1], "mpi_", 4) != 0)
            continue;
        free(line->items[i]);
        line->items[i] = text_make("--omca");
    }
}

/* For each of the programs, with the user's own. */
static void set_library(struct list *line, const struct command *command)
{
    size_t first = line->count;
    openmpi_set_library(line, command);
    openmpi_set(line, command, "btl_tcp_disable_family", "6"); /* else a line for each process */
    openmpi_add_users(line, command, shell_names, OPENMPI_PARAMETERS);
    say_whose(line, first);
}

static void write_workers(struct list *line, const struct command *command,
                          const struct list *variables)
{
    const struct launch *launch = command->launch;
    bool hosts = launch->hosts.total > 0;
    list_add(line, ":");
    set_library(line, command);
    list_add(line, "-n");
    list_addf(line, "%d", command->workers);
    if (hosts) {
        char *places = hosts_in_order(&launch->hosts, command->workers, launch->by_node);
        list_add(line, "-H");
        list_add(line, places);
        free(places);
    }
    openmpi_add_variables(line, variables);
    for (size_t i = 0; hosts && i < sizeof(crashes) / sizeof(crashes[0]); i++)
        if (!getenv(crashes[i][0])) {
            list_add(line, "-x");
            list_addf(line, "%s=%s", crashes[i][0], crashes[i][1]);
        }
    list_add(line, command->worker);
    if (command->option)
        list_add(line, command->option);
}

static void write_line(struct list *line, const struct command *command,
                       const struct list *variables)
{
    const struct launch *launch = command->launch;
    list_add(line, command->mpirun);
    list_add(line, "--bind-to");
    list_add(line, "none"); /* workers share out the cores among themselves */
    list_add(line, "--map-by");
    /* On hosts as they are listed: by slots or nodes it spreads processes as it likes, or starts
     * some that do not find each other. */
    list_add(line, launch->hosts.total > 0 ? "seq:OVERSUBSCRIBE" : "slot:OVERSUBSCRIBE");
    if (geteuid() == 0)
        list_add(line, "--allow-run-as-root");
    if (!getenv("PMIX_MCA_pmdl")) { /* 5.0 crashes otherwise when it is given several programs */
        list_add(line, "--pmixmca");
        list_add(line, "pmdl");
        list_add(line, "^ompi");
    }
    if (launch->continues)
        list_add(line, "--enable-recovery");
    if (launch->hosts.total > 0 && command->shell)
        set_hosts(line, command);
    if (launch->hosts.total == 0) /* not on those of a job around this process */
        set_own(line, "ras", "^slurm,pbs,gridengine,lsf");
    openmpi_add_users(line, command, shell_names, OPENMPI_OTHERS);
    set_library(line, command);
    openmpi_add_first(line, command);
    write_workers(line, command, variables);
}

static const char *users_shell(const struct launch *launch)
{
    const char *words = getenv("PRTE_MCA_plm_ssh_agent");
    for (const char *const *name = shell_names; *name && !words; name++)
        openmpi_is_set(launch, *name, &words);
    return words;
}

/* What the environment and files of PRTE say of where processes go does not hold, because that is
 * the user's own choice here; arguments still do. */
static void clear_placement(const struct quick_environment *environment)
{
    static const char *const defaults[][2] = {
        {"PRTE_MCA_prte_default_hostfile", "none"},
        {"PRTE_MCA_prte_default_dash_host", "none"},
        {"PRTE_MCA_rmaps_default_mapping_policy", "slot"},
        {"PRTE_MCA_rmaps_default_ranking_policy", "slot"},
        {"PRTE_MCA_hwloc_default_binding_policy", "none"},
        {"PRTE_MCA_hwloc_default_cpu_list", NULL}, /* a crash when empty */
    };
    for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++)
        environment->set(environment->data, defaults[i][0], defaults[i][1]);
}

/* For each process that MPI is in. */
static void set_process(const struct quick_environment *environment)
{
    const struct passwd *user = getpwuid(getuid());
    for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++)
        quick_default(environment, crashes[i][0], crashes[i][1]);
    quick_default(environment, "HOME", user ? user->pw_dir : "/"); /* it fails without one */
}

/* When mpirun is gone, PMIx of 6 would write the words about that to the program's stderr by
 * itself. */
static void set_program(const struct quick_environment *environment)
{
    set_process(environment);
    quick_default(environment, "PMIX_MCA_plog", "^stdfd");
}

static void prepare(const struct quick_environment *environment, bool alone)
{
    clear_placement(environment);
    openmpi_clear_list(environment);
    /* What mpirun tells its processes would else lie in files that it has to write. */
    quick_default(environment, "PMIX_MCA_gds", "hash");
    if (alone)
        quick_hwloc(environment);
    set_process(environment);
}

static const char *const variables[] = {"OMPI_", "PMIX_", "PRTE_", NULL};

/* ---- its own words on stdout ---------------------------------------------------------------- */

/* Open MPI 6 says there, in a frame, that a host did not answer; why is said on stderr. */
static const char unanswered[] = "A daemon failed to report back after being spawned";

enum { FRAME_BYTES = 60 };

/* Where its words have come to. Each line in the frame has the next number; the message is shorter
 * than the last one. */
enum place { ANYWHERE, FRAME_BEGINS, IN_FRAME, IN_FRAME_LAST = 24 };

static bool is_dashes(const char *begin, size_t bytes)
{
    size_t dashes = strspn(begin, "-");
    dashes = dashes < bytes ? dashes : bytes;
    return dashes <= FRAME_BYTES &&
           (dashes == bytes || (dashes == FRAME_BYTES && begin[dashes] == '\n'));
}

static bool may_be_own(const char *begin, size_t bytes, int place)
{
    if (place == FRAME_BEGINS)
        return words_agree(begin, bytes, unanswered);
    return place >= IN_FRAME || is_dashes(begin, bytes);
}

static enum own_line line_is_own(const char *line, int *place)
{
    bool frame = is_dashes(line, strlen(line));
    if (*place == FRAME_BEGINS) {
        *place = IN_FRAME;
        return OWN_WITH_HELD;
    }
    if (*place >= IN_FRAME) {
        *place = frame || *place == IN_FRAME_LAST ? ANYWHERE : *place + 1;
        return OWN_ALONE;
    }
    *place = FRAME_BEGINS;
    return OWN_MAYBE;
}

static const char *const mark_lines[] = {"--output", "tag", NULL};

static const struct dialect dialect = {.name = "Open MPI 5",
                                       .folder_variable = "OPAL_PREFIX",
                                       .may_be_own = may_be_own,
                                       .own = line_is_own,
                                       .frame = '-',
                                       .message = openmpi_message,
                                       .line = openmpi_line,
                                       .noise = openmpi_noise};

const struct launcher launcher_openmpi5 = {
    .library = LIBRARY_OPENMPI,
    .sign = "(Open MPI)",
    .first = 50000,
    .end = LIBRARY_OPENMPI_END,
    .dialect = &dialect,
    .write = write_line,
    .users_shell = users_shell,
    .prepare = prepare,
    .program = set_program,
    .file_bytes = 32 << 20,
    .hand_on = openmpi_hand_on,
    .mark_lines = mark_lines,
    .variables = variables,
    .words_variable = "OPAL_OUTPUT_STDERR_FD",
    .lost_status = {14, 256 - 61}, /* MPI_ERR_UNKNOWN, PMIX_ERR_LOST_CONNECTION */
    .cuts_names = true};
