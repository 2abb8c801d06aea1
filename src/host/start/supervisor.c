/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * supervisor.c: the words are single bytes, written to a pipe whose descriptor a variable names.
 * Variables are read once and removed, so that children of the program do not find them; loader
 * paths are put back as the user had them.
 */
#include "host/start/supervisor.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/coming.h"
#include "base/log.h"
#include "control/agent/join.h"

/* The descriptor that a variable names, -1 for none; the variable is gone then. */
static int take_descriptor(const char *name)
{
    const char *text = getenv(name);
    int fd = text ? atoi(text) : -1;

    unsetenv(name);
    return fd < 3 ? -1 : fd;
}

static int report_fd = -1;

static void say(char word)
{
    if (report_fd >= 0 && write(report_fd, &word, 1) != 1)
        log_write(LOG_DETAIL, "omprma-run does not listen any more");
}

/* The descriptor stays open until the process ends, or is another program. */
static void report(void)
{
    report_fd = take_descriptor("OMPRMA_INTERNAL_FD");
    if (report_fd >= 0)
        fcntl(report_fd, F_SETFD, FD_CLOEXEC);
    say(SUPERVISOR_CONNECTED);
}

static struct coming *shared; /* mapped to the end */

/* The descriptor stays for programs that this one starts. Where an agent gives each its workers,
 * the one place is only for what it has done. */
bool supervisor_claim(int *pid)
{
    const char *text = getenv(COMING_FD_VARIABLE);
    int32_t none = 0;

    if (text && !shared)
        shared = coming_open(atoi(text));
    if (!shared || atomic_compare_exchange_strong(&shared->served, &none, (int32_t)getpid()))
        return true;
    *pid = none;
    shared = NULL;
    return getenv(DIRECT_JOIN_VARIABLE) != NULL;
}

bool supervisor_is_shared(void)
{
    return !shared && getenv(DIRECT_JOIN_VARIABLE);
}

struct coming *supervisor_coming(void)
{
    return shared && shared->workers ? shared : NULL;
}

void supervisor_tell_said(void)
{
    if (shared)
        atomic_store(&shared->said, 1);
}

struct recording *supervisor_recording(void)
{
    return coming_room(shared);
}

void supervisor_tell_lost(void)
{
    say(SUPERVISOR_LOST);
}

void supervisor_tell_died(void)
{
    say(SUPERVISOR_DIED);
}

/* What Open MPI says in this process goes to omprma-run; it has read the variables by now. */
static void keep_words(void)
{
    int fd = take_descriptor("OMPRMA_INTERNAL_WORDS_FD");
    const char *log = getenv("PMIX_MCA_plog");

    if (fd < 0)
        return;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    unsetenv("OPAL_OUTPUT_STDERR_FD");
    if (log && strcmp(log, "^stdfd") == 0)
        unsetenv("PMIX_MCA_plog");
}

/* `saved` holds the user's value; empty: it was not set. */
static void restore(const char *name, const char *saved)
{
    const char *value = getenv(saved);

    if (!value)
        return;
    if (*value)
        setenv(name, value, 1);
    else
        unsetenv(name);
    unsetenv(saved);
}

void supervisor_times(int64_t *launch_ns, int64_t *program_ns)
{
    const char *text = getenv("OMPRMA_INTERNAL_TIMES");

    if (text && sscanf(text, "%" SCNd64 ",%" SCNd64, launch_ns, program_ns) != 2)
        *launch_ns = *program_ns = 0;
    unsetenv("OMPRMA_INTERNAL_TIMES");
}

void supervisor_tell_connected(void)
{
    report();
    keep_words();
    restore("LD_LIBRARY_PATH", "OMPRMA_INTERNAL_LD_LIBRARY_PATH");
    restore("LD_PRELOAD", "OMPRMA_INTERNAL_LD_PRELOAD");
}
