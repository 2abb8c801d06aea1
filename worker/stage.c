/*
 * stage.c: memory that small reads of devices which cannot be touched go to, on their way into the
 * answer. Its pages are locked by the device's driver: a copy to others may keep the caller until
 * all before it in the device's queue is over. See session.h.
 */
#define _GNU_SOURCE
#include "worker/session.h"

#include <stdlib.h>
#include <sys/mman.h>

enum {
    BLOCK_BYTES = 16 << 10, /* no message brings more, but on request */
    BLOCKS = 16             /* that are made at a time */
};

struct stage_slab {
    struct stage_slab *next;
    struct worker_device *device; /* which has locked it, for all devices of its kind */
    char *memory;
};

struct stage_block {
    struct stage_block *next;
};

static bool add_slab(struct session *session, struct worker_device *device)
{
    struct stage_slab *slab = malloc(sizeof(*slab));
    char *memory;

    if (!slab)
        return false;
    memory = mmap(NULL, BLOCKS * BLOCK_BYTES, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) {
        free(slab);
        return false;
    }
    if (device->backend->pin)
        device->backend->pin(device, memory, BLOCKS * BLOCK_BYTES);
    *slab = (struct stage_slab){session->stage_slabs, device, memory};
    session->stage_slabs = slab;
    for (int i = 0; i < BLOCKS; i++)
        stage_give(session, memory + i * BLOCK_BYTES, BLOCK_BYTES);
    return true;
}

void *stage_take(struct session *session, struct worker_device *device, uint64_t bytes)
{
    struct stage_block *block;

    if (bytes > BLOCK_BYTES)
        return malloc(bytes);
    if (!session->spare_stages && !add_slab(session, device))
        return NULL;
    block = session->spare_stages;
    session->spare_stages = block->next;
    return block;
}

void stage_give(struct session *session, void *stage, uint64_t bytes)
{
    struct stage_block *block = stage;

    if (bytes > BLOCK_BYTES) {
        free(stage);
        return;
    }
    block->next = session->spare_stages;
    session->spare_stages = block;
}

void stage_free_all(struct session *session)
{
    session->spare_stages = NULL;
    while (session->stage_slabs) {
        struct stage_slab *slab = session->stage_slabs;
        struct worker_device *device = slab->device;

        session->stage_slabs = slab->next;
        if (device->backend->unpin && !device->lost)
            device->backend->unpin(device, slab->memory);
        munmap(slab->memory, BLOCKS * BLOCK_BYTES);
        free(slab);
    }
}
