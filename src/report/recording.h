/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * recording.h: what a run has done, for --trace and --stats, in memory of a fixed size that
 * omprma-run shares with the program. So it is there when the program has crashed or was killed:
 * omprma-run makes tables and timeline of it when all is over. Without omprma-run the program has
 * such memory of its own, and does that itself.
 *
 * A span that has not ended has a slot among the open ones. When it ends it moves to the ring,
 * which keeps the last ones. Texts stand in a pool and are known by their offset; 0 is none.
 *
 * This file knows no operation, no queue and no path: host/report/record.h fills it, with their
 * names.
 *
 * Thread: one that writes. Who reads what a dead process has left may find one span half written.
 */
#ifndef OMPRMA_REPORT_RECORDING_H
#define OMPRMA_REPORT_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    RECORDING_SPANS = 1 << 17, /* kept: the last ones */
    RECORDING_OPEN = 1 << 14,  /* that have not ended */
    RECORDING_ROWS = 1 << 12,  /* of the table of regions; the last one takes all that is left */
    RECORDING_TEXTS = 1 << 20, /* bytes */
    RECORDING_DETAILS = 1 << 20,
    RECORDING_KINDS = 3, /* what data is carried for: submit, ... */
    RECORDING_PATHS = 7, /* which way it goes: inline, ... */
    RECORDING_STEPS = 8, /* of an octave of durations, and all of them: for medians */
    RECORDING_DURATIONS = 40 * RECORDING_STEPS
};

enum span_kind { SPAN_REGION, SPAN_KERNEL, SPAN_TRANSFER, SPAN_WAIT, SPAN_COMMAND, SPAN_KINDS };

struct span {
    uint32_t number;             /* in the order of their beginnings, from 1; 0: the slot is free */
    uint32_t name, path;         /* texts; of a launch, and of its region, the kernel's */
    uint32_t region;             /* number of its region, */
    uint32_t slot;               /* and where that is among the open ones, from 1; 0: none */
    uint32_t queue, device;      /* by number */
    int32_t with;                /* the other device of an exchange, else -1 */
    uint32_t after;              /* of a wait: the number of the span that it was for; 0: none */
    uint32_t thread;             /* of the program, that has waited for the region; 0: none */
    uint32_t launches, pending;  /* of a region: kernels, and parts that are not over */
    uint32_t message;            /* bytes of the message that it closes; 0: none */
    uint8_t kind;                /* enum span_kind */
    bool failed, unended;        /* unended: it was not over when the program ended */
    uint64_t to, back;           /* bytes to the device, bytes from it or to another one */
    uint64_t memory;             /* of the device in use, when a region began */
    int64_t wait_ns, waited_ns;  /* of a region: its first wait began, and how long all took */
    int64_t waits_ns;            /* its wait that goes on began; 0: there is none */
    int64_t kernel_ns;           /* of a region: how long workers ran its kernels, */
    int64_t data_ns, data_to_ns; /* how long some of its data was on its way, and until when */
    int64_t asked_ns;            /* it was appended */
    int64_t begin_ns, end_ns;    /* as this side saw it; 0: not yet. A region's: so far */
    int64_t ran_ns, ran_end_ns;  /* by the worker's clock; 0: it has not told */
};

/* A line of the table. */
struct recorded_region {
    uint32_t name;   /* 0: free */
    uint32_t device; /* UINT32_MAX: several */
    uint64_t count, failed, unended, to, back;
    int64_t total_ns, first_ns, most_ns, waited_ns;
    int64_t kernel_ns, data_ns;
    int64_t covered_ns, covered_to_ns; /* how long one or more were under way, and until when */
    uint32_t durations[RECORDING_DURATIONS]; /* how many had which */
};

struct stats_cell {
    uint64_t operations, bytes;
    int64_t ns;           /* from start to completion, */
    uint64_t timed_bytes; /* of those of which that is known: not what rides along in messages, nor
                           * what waits for kernels, too */
};

/* What data went which way. */
struct stats {
    struct stats_cell cell[RECORDING_KINDS][RECORDING_PATHS];
    uint64_t launches;
};

/* A look at a worker's clock. */
struct trace_clock {
    int64_t at_ns;     /* by this side's */
    int64_t ahead_ns;  /* of this side's */
    int64_t within_ns; /* so exact; -1: there was no answer */
};

/* What a chain of things, of which none could begin before the one in front of it was over, has
 * taken up to a moment; see host/report/chains.h. That of the program's end is the critical path.
 */
enum chain_part { CHAIN_KERNELS, CHAIN_DATA, CHAIN_PROGRAM, CHAIN_MESSAGES, CHAIN_PARTS };

struct chain {
    int64_t end_ns; /* 0: there is none */
    int64_t ns[CHAIN_PARTS];
    uint64_t kernels;
};

/* What --placement has placed, as far as it has counted; see omprma_note_graph(). */
struct recorded_graph {
    uint64_t regions, longest; /* and how many of them depend on each other, one after the other */
    uint64_t least_bytes; /* that had to move if each range stayed where it was written first */
};

struct recorded_device {
    uint32_t name, host; /* texts */
    struct trace_clock first, last;
    struct stats stats;
    struct stats_cell given; /* by other devices, in exchanges that are counted for those */
    int64_t kernel_ns;       /* of all regions */
    bool lost;
};

struct recording {
    uint64_t bytes; /* of all */
    int32_t begun;  /* set when a program records */
    bool traces, shared;
    bool cut;     /* the program has not ended in order */
    char who[24]; /* "rank 2, " where a launcher tells it */
    int32_t device_count, devices_most;
    int64_t launch_ns;              /* omprma-run began, or the program asked for devices, */
    int64_t origin_ns;              /* and this began; by clock_ns() */
    int64_t end_ns;                 /* 0: the program has not ended in order */
    uint32_t program, choice;       /* texts, */
    uint32_t kind[RECORDING_KINDS]; /* and so are these, */
    uint32_t path[RECORDING_KINDS][RECORDING_PATHS]; /* as a path is called for a kind */
    uint32_t text_bytes;
    uint32_t spans; /* that have begun */
    uint64_t ended; /* that have come into the ring */
    uint64_t missed;
    uint64_t repeated;  /* regions, because devices were lost */
    struct chain chain; /* of what the program has waited for last */
    struct recorded_graph graph;
    uint32_t rows;
    uint32_t details_bytes;
    struct recorded_region row[RECORDING_ROWS];
    struct span open[RECORDING_OPEN];
    struct span ring[RECORDING_SPANS];
    char text[RECORDING_TEXTS];
    char details[RECORDING_DETAILS]; /* what --stats -v adds, in words */
    struct recorded_device device[]; /* devices_most */
};

/* How much memory it takes. What is not used of it takes none. */
size_t recording_bytes(int devices_most);

/* Makes one in such memory, which is zero. */
void recording_make(struct recording *recording, int devices_most);

/* A text's offset; equal ones have the same if they were given last. 0: there is no room. */
uint32_t recording_text(struct recording *recording, const char *text);
const char *recording_words(const struct recording *recording, uint32_t text); /* 0: "?" */

/* The line of the table for regions of a kernel on a device. */
struct recorded_region *recording_row(struct recording *recording, uint32_t name, uint32_t device);

/* Adds a region that has ended to the table. */
void recording_count(struct recording *recording, const struct span *region);

/* The median of the durations of a line of the table, in ns, within 5 %. */
int64_t recording_median(const struct recorded_region *row);

/* Puts what has ended into the ring. */
void recording_keep(struct recording *recording, const struct span *span);

/* Another link of a chain: from where it ends to `begin` there are only messages. */
struct chain chain_grown(const struct chain *chain, enum chain_part part, int64_t begin_ns,
                         int64_t end_ns);

/* When the program has ended: what was open goes where it belongs. */
void recording_close(struct recording *recording, int64_t now_ns);

#endif
