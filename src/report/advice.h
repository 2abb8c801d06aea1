/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * advice.h: what the numbers of a run suggest, in a line each, below the tables of --stats. Only
 * what is a tenth of the run or more is worth a line, and each kind is said once, of the region
 * that it is most true of.
 *
 * Thread: any. Blocks: no.
 */
#ifndef OMPRMA_REPORT_ADVICE_H
#define OMPRMA_REPORT_ADVICE_H

#include <stdio.h>

#include "report/recording.h"

/* Of a recording that is closed. */
void advice_print(const struct recording *recording, FILE *out);

#endif
