/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * unwaited.h: what omprma's own faces (the OpenMP runtime) say of work beside which the program
 * computes, and how a thread of theirs looks after it. It belongs to libomprma.so of the same
 * version and is not installed.
 */
#ifndef OMPRMA_PRIVATE_UNWAITED_H
#define OMPRMA_PRIVATE_UNWAITED_H

#include <omprma/omprma.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whether what is appended to the queue from now on is waited for at once, as it is at first. If
 * not (`unwaited`), a thread of omprma's copies within a host, and the caller goes on. Thread:
 * whoever uses the queue. Blocks: no. */
OMPRMA_API void omprma_queue_unwaited(omprma_queue_t *queue, bool unwaited);

/* Sleeps until something has come in from a worker, at most `ns`; what has is for those to see who
 * query. False, at once: it could not tell, because a thread waits or moves data, or workers are on
 * other hosts. The thread has short slices of time from then on. Thread: any. Blocks: yes. */
OMPRMA_API bool omprma_rest(int64_t ns);

/* Waits as omprma_queue_synchronize() does, making progress for all, until `done(data)`, which is
 * called again and again, with a lock held, and calls nothing of omprma. False, at once: another
 * thread makes progress, or omprma has not started. Thread: any. Blocks: yes. */
OMPRMA_API bool omprma_wait_until(bool (*done)(const void *data), const void *data);

/* What a thread in omprma_wait_until() or omprma_rest() waits for may have come: it looks again.
 * Thread: any. Blocks: no. */
OMPRMA_API void omprma_look_again(void);

#ifdef __cplusplus
}
#endif
#endif
