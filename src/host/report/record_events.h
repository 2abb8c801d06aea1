/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * record_events.h: what is recorded of the life of operations, and of regions, which are made of
 * them. record.h begins and ends that.
 *
 * Thread: with runtime->lock held.
 */
#ifndef OMPRMA_HOST_REPORT_RECORD_EVENTS_H
#define OMPRMA_HOST_REPORT_RECORD_EVENTS_H

#include "host/core/observer.h"
#include "host/report/recorded_names.h"

struct recorder {
    struct observer observer; /* the first member */
    struct recorded_names names;
    struct chains *chains; /* NULL: there was no memory */
    int64_t ended_ns;      /* when something ended last */
    uint32_t free_count;
    uint32_t free[RECORDING_OPEN]; /* slots of open spans */
};

/* Fills the rest; names.recording is set. */
void record_events_begin(struct recorder *recorder);

#endif
