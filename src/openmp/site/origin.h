/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * origin.h: OMPRMA_CHECK=full: what omprma is told of the source that device memory comes from.
 * Nothing but a look at a flag when it is off.
 *
 * Thread: any. Blocks: no.
 */
#ifndef OMPRMA_OPENMP_SITE_ORIGIN_H
#define OMPRMA_OPENMP_SITE_ORIGIN_H

#include <stdbool.h>

#include <omprma_private/check.h>

#include "openmp/abi/abi.h"

/* Each mapped range has a block of its own then, so that what is written beside it shows. */
extern bool origin_wanted;

/* omprma has started. */
void origin_open(void);

void origin_say_wanted(const struct location *where, const char *map_name);

/* Before the next allocation or freeing: the construct and the name of a map, either may be NULL.
 */
static inline void origin_say(const struct location *where, const char *map_name)
{
    if (origin_wanted)
        origin_say_wanted(where, map_name);
}

/* The program is in a call that returns to `code`; NULL: in none any more. */
static inline void origin_call(const void *code)
{
    if (origin_wanted)
        omprma_check_caller(code);
}

#endif
