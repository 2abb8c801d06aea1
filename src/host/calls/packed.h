/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * packed.h: runs of memory that go packed, piece by piece, so many runs at a time, through slots
 * (path/piece.h). A piece that is submitted is packed here, gets into a slot and is scattered from
 * there by the worker; one that is retrieved is gathered into a slot by the worker and unpacked
 * here; one between devices is gathered, exchanged and scattered.
 *
 * Within a host slots lie in memory that program and workers share: what is packed is there. Else
 * they lie in a block of device memory, and data gets there as any does.
 *
 * Thread: with runtime->lock held.
 */
#ifndef OMPRMA_HOST_CALLS_PACKED_H
#define OMPRMA_HOST_CALLS_PACKED_H

#include "base/shape.h"
#include "host/queue/queue.h"

/* Where runs lie. */
struct side {
    struct device *device; /* NULL: memory of the program */
    uint64_t at;           /* of the first run */
    struct shape shape;
};

/* Where slots lie. */
enum packed_slots { PACKED_NOT, PACKED_BLOCK, PACKED_SHARED };

/* Where runs from here to there are best packed. PACKED_NOT: they are large, or there are no slots.
 * Makes those at the first use of a device, and gives up the lock meanwhile. Both devices can be
 * touched. */
enum packed_slots packed_slots_for(const struct side *from, const struct side *to);

/* One operation, of a queue of the source, or of the destination where the program is that. Errors:
 * HOST_MEMORY, and what the queue says. */
omprma_status_t packed_append(struct omprma_queue *queue, const struct side *from,
                              const struct side *to, enum packed_slots slots);

/* What a task with runs keeps: memory of the program that it fills, or the other device. */
void packed_use(struct operation *task, const struct side *from, const struct side *to);

#endif
