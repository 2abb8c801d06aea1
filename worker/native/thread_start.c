/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * thread_start.c: in place of the C library's pthread_create(): each thread of a kernel gets a
 * stack for signals, for a thread of OpenMP is the one that overflows its own stack first.
 * omprma-worker exports it, and images and their libraries find it first. Part of programs only,
 * as endings.c is. Sanitizers have a pthread_create() of their own, which must be called.
 * Must not know: MPI, messages, queues.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "worker/native/crash.h"

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

typedef void *routine_t(void *data);
typedef int create_t(pthread_t *thread, const pthread_attr_t *attributes, routine_t *routine,
                     void *data);

struct start {
    routine_t *routine;
    void *data;
};

static void *begin(void *data)
{
    const struct start start = *(struct start *)data;

    free(data);
    crash_other_thread();
    return start.routine(start.data);
}

__attribute__((visibility("default"))) int
pthread_create(pthread_t *thread, const pthread_attr_t *attributes, routine_t *routine, void *data)
{
    create_t *next = (create_t *)dlsym(RTLD_NEXT, "pthread_create");
    struct start *start = malloc(sizeof(*start));
    int error = EAGAIN;

    if (next && start) {
        *start = (struct start){routine, data};
        error = next(thread, attributes, begin, start);
    }
    if (error)
        free(start);
    return error;
}
#endif
