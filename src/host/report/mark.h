/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * mark.h: what tells apart what several programs of one run say of themselves: the rank that a
 * launcher has given this process, or its number.
 *
 * Thread: any, while nobody changes the environment. Blocks: no.
 */
#ifndef OMPRMA_HOST_REPORT_MARK_H
#define OMPRMA_HOST_REPORT_MARK_H

#include <stddef.h>

#include "base/config.h"

/* "2" of rank 2, else the process's number. */
void mark_make(char *text, size_t bytes);

/* Puts it into the names of the files for --stats and --trace: "run.json.gz" becomes
 * "run.2.json.gz". One that would become too long stays as it is. */
void mark_files(struct config *config);

#endif
