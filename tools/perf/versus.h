/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * versus.h: one-sided against two-sided data, from results of both and of bare MPI's: a table with
 * a row for each operation and size, what follows from it in words, and a picture. Measures
 * nothing.
 */
#ifndef OMPRMA_PERF_VERSUS_H
#define OMPRMA_PERF_VERSUS_H

#include "tools/perf/results.h"

/* What is measured: the operations that move data, and a launch; exchanges where there are two
 * workers. Sizes stay those that the user has given, if any. */
void versus_choose(struct choice *choice, bool two_workers, bool sizes_given);

/* Prints the row of the last operation and size that was measured, and the heading before the
 * first; nothing where one of both modes is missing. */
void versus_print_row(const struct results *results);

/* Prints for each operation from which size to which the one or the other is faster, and by how
 * much. A way is faster where it was in each part of the turns; a line tells how many sizes have no
 * winner because the parts disagree. */
void versus_print_words(const struct results *results);

/* Draws, as SVG, which needs no other program: for each operation the times of all four ways over
 * the size, and below them how often the one-sided time goes into the two-sided one. Errors: CONFIG
 * (the name does not end in .svg, the file cannot be written). */
omprma_status_t versus_plot_check(const char *path);
omprma_status_t versus_plot_write(const struct results *results, const char *path);

/* One operation and size in all ways. */
struct versus_row {
    enum perf_op op;
    uint64_t bytes;
    double us[WAY_COUNT]; /* medians; 0: not measured */
    double us_part[WAY_COUNT][RESULT_PARTS];
};

/* The row that begins at result number *next, which is then the number behind it. False: there is
 * none. */
bool versus_next(const struct results *results, size_t *next, struct versus_row *row);

/* How many times the one-sided time goes into the two-sided one; 0: one of them is missing. */
double versus_ratio(const struct versus_row *row);

enum versus_winner { TWO_SIDED_WINS, ALIKE, NOISE, ONE_SIDED_WINS };

/* Which way is faster, by more than results differ anyhow. NOISE: not in each part of the turns. */
enum versus_winner versus_winner(const struct versus_row *row);

/* "Open MPI v4.1.4 (osc rdma), 2 workers, some processor, 2026-11-28", what the figures are of. */
enum { VERSUS_TITLE_BYTES = 400 };
const char *versus_title(const struct results *results, char text[VERSUS_TITLE_BYTES]);

#endif
