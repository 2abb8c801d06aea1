/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * device.h: a device as the application sees it: its memory, its queues, its images, and which way
 * its data goes. The connection to its worker is a peer (peer.h), which it may share with others.
 *
 * Thread: with runtime->lock held.
 */
#ifndef OMPRMA_HOST_CORE_DEVICE_H
#define OMPRMA_HOST_CORE_DEVICE_H

#include "base/error.h"
#include "control/shm/mapped.h"
#include "control/shm/memory.h"
#include "host/core/device_memory.h"
#include "host/core/paths.h"
#include "host/core/peer.h"
#include "host/core/runtime.h"

struct check;
struct image_record;

enum { DEVICE_RELEASED = 16, DEVICE_SHARES_NOT = 1 };

struct device {
    struct runtime *runtime;
    struct peer *peer;
    int number;     /* among all */
    uint16_t index; /* among those of its worker */
    struct world_device about;
    bool native; /* its kernels run on processors of its worker's: no GPU */

    struct slot_pool staging; /* its staging memory, in the worker; none: it can be touched */
    struct slot_pool packing; /* a block of it where runs lie packed; none before the first ones */
    char *packing_here;       /* as much of this process: a slot here for each there */
    struct slot_pool sharing; /* the same in memory of this process that workers of this host share
                               * with it; none before the first ones, nor where they cannot */
    struct shm_memory shared;
    struct shm_address shared_address;
    uint64_t *shared_in; /* by device: where its worker has it; DEVICE_SHARES_NOT: nowhere; 0: it
                          * was not told yet */

    struct device_memory *memory; /* mostly its own; or one that it has in common with others */
    struct device_memory own_memory;
    struct mapped_arenas mapped;
    _Atomic uint32_t unsettled; /* operations of its queues, or that use its memory in others', that
                                 * are not over */
    uint32_t used;              /* of those the latter */

    struct omprma_queue **queues; /* queue number -> queue; never freed before the device */
    uint32_t queue_count, queue_capacity;
    struct omprma_queue *free_queues;
    struct omprma_queue *control; /* number 0: grow, release, load */
    bool commanding;              /* a command is under way on it */

    struct omprma_queue *writers; /* queues with small submits not known to be executed */

    struct paths paths;
    uint64_t allocs, frees;
    struct image_record *images;
    struct check *check; /* NULL: off */

    bool lost;                   /* its peer is */
    omprma_addr_t fault_address; /* that a kernel crashed with, 0: none, or unknown */
    /* Arenas that were given back: the last ones, to tell what an address was. */
    struct {
        omprma_addr_t base;
        uint64_t bytes;
    } released[DEVICE_RELEASED];
    uint32_t released_count;
    char lost_text[ERROR_TEXT_BYTES]; /* why; alone: a kernel crashed, and it refuses everything */
    int lost_code;                    /* of the device's driver for that, 0: none */
};

/* Makes device `index` of a worker from what that said, without queues; frees it. See devices.h.
 * Errors: HOST_MEMORY. */
omprma_status_t device_make(struct peer *peer, int index, const struct world_device *about,
                            struct device **device);
void device_free(struct device *device);

/* Has this process map an arena of the device, too, if there is a file behind it (pid 0: there is
 * none). Where it cannot be, a line says so, and data goes by other paths. */
void device_map(struct device *device, const struct shm_address *file, uint64_t base,
                uint64_t bytes);

/* Device by number, or ARGUMENT. */
omprma_status_t device_find(struct runtime *runtime, int number, struct device **device);

/* The same for a public function, which may be called when omprma is not running: CLOSED. */
omprma_status_t device_require(int number, struct device **device);

/* An empty one, which no device has yet; `whose`: of its error's text. To be closed also after an
 * error. Errors: HOST_MEMORY. */
omprma_status_t device_memory_open(struct device_memory *memory, const char *whose);
void device_memory_close(struct device_memory *memory);

/* Adds a device to those that have the memory. Errors: HOST_MEMORY. */
omprma_status_t device_memory_add(struct device_memory *memory, struct device *device);

/* allocator_classify() for the device's memory. */
enum allocator_range device_classify(struct device *device, omprma_addr_t address, uint64_t bytes,
                                     omprma_addr_t *block, uint64_t *block_bytes);

/* True if the block that begins there was freed, but is not given back yet. With the memory's lock
 * held.
 */
bool device_has_retired(const struct device *device, omprma_addr_t block);

/* A queue of the device has failed because a kernel crashed there. */
void device_note_crash(struct device *device, int code, const char *text);

/* False if the device is lost or a kernel is known to have crashed there. */
static inline bool device_is_well(const struct device *device)
{
    return !device->lost_text[0];
}

/* DEVICE_LOST, and why, if the device is lost or a kernel is known to have crashed there. */
omprma_status_t device_check_alive(const struct device *device);

/* True if its memory cannot be touched: data stops in staging memory on its way (staged.c). */
static inline bool device_is_staged(const struct device *device)
{
    return device->staging.count > 0;
}

/* True if puts and gets reach its arenas, or its staging memory. */
static inline bool device_is_one_sided(const struct device *device)
{
    return device->runtime->one_sided && !device->about.apart &&
           (device->about.one_sided || device_is_staged(device));
}

/* True if the driver of a GPU chooses where its arenas are, and this process can have something
 * else there. */
static inline bool device_has_driver(const struct device *device)
{
    return !device->native && !world_is_one_process(&device->runtime->world);
}

/* True if both are the same kind of device: what one can do the other can. */
bool device_is_same_kind(const struct device *a, const struct device *b);

/* True if one device's figures hold for the other: the same kind of device on the same host. */
bool device_is_like(const struct device *a, const struct device *b);

/* "device 2 (node7)" in static storage of the calling thread. */
const char *device_name(const struct device *device);

#endif
