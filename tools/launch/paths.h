/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * paths.h: where things are: programs by PATH, and omprma's own parts relative to the running
 * executable, in a build tree and in an installed tree alike. Knows nothing of LLVM or mpirun.
 */
#ifndef OMPRMA_LAUNCH_PATHS_H
#define OMPRMA_LAUNCH_PATHS_H

#include <stdbool.h>

#include <omprma/omprma.h>

/* Finds a program as a shell would. `*path` is malloced. Errors: CONFIG (not found, a folder, not
 * executable). */
omprma_status_t path_program(const char *name, char **path);

/* This executable, the folder tree that it belongs to (bin/..), and the worker. malloced; exits
 * with a message when /proc is not there. */
char *path_self(void);
char *path_root(void);
omprma_status_t path_worker(char **path);

/* Whether that tree's path can stand in a list of folders. Errors: CONFIG. */
omprma_status_t path_check_root(void);

/* Is there a file of this name in the folder? */
bool path_holds(const char *folder, const char *name);

/* realpath() into malloced memory; NULL when the file is not there. */
char *path_real(const char *path);

/* Two lists of folders as one: "front:back", malloced; either may be NULL or empty. */
char *path_join(const char *front, const char *back);

/* Makes a folder for this user alone in that for temporary files, "NAME-" and six letters,
 * malloced. Errors: CONFIG. */
omprma_status_t path_make_folder(const char *name, char **folder);

/* Removes a folder that has at most folders and files of ours in it. Links are not followed. */
void path_remove_tree(const char *path);

#endif
