/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * placement.h: which cores and memory each worker got, for users. Reads what workers said of
 * themselves.
 *
 * Thread: after start-up, any.
 */
#ifndef OMPRMA_HOST_REPORT_PLACEMENT_H
#define OMPRMA_HOST_REPORT_PLACEMENT_H

#include <stdio.h>

struct runtime;

/* A table with a line per worker, and what holds for cores that nobody uses. */
void placement_print(const struct runtime *runtime, FILE *out);

/* The same as a drawing: for each host its cores, and below them, for each worker, which are its
 * own. */
void placement_draw(const struct runtime *runtime, FILE *out);

/* One line for each host whose workers share cores, unless OMPRMA_BIND=0 asks for that. Says at -v
 * what each worker got. */
void placement_say(const struct runtime *runtime);

#endif
