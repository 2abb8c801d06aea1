/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * piece.h: data that goes piece by piece gives each piece queues of its own, one on the source and
 * one on the destination, in which nothing else stands. They are kept for the next piece.
 *
 * Thread: with runtime->lock held. Nothing here blocks.
 */
#ifndef OMPRMA_HOST_PATH_PIECE_H
#define OMPRMA_HOST_PATH_PIECE_H

#include "host/queue/queue.h"

/* Takes those that are missing; the program (NULL) has none, and a device that is both has one.
 * Errors: HOST_MEMORY. */
omprma_status_t piece_open(struct omprma_queue *queue[2], struct device *from, struct device *to);

/* All steps are appended and leave, or fail with the thread's error. */
void piece_push(struct omprma_queue *const queue[2], omprma_status_t status);

/* False: something is under way, and was asked about. */
bool piece_has_ended(struct omprma_queue *const queue[2]);

/* Why it has failed; NULL: it has not. */
const struct failure *piece_failure(struct omprma_queue *const queue[2]);

/* There is no next piece. */
void piece_let_go(struct omprma_queue *const queue[2]);

#endif
