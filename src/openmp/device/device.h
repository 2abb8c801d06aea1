/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * device.h: what the program sees as a device: its number, and a space, the table of what is mapped
 * there; and what regions needed the last time. The worker that serves it is its site. With
 * placement (place/placement.h) several devices have one space, and the program sees the first.
 *
 * Thread: see the fields.
 */
#ifndef OMPRMA_OPENMP_DEVICE_DEVICE_H
#define OMPRMA_OPENMP_DEVICE_DEVICE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <omprma/omprma.h>

#include "openmp/abi/abi.h"
#include "openmp/device/mapping.h"
#include "openmp/device/suballoc.h"
#include "openmp/site/site.h"

struct device;

enum {
    PLANS = 16,
    PLAN_RANGES = 64,
    SITES_MOST = 64 /* of one space */
};

/* What a region needed the last time: its kernel, while nothing was registered or removed since,
 * and the ranges of its list, which are asked whether they are still what it needs. */
struct plan {
    const void *host_id;
    unsigned long changes; /* of the registry until then */
    omprma_addr_t kernel;  /* 0: there is none, or nothing was looked up */
    const char *name;
    bool has_leading, as_on_gpus;        /* see struct entry */
    const struct location *caller;       /* whose it is alone; NULL: everybody's */
    struct mapped *entered[PLAN_RANGES]; /* by each item; of a longer list none */
};

/* What is mapped, and memory for it. */
struct space {
    pthread_mutex_t lock; /* guards the table, its memory, and of its devices works and plans */
    struct mapping mapping;
    struct mapping blocks; /* of omp_target_alloc, by their own addresses, see allocated.h; */
    struct mapped freed;   /* stands for those that works under way use, and that are gone */
    struct suballocator memory;
    uint64_t works;   /* numbers given to works so far */
    int sites;        /* how many serve it; where several do, they are all that there are */
    bool has_pending; /* some ranges were lost, and can be computed again */
    /* Set with the first region that is noted for that, see place/recompute.h. The caller holds the
     * lock. The first one says whether this range can be; the second one is recompute_lost(), the
     * third one lineage_done(). */
    bool (*can_recompute)(struct space *space, struct mapped *lost);
    bool (*recompute)(struct device *device, const struct location *where);
    void (*region_done)(uint64_t work);
};

struct device {
    int number; /* the program's */
    struct space *space;
    struct work *free_works;
    struct plan plans[PLANS];
    struct site site; /* that serves it */
};

/* The program sees it; others serve the space of one that it sees. */
static inline bool device_is_seen(const struct device *device)
{
    return device->site.index == device->number;
}

/* The run goes on without it. */
static inline bool device_is_lost(const struct device *device)
{
    return site_is_lost(&device->site);
}

#endif
