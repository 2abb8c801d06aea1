/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * reserve.h: addresses of this process that nothing else is to get. Without code of its own, so
 * that whatever is linked with the C library alone can have it.
 *
 * Thread: any. Blocks: no.
 */
#ifndef OMPRMA_BASE_RESERVE_H
#define OMPRMA_BASE_RESERVE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* Maps whole pages there, without access and without memory; munmap() gives them back. False, and
 * errno says why; EEXIST: something is there. Kernels that do not know the flag (before 4.17) take
 * the address for a hint: then the mapping is elsewhere, and goes. */
static inline bool reserve_addresses(uintptr_t begin, size_t bytes)
{
    void *wish = (void *)begin; // NOLINT(performance-no-int-to-ptr)
    void *at = mmap(wish, bytes, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

    if (at == MAP_FAILED || at == wish)
        return at == wish;
    munmap(at, bytes);
    errno = EEXIST;
    return false;
}

#endif
