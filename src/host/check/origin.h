/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * origin.h: where in the program's source a block comes from: what the OpenMP runtime says of it,
 * or the function that has called, found in the symbol table of its file.
 *
 * Thread: any. Blocks: no.
 */
#ifndef OMPRMA_HOST_CHECK_ORIGIN_H
#define OMPRMA_HOST_CHECK_ORIGIN_H

enum { ORIGIN_BYTES = 192, ORIGIN_WORDS = 384 };

struct origin {
    char said[ORIGIN_BYTES]; /* "for "x" at a.c:12"; empty: nobody has said anything */
    const void *address;     /* then: of the code that has called */
};

/* What omprma_check_place() has said to the calling thread, which is used up then, or who called:
 * `caller` is where the public function returns to. */
void origin_take(struct origin *origin, const void *caller);

/* In words that go on after "allocated". Returns `words`. */
const char *origin_words(const struct origin *origin, char words[ORIGIN_WORDS]);

#endif
