/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * info.h: the lines that LIBOMPTARGET_INFO asks for, in LLVM's words, which scripts read.
 *
 * Thread: any function from any thread. Blocks: no.
 */
#ifndef OMPRMA_OPENMP_DEVICE_INFO_H
#define OMPRMA_OPENMP_DEVICE_INFO_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "openmp/abi/abi.h"

struct mapping;

/* Bits of LIBOMPTARGET_INFO. */
enum info {
    INFO_ARGUMENTS = 1,
    INFO_EXISTS = 2,
    INFO_TABLE = 4,
    INFO_CHANGES = 8,
    INFO_KERNEL = 16,
    INFO_TRANSFERS = 32,
    INFO_EMPTY = 64,
    INFO_ANY = 127
};

/* What LIBOMPTARGET_INFO says, before it is read all bits. */
extern atomic_uint info_flags;
bool info_wants_after_reading(enum info kind);

/* Asked several times for each map. */
static inline bool info_wants(enum info kind)
{
    return (atomic_load_explicit(&info_flags, memory_order_relaxed) & (unsigned)kind) != 0 &&
           info_wants_after_reading(kind);
}

void info_set(uint32_t flags);

/* "omptarget device N info: ..." as LLVM words it. */
void info_print(int device, const char *format, ...) __attribute__((cold, format(printf, 2, 3)));

/* A kernel that is launched, as LLVM's plugins word it. */
void info_launch(int device, const char *kernel, unsigned teams, unsigned threads)
    __attribute__((cold));

/* A count of the table in words. */
const char *count_text(uint64_t count, char text[24]);

/* The mapping table, in LLVM's format. The table's owner is to hold its lock. */
void info_table(const struct location *where, int device, const struct mapping *mapping)
    __attribute__((cold));

/* "Entering OpenMP kernel at app.c:42:3 with 2 arguments:" and a line for each. */
void info_arguments(const struct location *where, int device, const char *construct, int count,
                    const int64_t *sizes, const int64_t *types, void *const *names)
    __attribute__((cold));

#endif
