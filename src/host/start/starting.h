/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* starting.h: whether the calling thread starts omprma, for omprma_starting(). */
#ifndef OMPRMA_HOST_START_STARTING_H
#define OMPRMA_HOST_START_STARTING_H

#include <stdbool.h>

/* Of the calling thread. Blocks: no. */
void starting_set(bool starting);

#endif
