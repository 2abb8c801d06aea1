/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* pair.h: one exchange between a pair of devices, whichever way it goes. */
#ifndef OMPRMA_HOST_CALLS_PAIR_H
#define OMPRMA_HOST_CALLS_PAIR_H

#include "host/queue/queue.h"

/* One exchange; ranges are checked. */
struct exchange {
    struct omprma_queue *queue; /* of the source */
    struct device *to_device;
    omprma_addr_t from, to;
    uint64_t bytes;
    bool from_arena, to_arena;
};

#endif
