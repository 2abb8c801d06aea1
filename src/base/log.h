/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * log.h: lines on stderr, each "omprma: ..." (or "omprma-worker 2 (host): ..."), written whole with
 * one write. Level 0 is always printed; -v / OMPRMA_VERBOSE raises the limit.
 */
#ifndef OMPRMA_BASE_LOG_H
#define OMPRMA_BASE_LOG_H

enum log_level {
    LOG_ERROR = 0,  /* something failed; the user must act */
    LOG_CHOICE = 1, /* what was chosen and why: data path, fallback, quirk */
    LOG_DETAIL = 2, /* start-up, sizes, measurements */
    LOG_DEBUG = 3   /* every message */
};

/* Sets the prefix ("omprma", "omprma-worker 2 (node7)") and the level. Not thread safe: call
 * once at start-up. */
void log_open(const char *prefix, int level);

/* Sets the level alone. config_load() calls it, so that it can report what it finds. */
void log_set_level(int level);

/* Directs lines to another file descriptor (default 2). The worker uses it: its fd 2 is captured.
 */
void log_to(int fd);

int log_level(void);

void log_write(enum log_level level, const char *format, ...)
    __attribute__((cold, format(printf, 2, 3)));

#endif
