/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cuda_folder.h: where omprma's CUDA driver library lies. Programs get its folder; workers never,
 * because they need the real driver, which has the same names. Knows nothing of programs.
 */
#ifndef OMPRMA_LAUNCH_CUDA_FOLDER_H
#define OMPRMA_LAUNCH_CUDA_FOLDER_H

#include <omprma/omprma.h>

/* malloced. Errors: CONFIG (it was not built or installed). */
omprma_status_t cuda_folder(char **folder);

/* A list of folders, separated by colons, without that one; malloced. NULL gives "". */
char *cuda_folder_without(const char *path);

#endif
