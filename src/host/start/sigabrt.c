/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * sigabrt.c: a handler is set where the program has left the signal at its default. It only reads
 * memory, and writes a byte.
 */
#include "host/start/sigabrt.h"

#include <signal.h>
#include <unistd.h>

#include "control/shm/doorbell.h"
#include "host/start/supervisor.h"

static struct runtime *_Atomic explained;
static pid_t owner; /* children have the handler, too, and other reasons */

static void handle(int number)
{
    const struct runtime *runtime = explained;

    for (int rank = 0; runtime && getpid() == owner && rank < runtime->world.size; rank++)
        if (doorbell_owner_died(runtime->bells[rank])) {
            supervisor_tell_died();
            break;
        }
    raise(number); /* the handler is gone */
}

void sigabrt_explain(struct runtime *runtime)
{
    struct sigaction old, new = {.sa_handler = handle, .sa_flags = SA_RESETHAND};

    if (sigaction(SIGABRT, NULL, &old) || old.sa_handler != SIG_DFL)
        return;
    owner = getpid();
    explained = runtime;
    sigaction(SIGABRT, &new, NULL);
}

void sigabrt_end(void)
{
    explained = NULL;
}
