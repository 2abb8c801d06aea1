/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ranges.h: names of hosts in the short form of batch systems: "node[1-3,07]" is node1, node2,
 * node3 and node07. Knows nothing of hosts.
 *
 * Thread: no shared state. Blocks: no.
 */
#ifndef OMPRMA_LAUNCH_RANGES_H
#define OMPRMA_LAUNCH_RANGES_H

#include <stdbool.h>

#include "tools/launch/list.h"

enum { RANGES_MOST = 4096 }; /* names of one word */

/* Adds each name that `word` stands for; without brackets that is the word itself. Several pairs of
 * brackets are all their combinations, and numbers keep the zeros before them. False: it is not of
 * that form, or more than RANGES_MOST; the list then has some of them. */
bool ranges_expand(const char *word, struct list *names);

/* The next item of a list with commas, but for those in brackets, as strsep() does: NULL at its
 * end. */
char *ranges_next(char **rest);

#endif
