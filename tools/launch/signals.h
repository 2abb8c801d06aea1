/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * signals.h: the signals that omprma-run takes from a file descriptor instead of handlers. Knows
 * nothing of what is done with them.
 */
#ifndef OMPRMA_LAUNCH_SIGNALS_H
#define OMPRMA_LAUNCH_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/signalfd.h>

/* Blocks them; those that were ignored stay ignored. */
void signals_block(void);

/* A descriptor that they can be read from; -1 on failure. */
int signals_open(void);

/* Is it one that ends processes that do not expect it? */
bool signals_deadly(int number);

/* What the program, which runs in the same process group, is to get for one that has come here; 0:
 * nothing, it has it already. The second SIGTERM some time after the first insists, and becomes
 * SIGKILL. `*term_ns` is when the first came, 0 at first. */
int signals_pass(const struct signalfd_siginfo *info, int64_t *term_ns);

/* Ends this process by the signal, without a core file. */
void signals_raise(int number);

#endif
