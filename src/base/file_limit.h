/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * file_limit.h: how large files of this process may become, also those in memory. A process that
 * makes a larger one is killed.
 *
 * Thread: no shared state. Blocks: never.
 */
#ifndef OMPRMA_BASE_FILE_LIMIT_H
#define OMPRMA_BASE_FILE_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

static inline bool file_may_have(size_t bytes)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || bytes <= limit.rlim_cur;
}

#endif
