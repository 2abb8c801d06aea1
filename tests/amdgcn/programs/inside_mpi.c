/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * inside_mpi.c: put before MPI; its start looks for AMD GPUs as UCX's module for ROCm does, which
 * newer MPI libraries open. It must be told that there is none, by the library that starts MPI.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

enum { OUT_OF_RESOURCES = 0x1008 };

int MPI_Init_thread(int *count, char ***words, int wanted, int *given);

int MPI_Init_thread(int *count, char ***words, int wanted, int *given)
{
    int (*next)(int *, char ***, int, int *), (*init)(void);

    *(void **)&next = dlsym(RTLD_NEXT, "MPI_Init_thread");
    *(void **)&init = dlsym(RTLD_DEFAULT, "hsa_init");
    if (init)
        fprintf(stderr, "inside MPI: %s\n", init() == OUT_OF_RESOURCES ? "no GPU" : "a GPU");
    return next(count, words, wanted, given);
}
