/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * llvm.h: which LLVM a program was made with, and how its target regions come to omprma. Knows
 * nothing of MPI. There are two ways:
 *
 * omprma's own runtime stands in for libomptarget: its name leads to ours (runtime_folder.h). This
 * works for every LLVM, and is what programs get that do not ask for the other.
 *
 * LLVM's libomptarget, 13 to 18, loads our plugin instead of its own (later ones load none from
 * outside): libomptarget 13 and 14 look for plugins along the loader's search path, 15 and later
 * only in the folder that they were loaded from themselves. So the program is started with a folder
 * in front of its LD_LIBRARY_PATH that holds the plugin and a link to the very libomptarget it
 * would use. lib/omprma/llvm-NN are such folders, made at build time; when they do not fit (another
 * LLVM in another place), one is made for this run.
 *
 * Code for GPUs needs neither: LLVM's own plugins for them (from 19 on parts of libomptarget),
 * gcc's libgomp and plain programs all open the library of that kind of GPU, and find omprma's
 * under its name (gpu_folder.h). A program that has code for this kind of machine, too, by LLVM up
 * to 18, gets LLVM's plugin and ours side by side. Sets of kinds of GPU are bits, see
 * base/gpu_library.h.
 */
#ifndef OMPRMA_LAUNCH_LLVM_H
#define OMPRMA_LAUNCH_LLVM_H

#include <stdbool.h>

#include <omprma/omprma.h>

#include "tools/launch/list.h"

enum { LLVM_OLDEST = 13, LLVM_NEWEST = 18 }; /* that can load a plugin */
enum { LLVM_FUTURE = 30 };                   /* libomp is looked for up to here */

struct llvm_plan {
    int version;          /* major; 0: not known (a script), all versions are prepared */
    char *program_path;   /* goes in front of the program's LD_LIBRARY_PATH */
    char *worker_path;    /* goes in front of a worker's LD_LIBRARY_PATH; "" for nothing */
    char *preload;        /* goes in front of the program's LD_PRELOAD; NULL: nothing */
    char *passed_path;    /* the same for what the program starts once it is connected, */
    char *passed_preload; /* so that this finds omprma's runtime, too; NULL: nothing */
    int at;               /* the program's index in the command's arguments; 0: it is the command */
    bool several;         /* the command is a shell or the like: it may start others, too */
    int gpus;             /* kinds of GPU that the program wants: it gets omprma's libraries */
    bool llvm;            /* no runtime of omprma's serves the program, but LLVM's, if any */
    bool offloads;        /* the program itself does, and not only one that it starts or loads */
    bool uses_mpi;        /* it calls MPI_Init */
    bool starts_mpi;      /* the same, whoever else has called it */
    bool keeps_sources;   /* it is OpenMP or OpenACC: what it copies from stays as it is */
};

/*
 * Decides for `command` (a path), or for the program that it starts, where one stands among its
 * arguments, as behind env and mpirun. `wanted` is "auto", a major version, or a folder with LLVM's
 * libraries; `runtime` an enum config_runtime. `folder` is a private folder in which links may be
 * made; it is used only if needed. A program that calls libomprma.so itself needs none of that.
 * `gpus`: kinds that it wants although nothing in it says so. `starts`: it may be one that only
 * starts programs with target regions, unless it surely starts none. Errors: CONFIG; the text says
 * what is missing and what to install or to set.
 */
omprma_status_t llvm_plan_make(struct llvm_plan *plan, const char *command, char **argv,
                               const char *wanted, int runtime, int gpus, bool starts,
                               const char *folder);

/* Index of the first program behind argv[0] that may have target regions; 0: none is seen. */
int llvm_find_program(char **argv);

/* The same as llvm_plan_make() for a process of ours that uses no libomptarget: only worker_path is
 * set. */
omprma_status_t llvm_plan_workers(struct llvm_plan *plan, const char *wanted);

void llvm_plan_clear(struct llvm_plan *plan);

/* "14.so", "16" ...: the major version in a libomptarget name; 0: none in it. */
int llvm_soname_version(const char *name);

/* The LLVM library folders that are found, newest first, for workers and for omprma-info. */
void llvm_folders(struct list *folders);

/* The same of what is to be preloaded: ours before the user's, because ours is asked before libomp,
 * but for those of the user's that must be first. */
char *preload_join(const char *ours, const char *users);

/* Where this process belongs to a script of another run: takes out of the environment what that has
 * put there for programs of the script. */
void llvm_forget_outer(void);

#endif
