/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * deadline.c: The thread of watch.h looks eight times per limit at a count that is odd inside a
 * call. The call takes too long when nine looks have seen the same one. Looks are counted, not
 * time: a process that was stopped for long has looked once meanwhile.
 */
#include "base/deadline.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LOOKS_PER_LIMIT = 8 };

/* Nothing is waited for, not even the lock of stdout. */
static void end_process(void) __attribute__((noreturn));
static void end_process(void)
{
    if (ftrylockfile(stdout) == 0)
        fflush_unlocked(stdout);
    _exit(EXIT_FAILURE);
}

void deadline_look(void *data)
{
    struct deadline *deadline = data;
    uint64_t calls = atomic_load_explicit(&deadline->calls, memory_order_acquire);

    if (calls != deadline->seen || calls % 2 == 0)
        deadline->looks = 0;
    deadline->seen = calls;
    if (deadline->looks++ < LOOKS_PER_LIMIT)
        return;
    deadline->say(deadline->data, atomic_load(&deadline->peer));
    end_process();
}

bool deadline_begin(struct deadline *deadline, int64_t limit_ns,
                    void (*say)(const void *data, int peer), const void *data)
{
    deadline->say = say;
    deadline->data = data;
    return watch_begin(&deadline->watch, limit_ns / LOOKS_PER_LIMIT, deadline_look, deadline);
}

void deadline_end(struct deadline *deadline)
{
    watch_end(&deadline->watch);
}
