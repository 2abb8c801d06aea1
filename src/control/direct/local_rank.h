/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * local_rank.h: which of a launcher's processes of this host this one is, as launchers tell it in
 * the environment. Knows nothing of what follows from it.
 */
#ifndef OMPRMA_CONTROL_DIRECT_LOCAL_RANK_H
#define OMPRMA_CONTROL_DIRECT_LOCAL_RANK_H

#include <stdbool.h>

struct local_rank {
    int rank, size;       /* 0 <= rank < size; -1 and -1: no launcher tells it */
    const char *variable; /* that tells the rank; NULL: none */
};

/* Looks at this process's environment. The innermost launcher's word is taken, which is that of the
 * first row of the table in local_rank.c. Numbers that make no sense tell nothing.
 * Thread: any, while nobody changes the environment. Blocks: no. */
struct local_rank local_rank_find(void);

/* Which of all of the launcher's processes this one is, in the same way; -1: none tells it. */
int rank_find(void);

#endif
