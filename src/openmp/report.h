/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * report.h: what users read: error lines that say where in the source, which device and what, and
 * the lines that LIBOMPTARGET_INFO asks for. Knows nothing of queues.
 *
 * Thread: any function from any thread. Blocks: no.
 */
#ifndef OMPRMA_OPENMP_REPORT_H
#define OMPRMA_OPENMP_REPORT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "openmp/abi.h"

struct device;
struct mapped;
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

/* "omprma: error: app.c:42: device 1 (node3): ..."; `where` and `device` may be NULL. The same line
 * twice in a row is printed once. Always returns false. */
bool report(const struct location *where, const struct device *device, const char *format, ...)
    __attribute__((cold, format(printf, 3, 4)));

/* The same with the thread's omprma_error(), if `status` is one: returns whether it is none. */
bool report_status(const struct location *where, const struct device *device, int status);

/* "app.c:42"; false: it is not known. */
bool location_words(const struct location *where, char *text, size_t room);

/* "\"x[0:5]\" (20 bytes at 0x7ff0, mapped at app.c:12)", in `text`. */
enum { RANGE_WORDS = 512 };
const char *range_words(const struct mapped *mapped, char text[RANGE_WORDS]);

/* A line for the calling thread's omprma_error(), where there is no device yet. */
bool report_start(void) __attribute__((cold));

/* "omprma: note: ..." what was chosen and why, with OMPRMA_VERBOSE=1 or more. */
void report_choice(const char *format, ...) __attribute__((cold, format(printf, 1, 2)));

/* With -v or LIBOMPTARGET_INFO: "omptarget message: ..." and "omptarget error: ..." with the words
 * of LLVM's libomptarget, which scripts may look for. */
void message_print(const char *format, ...) __attribute__((cold, format(printf, 1, 2)));
void echo_print(const char *format, ...) __attribute__((cold, format(printf, 1, 2)));

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

/* The name in a map's ";name;file;line;column;;", "unknown" where there is none. */
struct name {
    const char *text;
    int length; /* for "%.*s" */
};
struct name name_of(const void *map_name);

/* Ends the process: a target construct has failed and must not. */
void report_fatal(const struct location *where) __attribute__((cold, noreturn));

/* Ends the process: parts of the program differ in a clause of their requires directives. */
void report_inconsistent(const char *clause) __attribute__((cold, noreturn));

#endif
