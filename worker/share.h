/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * share.h: which of a host's slots a program gets, and how many processes follow from it. Only
 * arithmetic: knows no process.
 *
 * Thread: any. Blocks: no.
 */
#ifndef OMPRMA_WORKER_SHARE_H
#define OMPRMA_WORKER_SHARE_H

#include <stdbool.h>

struct share_wish {
    bool split;     /* a part of the slots; else, or where no rank is told, all of them */
    int rank, size; /* of the program among those of its launcher on this host; -1: not told */
    int slots;      /* that the host has */
};

/* Are those of other hosts this program's, too? As long as no launcher has brought programs there,
 * or where its own host has none. */
bool share_reaches_far(const struct share_wish *wish);

/* Is one part of the slots this program's? */
bool share_is_split(const struct share_wish *wish);

/* Writes the program's slots in ascending order to `slots`, which has room for all, and returns how
 * many they are, 1 at least unless there are none. Ranks take turns, so that parts are equal to
 * within one; where there are more ranks than slots each has one, and slots are. */
int share_slots(const struct share_wish *wish, int *slots);

/* How many programs and workers there will be when all ranks of the launcher have come; 0 where no
 * rank is told. */
int share_processes(const struct share_wish *wish);

#endif
