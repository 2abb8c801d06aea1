/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * thread.c: a thread's stack is made when it is first needed and found by a thread-local pointer. A
 * key whose destructor frees it has it end with the thread.
 */
#include "cuda/thread.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>

struct thread {
    struct context **stack;
    size_t depth, room;
};

static pthread_key_t key; /* its destructor frees a thread's stack */

/* Eight bytes: they fit the room that the loader keeps for libraries opened late. */
static _Thread_local struct thread *self __attribute__((tls_model("initial-exec")));

static void thread_free(void *data)
{
    struct thread *thread = data;
    free(thread->stack);
    free(thread);
    self = NULL;
}

bool thread_open(void)
{
    return pthread_key_create(&key, thread_free) == 0;
}

static struct thread *thread_make(void)
{
    if (!self) {
        self = calloc(1, sizeof(*self));
        if (self)
            pthread_setspecific(key, self);
    }
    return self;
}

const void *thread_self(void)
{
    return thread_make();
}

struct context *thread_context(void)
{
    return self && self->depth ? self->stack[self->depth - 1] : NULL;
}

bool thread_push(struct context *context)
{
    struct thread *thread = thread_make();

    if (!thread)
        return false;
    if (thread->depth == thread->room) {
        size_t room = thread->room ? 2 * thread->room : 4;
        struct context **longer = realloc(thread->stack, room * sizeof(struct context *));
        if (!longer)
            return false;
        thread->stack = longer;
        thread->room = room;
    }
    thread->stack[thread->depth++] = context;
    return true;
}

struct context *thread_pop(void)
{
    return self && self->depth ? self->stack[--self->depth] : NULL;
}

bool thread_set(struct context *context)
{
    thread_pop();
    return !context || thread_push(context);
}

void thread_forget(const struct context *context)
{
    if (thread_context() == context)
        thread_pop();
}
