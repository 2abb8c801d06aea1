/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * describe.h: what omprma-info prints about a running connection.
 */
#ifndef OMPRMA_HOST_REPORT_DESCRIBE_H
#define OMPRMA_HOST_REPORT_DESCRIBE_H

#include <stdio.h>

/* By what messages and data go. Texts belong to the connection. */
struct described {
    const char *control, *data; /* messages that control workers; data, and why */
    const char *between_hosts;  /* data there; "": as `data` says, or there is one host */
    const char *component;      /* of MPI, for one-sided data; "none" without a window */
};

/* Fills it between omprma_init() and omprma_finalize(). Blocks: no. */
void runtime_described(struct described *described);

/* What start-up has measured of a path: `us` + `us_per_kib` for each KiB; 0: the same for any size.
 */
struct described_cost {
    int device; /* devices of one host that are alike stand for each other: the first of them */
    const char *direction, *path;
    double us, us_per_kib, spread;
    int samples;
};

/* Calls `each` for every one. The same is true. */
void runtime_costs(void (*each)(void *data, const struct described_cost *cost), void *data);

/* The defects of the MPI library on which something depends, one a line. The same is true. */
void runtime_quirks(FILE *out);

/* Placement, quirks applied, measured latency and bandwidth per path, paths chosen. The same is
 * true. */
void runtime_describe(FILE *out);

/* Hosts, workers and cores, as a drawing. The same is true. */
void runtime_draw(FILE *out);

#endif
