/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * plugin_folder.h: folders that hold the plugin under the names that libomptarget looks for, and a
 * link to libomptarget itself (see llvm.h). Knows nothing of programs.
 */
#ifndef OMPRMA_LAUNCH_PLUGIN_FOLDER_H
#define OMPRMA_LAUNCH_PLUGIN_FOLDER_H

#include <stdbool.h>

#include <omprma/omprma.h>

/* The folder for a major version that was made at build time, there or not; malloced. */
char *plugin_folder_built(int version);

/* Is there a plugin in it? */
bool plugin_folder_present(const char *folder);

/* Does it lead libomptarget `name`, which is the file `real`, to our plugin? */
bool plugin_folder_fits(const char *folder, int version, const char *name, const char *real);

/* Makes such links in an existing folder. Errors: CONFIG. */
omprma_status_t plugin_folder_fill(const char *folder, const char *name, const char *real);

/* Adds links to LLVM's own plugins for these kinds of GPU, which lie beside `real`. Errors: CONFIG
 * (one does not). */
omprma_status_t plugin_folder_add_gpus(const char *folder, const char *real, int kinds);

/* Where LLVM's libraries with libomptarget `name` lie when the loader does not know: the
 * distribution's folder, or the one that the build linked to; malloced. */
char *plugin_folder_library(int version, const char *name);

#endif
