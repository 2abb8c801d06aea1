/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * wrap.h: OMPRMA_WRAP: this worker is started once more, by another command: a debugger, a
 * profiler. It does so itself, so that it works under every launcher, and on every host. Knows
 * nothing of MPI but the names of variables.
 */
#ifndef OMPRMA_WORKER_WRAP_H
#define OMPRMA_WORKER_WRAP_H

#include <omprma/omprma.h>

/* Where OMPRMA_WRAP is set, and is for this worker: becomes that command, with this executable as
 * its last word, and does not return. Comes back in the process that is started so. Before any
 * thread is made. `session` is what an agent has told this worker, or NULL; `number` is its own, -1
 * where the launcher's variables tell it. Errors: CONFIG (the command cannot be run; the list of
 * workers makes no sense). */
omprma_status_t wrap_enter(const char *session, int number);

/* What the agent has told the worker that has become the command which has started this one; NULL:
 * nothing, or there is none. Before wrap_enter(). */
const char *wrap_session(void);

/* For tests: the words of `command` for worker `number` on `host`, then `program`; malloced as by
 * shell_words_split(). */
omprma_status_t wrap_words(const char *command, int number, const char *host, const char *program,
                           char ***words);

#endif
