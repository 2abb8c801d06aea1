/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * choice.h: what the user wants measured: operations, paths and sizes, and where the results go.
 * Knows nothing of how it is measured.
 */
#ifndef OMPRMA_PERF_CHOICE_H
#define OMPRMA_PERF_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

/* In the order in which they are measured: `idle` wants workers that have done nothing yet. */
enum perf_op {
    OP_IDLE,
    OP_SUBMIT,
    OP_RETRIEVE,
    OP_EXCHANGE,
    OP_BROADCAST,
    OP_LAUNCH,
    OP_REGION,
    OP_ALLOC,
    OP_SETTLE,
    OP_WAYS,
    OP_MAPS,
    OP_HEAD,
    OP_TURNS,
    OP_COUNT
};

enum perf_path {
    WAY_RAW,
    WAY_RAW_TWO_SIDED,
    WAY_DIRECT, /* the CUDA driver of this host */
    WAY_RMA,
    WAY_TWO_SIDED,
    WAY_AUTO,
    WAY_APPLICATION, /* exchange: through the application's memory; broadcast: from it to each */
    WAY_COUNT
};

extern const char *const perf_op_names[OP_COUNT];
extern const char *const perf_path_names[WAY_COUNT];

enum { SIZES_MOST = 128 };

struct choice {
    unsigned ops, paths; /* sets of bits 1 << enum */
    uint64_t sizes[SIZES_MOST];
    int size_count;
    int reps;            /* 0: as many as fit into the time set aside for each */
    const char *backend; /* kind of the devices; of GPUs this host's, too, directly */
    uint64_t spread;     /* bytes over which transfers go on; 0: all to the same place */
    int transfers;       /* settle: before the path that is taken then is looked at */
    bool versus;         /* one-sided beside two-sided, see versus.h */
    const char *json, *plot, *report;
};

/* What is measured unless the user says otherwise. */
void choice_begin(struct choice *choice);

/* Each reads the value of one option; a bad one ends the program (option_fail()). */
void choice_ops(struct choice *choice, const char *text);
void choice_paths(struct choice *choice, const char *text);
void choice_sizes(struct choice *choice, const char *text);
void choice_spread(struct choice *choice, const char *text);
void choice_backend(struct choice *choice, const char *text);

/* Does this operation move as many bytes as its size says? */
bool perf_op_moves(enum perf_op op);

/* Is this operation measured once per size? */
bool perf_op_sized(enum perf_op op);

#endif
