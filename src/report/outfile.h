/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * outfile.h: a file that is whole or not there: it is written beside its place and takes that when
 * all is written, so an older one stays until then. A name that ends in .gz: compressed. What is no
 * ordinary file (a pipe, a device) is written as it is.
 *
 * Thread: any, each its own. Blocks: for the disk.
 */
#ifndef OMPRMA_REPORT_OUTFILE_H
#define OMPRMA_REPORT_OUTFILE_H

#include <stdio.h>

#include <omprma/omprma.h>

struct outfile {
    FILE *file;
    const char *path;
    char *beside; /* NULL: it is written in place */
};

/* `what` is how the user knows it, "OMPRMA_TRACE". `path` stays. Errors: CONFIG. */
omprma_status_t outfile_open(struct outfile *out, const char *what, const char *path);

/* It is complete. Errors: CONFIG (a disk is full, ...), and it is not there then. */
omprma_status_t outfile_close(struct outfile *out, const char *what);

/* Whether it could be made now. Leaves nothing. */
omprma_status_t outfile_try(const char *what, const char *path);

/* A text inside of quotes, for JSON. */
void outfile_text(FILE *file, const char *text);

#endif
