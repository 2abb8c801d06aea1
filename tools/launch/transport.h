/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * transport.h: what messages of this process travel by, in the words of those that decide it: which
 * parts Open MPI has loaded, and what UCX writes into its log. For omprma-info. Knows no MPI.
 */
#ifndef OMPRMA_LAUNCH_TRANSPORT_H
#define OMPRMA_LAUNCH_TRANSPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "tools/launch/list.h"

struct transport {
    struct list layers;   /* Open MPI's for messages: "ob1", "ucx", "cm" */
    struct list networks; /* below ob1 and cm: "vader", "tcp", "psm2" */
    struct list messages; /* UCX's, with devices: "rc_mlx5/mlx5_0:1", "sysv/memory" */
    struct list one_sided;
    bool without_mpi; /* nothing below it carries messages */
    bool ucx_unknown; /* the user has given UCX's log away */
    int file;         /* UCX's log, in memory, */
    char *log;        /* and its name; NULL: none */
};

/* Has UCX log to a private file; call before MPI starts. */
void transport_watch(struct transport *transport);

/* Reads it, and looks at what is loaded; call when all processes are connected. Passes on what UCX
 * warned of. */
void transport_read(struct transport *transport);

/* One line of the log: takes what it says of transports. False: nothing. */
bool transport_line(struct transport *transport, const char *line);

/* Is this transport of UCX or network of Open MPI one whose hardware reads and writes memory? */
bool transport_is_rdma(const char *name);

/* A few lines: layers, transports with devices, and whether RDMA is used. */
void transport_print(const struct transport *transport, FILE *out);

void transport_clear(struct transport *transport);

#endif
