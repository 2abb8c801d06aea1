/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* traced.h: is a process of this host held by a debugger, or by another that traces it? */
#ifndef OMPRMA_BASE_TRACED_H
#define OMPRMA_BASE_TRACED_H

#include <stdbool.h>
#include <sys/types.h>

/* Any thread. Blocks: no; reads a file of /proc. False where it cannot be known. */
bool process_is_traced(pid_t pid);

#endif
