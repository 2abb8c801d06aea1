/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * memory.h: memory of the program is looked at before it is copied, so that a wrong address is an
 * error of the call that was given it.
 *
 * Thread: any. Blocks: no.
 */
#ifndef OMPRMA_HOST_CALLS_MEMORY_H
#define OMPRMA_HOST_CALLS_MEMORY_H

#include <omprma/omprma.h>

#include "base/shape.h"

struct device;

/* `device`: the error names it, unless NULL. `write`: it receives data. What is small is copied by
 * ourselves, and looked at as pages were when they were last used. Errors: ARGUMENT. */
omprma_status_t memory_check(const struct device *device, const void *at, uint64_t bytes,
                             bool write);

/* The same, of any size, of what this process copies by itself, which ends like any other use of a
 * wrong address where pages that were granted before are gone. */
omprma_status_t memory_check_known(const struct device *device, const void *at, uint64_t bytes,
                                   bool write);

/* The same of what is handed to MPI, however little it is. */
omprma_status_t memory_check_now(const struct device *device, const void *at, uint64_t bytes,
                                 bool write);

/* The same of all runs. */
omprma_status_t memory_check_runs(const struct device *device, const void *at,
                                  const struct shape *shape, bool write);

#endif
