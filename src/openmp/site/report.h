/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * report.h: what users read: lines that say where in the source, which device and what.
 *
 * Thread: any function from any thread. Blocks: no.
 */
#ifndef OMPRMA_OPENMP_SITE_REPORT_H
#define OMPRMA_OPENMP_SITE_REPORT_H

#include <stdbool.h>
#include "openmp/abi/abi.h"

struct site;

/* "omprma: error: app.c:42: device 1 (node3): ..."; `where` and `site` may be NULL. The same line
 * twice in a row is printed once. Always returns false. */
bool report(const struct location *where, const struct site *site, const char *format, ...)
    __attribute__((cold, format(printf, 3, 4)));

/* The same with the thread's omprma_error(), if `status` is one: returns whether it is none. */
bool report_status(const struct location *where, int status);

/* A line for the calling thread's omprma_error(), where there is no device yet. */
bool report_start(void) __attribute__((cold));

/* "omprma: note: ..." what was chosen and why, with OMPRMA_VERBOSE=1 or more. */
void report_choice(const char *format, ...) __attribute__((cold, format(printf, 1, 2)));

/* With -v or LIBOMPTARGET_INFO: "omptarget message: ..." and "omptarget error: ..." with the words
 * of LLVM's libomptarget, which scripts may look for. */
void message_print(const char *format, ...) __attribute__((cold, format(printf, 1, 2)));
void echo_print(const char *format, ...) __attribute__((cold, format(printf, 1, 2)));

/* Ends the process: a target construct has failed and must not. */
void report_fatal(const struct location *where) __attribute__((cold, noreturn));

/* Ends the process: parts of the program differ in a clause of their requires directives. */
void report_inconsistent(const char *clause) __attribute__((cold, noreturn));

#endif
