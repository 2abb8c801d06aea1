/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * request.h: a run as the user asks for it. Options and batch systems fill it; launch.h runs it.
 */
#ifndef OMPRMA_LAUNCH_REQUEST_H
#define OMPRMA_LAUNCH_REQUEST_H

#include <stdbool.h>

#include "tools/launch/hosts.h"
#include "tools/launch/list.h"

struct launch {
    int workers;          /* 0: one per slot of `hosts`, 1 without hosts */
    int per_host;         /* --workers-per-host; 0: not given */
    struct hosts hosts;   /* empty: workers run on this host */
    bool slurm;           /* inside a Slurm job: other hosts are reached by srun */
    const char *llvm;     /* "auto", a version or a folder */
    int runtime;          /* enum config_runtime */
    bool by_node;         /* OMPRMA_MAP_BY: workers that follow each other go to different hosts */
    bool continues;       /* OMPRMA_ON_LOSS: the run goes on when a worker is lost */
    bool places;          /* OMPRMA_PLACEMENT: the runtime chooses workers */
    struct list mpi_args; /* more arguments for mpirun */
    struct list exports;  /* names of more variables for workers on other hosts */
    char **argv;          /* the program and its arguments; NULL-terminated */
    int gpus;             /* kinds of GPU that the program wants, whatever can be seen in it */
    const char *gpus_by;  /* the option that has said so */
    int transport;        /* enum config_transport */
    bool offloading;      /* find libomptarget and make it load the plugin */
    bool tags_output;     /* OMPRMA_TAG_OUTPUT: lines say who has printed them */
    bool dry_run;         /* only print command lines that do the same */
};

#endif
