/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * inherited.c: What was put aside is kept in static variables, and put back in the child between
 * fork() and exec().
 */
#include "tools/launch/inherited.h"

#include <signal.h>
#include <stddef.h>

/* Process-wide by nature. */
static struct {
    sigset_t blocked;
    struct sigaction child, pipe, too_large;
} inherited;

void inherited_put_aside(void)
{
    const struct sigaction none = {.sa_handler = SIG_DFL}, ignored = {.sa_handler = SIG_IGN};
    sigprocmask(SIG_SETMASK, NULL, &inherited.blocked);
    sigaction(SIGPIPE, NULL, &inherited.pipe);
    sigaction(SIGXFSZ, &ignored, &inherited.too_large); /* what cannot be written has a line */
    sigaction(SIGCHLD, &none, &inherited.child);
}

void inherited_give_back(void)
{
    sigaction(SIGPIPE, &inherited.pipe, NULL);
    sigaction(SIGXFSZ, &inherited.too_large, NULL);
    sigaction(SIGCHLD, &inherited.child, NULL);
    sigprocmask(SIG_SETMASK, &inherited.blocked, NULL);
}

void inherited_clear_signals(void)
{
    const struct sigaction none = {.sa_handler = SIG_DFL};
    sigset_t empty;
    for (int number = 1; number < NSIG; number++)
        sigaction(number, &none, NULL); /* the two that cannot be ignored are refused */
    sigemptyset(&empty);
    sigprocmask(SIG_SETMASK, &empty, NULL);
}
