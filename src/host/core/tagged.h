/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * tagged.h: what a worker prints, line by line, each behind a mark that says who has printed it
 * (OMPRMA_TAG_OUTPUT). A line is printed when it is whole, by one call, so lines of several workers
 * are never mixed. Any bytes are passed on as they are.
 *
 * Thread: with runtime->lock held. Blocks: while the stream takes no text.
 */
#ifndef OMPRMA_HOST_CORE_TAGGED_H
#define OMPRMA_HOST_CORE_TAGGED_H

#include <stddef.h>
#include <stdio.h>

/* A line that has no end yet, with its mark. All zero: there is none. */
struct tagged {
    char *text;
    size_t bytes, room;
};

/* Prints the lines that end in this text of `bytes` bytes, and keeps the rest. `mark` stands in
 * front of each line. Without memory to keep a line in, its parts are printed as they come. */
void tagged_print(struct tagged *line, const char *mark, FILE *stream, const char *text,
                  size_t bytes);

/* Prints the line that has no end, if there is one, and ends it. Frees the memory. */
void tagged_end(struct tagged *line, FILE *stream);

#endif
