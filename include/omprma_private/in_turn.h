/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * in_turn.h: submits that say when their source is read, for omprma's own faces (libraries for
 * GPUs): programs change it while the queue still has other things to do. It belongs to
 * libomprma.so of the same version and is not installed.
 */
#ifndef OMPRMA_PRIVATE_IN_TURN_H
#define OMPRMA_PRIVATE_IN_TURN_H

#include <omprma/omprma.h>

#ifdef __cplusplus
extern "C" {
#endif

/* As omprma_submit(), but the source is read when the queue comes to it, whatever its size: it
 * holds then what anything in front of it (a hold, an event of another queue) has left there. It
 * must stay until the queue is synchronized, a later event of the queue is complete, or
 * omprma_queue_query() says done. Blocks: when full; on devices that are not staged, until what the
 * queue holds is over.
 */
OMPRMA_API omprma_status_t omprma_submit_in_turn(omprma_queue_t *queue, omprma_addr_t to,
                                                 const void *from, size_t bytes);

/* As omprma_submit(), but the source may be overwritten as soon as it returns, whatever its size.
 * Blocks: when full; where the program itself copies to staging memory, until that had room for all
 * of it. */
OMPRMA_API omprma_status_t omprma_submit_copied(omprma_queue_t *queue, omprma_addr_t to,
                                                const void *from, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
