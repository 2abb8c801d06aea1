/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * sleeper.h: threads that wait for values of signals.
 *
 * Thread: any. Blocks: sleeper_rest() for the time that it is given, at most.
 */
#ifndef OMPRMA_HSA_SLEEPER_H
#define OMPRMA_HSA_SLEEPER_H

#include <stdint.h>

/* One wait. */
struct sleeper {
    int64_t begun_ns;
    uint32_t seen; /* changes before the last look at the values */
};

void sleeper_begin(struct sleeper *sleeper);

/* Before each look at the values. */
void sleeper_look(struct sleeper *sleeper);

/* After a look that was in vain: makes progress, and, the longer it takes, gives the processor
 * away, or sleeps until a value has changed or something has come in, at most `ns`. */
void sleeper_rest(struct sleeper *sleeper, int64_t ns);

/* A value has changed. */
void sleepers_wake(void);

/* Takes what has come in from workers, if omprma runs. */
void sleeper_progress(void);

#endif
