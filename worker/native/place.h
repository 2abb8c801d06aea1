/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * place.h: where a worker and each of its devices run, by hwloc: which cores it may use beside the
 * other workers of its host, which NUMA node its memory comes from, how its lanes divide its cores,
 * and what the machine is called. Knows nothing of MPI; fixtures (hwloc XML or synthetic
 * topologies) drive it in tests.
 *
 * Thread: place_apply_lane() by each lane itself, the rest by the main thread at start-up.
 */
#ifndef OMPRMA_WORKER_PLACE_H
#define OMPRMA_WORKER_PLACE_H

#include <stdbool.h>
#include <omprma/omprma.h>

#include "control/shm/memory.h"

struct place;

struct place_description {
    char cpu[96];          /* processor model */
    int cores;             /* processing units of this worker's share (at least 1) */
    int all_cores;         /* and of all workers that share with it */
    char cpus[64];         /* its share as a list, "0-3,8", cut where it is longer */
    int numa_node;         /* os index of its memory's node, -1: several or unknown */
    uint64_t memory_bytes; /* free memory of the host now: MemAvailable, cgroup limits considered */
    bool shared;           /* more workers than cores: cores are shared, nothing is bound */
};

struct place_wish {
    int index, count; /* this worker among those that may run on the same cpus */
    int lanes;
    int cores;    /* that each worker gets, with all their processing units; 0: equal shares */
    bool by_numa; /* workers that follow each other are on different NUMA nodes */
};

/* Loads the topology (`synthetic` NULL: this machine, else an hwloc synthetic description or the
 * path of an XML file) restricted to the allowed cpus, and computes the worker's share, by whole
 * cores, NUMA nodes not crossed where possible. Errors: CONFIG (there are not so many cores),
 * ARGUMENT, HOST_MEMORY. */
omprma_status_t place_create(const char *synthetic, const struct place_wish *wish,
                             struct place **place);
void place_destroy(struct place *place);

/* NUMA nodes that the share touches, at least 1. */
int place_nodes(const struct place *place);

/* The share of device `index` of `count`: a part of its worker's, which must outlive it, by the
 * same rules. Errors: ARGUMENT, HOST_MEMORY. */
omprma_status_t place_part(const struct place *whole, int index, int count, struct place **part);

/* What a worker may use when it is number `index` of `count` that divide the cores of all, by the
 * same rules; `whole` must outlive it. Errors: ARGUMENT, HOST_MEMORY. */
omprma_status_t place_now(const struct place *whole, int index, int count, struct place **now);

const struct place_description *place_describe(const struct place *place);

/* Binds all threads of the calling process to the share (unless shared). */
void place_bind(const struct place *place);

/* Threads for a kernel of one lane of one of its devices, at least 1. */
int place_threads(const struct place *place, int devices);

/* Sets OMP_NUM_THREADS, KMP_BLOCKTIME and OMP_TARGET_OFFLOAD=disabled in the environment for the
 * images' libomp, which reads it when it starts, unless the user set OMP_NUM_THREADS /
 * KMP_BLOCKTIME / OMP_WAIT_POLICY himself: *threads is 0 then. Where the worker has a part of the
 * processors only, the user's lists of them are taken out. May be called again with another
 * number. */
omprma_status_t place_environment(const struct place *place, int *threads);

/* Binds the calling thread to lane `lane`'s part of the share, if that is not all of the worker's.
 */
omprma_status_t place_apply_lane(const struct place *place, int lane);

/* The cpus of one lane as an hwloc list string, for tests and omprma-info. */
void place_lane_list(const struct place *place, int lane, char *text, size_t bytes);

/* The file behind an arena that another process of the host may map. */
struct place_file {
    int fd; /* -1: there is none */
    struct shm_address address;
};

/* Where memory for an arena is to be, and how. */
struct place_memory {
    bool huge_pages;         /* are advised */
    const void *below;       /* where it ends at the latest; NULL: anywhere */
    void *wish;              /* where it begins; NULL: anywhere */
    struct place_file *file; /* what lies behind it is noted there; NULL: nothing does */
};

/* Memory for an arena: mmap'd, on the share's NUMA node, one extra page beyond `bytes` (see quirk
 * "end of region"). Where no file can be had, it does without, and a line says so. Errors: ADDRESS
 * (it cannot begin there), DEVICE_MEMORY. */
omprma_status_t place_map(const struct place *place, uint64_t bytes,
                          const struct place_memory *where, void **base);
void place_unmap(void *base, uint64_t bytes, const struct place_file *file); /* NULL: none */

#endif
