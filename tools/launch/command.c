/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* command.c: writes the mpirun command line. Starts nothing. */
#include "tools/launch/command.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/coming.h"
#include "tools/launch/cuda_folder.h"
#include "tools/launch/llvm.h"
#include "tools/launch/paths.h"

extern char **environ;

int command_workers(const struct launch *launch)
{
    if (launch->workers > 0)
        return launch->workers;
    return launch->hosts.total > 0 ? launch->hosts.total : 1;
}

static const char agent_name[] = "plm_rsh_agent";

static bool is_mca(const char *argument)
{
    const char *option = argument + strspn(argument, "-");
    return strcmp(option, "mca") == 0 || strcmp(option, "gmca") == 0;
}

bool command_mca_set(const struct launch *launch, const char *name, const char **value)
{
    char *variable = text_make("OMPI_MCA_%s", name);
    *value = getenv(variable);
    free(variable);
    const struct list *args = &launch->mpi_args;
    for (size_t i = 0; i + 2 < args->count; i++) {
        if (is_mca(args->items[i]) && strcmp(args->items[i + 1], name) == 0)
            *value = args->items[i + 2];
    }
    return *value != NULL;
}

/* What the user set wins; mpirun would join two values of one parameter with a comma. */
static void command_mca(struct list *list, const struct command *command, const char *name,
                        const char *value)
{
    const char *users;
    if (command_mca_set(command->launch, name, &users))
        return;
    list_add(list, "--mca");
    list_add(list, name);
    list_add(list, value);
}

static int cores_here(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set)
                                                        : (int)sysconf(_SC_NPROCESSORS_ONLN);
}

static void command_osc(struct list *list, const struct command *command)
{
    if (strcmp(command->osc, "ucx") == 0) {
        command_mca(list, command, "pml", "ucx");
        command_mca(list, command, "osc", "ucx");
        /* Without these two, UCX takes part only where there is InfiniBand. */
        command_mca(list, command, "opal_common_ucx_tls", "any");
        command_mca(list, command, "opal_common_ucx_devices", "any");
    } else if (strcmp(command->osc, "rdma") == 0) {
        command_mca(list, command, "pml", "ob1");
        command_mca(list, command, "osc", "rdma");
    }
}

/* mpirun would leave all to Slurm, which has no place for rank 0 where the program is. */
static void command_slurm(struct list *list, const struct command *command)
{
    command_mca(list, command, "plm", "rsh");
    command_mca(list, command, "ras", "^slurm");
    list_add(list, "--leave-session-attached"); /* Slurm ends what outlives its step */
}

/* mpirun would end without a remote shell, also where nothing remote is to be started. */
static void command_without_shell(struct list *list, const struct command *command)
{
    static const char *const shells[] = {"ssh", "rsh"};
    for (size_t i = 0; getenv("PATH") && i < sizeof(shells) / sizeof(shells[0]); i++) {
        char *path = NULL;
        omprma_status_t status = path_program(shells[i], &path);
        free(path);
        if (status == OMPRMA_OK)
            return;
    }
    command_mca(list, command, "plm", "isolated");
}

static void command_mca_all(struct list *list, const struct command *command)
{
    bool hosts = command->launch->hosts.total > 0;
    /* A crash is the program's own affair: no stack trace by Open MPI. */
    command_mca(list, command, "opal_signal", "");
    /* Ranks that spin on shared cores, or keep the kernel's network thread from its core, cost a
     * scheduler quantum per message. */
    if (hosts || command->workers + 1 > cores_here())
        command_mca(list, command, "mpi_yield_when_idle", "1");
    /* Hardware that is not there, or not used, is no news. */
    command_mca(list, command, "btl_base_warn_component_unused", "0");
    command_mca(list, command, "btl_openib_warn_no_device_params_found", "0");
    command_mca(list, command, "opal_warn_on_missing_libcuda", "0");
    /* mpirun lets the others live when a rank has died. */
    if (command->launch->continues)
        command_mca(list, command, "orte_enable_recovery", "1");
    /* Ranks that are told to end have nothing left to say. */
    command_mca(list, command, "odls_base_sigkill_timeout", "0");
    if (hosts && command->agent) {
        list_add(list, "--mca");
        list_add(list, agent_name);
        list_add(list, command->agent);
        /* Every host is reached from here, so that one that is not can be named. */
        command_mca(list, command, "plm_rsh_no_tree_spawn", "1");
        if (command->launch->slurm)
            command_slurm(list, command);
    }
    if (!hosts)
        command_without_shell(list, command);
    command_osc(list, command);
}

/* Local workers inherit the environment; those on other hosts get only what is named. */
static void command_forward(struct list *list)
{
    static const char *const prefixes[] = {"OMP_", "OMPRMA_", "LIBOMPTARGET_", "KMP_", "UCX_"};
    for (char **variable = environ; *variable; variable++) {
        size_t length = strcspn(*variable, "=");
        bool ours = strncmp(*variable, "OMPRMA_INTERNAL_", 16) == 0;
        for (size_t i = 0; !ours && i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
            if (strncmp(*variable, prefixes[i], strlen(prefixes[i])) == 0) {
                list_add(list, "-x");
                list_addf(list, "%.*s", (int)length, *variable);
            }
        }
    }
}

/* The user's remote shell is called by our agent, and mpirun wants no parameter twice. */
static void command_users_args(struct list *list, const struct command *command)
{
    const struct list *args = &command->launch->mpi_args;
    for (size_t i = 0; i < args->count; i++) {
        if (command->agent && i + 2 < args->count && is_mca(args->items[i]) &&
            strcmp(args->items[i + 1], agent_name) == 0)
            i += 2;
        else
            list_add(list, args->items[i]);
    }
}

/* Defaults of Open MPI 4.1. A file of default hosts would take the workers of a run without hosts,
 * a limit per node would refuse them, and a list of cores leaves one out without a word. */
void command_clear_placement(void)
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
        setenv(name, defaults[i][1], 1);
        free(name);
    }
}

void command_make(struct list *list, const struct command *command)
{
    const struct launch *launch = command->launch;
    list_add(list, command->mpirun);
    list_add(list, "--oversubscribe");
    list_add(list, "--bind-to");
    list_add(list, "none"); /* workers share out the cores among themselves */
    if (command->launch->by_node) {
        list_add(list, "--map-by");
        list_add(list, "node");
    }
    if (geteuid() == 0)
        list_add(list, "--allow-run-as-root");
    command_mca_all(list, command);
    command_users_args(list, command);

    list_add(list, "-n");
    list_add(list, "1");
    if (launch->hosts.total > 0) {
        list_add(list, "-H");
        list_add(list, "localhost");
    }
    for (size_t i = 0; i < command->first->count; i++)
        list_add(list, command->first->items[i]);

    list_add(list, ":");
    list_add(list, "-n");
    list_addf(list, "%d", command->workers);
    if (launch->hosts.total > 0) {
        /* The stand-in takes a slot of this host, and one without a free slot is passed over: its
         * workers would go to others. */
        char *hosts = hosts_format(&launch->hosts, 1);
        list_add(list, "-H");
        list_add(list, hosts);
        free(hosts);
    }
    command_forward(list);
    if (command->counts) {
        list_add(list, "-x");
        list_add(list, COMING_VARIABLE "=1");
    }
    const char *folder = getenv("TMPDIR");
    if (command->own_tmpdir) { /* mpirun's own is for its session only */
        list_add(list, "-x");
        list_addf(list, "TMPDIR=%s", folder && *folder ? folder : "/tmp");
    }
    /* Never with our own CUDA driver library: workers open the real one. */
    const char *users = getenv("LD_LIBRARY_PATH");
    char *rest = cuda_folder_without(users), *path = path_join(command->worker_path, rest);
    if (*path || (users && *users)) {
        list_add(list, "-x");
        list_addf(list, "LD_LIBRARY_PATH=%s", path);
    }
    free(rest);
    free(path);
    list_add(list, command->worker);
}
