/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * signal_times.h: whether signals keep when what they stand for began and ended. To read the clock
 * twice takes some per cent of a launch, so they do once a program has asked for times.
 *
 * Thread: any. Blocks: no.
 */
#ifndef OMPRMA_HSA_SIGNAL_TIMES_H
#define OMPRMA_HSA_SIGNAL_TIMES_H

#include <stdbool.h>

/* From now on, of all signals. */
void times_keep(void);

bool times_are_kept(void);

#endif
