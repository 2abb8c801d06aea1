/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * counts.h: what tests in the same process call of the stand-in for the HSA runtime, beside the
 * interface that it stands in for. They look these functions up. Needs no header of HSA.
 */
#ifndef OMPRMA_TESTS_HSA_COUNTS_H
#define OMPRMA_TESTS_HSA_COUNTS_H

struct standin_counts {
    int blocks, executables, readers, queues, signals, locks,
        handlers;       /* that are not given back */
    int starts;         /* hsa_init() without hsa_shut_down() */
    int waits;          /* for signals, so far */
    int kernels;        /* that have run, so far */
    int copies;         /* that depend on signals, so far */
    int calls;          /* of functions that can fail, since the first hsa_init() */
    const char *failed; /* that was made to fail, or NULL */
};

/* What is there. */
__attribute__((visibility("default"))) void standin_counts(struct standin_counts *now);

/* Have the n-th call from now on fail; 0: none. */
__attribute__((visibility("default"))) void standin_fail(const char *function, int number,
                                                         int code);

#endif
