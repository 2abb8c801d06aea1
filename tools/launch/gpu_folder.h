/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * gpu_folder.h: where omprma's libraries lie through which programs use GPUs. Programs get these
 * folders; workers never, because they need the real libraries, which have the same names. Knows
 * nothing of programs.
 */
#ifndef OMPRMA_LAUNCH_GPU_FOLDER_H
#define OMPRMA_LAUNCH_GPU_FOLDER_H

#include <omprma/omprma.h>

#include "base/gpu_library.h"

/* Of one kind; malloced. Errors: CONFIG (it was not built or installed). */
omprma_status_t gpu_folder(const struct gpu_library *library, char **folder);

/* A list of folders, separated by colons, without those of all kinds; malloced. NULL gives "". */
char *gpu_folder_without(const char *path);

#endif
