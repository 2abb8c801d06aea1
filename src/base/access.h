/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * access.h: whether memory of this process may be read or written. It is looked at before an
 * address of the program is handed to somebody who cannot say that it is a wrong one: libraries
 * that try again for ever, and copies of our own.
 *
 * Thread: any. Blocks: where a file has to be read. What other threads do with the memory meanwhile
 * is not seen.
 */
#ifndef OMPRMA_BASE_ACCESS_H
#define OMPRMA_BASE_ACCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum access_use { ACCESS_READ = 1, ACCESS_WRITE = 2 };

enum access_answer {
    ACCESS_GRANTED,
    ACCESS_ABSENT,    /* nothing is mapped there */
    ACCESS_FORBIDDEN, /* neither */
    ACCESS_CONSTANT,  /* it may be read, but not written */
    ACCESS_NO_PAGE    /* of a file that ends before, or on a file system without room */
};

/* Where the first of [at, at + bytes) is that may not: in *bad. Takes about a system call, for up
 * to 1 MiB also of memory that was not there before. Of ranges of more than 64 KiB only the last
 * page is seen as it is now, the others as they were when memory was last looked at. */
enum access_answer access_look(const void *at, size_t bytes, enum access_use use, uint64_t *bad);

/* The same of a few bytes. From some hundred calls on, pages that were granted are remembered, and
 * it takes some nanoseconds. */
enum access_answer access_look_small(const void *at, size_t bytes, enum access_use use,
                                     uint64_t *bad);

/* The program begins: calls of access_look_small() so far do not count. */
void access_start(void);

/* Whether all of it was granted when memory was last looked at, which may be now. */
bool access_was_granted(const void *at, size_t bytes, enum access_use use);

/* "may not be written: it is read-only, as constants are" */
const char *access_words(enum access_answer answer, enum access_use use);

#endif
