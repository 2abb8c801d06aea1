/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* command.c: what any launcher's command line has: processes, and the workers' environment. */
#include "tools/launch/command.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/coming.h"
#include "tools/launch/gpu_folder.h"
#include "tools/launch/launcher.h"
#include "tools/launch/paths.h"

extern char **environ;

int command_workers(const struct launch *launch)
{
    if (launch->workers > 0)
        return launch->workers;
    return launch->hosts.total > 0 ? launch->hosts.total : 1;
}

static int cores_here(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set)
                                                        : (int)sysconf(_SC_NPROCESSORS_ONLN);
}

bool command_crowded(const struct command *command)
{
    return command->launch->hosts.total > 0 || command->workers + 1 > cores_here();
}

/* Local workers inherit the environment; those on other hosts get only what is named. */
static void add_settings(struct list *variables, const struct launch *launch)
{
    static const char *const prefixes[] = {"OMP_", "OMPRMA_", "LIBOMPTARGET_", "KMP_", "UCX_"};
    for (char **variable = environ; *variable; variable++) {
        size_t length = strcspn(*variable, "=");
        bool ours = strncmp(*variable, "OMPRMA_INTERNAL_", 16) == 0;
        for (size_t i = 0; !ours && i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
            if (strncmp(*variable, prefixes[i], strlen(prefixes[i])) == 0)
                list_addf(variables, "%.*s", (int)length, *variable);
    }
    for (size_t i = 0; i < launch->exports.count; i++)
        list_add(variables, launch->exports.items[i]);
}

/* Never with our own libraries for GPUs: workers open the real ones. */
char *command_library_path(const char *worker_path)
{
    const char *users = getenv("LD_LIBRARY_PATH");
    char *rest = gpu_folder_without(users), *path = path_join(worker_path, rest);
    free(rest);
    if (*path || (users && *users))
        return path;
    free(path);
    return NULL;
}

static void add_variables(struct list *variables, const struct command *command)
{
    add_settings(variables, command->launch);
    for (size_t i = 0; command->more && i < command->more->count; i++)
        list_add(variables, command->more->items[i]);
    if (command->counts)
        list_add(variables, COMING_VARIABLE "=1");
    const char *folder = getenv("TMPDIR");
    if (command->own_tmpdir) /* the launcher's own is for its session only */
        list_addf(variables, "TMPDIR=%s", folder && *folder ? folder : "/tmp");
    char *path = command_library_path(command->worker_path);
    if (path)
        list_addf(variables, "LD_LIBRARY_PATH=%s", path);
    free(path);
}

void command_make(struct list *list, const struct command *command)
{
    struct list variables = {0};
    add_variables(&variables, command);
    command->launcher->write(list, command, &variables);
    list_clear(&variables);
}
