/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * packets.h: what packets have done.
 *
 * Thread: with the queue's lock held. Blocks: as the functions of omprma that put something into a
 * queue.
 */
#ifndef OMPRMA_HSA_PACKETS_H
#define OMPRMA_HSA_PACKETS_H

#include "hsa/queue.h"

enum packet_step {
    PACKET_DONE,
    PACKET_WAITS, /* it waits for signals of the program: queue_waits_for() has been called */
    PACKET_FAILED /* it cannot be executed: queue_fail() has been called */
};

/* The packet is the first one of the queue that is not in the lane. After PACKET_WAITS it comes
 * here again. */
enum packet_step packet_run(struct queue *queue, const union packet *packet);

#endif
