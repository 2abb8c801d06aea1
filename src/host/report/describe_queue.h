/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * describe_queue.h: what the operations of a queue wait for, in words, at any time.
 *
 * Thread: with runtime->lock held. Blocks: no.
 */
#ifndef OMPRMA_HOST_REPORT_DESCRIBE_QUEUE_H
#define OMPRMA_HOST_REPORT_DESCRIBE_QUEUE_H

#include "host/queue/queue.h"

/* Logs a line for each of the first operations, the next one to be issued and the last one. Returns
 * the number of lines. */
int describe_queue(const struct omprma_queue *queue);

#endif
