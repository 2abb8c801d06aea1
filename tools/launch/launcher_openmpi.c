/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* launcher_openmpi.c: parameters of Open MPI on the command line. See launcher_openmpi.h. */
#include "tools/launch/launcher_openmpi.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "control/library/quick.h"
#include "tools/launch/paths.h"

static bool is_mca(const char *argument)
{
    const char *option = argument + strspn(argument, "-");
    return strcmp(option, "mca") == 0 || strcmp(option, "gmca") == 0 ||
           strcmp(option, "omca") == 0 || strcmp(option, "prtemca") == 0;
}

bool openmpi_is_set(const struct launch *launch, const char *name, const char **value)
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
void openmpi_set(struct list *line, const struct command *command, const char *name,
                 const char *value)
{
    const char *users;
    if (openmpi_is_set(command->launch, name, &users))
        return;
    list_add(line, "--mca");
    list_add(line, name);
    list_add(line, value);
}

static void set_osc(struct list *line, const struct command *command)
{
    if (strcasecmp(command->osc, "ucx") == 0) {
        openmpi_set(line, command, "pml", "ucx");
        openmpi_set(line, command, "osc", "ucx");
        /* Without these two, UCX takes part only where there is InfiniBand. */
        openmpi_set(line, command, "opal_common_ucx_tls", "any");
        openmpi_set(line, command, "opal_common_ucx_devices", "any");
    } else if (strcasecmp(command->osc, "rdma") == 0) {
        openmpi_set(line, command, "pml", "ob1");
        openmpi_set(line, command, "osc", "rdma");
    }
}

/* True unless a file of settings says, or may say, something of the parameter. */
static bool is_free(const char *name)
{
    char value[2];
    return quick_setting(&quick_own, name, value, sizeof(value)) && !*value;
}

/* Do the user's arguments name files of settings? */
static bool names_files(const struct list *args)
{
    bool any = false;
    for (size_t i = 0; i < args->count; i++) {
        const char *name = args->items[i] + strspn(args->items[i], "-");
        any |= strcmp(name, "tune") == 0 || strcmp(name, "am") == 0;
    }
    return any;
}

/* Does a file of settings keep the library on this host? That of Debian's Open MPI 6 does. */
static bool is_kept_here(const char *include)
{
    char networks[64], *rest = networks;
    bool inner = quick_setting(&quick_own, include, networks, sizeof(networks)) && *networks;
    for (const char *name; inner && (name = strsep(&rest, ","));)
        inner = strcmp(name, "lo") == 0 || strncmp(name, "127.", 4) == 0;
    return inner;
}

/* The library takes only one of these two parameters. */
static void set_networks(struct list *line, const struct command *command)
{
    static const char include[] = "btl_tcp_if_include", exclude[] = "btl_tcp_if_exclude";
    const char *users;
    if (openmpi_is_set(command->launch, include, &users) || names_files(&command->launch->mpi_args))
        return;
    if (command->shell && is_kept_here(include))
        openmpi_set(line, command, include, "");
    if (!command->inner_networks || !is_free(include) || !is_free(exclude))
        return;
    char *networks = text_make("127.0.0.1/8,sppp,%s", command->inner_networks);
    openmpi_set(line, command, exclude, networks);
    free(networks);
}

void openmpi_set_library(struct list *line, const struct command *command)
{
    /* A crash is the program's own affair: no stack trace by Open MPI. */
    openmpi_set(line, command, "opal_signal", "");
    /* Ranks that spin on shared cores, or keep the kernel's network thread from its core, cost a
     * scheduler quantum per message. */
    if (command_crowded(command))
        openmpi_set(line, command, "mpi_yield_when_idle", "1");
    /* Hardware that is not there, or not used, is no news. */
    openmpi_set(line, command, "btl_base_warn_component_unused", "0");
    openmpi_set(line, command, "btl_openib_warn_no_device_params_found", "0");
    openmpi_set(line, command, "opal_warn_on_missing_libcuda", "0");
    set_osc(line, command);
    set_networks(line, command);
}

bool openmpi_has_shell(void)
{
    static const char *const shells[] = {"ssh", "rsh"};
    for (size_t i = 0; getenv("PATH") && i < sizeof(shells) / sizeof(shells[0]); i++) {
        char *path = NULL;
        omprma_status_t status = path_program(shells[i], &path);
        free(path);
        if (status == OMPRMA_OK)
            return true;
    }
    return false;
}

static bool is_one_of(const char *name, const char *const *names)
{
    while (*names && strcmp(name, *names) != 0)
        names++;
    return *names != NULL;
}

void openmpi_add_users(struct list *line, const struct command *command, const char *const *shells,
                       unsigned which)
{
    const struct list *args = &command->launch->mpi_args;
    for (size_t i = 0; i < args->count; i++) {
        bool parameter = i + 2 < args->count && is_mca(args->items[i]);
        bool shell = parameter && command->shell && is_one_of(args->items[i + 1], shells);
        size_t last = parameter ? i + 2 : i;
        for (; i <= last; i++)
            if (!shell && (which & (parameter ? OPENMPI_PARAMETERS : OPENMPI_OTHERS)))
                list_add(line, args->items[i]);
        i = last;
    }
}

void openmpi_add_first(struct list *line, const struct command *command)
{
    list_add(line, "-n");
    list_add(line, "1");
    if (command->launch->hosts.total > 0) {
        list_add(line, "-H");
        list_add(line, "localhost");
    }
    for (size_t i = 0; i < command->first->count; i++)
        list_add(line, command->first->items[i]);
}

/* mpirun takes either -x or this parameter. */
static const char list_parameter[] = "mca_base_env_list";
static const char list_variable[] = "OMPI_MCA_mca_base_env_list";

static void add_variables(struct list *line, const struct list *variables)
{
    for (size_t i = 0; i < variables->count; i++) {
        list_add(line, "-x");
        list_add(line, variables->items[i]);
    }
}

void openmpi_add_variables(struct list *line, const struct list *variables)
{
    const char *users = getenv(list_variable), *at = users ? users : "";
    add_variables(line, variables);
    for (at += strspn(at, ";"); *at; at += strspn(at, ";")) {
        int length = (int)strcspn(at, ";");
        list_add(line, "-x");
        list_addf(line, "%.*s", length, at);
        at += length;
    }
}

void openmpi_clear_list(const struct quick_environment *environment)
{
    environment->set(environment->data, list_variable, NULL);
}

/* "users;NAME;NAME" */
static char *join_names(const char *users, const struct list *names)
{
    char *text = text_make("%s", users);
    for (size_t i = 0; i < names->count; i++) {
        char *longer = text_make("%s;%s", text, names->items[i]);
        free(text);
        text = longer;
    }
    return text;
}

/* Where the user has a list, which is for all programs of the line, it gets longer. */
void openmpi_hand_on(struct list *line, const struct list *names)
{
    const char *users = getenv(list_variable);
    struct list made = {0};
    bool is_argument = list_contains(line, list_parameter);
    if (users && *users && !is_argument) {
        char *value = join_names(users, names);
        setenv(list_variable, value, 1);
        free(value);
        return;
    }
    list_add(&made, line->items[0]);
    if (!is_argument)
        add_variables(&made, names);
    for (size_t i = 1; i < line->count; i++) {
        bool is_value = i > 1 && strcmp(line->items[i - 1], list_parameter) == 0;
        char *value = is_value ? join_names(line->items[i], names) : NULL;
        list_add(&made, value ? value : line->items[i]);
        free(value);
        if (!is_argument && strcmp(line->items[i], ":") == 0)
            add_variables(&made, names);
    }
    list_clear(line);
    *line = made;
}
