/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * crash.h: what happens when device code goes wrong. SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT,
 * exit(), _exit(), _Exit() and quick_exit() inside a kernel (on any thread of it), other signals
 * that the worker itself has sent or set a timer for, and
 * pthread_exit() on the thread that called it, do not end the worker: the faulting thread is parked
 * for ever, a description is kept for the kernel's device, which is lost, and other threads go on
 * answering. Outside a kernel and outside a guarded copy the signal's default action is taken, and
 * so it is where the kernel has overwritten what the description needs, and in processes that it
 * has forked. Knows nothing of MPI.
 */
#ifndef OMPRMA_WORKER_CRASH_H
#define OMPRMA_WORKER_CRASH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <omprma/omprma.h>

enum { CRASH_TEXT_BYTES = 768, CRASH_STACK_POINTER = 7, CRASH_REGISTERS = 17 };

/* What the handler saw. */
struct crash_scene {
    uint64_t registers[CRASH_REGISTERS]; /* as DWARF numbers them; 0 where it was not a signal */
    uint64_t address;                    /* that was not memory, 0: it is another kind of crash */
    const char *kernel;                  /* its symbol */
    size_t name_end, verb_end; /* in the text: after "kernel NAME", after "crashed" and the like */
};

/* What has become of the kernels of one device; zero at first. The first crash is kept. */
struct crash {
    const void *owner; /* of the images of these kernels, see image.h */
    atomic_bool claimed;
    atomic_bool described;
    char text[CRASH_TEXT_BYTES];
    struct crash_scene scene;
};

/* Installs handlers (on alternate stacks; call crash_thread() in each further thread of ours) and
 * an exit handler. `wake` is called once, async-signal-safe, from the faulting thread when a kernel
 * has crashed. Call after MPI_Init and before the first image is loaded. Errors: HOST_MEMORY. */
omprma_status_t crash_install(void (*wake)(void));

/* Gives the calling thread, which is one of ours, an alternate signal stack. It is freed when the
 * thread ends. Errors: HOST_MEMORY. */
omprma_status_t crash_thread(void);

/* The same for a thread that is not ours, so that it may overflow its own stack. Before
 * crash_install(), and where no memory is left, it gets none. */
void crash_other_thread(void);

/* Around each kernel, on the thread that runs it; a few nanoseconds. While at least one kernel is
 * between enter and leave, a fault or exit() on a thread that is not one of ours (OpenMP's, say)
 * counts as the kernel's that was entered last, of the device whose image the thread is found in
 * or, where it is in none, of all. A thread of ours answers for itself: outside a kernel and a
 * guarded copy its fault takes the default action, so a broken service thread ends the worker at
 * once instead of leaving it silent. A thread that is not ours and has no alternate stack ends the
 * process when it overflows its own. A forked process that comes to crash_leave_kernel() ends
 * there, with a line. */
void crash_enter_kernel(uint64_t entry, struct crash *crash);
void crash_leave_kernel(void);

/* For functions that end a process or thread (endings.c), before they do: where `caller`, the code
 * that called `function` with `code`, is an image's, the kernel of that call is described, its
 * thread parked, and this does not return. `frame` is on the caller's stack. Async-signal-safe. */
void crash_ended(const void *caller, const void *frame, const char *function, int code);

/* True between enter and leave, on the thread that called them. */
bool crash_thread_in_kernel(void);

/* True once a kernel of the device has crashed; *text (NULL allowed) then is one line like
 * "kernel __omp_offloading_..._main_l7 crashed: segmentation fault at address 0x10 (pc image+0x1a)"
 * or "kernel ... called exit(3)" / "... called abort" / "... raised SIGTERM, which ...". It lives
 * as long as `crash`. */
bool crash_happened(const struct crash *crash, const char **text);

/* Calls what crash_install() was given. Async-signal-safe. */
void crash_wake(void);

/* Copies, or touches every page (writing back what was read, atomically, when `write`), of memory
 * that may not be mapped. Return false, and the first bad address in *bad, instead of crashing. */
bool guarded_copy(void *to, const void *from, size_t bytes, uint64_t *bad);
bool guarded_probe(uint64_t address, size_t bytes, bool write, uint64_t *bad);

#endif
