/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* reserve.c: address space that becomes memory from the front. */
#include "host/memory/reserve.h"

#include <sys/mman.h>

/* One system call per step: large enough to be rare, small enough not to look like a leak. */
enum { PAGE = 4096, STEP_BYTES = 1 << 20 };

bool reserve_open(struct reserve *reserve, size_t bytes, bool sparse)
{
    bytes = (bytes + PAGE - 1) & ~(size_t)(PAGE - 1);
    void *base = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return false;
    if (sparse)
        madvise(base, bytes, MADV_NOHUGEPAGE); /* a kernel without huge pages refuses: fine */
    *reserve = (struct reserve){.base = base, .bytes = bytes};
    return true;
}

void reserve_close(struct reserve *reserve)
{
    if (reserve->base)
        munmap(reserve->base, reserve->bytes);
    *reserve = (struct reserve){0};
}

bool reserve_grow(struct reserve *reserve, size_t bytes)
{
    if (bytes <= reserve->ready)
        return true;
    if (bytes > reserve->bytes)
        return false;
    size_t goal = (bytes + STEP_BYTES - 1) & ~(size_t)(STEP_BYTES - 1);
    if (goal > reserve->bytes)
        goal = reserve->bytes;
    if (mprotect((char *)reserve->base + reserve->ready, goal - reserve->ready,
                 PROT_READ | PROT_WRITE) != 0)
        return false;
    reserve->ready = goal;
    return true;
}
