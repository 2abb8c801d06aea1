/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * handles.h: handles of what is there as long as the process runs. They are numbers that tell what
 * they are of, so that a wrong one is found out; none is 0 or an address. Agent 0 is the host, GPU
 * n is agent n + 1.
 */
#ifndef OMPRMA_HSA_HANDLES_H
#define OMPRMA_HSA_HANDLES_H

#include <stdbool.h>
#include <stdint.h>

enum handle_of {
    HANDLE_OF_AGENT = 0xa6,
    HANDLE_OF_POOL,
    HANDLE_OF_REGION,
    HANDLE_OF_ISA,
    HANDLE_OF_CACHE,
    HANDLE_OF_WAVEFRONT
};

/* `index` counts the agent's things of that kind. */
static inline uint64_t handle_make(enum handle_of of, unsigned agent, unsigned index)
{
    return (uint64_t)of << 32 | (uint64_t)agent << 8 | index;
}

/* False: it is of something else. */
static inline bool handle_read(uint64_t handle, enum handle_of of, unsigned *agent, unsigned *index)
{
    *agent = (unsigned)(handle >> 8 & 0xffffff);
    *index = (unsigned)(handle & 0xff);
    return handle >> 32 == (uint64_t)of;
}

#endif
