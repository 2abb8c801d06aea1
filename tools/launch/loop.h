/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * loop.h: waits for descriptors that can be read, children that end, signals and a deadline, and
 * calls what is to be done about each. Knows nothing of what they mean. Thread: one, and nobody
 * else waits for children meanwhile. Blocks: loop_wait() alone.
 */
#ifndef OMPRMA_LAUNCH_LOOP_H
#define OMPRMA_LAUNCH_LOOP_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/signalfd.h>
#include <sys/types.h>

enum { LOOP_SOURCES_MOST = 8, LOOP_CHILDREN_MOST = 2 };

struct loop_source {
    int fd; /* -1: closed, or not there yet */
    void (*on_input)(struct loop_source *source);
    void *owner;
};

struct loop_child {
    pid_t pid; /* 0: not started */
    bool ended;
    int status;                  /* as from wait(), once it has ended */
    void (*on_end)(void *owner); /* the loop's; NULL: nobody needs to know at once */
};

struct loop {
    void *owner;
    int signals; /* from signalfd(); -1: none */
    void (*on_signal)(void *owner, const struct signalfd_siginfo *info); /* all but SIGCHLD */
    int64_t deadline_ns; /* by clock_ns(); 0: none, as it is again when it is over */
    void (*on_deadline)(void *owner);
    struct loop_source *sources[LOOP_SOURCES_MOST]; /* as they are called, after signals */
    struct loop_child *children[LOOP_CHILDREN_MOST];
    struct pollfd polled[1 + LOOP_SOURCES_MOST]; /* loop_wait()'s */
};

/* For `most_ms` at most; -1: until something comes. False, with errno, when it cannot. */
bool loop_wait(struct loop *loop, int most_ms);

/* Calls for what has come, but not for a source that an earlier call has closed. */
void loop_call(struct loop *loop);

/* Takes the ends of children at once, also of those that are nobody's. */
void loop_reap(struct loop *loop);

void loop_set_deadline(struct loop *loop, int64_t seconds); /* so many from now */

/* Is it there, and has not ended? */
bool loop_runs(const struct loop_child *child);
void loop_kill(const struct loop_child *child, int number); /* if it is */

/* If it is open. */
void loop_close(struct loop_source *source);

/* Hands on what was written to a pipe before, and no more: whoever writes without end does not keep
 * others waiting. At the end, and when `take` is false, the source is closed. */
void loop_read(struct loop_source *source,
               bool (*take)(struct loop_source *source, const char *bytes, size_t count));

#endif
