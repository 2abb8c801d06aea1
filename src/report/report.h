/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * report.h: what a run has done, for people and for scripts: the tables of --stats, its file, and
 * the file of --trace. Made by omprma-run when all is over, or by a program without it.
 *
 * Thread: any. Blocks: for the disk.
 */
#ifndef OMPRMA_REPORT_REPORT_H
#define OMPRMA_REPORT_REPORT_H

#include <stdio.h>

#include "base/config.h"
#include "report/recording.h"

/* Whether the settings ask for one. */
bool report_is_wanted(const struct config *config);

/* Whether the files that they ask for could be made. Errors: CONFIG. */
omprma_status_t report_try(const struct config *config);

/* Of a recording that is closed: prints to stderr and writes files, all that was asked for. What
 * cannot be written is said. Errors: CONFIG, HOST_MEMORY; that of the last file. */
omprma_status_t report_all(const struct recording *recording, const struct config *config);

/* The tables. `all`: with every region, and with details. */
void report_print(const struct recording *recording, bool all, FILE *out);

/* The same as JSON. */
void report_json(const struct recording *recording, FILE *out);

/* The regions, a line each, with a line of titles. */
void report_csv(const struct recording *recording, FILE *out);

#endif
