/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * attendant.h: the library's own threads. One goes on with what had to wait for a signal of the
 * program. The other one, the caller, calls functions of the program, which may wait for that. They
 * may block; callbacks of omprma must not, so they give them what they cannot do.
 *
 * Thread: any. Blocks: no.
 */
#ifndef OMPRMA_HSA_ATTENDANT_H
#define OMPRMA_HSA_ATTENDANT_H

#include "hsa/watch.h"

/* Starts the one for such watches at the first call. False: there is none. */
bool attendant_start(bool calls_program);

/* Has the watch run when those before it are done. attendant_start() has succeeded. */
void attendant_give(struct watch *watch);

/* Watches that have not begun name the signal no more. */
void attendant_forget(const struct signal *signal);

/* Before the caller calls a function of the program, and after: the end of the process does not
 * wait for that. False: the process ends, and it does nothing more. */
void attendant_leave(void);
bool attendant_enter(void);

#endif
