/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * bounce.c: memory of this process that commands take for themselves: for small reads on their way
 * into the answer, copies through the worker, images that are loaded. Where a device's driver can
 * lock pages, small ones come in blocks of a slab that it has locked: a copy to other memory may
 * keep the caller until all before it in the device's queue is over. Everything else is of the
 * heap.
 */
#define _GNU_SOURCE
#include "worker/session.h"

#include <stdlib.h>
#include <sys/mman.h>

enum {
    BLOCK_BYTES = 16 << 10, /* no message brings more, but on request */
    SLAB_BYTES = 16 * BLOCK_BYTES
};

struct bounce_slab {
    struct bounce_slab *next;
    struct worker_device *device; /* which has locked it, for all devices of its kind */
    char *memory;
};

struct bounce_block {
    struct bounce_block *next;
};

static void add_block(struct session *session, void *memory)
{
    struct bounce_block *block = memory;

    block->next = session->spare_bounces;
    session->spare_bounces = block;
}

static bool add_slab(struct session *session, struct worker_device *device)
{
    struct bounce_slab *slab = malloc(sizeof(*slab));
    char *memory;

    if (!slab)
        return false;
    memory = mmap(NULL, SLAB_BYTES, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) {
        free(slab);
        return false;
    }
    device->backend->pin(device, memory, SLAB_BYTES);
    *slab = (struct bounce_slab){session->bounce_slabs, device, memory};
    session->bounce_slabs = slab;
    for (int at = 0; at < SLAB_BYTES; at += BLOCK_BYTES)
        add_block(session, memory + at);
    return true;
}

void *bounce_take(struct session *session, struct worker_device *device, uint64_t bytes)
{
    struct bounce_block *block;

    if (bytes > BLOCK_BYTES || !device->backend->pin)
        return malloc(bytes);
    if (!session->spare_bounces && !add_slab(session, device))
        return NULL;
    block = session->spare_bounces;
    session->spare_bounces = block->next;
    return block;
}

void bounce_give(struct session *session, void *memory)
{
    const struct bounce_slab *slab = session->bounce_slabs;

    while (slab && (uintptr_t)memory - (uintptr_t)slab->memory >= SLAB_BYTES)
        slab = slab->next;
    if (slab)
        add_block(session, memory);
    else
        free(memory);
}

void bounce_free_all(struct session *session)
{
    session->spare_bounces = NULL;
    while (session->bounce_slabs) {
        struct bounce_slab *slab = session->bounce_slabs;
        struct worker_device *device = slab->device;

        session->bounce_slabs = slab->next;
        if (device->backend->unpin && !device->lost)
            device->backend->unpin(device, slab->memory);
        munmap(slab->memory, SLAB_BYTES);
        free(slab);
    }
}
