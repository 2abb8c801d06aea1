/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * runtime_folder.h: folders with omprma's own OpenMP runtime under the names that programs know
 * libomptarget by, and with the empty library that images find under these names on a worker. Made
 * at build time for all names that are known; links for others are made for one run, and serve
 * workers of this host only. Knows nothing of programs.
 */
#ifndef OMPRMA_LAUNCH_RUNTIME_FOLDER_H
#define OMPRMA_LAUNCH_RUNTIME_FOLDER_H

#include <omprma/omprma.h>

struct runtime_folders {
    char *program; /* to go in front of the program's LD_LIBRARY_PATH */
    char *worker;  /* of a worker's */
};

/* Folders that answer to the libomptarget called `name`; `own` is a private folder, used only if
 * needed. Errors: CONFIG. */
omprma_status_t runtime_folders_make(struct runtime_folders *folders, const char *name,
                                     const char *own);
void runtime_folders_clear(struct runtime_folders *folders);

/* The folder with all names that are known, and that for workers; malloced. */
char *runtime_folder_program(void);
char *runtime_folder_worker(void);

/* The library that brings omprma's runtime into programs that others start; malloced. */
char *runtime_preload(void);

#endif
