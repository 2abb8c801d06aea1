/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* launcher_openmpi4.c: the table of Open MPI 4's mpirun, which is orterun. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/library/quirks.h"
#include "tools/launch/launcher_openmpi.h"

static const char shell_name[] = "plm_rsh_agent";
static const char *const shell_names[] = {shell_name, NULL};

/* mpirun would leave all to Slurm, which has no place for rank 0 where the program is. */
static void set_slurm(struct list *line, const struct command *command)
{
    openmpi_set(line, command, "plm", "rsh");
    openmpi_set(line, command, "ras", "^slurm");
}

static void set_hosts(struct list *line, const struct command *command)
{
    list_add(line, "--mca");
    list_add(line, shell_name);
    list_add(line, command->shell);
    /* Every host is reached from here, so that one that is not can be named. */
    openmpi_set(line, command, "plm_rsh_no_tree_spawn", "1");
    char *hosts = text_make("%zu", command->launch->hosts.names.count);
    openmpi_set(line, command, "plm_rsh_num_concurrent", hosts); /* no shell ends before the job */
    free(hosts);
    list_add(line, "--leave-session-attached"); /* what outlives its shell may be ended there */
    if (command->launch->slurm)
        set_slurm(line, command);
}

static void set_all(struct list *line, const struct command *command)
{
    bool hosts = command->launch->hosts.total > 0;
    openmpi_set_library(line, command);
    /* mpirun lets the others live when a rank has died. */
    if (command->launch->continues)
        openmpi_set(line, command, "orte_enable_recovery", "1");
    /* Ranks that are told to end have nothing left to say. */
    openmpi_set(line, command, "odls_base_sigkill_timeout", "0");
    if (hosts && command->shell)
        set_hosts(line, command);
    /* mpirun would end without a remote shell, also where nothing remote is to be started. */
    if (!hosts && !openmpi_has_shell())
        openmpi_set(line, command, "plm", "isolated");
}

static void write_line(struct list *line, const struct command *command,
                       const struct list *variables)
{
    const struct launch *launch = command->launch;
    list_add(line, command->mpirun);
    list_add(line, "--oversubscribe");
    list_add(line, "--bind-to");
    list_add(line, "none"); /* workers share out the cores among themselves */
    if (launch->by_node) {
        list_add(line, "--map-by");
        list_add(line, "node");
    }
    if (geteuid() == 0)
        list_add(line, "--allow-run-as-root");
    set_all(line, command);
    openmpi_add_users(line, command, shell_names, OPENMPI_PARAMETERS | OPENMPI_OTHERS);

    openmpi_add_first(line, command);

    list_add(line, ":");
    list_add(line, "-n");
    list_addf(line, "%d", command->workers);
    if (launch->hosts.total > 0) {
        /* The stand-in takes a slot of this host, and one without a free slot is passed over: its
         * workers would go to others. */
        char *hosts = hosts_format(&launch->hosts, 1);
        list_add(line, "-H");
        list_add(line, hosts);
        free(hosts);
    }
    openmpi_add_variables(line, variables);
    list_add(line, command->worker);
    if (command->option)
        list_add(line, command->option);
}

static const char *users_shell(const struct launch *launch)
{
    const char *words;
    return openmpi_is_set(launch, shell_name, &words) ? words : NULL;
}

/* What the environment and Open MPI's files say of where processes go does not hold, because that
 * is the user's own choice here; arguments still do. A file of default hosts would take the workers
 * of a run without hosts, a limit per node would refuse them, and a list of cores leaves one out
 * without a word. */
static void clear_placement(const struct quick_environment *environment)
{
    static const char *const defaults[][2] = {
        {"orte_default_hostfile", "none"},    {"orte_default_dash_host", "none"},
        {"ras_base_multiplier", "1"},         {"rmaps", "round_robin"},
        {"rmaps_base_mapping_policy", ""},    {"rmaps_base_ranking_policy", ""},
        {"rmaps_base_no_oversubscribe", "0"}, {"rmaps_base_no_schedule_local", "0"},
        {"rmaps_base_bycore", "0"},           {"rmaps_base_byslot", "0"},
        {"rmaps_base_bynode", "0"},           {"rmaps_base_cpus_per_rank", "0"},
        {"rmaps_ppr_pernode", "0"},           {"rmaps_ppr_n_pernode", "0"},
        {"rmaps_ppr_n_persocket", "0"},       {"rmaps_ppr_pattern", ""},
        {"rmaps_rank_file_path", ""},         {"hwloc_base_bind_to_core", "0"},
        {"hwloc_base_bind_to_socket", "0"},   {"hwloc_base_cpu_list", ""},
    };
    for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++) {
        char *name = text_make("OMPI_MCA_%s", defaults[i][0]);
        environment->set(environment->data, name, defaults[i][1]);
        free(name);
    }
}

static void prepare(const struct quick_environment *environment, bool alone)
{
    clear_placement(environment);
    openmpi_clear_list(environment);
    /* What mpirun tells its processes would else lie in files of 8 MiB that it has to write. */
    quick_default(environment, "PMIX_MCA_gds", "hash");
    if (alone)
        quick_hwloc(environment);
}

static void complete_program(const struct quick_environment *environment)
{
    quirks_rank(environment, &(struct library){LIBRARY_OPENMPI, 40000}, true);
}

static const char *const variables[] = {"OMPI_", "PMIX_", "ORTE_", NULL};

static const char *const mark_lines[] = {"--tag-output", NULL};

static const struct dialect dialect = {.name = "Open MPI 4",
                                       .folder_variable = "OPAL_PREFIX",
                                       .frame = '-',
                                       .message = openmpi_message,
                                       .line = openmpi_line,
                                       .noise = openmpi_noise};

const struct launcher launcher_openmpi4 = {.library = LIBRARY_OPENMPI,
                                           .sign = "(Open MPI)",
                                           .first = LIBRARY_OPENMPI_FIRST,
                                           .end = 50000,
                                           .dialect = &dialect,
                                           .write = write_line,
                                           .users_shell = users_shell,
                                           .prepare = prepare,
                                           .program = complete_program,
                                           .file_bytes = 8 << 20,
                                           .hand_on = openmpi_hand_on,
                                           .mark_lines = mark_lines,
                                           .variables = variables,
                                           .words_variable = "OPAL_OUTPUT_STDERR_FD",
                                           .lost_status = {256 - 61}, /* PMIX_ERR_LOST_CONNECTION */
                                           .name_most = 63, /* 64, as Linux allows: a crash */
                                           .cuts_names = true};
