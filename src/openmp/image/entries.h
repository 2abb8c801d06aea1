/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * entries.h: tables of what a library with images registers, in either form that compilers make.
 *
 * Thread: any. Blocks: no.
 */
#ifndef OMPRMA_OPENMP_IMAGE_ENTRIES_H
#define OMPRMA_OPENMP_IMAGE_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A kernel or a variable, whichever form it was registered in. */
struct entry {
    void *address; /* on the host */
    const char *name;
    size_t bytes; /* 0: a kernel */
    uint32_t flags;
    int64_t data;
    bool has_leading; /* it takes one parameter more than its arguments, whether calls say so or not
                       */
    bool as_on_gpus;  /* flang's kernel: it takes its arguments as parameters with any version */
};

/* Calls for each entry of a table of entries of either form; `call` returns false to end it. */
bool entries_each(const char *begin, const char *end,
                  bool (*call)(const struct entry *entry, void *context), void *context);

#endif
