/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * findings.c: a finding is known by its kind and two numbers. The status of a process that has
 * called exit() can only be changed by leaving it early, so it is left by _exit(), after its
 * streams were written, as late as possible: when omprma ends, or, where that was earlier, with
 * this library or when exit() has come to us.
 */
#define _GNU_SOURCE
#include "host/check/findings.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/log.h"
#include "base/units.h"

enum { KNOWN = 1024, LINES_MOST = 100, LINE_BYTES = 1536 };

struct known {
    enum finding kind;
    uint64_t what, which;
};

static struct {
    pthread_mutex_t lock;
    uint64_t count;
    struct known known[KNOWN]; /* those that have a line; later ones may be said twice */
    size_t known_count;
    pid_t pid;  /* of the process that has opened it: a forked child has found nothing */
    int status; /* that the program has ended with */
    bool exits, ended;
} findings = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void leave(void)
{
    fflush(NULL);
    _exit(findings.status ? findings.status : EXIT_FAILURE);
}

/* Also after the ends of libraries, where omprma was opened before main() began. */
static void note_exit(int status, void *data)
{
    (void)data;
    findings.status = status;
    findings.exits = true;
    if (findings.ended && findings.pid == getpid())
        leave();
}

void findings_open(void)
{
    if (findings.pid == 0)
        on_exit(note_exit, NULL);
    findings.pid = getpid();
}

static bool is_known(enum finding kind, uint64_t what, uint64_t which)
{
    for (size_t i = 0; i < findings.known_count; i++) {
        const struct known *each = &findings.known[i];

        if (each->kind == kind && each->what == what && each->which == which)
            return true;
    }
    if (findings.known_count < KNOWN)
        findings.known[findings.known_count++] = (struct known){kind, what, which};
    return false;
}

void findings_add(enum finding kind, uint64_t what, uint64_t which, const char *format, ...)
{
    char line[LINE_BYTES];
    uint64_t count = 0;
    va_list arguments;

    pthread_mutex_lock(&findings.lock);
    if (!is_known(kind, what, which))
        count = ++findings.count;
    pthread_mutex_unlock(&findings.lock);
    if (count == LINES_MOST + 1)
        log_write(LOG_ERROR, "check: more than %d findings; further ones are only counted",
                  LINES_MOST);
    if (count == 0 || count > LINES_MOST)
        return;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    log_write(LOG_ERROR, "check: %s", line);
}

uint64_t findings_count(void)
{
    uint64_t count;

    pthread_mutex_lock(&findings.lock);
    count = findings.count;
    pthread_mutex_unlock(&findings.lock);
    return count;
}

void findings_end(void)
{
    uint64_t count = findings_count();

    if (count == 0 || findings.ended || findings.pid != getpid())
        return;
    log_write(LOG_ERROR, "check: %" PRIu64 " finding%s; so the program does not end with status 0",
              count, units_plural((int64_t)count));
    findings.ended = true;
    if (findings.exits)
        leave();
}

__attribute__((destructor)) static void end_with_library(void)
{
    if (findings.ended && findings.exits && findings.pid == getpid())
        leave();
}
