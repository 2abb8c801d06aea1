/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * signals.h: the signals that a launcher takes from a file descriptor instead of handlers. Knows
 * nothing of what is done with them.
 */
#ifndef OMPRMA_LAUNCH_SIGNALS_H
#define OMPRMA_LAUNCH_SIGNALS_H

/* Blocks them; those that were ignored stay ignored. */
void signals_block(void);

/* A descriptor that they can be read from; -1 on failure. */
int signals_open(void);

/* Ends this process by the signal, without a core file. */
void signals_raise(int number);

#endif
