/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * orphan.h: queues whose stream the program has destroyed while they were busy. The program does
 * not wait for them; they are destroyed when they are idle. Knows nothing of any driver interface.
 *
 * Thread: any. Blocks: no.
 */
#ifndef OMPRMA_FACE_DRIVER_ORPHAN_H
#define OMPRMA_FACE_DRIVER_ORPHAN_H

#include <pthread.h>
#include <stdbool.h>

#include <omprma/omprma.h>

struct orphan;
struct orphans {
    pthread_mutex_t lock;
    struct orphan *first;
};

void orphans_open(struct orphans *orphans);

/* Takes the queue over. False: no host memory. */
bool orphans_add(struct orphans *orphans, omprma_queue_t *queue);

/* Destroys those that are idle, or have failed. */
void orphans_destroy_idle(struct orphans *orphans);

/* Gives one back to the caller, who destroys it. NULL: none is left. */
omprma_queue_t *orphans_take(struct orphans *orphans);

#endif
