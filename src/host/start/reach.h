/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* reach.h: at start-up, whether the kernel copies to and from the memory of workers of this host,
 * and whether what is mapped of it here is that. */
#ifndef OMPRMA_HOST_START_REACH_H
#define OMPRMA_HOST_START_REACH_H

#include "host/core/runtime.h"

/* Makes peer->local and paths.shared where known data goes there and back; with -v a line says
 * where it does not. Only where the choice of ways is free. Errors: those of a lost device,
 * HOST_MEMORY. */
omprma_status_t reach_try(struct runtime *runtime);

#endif
