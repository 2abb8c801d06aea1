/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * kept.h: clang lets a target update of parts that are not contiguous point to their dimensions on
 * its maker's stack. With nowait the task may run when the maker has others there. So what may be
 * dimensions is kept with the task when it is made; only an update that comes to such an address
 * takes them from there.
 *
 * Thread: any function from any thread. Blocks: no. Errors: without memory the process ends, after
 * a line.
 */
#ifndef OMPRMA_OPENMP_RUN_KEPT_H
#define OMPRMA_OPENMP_RUN_KEPT_H

#include <stddef.h>

#include "openmp/abi/abi.h"
#include "openmp/abi/libomp.h"

struct kept;

/* Of what words of a task of the compiler's, whose memory ends with what it shares, point to on the
 * calling thread's stack; NULL: of nothing. */
struct kept *kept_make(const struct task *task, size_t shared_bytes);
void kept_free(struct kept *kept);

/* What the calling thread does from now on belongs to a task with these. Returns those of before.
 */
const struct kept *kept_use(const struct kept *kept);

/* The dimensions at an address, as they were when the task was made. */
const struct dimension *kept_dimensions(const struct dimension *at, int count);

#endif
