/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * gate.h: the entry guard of a face: counts the threads that are inside of it, so that the end of
 * the process can wait for them before it ends omprma. Knows nothing of omprma.
 *
 * Thread: any function from any thread, but gate_open() and gate_close() once each.
 */
#ifndef OMPRMA_FACE_GATE_H
#define OMPRMA_FACE_GATE_H

#include <stdbool.h>

/* Before the first gate_enter(). False: the process has no key for data of threads left. */
bool gate_open(void);

/* False: the gate is closed, or there is no memory. Else gate_leave() has to follow. May be nested:
 * whoever is inside comes in again. Blocks: no. */
bool gate_enter(void);

/* After the gate was closed the outermost one holds the thread back for some seconds, unless it is
 * the one that closed it: it must not go back into what is being taken down. */
void gate_leave(void);

/* Has the process begun to end? */
bool gate_closed(void);

/* Has another thread begun to end the process, by exit() or the end of main()? Nothing fails any
 * more then: whoever cannot go on waits for the end, outside of the gate. */
bool gate_ends_elsewhere(void);

/* If so, holds the thread back for some seconds, not for ever: a destructor may be waiting for it.
 * Blocks: yes. */
void gate_hold(void);

/* Is the calling thread inside? */
bool gate_is_inside(void);

/* Closes the gate and waits until everybody is out. False: this very thread is inside (a signal
 * handler called exit()), so nothing can be ended in an orderly way. When the process ends, because
 * of exit() or the end of main(), and somebody is inside for OMPRMA_TIMEOUT more, because a kernel
 * runs on, it does not return: a line says so, and the process ends with its status. Blocks: yes.
 */
bool gate_close(void);

#endif
