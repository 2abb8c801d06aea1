/*
 * results.h: what was measured, as a table on stdout, as JSON, and as a plot. Knows nothing of MPI.
 */
#ifndef OMPRMA_PERF_RESULTS_H
#define OMPRMA_PERF_RESULTS_H

#include <stdint.h>
#include <omprma/omprma.h>

#include "host/paths.h"
#include "tools/perf/choice.h"

struct result {
    enum perf_op op;
    enum perf_path path;
    uint64_t bytes;
    int workers, reps;
    double us_min, us_median, us_p99;
    double us_mean;        /* turns only */
    int live;              /* maps only: arrays that are mapped by the end of this part */
    double cpu_share;      /* idle only: of one core */
    uint64_t memory_bytes; /* idle only */
    int device;            /* idle only */
    /* settle only */
    enum perf_op direction;
    enum path chosen, settled; /* at start-up, and after some transfers */
    uint32_t revisions;        /* in between */
    double us[PATH_COUNT];     /* medians; 0: not possible */
};

struct machine {
    char cpu[96], kernel[160], mpi[128], osc[16], date[32];
    int cores;
};

struct results {
    struct machine machine;
    struct result *items;
    size_t count;
};

/* Fills minimum, median and 99th percentile from samples, which it sorts, and adds the result. */
void results_add(struct results *results, struct result *result, double *us, int samples);

/* GB/s of an operation that moves data, 0 for others. */
double result_gbps(const struct result *result);

/* One line per result; the heading with the first. */
void results_print(const struct results *results, size_t number);

/* Errors: CONFIG (the file cannot be written). */
omprma_status_t results_write_json(const struct results *results, const char *path);

/* Draws with gnuplot. The suffix of `path` says which kind of picture: .svg or .png.
 * Errors: CONFIG (another suffix, gnuplot is missing or failed). */
omprma_status_t plot_check(const char *path);
omprma_status_t plot_write(const struct results *results, const char *path);

/* Describes this host; needs MPI to be running. */
void machine_describe(struct machine *machine);

#endif
