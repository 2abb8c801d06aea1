/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * descendants.h: ends the processes that others have left to this one, which is their subreaper
 * (PR_SET_CHILD_SUBREAPER).
 */
#ifndef OMPRMA_BASE_DESCENDANTS_H
#define OMPRMA_BASE_DESCENDANTS_H

/* Kills and reaps all children, and those who become children thereby. Without other threads.
 * Blocks: until there are none, for 1 s at most. */
void descendants_kill(void);

#endif
