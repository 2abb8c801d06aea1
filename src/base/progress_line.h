/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * progress_line.h: one line on a terminal that says how far something long has come, and is gone
 * when that is done or anything else is logged. Nothing is drawn where stderr is no terminal (or a
 * dumb one), where -v has lines of its own, and for what is done within half a second. It stands
 * behind whatever the line of the cursor holds already. Knows nothing of what it says.
 *
 * One per process. Thread: show from one at a time, clear from any.
 */
#ifndef OMPRMA_BASE_PROGRESS_LINE_H
#define OMPRMA_BASE_PROGRESS_LINE_H

#include <stdbool.h>

/* Something begins that may become long. */
void progress_line_begin(void);

/* Draws the line, or replaces it. */
void progress_line_show(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Wipes the line, if there is one. Call before anything is written to the terminal. */
void progress_line_clear(void);

/* Milliseconds until show would draw, rounded up; -1 if it would not, or would now. */
int progress_line_wait_ms(void);

/* Is this a terminal that understands sequences? */
bool progress_line_terminal(int fd);

/* True where it would be drawn if something took long enough. */
bool progress_line_possible(void);

/* Another process may have ended while its line was drawn: the next clear wipes that. */
void progress_line_inherit(void);

/* Whether it may be drawn at all. log.c calls it: not where there are lines of -v. */
void progress_line_allow(bool allowed);

#endif
