/*
 * deadline.h: a limit on the steps of omprma_init(), and on leaving MPI. Where packets between
 * hosts vanish, MPI waits for ever and nobody can call it off; so a thread ends the process, with a
 * line and status 1, when a step takes too long. omprma-run and mpirun then end the workers.
 */
#ifndef OMPRMA_HOST_START_DEADLINE_H
#define OMPRMA_HOST_START_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/watch.h"

struct deadline {
    struct watch watch;
    const char *phase, *step, *advice;
    int64_t limit_ns, deadline_ns;
    bool watched;
};

/* Watches from now on. `phase` and `step` say what is being done, `advice` what may help; all must
 * outlive the watch. A limit of 0 is none. */
void deadline_begin(struct deadline *deadline, const char *phase, const char *advice,
                    const char *step, int64_t limit_ns);

/* The step before is done, this one begins. */
void deadline_next(struct deadline *deadline, const char *step, int64_t limit_ns);

/* Ends the watch. */
void deadline_end(struct deadline *deadline);

/* Ends the process with status 1 while other threads may be anywhere, holding any lock. */
void deadline_exit(void) __attribute__((noreturn));

#endif
