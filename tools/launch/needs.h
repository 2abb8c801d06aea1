/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * needs.h: what an executable file needs before it can run: is it an ELF program, which shared
 * libraries does the loader give it, which compiler made it. Knows nothing of offloading.
 */
#ifndef OMPRMA_LAUNCH_NEEDS_H
#define OMPRMA_LAUNCH_NEEDS_H

#include <stdbool.h>

#include <omprma/omprma.h>

#include "tools/launch/list.h"

enum program_kind {
    PROGRAM_OTHER,  /* a script, or anything that is no ELF file */
    PROGRAM_STATIC, /* ELF without a loader */
    PROGRAM_DYNAMIC /* ELF with a loader */
};

struct needs {
    enum program_kind kind;
    char *loader;          /* PROGRAM_DYNAMIC: its interpreter */
    struct list libraries; /* names as the loader lists them, direct and indirect */
    struct list paths;     /* for each the file that the loader takes, "" where it finds none */
    struct list origins;   /* folders of its rpath that begin with $ORIGIN, in full */
    bool uses_mpi;         /* it calls MPI_Init */
    bool starts_mpi;       /* the same, without asking MPI_Initialized */
    bool starts_others;    /* it calls a function that runs another program */
    bool loads_later;      /* it calls dlopen, or is an interpreter, which does */
    int clang;             /* major version of the clang that compiled it, 0: not known */
};

/* Looks at the file, and lets the loader resolve its libraries under `environment` (the program
 * itself does not run). Errors: CONFIG (cannot be read, damaged). */
omprma_status_t needs_read(struct needs *needs, const char *program,
                           const struct list *environment);

/* Index of the first library whose name starts with `prefix`; -1: none. */
int needs_find(const struct needs *needs, const char *prefix);

void needs_clear(struct needs *needs);

#endif
