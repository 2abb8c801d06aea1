/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * results.h: what was measured, as a table on stdout, as JSON, as a plot, and as a page with all of
 * it. Knows nothing of MPI.
 */
#ifndef OMPRMA_PERF_RESULTS_H
#define OMPRMA_PERF_RESULTS_H

#include <stdbool.h>
#include <stdint.h>
#include <omprma/omprma.h>

#include "host/core/paths.h"
#include "tools/perf/choice.h"

enum { RESULT_PARTS = 4 };

struct result {
    enum perf_op op;
    enum perf_path path;
    uint64_t bytes;
    int workers, reps;
    double us_min, us_median, us_p99;
    double us_mean;               /* turns only */
    double us_part[RESULT_PARTS]; /* medians of each part of the samples; 0: too few */
    double us_raw;                /* GPUs: medians of bare MPI, and */
    double us_direct;             /* of the driver; 0: not measured */
    int live;                     /* maps only: arrays that are mapped by the end of this part */
    double cpu_share;             /* idle only: of one core */
    uint64_t memory_bytes;        /* idle only */
    int device;                   /* idle only */
    /* settle, ways */
    enum perf_op direction;
    enum path chosen, settled; /* settle: at start-up, and after some transfers */
    uint32_t revisions;        /* in between */
    double us[PATH_COUNT];     /* ways: medians; 0: not possible */
};

struct machine {
    char cpu[96], kernel[160], mpi[128], osc[16], date[32];
    int cores;
};

struct results {
    struct machine machine;
    char *command; /* line that a shell would run; owned, may be NULL */
    char *places;  /* a line per worker: where it ran; likewise */
    struct result *items;
    size_t count;
};

void results_clear(struct results *results);

/* Fills minimum, median and 99th percentile from samples, which it sorts, and adds the result. */
void results_add(struct results *results, struct result *result, double *us, int samples);

/* Medians of one machine differ by as much from run to run; more counts. */
#define RESULTS_DIFFER 1.1

/* "64 KiB". */
enum { SIZE_WORDS_BYTES = 32 };
const char *size_words(uint64_t bytes, char text[SIZE_WORDS_BYTES]);

/* GB/s of an operation that moves data, 0 for others. */
double result_gbps(const struct result *result);

/* How near a transfer of a GPU comes to the slower of link and driver, and how many ping-pongs a
 * launch or region takes more than by the driver. 0: that was not measured. */
double result_share(const struct result *result);
double result_more(const struct result *result);

/* What only its operation has to say, "" for most. */
enum { REMARK_BYTES = 160 };
void result_remark(const struct result *result, char text[REMARK_BYTES]);

/* One line per result; the heading with the first. */
void results_print(const struct results *results, size_t number);

/* Errors: CONFIG (the file cannot be written). */
omprma_status_t results_write_json(const struct results *results, const char *path);

/* Draws with gnuplot. The suffix of `path` says which kind of picture: .svg or .png.
 * Errors: CONFIG (another suffix, gnuplot is missing or failed). */
omprma_status_t plot_check(const char *path);
omprma_status_t plot_write(const struct results *results, const char *path);

/* Is gnuplot there? */
bool plot_possible(void);

/* One operation alone, as SVG in *svg, which the caller frees; NULL if it is none that can be
 * drawn. Errors: CONFIG (gnuplot failed). */
omprma_status_t plot_svg(const struct results *results, enum perf_op op, char **svg);

/* Writes a page of HTML that needs nothing else: machine, workers, command line, and for each
 * operation its plot, if gnuplot is there, and its rows of the table.
 * Errors: CONFIG (the file cannot be written, gnuplot failed). */
omprma_status_t report_write(const struct results *results, const char *path);

/* Describes this host; needs MPI to be running. */
void machine_describe(struct machine *machine);

#endif
