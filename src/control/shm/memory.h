/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * memory.h: memory that processes of one host and user share. One of them makes it; the others open
 * it by what that tells them. It goes when all have closed it. Knows nothing of what it is for.
 *
 * Thread: no shared state. Blocks: never.
 */
#ifndef OMPRMA_CONTROL_SHM_MEMORY_H
#define OMPRMA_CONTROL_SHM_MEMORY_H

#include <stdbool.h>
#include <omprma/omprma.h>

/* What others need to open it. Same layout in all processes of one version. */
struct shm_address {
    int32_t pid, fd;
    uint64_t cookie;
};

/* One process's view of it; all zero: there is none. */
struct shm_memory {
    void *at; /* 64-byte aligned */
    size_t bytes;
    int fd; /* of who made it; -1: another process did */
};

enum shm_pages { SHM_PAGES_NOW, SHM_PAGES_LATER };

/* Makes `bytes` zeros. Pages are there now, or when they are used. Errors: HOST_MEMORY. */
omprma_status_t shm_memory_make(struct shm_memory *memory, const char *name, size_t bytes,
                                enum shm_pages pages, struct shm_address *address);

/* Opens what another process (or this one) has made with so many bytes. False: it is on another
 * host, or cannot be opened. */
bool shm_memory_open(struct shm_memory *memory, const struct shm_address *address, size_t bytes);

/* Unmaps it. Nothing happens if there is none. */
void shm_memory_close(struct shm_memory *memory);

#endif
