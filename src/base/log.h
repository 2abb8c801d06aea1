/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * log.h: lines on stderr, each "omprma: error: ..." (or "warning", or "note"), of a worker "omprma:
 * error: worker 2 (host): ...", written whole with one write. On a terminal the word has a colour.
 * Errors, warnings and notes are always printed; -v / OMPRMA_VERBOSE has more notes printed.
 */
#ifndef OMPRMA_BASE_LOG_H
#define OMPRMA_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>

enum log_level {
    LOG_ERROR = -2,   /* something failed; the user must act */
    LOG_WARNING = -1, /* it works, but hardly as the user wants it */
    LOG_NOTE = 0,     /* what the user should know; nothing is wrong */
    LOG_CHOICE = 1,   /* a note of -v: what was chosen and why: data path, fallback, quirk */
    LOG_DETAIL = 2,   /* of -vv: start-up, sizes, measurements */
    LOG_DEBUG = 3     /* every message */
};

/* Sets who writes ("worker 2 (node7)"; "": the run) and the level. Not thread safe: call once at
 * start-up. */
void log_open(const char *who, int level);

/* Sets the level alone. config_load() calls it, so that it can report what it finds. */
void log_set_level(int level);

/* Directs lines to another file descriptor (default 2). The worker uses it: its fd 2 is captured.
 */
void log_to(int fd);

int log_level(void);

/* Whether another process has said the same: if so, warnings and notes are written like those of
 * -v. Of a launcher's ranks the first of a host says what is true of all. */
void log_repeats(bool repeats);

void log_write(enum log_level level, const char *format, ...)
    __attribute__((cold, format(printf, 2, 3)));

/* Writes a line that another process has made, with its end, to `fd`: as it is, or with colour
 * where it is one of omprma's and goes to a terminal. */
void log_pass(int fd, const char *line, size_t bytes);

#endif
