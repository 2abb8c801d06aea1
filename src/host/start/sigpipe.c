/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * sigpipe.c: a handler is set where the program has left the signal at its default. When the
 * thread that gets the signal holds the runtime's lock, it comes from a call of MPI, and nothing
 * happens; else the program ends by it, as it would have.
 */
#define _GNU_SOURCE
#include "host/start/sigpipe.h"

#include <signal.h>
#include <unistd.h>

static const pthread_mutex_t *_Atomic spared; /* whoever holds it */

static void handle(int number)
{
    const pthread_mutex_t *mutex = spared;
    struct sigaction none = {.sa_handler = SIG_DFL};

    if (mutex && mutex->__data.__owner == gettid())
        return;
    sigaction(number, &none, NULL);
    raise(number);
}

void sigpipe_spare(struct runtime *runtime)
{
    struct sigaction old, new = {.sa_handler = handle, .sa_flags = SA_RESTART};

    if (sigaction(SIGPIPE, NULL, &old) || old.sa_handler != SIG_DFL)
        return;
    spared = &runtime->lock.mutex;
    sigaction(SIGPIPE, &new, NULL);
}

void sigpipe_end(void)
{
    spared = NULL;
}
