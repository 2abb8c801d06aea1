/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * describe.h: what omprma-info prints about a running connection.
 */
#ifndef OMPRMA_HOST_REPORT_DESCRIBE_H
#define OMPRMA_HOST_REPORT_DESCRIBE_H

#include <stdio.h>

/* Quirks applied, measured latency and bandwidth per path, paths chosen. Between omprma_init() and
 * omprma_finalize(). Blocks: no. */
void runtime_describe(FILE *out);

/* Hosts, workers and cores, as a drawing. The same is true. */
void runtime_draw(FILE *out);

#endif
