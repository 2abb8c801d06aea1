/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * launcher_openmpi.h: what the launchers of Open MPI 4 and later have in common: parameters (MCA)
 * in arguments, variables and files, names of variables, messages. For their tables only.
 */
#ifndef OMPRMA_LAUNCH_LAUNCHER_OPENMPI_H
#define OMPRMA_LAUNCH_LAUNCHER_OPENMPI_H

#include "tools/launch/command.h"
#include "tools/launch/launcher.h"

/* True when the user set this parameter, by OMPI_MCA_<name> or in --mpi-arg; `*value` is it. */
bool openmpi_is_set(const struct launch *launch, const char *name, const char **value);

/* Adds the parameter, unless the user set it. */
void openmpi_set(struct list *line, const struct command *command, const char *name,
                 const char *value);

/* Adds the parameters of the library. */
void openmpi_set_library(struct list *line, const struct command *command);

/* Is there a remote shell in PATH that the launcher would take by itself? */
bool openmpi_has_shell(void);

/* Adds those of the user's arguments: parameters, or all others. Where the remote shell is
 * ours, not the parameters by which it is named. */
enum { OPENMPI_PARAMETERS = 1, OPENMPI_OTHERS = 2 };
void openmpi_add_users(struct list *line, const struct command *command, const char *const *shells,
                       unsigned which);

/* Adds rank 0, which runs here. */
void openmpi_add_first(struct list *line, const struct command *command);

/* Adds "-x" for each, and for what the user has in the list that openmpi_clear_list() takes away.
 */
void openmpi_add_variables(struct list *line, const struct list *variables);
void openmpi_clear_list(const struct quick_environment *environment);

/* Of struct launcher. */
void openmpi_hand_on(struct list *line, const struct list *names);

/* Of struct dialect. */
bool openmpi_message(struct verdict *found, const char *message, const char *flat);
bool openmpi_line(struct verdict *found, struct verdict *verdict, const char *line);
bool openmpi_noise(const char *line);

#endif
