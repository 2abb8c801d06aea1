/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * timeline.h: the file of --trace: Chrome trace JSON, for ui.perfetto.dev or a browser's tracing
 * page. The program has a track for each of its threads that has waited, and each device one for
 * each of its queues: regions, and inside of them their parts. What overlaps on a track without
 * lying in one another gets a further one. Beside them stand counters, of each device: operations,
 * bytes under way, memory in use. Arrows lead from transfers between devices to who waited for
 * them.
 *
 * Kernels, exchanges and copies that workers make stand as they ran there: workers tell when, and
 * their clocks are brought to this side's (by halves of round trips; within a host it is the same
 * clock). Everything else is what the program saw.
 *
 * Thread: any. Blocks: for the disk.
 */
#ifndef OMPRMA_REPORT_TIMELINE_H
#define OMPRMA_REPORT_TIMELINE_H

#include <stdio.h>

#include <omprma/omprma.h>

#include "report/recording.h"

/* Of a recording that is closed. Errors: HOST_MEMORY, CONFIG (the file cannot be written). */
omprma_status_t timeline_write(const struct recording *recording, const char *path);

/* ---- what it is made of ---- */

/* What stands on a track, in the order of their beginnings. */
struct slice {
    const struct span *span;
    bool is_wait;             /* not the span itself: the program waited for that region */
    int64_t begin_ns, end_ns; /* by the program's clock */
    uint32_t track;           /* from 1 */
};

struct track {
    int device;   /* -1: the program */
    uint32_t key; /* queue, or thread */
    uint32_t lane;
    uint32_t next; /* further lane; 0: none */
    uint32_t next_head;
    int depth; /* of what lies in one another */
    int64_t ends[8];
};

/* One of the two ends of an arrow, for data that has come from another device. */
struct arrow_end {
    int64_t at_ns;
    const struct slice *slice; /* in which it lies */
    uint32_t number;           /* of the arrow */
    bool is_head;
};

/* A value from a moment on. */
struct sample {
    int64_t at_ns;
    uint32_t device;
    const char *name;
    uint64_t value;
};

struct timeline {
    const struct recording *recording;
    struct slice *slices;
    struct track *tracks;
    struct sample *samples;
    struct arrow_end *arrows; /* in the order of their times */
    uint32_t slice_count, track_count, sample_count, arrow_count;
};

/* See timeline_counters.c. False: no memory. */
bool timeline_count(struct timeline *timeline);

/* See timeline_arrows.c. False: no memory. */
bool timeline_draw(struct timeline *timeline);

/* See timeline_file.c. */
void timeline_print(const struct timeline *timeline, FILE *file);

#endif
