/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* reach.h: at start-up, whether workers of this host can read and write the program's memory. */
#ifndef OMPRMA_HOST_START_REACH_H
#define OMPRMA_HOST_START_REACH_H

#include "host/core/runtime.h"

/* Fills peer->reaches, by a trial of each worker; a line for users says where one cannot. Only
 * where the choice of ways is free. Errors: those of a lost device, HOST_MEMORY. */
omprma_status_t reach_try(struct runtime *runtime);

#endif
