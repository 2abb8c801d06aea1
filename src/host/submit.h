/*
 * submit.h: a step of something larger: a submit or retrieve as it is, whatever its size.
 */
#ifndef OMPRMA_HOST_SUBMIT_H
#define OMPRMA_HOST_SUBMIT_H

#include "host/operation.h"

/* Appends a submit or retrieve whose host memory is used when the transfer runs: it is not copied,
 * and nothing orders it against others that use it. Its end is reported without being asked for.
 * The range has been checked. *operation is a reference. Errors: HOST_MEMORY. */
omprma_status_t submit_part(struct omprma_queue *queue, bool submit, omprma_addr_t address,
                            void *host, uint64_t bytes, bool arena, struct operation **operation);

#endif
