/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * trial.h: known data for ways to carry, and a look at what of it has arrived. Of a device it is
 * looked at by messages, which the worker answers from its memory at once: so what is late is
 * missed. Knows nothing of which ways there are.
 */
#ifndef OMPRMA_HOST_START_TRIAL_H
#define OMPRMA_HOST_START_TRIAL_H

#include "host/core/device.h"

enum {
    TRIAL_SURE = 64 << 10, /* so much is tried however long it takes, and every word that comes back
                            * is compared, beyond it one of each page; */
    TRIAL_NEAR = 1 << 20,  /* within a host so much is tried */
    TRIAL_MOST = 2 << 20,  /* bytes of the largest one */
    TRIAL_SIZES = 5,
    TRIAL_LOOKS = 256
};

/* Ascending powers of two. */
extern const uint64_t trial_sizes[TRIAL_SIZES];

/* One of them: data that no other number has anywhere. */
struct trial {
    uint64_t number, bytes;
    uint64_t seen[TRIAL_LOOKS + 1];
};

/* Memory of this process for it, apart from the program's heap, whose limits would follow a block
 * of that size. It lies in huge pages, where there are any: a fault for each small one takes 12 us
 * under some hypervisors. False without memory. */
struct trial_memory {
    char *here;
    void *mapped; /* around it */
    size_t mapped_bytes;
};
bool trial_map(struct trial_memory *memory, uint64_t bytes);
void trial_unmap(const struct trial_memory *memory);

void trial_fill(const struct trial *trial, char *data);

/* How many bytes are right, up to the first word that is not. */
uint64_t trial_compare(const struct trial *trial, const char *data);

/* Has a word of each page of a device's memory come, up to TRIAL_LOOKS and the last one; when the
 * queue is synchronized, says of them the same as trial_compare(). While nobody else uses the
 * runtime, as at start-up. Errors: those of retrieves. */
omprma_status_t trial_look(struct trial *trial, omprma_queue_t *queue, omprma_addr_t there);
uint64_t trial_seen(const struct trial *trial);

#endif
