/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * thread.h: each thread's stack of current contexts. Knows nothing of what a context is.
 *
 * Thread: the calling one's. Blocks: no.
 */
#ifndef OMPRMA_CUDA_THREAD_H
#define OMPRMA_CUDA_THREAD_H

#include <stdbool.h>

struct context;

/* Once, before the others. False: no key is left. */
bool thread_open(void);

/* The current context; NULL: none. */
struct context *thread_context(void);

/* Replaces the current one; NULL takes it away. False: no memory. */
bool thread_set(struct context *context);

/* False: no memory. */
bool thread_push(struct context *context);

/* NULL: the stack is empty. */
struct context *thread_pop(void);

/* Takes it away from the calling thread if it is current there. */
void thread_forget(const struct context *context);

/* Something that no other thread alive has, for streams per thread. NULL: no memory. */
const void *thread_self(void);

#endif
