/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * report.h: lines for users, which driver interfaces have no place for. Knows nothing of any driver
 * interface.
 *
 * Thread: any. Blocks: no.
 */
#ifndef OMPRMA_FACE_DRIVER_REPORT_H
#define OMPRMA_FACE_DRIVER_REPORT_H

/* "omprma: error: ..."; the same line twice in a row is printed once. */
void report_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "omprma: note: ...", with OMPRMA_VERBOSE only. */
void report_choice(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
