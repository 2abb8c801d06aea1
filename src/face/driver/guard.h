/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * guard.h: start and end of a library through which programs use GPUs, and what each of its
 * functions begins and ends with. Knows nothing of any driver interface.
 *
 * Nothing but the library's own first call starts omprma: a program may ask for versions or for
 * functions by name before it, and its children, who can begin by themselves, have the GPUs. A
 * child that is forked after the start has none: nothing in it is initialised, and cannot be. The
 * end of the process waits for those that are inside.
 *
 * Thread: any. Blocks: guard_start() as omprma_init(); the others do not.
 */
#ifndef OMPRMA_FACE_DRIVER_GUARD_H
#define OMPRMA_FACE_DRIVER_GUARD_H

#include <omprma/omprma.h>

enum guard {
    GUARD_OPEN,
    GUARD_NOT_STARTED, /* in this process */
    GUARD_FORKED,      /* the same, and it cannot be: a child of a process that has started */
    GUARD_STARTING, /* the same, and this thread starts omprma: a library of MPI's looks for GPUs */
    GUARD_ENDED,    /* the process ends */
    GUARD_IN_HOST_CALL /* on the thread that calls the program's functions, see host_call.h */
};

/* Starts omprma; the library calls it once, and makes what it needs before guard_open(). Errors:
 * HOST_MEMORY (no key for data of threads is left), those of omprma_init(). */
omprma_status_t guard_start(void);

/* From now on functions may enter. */
void guard_open(void);

/* GUARD_OPEN or why not, without entering; GUARD_IN_HOST_CALL is not looked for. */
enum guard guard_look(void);

/* Enters one of the library's functions. After GUARD_OPEN and GUARD_IN_HOST_CALL guard_leave() has
 * to follow. */
enum guard guard_enter(void);
void guard_leave(void);

/* A GPU begins by itself with what it was given, while the program does something else: whoever
 * makes a queue asks for that before. Errors: as omprma_progress_thread(). */
omprma_status_t guard_go_on(void);

#endif
