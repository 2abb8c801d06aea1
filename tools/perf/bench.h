/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * bench.h: a running measurement: connection, buffers, kernels, and how each operation is done and
 * timed on each path.
 *
 * - bench.c: start, end, choice of the path
 * - raw.c: bare MPI between the same pair of processes
 * - cuda.c: kernels for NVIDIA GPUs, and the CUDA driver, called from here
 * - ways.c: our own interface
 * - broadcast.c: the same data to all devices
 * - turns.c: takes turns between the paths of one operation and size
 * - settle.c: which path is taken; what each of them takes
 * - extras.c: idle, maps, head, turns
 */
#ifndef OMPRMA_PERF_BENCH_H
#define OMPRMA_PERF_BENCH_H

#include "host/core/device.h"
#include "host/queue/append.h"
#include "host/device/devices.h"
#include "host/queue/issue.h"
#include "tools/perf/results.h"

struct bench {
    const struct choice *choice;
    struct runtime *runtime;
    struct device *device, *peer; /* devices 0 and 1; NULL if there is no second */
    struct paths chosen;          /* what start-up chose for device 0, and stays */
    struct exchange_paths chosen_exchange[2];
    struct paths started; /* the same, as it was found: transfers correct it */
    struct exchange_paths started_exchange[2];
    omprma_queue_t *queue, *peer_queue;
    omprma_addr_t block, peer_block; /* as large as the largest size */
    uint64_t block_bytes;
    omprma_queue_t **queues; /* broadcast: one on each device */
    omprma_addr_t *blocks;   /* broadcast: the same */
    char *buffer;            /* of the same size, on this side */
    uint64_t next;           /* in both, with --spread: where the next transfer takes place */
    omprma_addr_t empty;     /* kernel that does nothing, on device 0 */
    omprma_addr_t *add;      /* kernel that adds 1 to a number, by device */
    struct direct *direct;   /* NULL: there is nothing to call */
    int step, steps;         /* of the progress line */
    struct results results;
};

enum { BATCH = 64 };

/* Does an operation samples * batch times on one path, and writes the time of one operation, in
 * microseconds, for each sample. Leaves nothing under way. */
typedef omprma_status_t (*bench_way)(struct bench *bench, uint64_t bytes, int samples, int batch,
                                     double *us);

/* How this operation is done on this path; NULL if there is no such thing. */
bench_way raw_way(enum perf_op op, enum perf_path path);
bench_way own_way(enum perf_op op, enum perf_path path);

bench_way direct_way(const struct bench *bench, enum perf_op op);

/* Opens the driver of this host and makes a block on its first GPU, if that is to be measured;
 * where there is no driver, that is said. Errors: those of the driver. */
omprma_status_t direct_open(struct bench *bench, size_t buffer_bytes);
void direct_close(struct bench *bench);

/* The ways of a broadcast; queues and blocks for it. */
bench_way broadcast_way(enum perf_path path);
omprma_status_t broadcast_open(struct bench *bench);
void broadcast_close(struct bench *bench);

/* Where a transfer takes place in the block and in the buffer: at the beginning, or, with --spread,
 * behind the one before it. */
uint64_t bench_next(struct bench *bench, uint64_t bytes);

/* Times one(bench, bytes), which is complete when it returns. */
typedef omprma_status_t (*bench_step)(struct bench *bench, uint64_t bytes);
omprma_status_t bench_time_steps(struct bench *bench, bench_step one, uint64_t bytes, int samples,
                                 int batch, double *us);

/* Starts, after omprma_init(): queues and kernels. Errors: those of the calls that it makes. */
omprma_status_t bench_open(struct bench *bench, const struct choice *choice);

/* Makes the blocks and the buffer: as large as what will be measured needs. Errors: DEVICE_MEMORY,
 * HOST_MEMORY. */
omprma_status_t bench_open_blocks(struct bench *bench);

/* Also after a failed start; the results stay. */
void bench_close(struct bench *bench);

/* Makes device 0 go one way: WAY_RMA, WAY_TWO_SIDED, or as start-up chose. */
void bench_force(struct bench *bench, enum perf_path path);

/* Makes device 0 go as start-up chose and transfers correct it. */
void bench_adapt(struct bench *bench);

/* One region on a queue, in one call: submit 8 bytes, launch, retrieve 8 bytes, and wait for that
 * if `waits`. The kernel adds 1 to the value. */
omprma_status_t bench_region(omprma_queue_t *queue, omprma_addr_t kernel, omprma_addr_t at,
                             const int64_t *in, int64_t *out, bool waits);

/* Measures one operation of one size on all chosen paths. */
omprma_status_t turns_run(struct bench *bench, enum perf_op op, uint64_t bytes);

/* settle and ways. */
omprma_status_t settle_run(struct bench *bench, enum perf_op op);

/* idle, maps, head, turns. */
omprma_status_t extras_run(struct bench *bench, enum perf_op op);

/* The next step is measured now; the progress line says so until results are printed. bytes: 0
 * where the operation has no size. */
void bench_step_begins(struct bench *bench, enum perf_op op, uint64_t bytes);

#endif
