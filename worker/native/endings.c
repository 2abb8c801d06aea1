/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * endings.c: in place of the C library's functions that end a process or thread at once, without
 * exit handlers. omprma-worker exports them, and images find them first. Part of programs only, and
 * of no archive: whatever calls _exit() would draw it from there. Must not know: MPI, messages,
 * queues.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "worker/native/crash.h"

#define VISIBLE __attribute__((visibility("default")))
#define TELL(function, code)                                                                       \
    crash_ended(__builtin_return_address(0), __builtin_frame_address(0), function, code)

/* Processes that have been forked may not ask the loader anything. */
static void __attribute__((noreturn)) end_process(int code)
{
    for (;;)
        syscall(SYS_exit_group, code);
}

VISIBLE void _exit(int code)
{
    TELL("_exit", code);
    end_process(code);
}

VISIBLE void _Exit(int code)
{
    TELL("_Exit", code);
    end_process(code);
}

VISIBLE void quick_exit(int code)
{
    TELL("quick_exit", code);
    ((void (*)(int))dlsym(RTLD_NEXT, "quick_exit"))(code);
    __builtin_unreachable();
}

/* Threads that a kernel has made end as they like. */
VISIBLE void pthread_exit(void *value)
{
    if (crash_thread_in_kernel())
        TELL("pthread_exit", 0);
    ((void (*)(void *))dlsym(RTLD_NEXT, "pthread_exit"))(value);
    __builtin_unreachable();
}
