/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* wrap.h: what can be known of OMPRMA_WRAP before workers run. What it does is worker/wrap.h's. */
#ifndef OMPRMA_LAUNCH_WRAP_H
#define OMPRMA_LAUNCH_WRAP_H

#include <stdbool.h>

#include <omprma/omprma.h>

/* Do OMPRMA_WRAP and OMPRMA_WRAP_WORKERS make sense for so many workers, and, where all of them are
 * `here`, is there such a command? Warns of a list without a command. Errors: CONFIG. */
omprma_status_t wrap_check(bool here, int workers);

#endif
