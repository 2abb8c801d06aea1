/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * outcome.h: what a run's end is for whoever called omprma-run, as far as it is the program's own.
 */
#ifndef OMPRMA_LAUNCH_OUTCOME_H
#define OMPRMA_LAUNCH_OUTCOME_H

#include <stdbool.h>

/* What a shell would show for the wait status of `path`. Says when a signal has ended it that
 * nobody sends who wants it to end; not where the program has `said` itself why it aborts. */
int outcome_status(const char *path, int wait_status, bool said);

/* The same, but EXIT_OWN where it has ended well without using a worker, which is said. Unless it
 * offloads `itself`, one that it starts might have, and its status stays. */
int outcome_result(const char *path, int wait_status, bool said, bool offloaded, bool itself);

/* Ends this process by SIGINT if that has ended the program: the shell must see that Ctrl-C ended
 * us, or its loops would go on. */
void outcome_end_alike(int wait_status);

#endif
