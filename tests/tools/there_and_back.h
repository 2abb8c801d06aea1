/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* there_and_back.h: BYTES to a device, and back from it, for programs of far.sh and ucx.sh. */
#ifndef OMPRMA_TESTS_TOOLS_THERE_AND_BACK_H
#define OMPRMA_TESTS_TOOLS_THERE_AND_BACK_H

#include <omprma/omprma.h>

enum { BYTES = 4000000 };

static omprma_status_t there_and_back(int device, char *out, char *in)
{
    omprma_queue_t *queue;
    omprma_addr_t address;
    omprma_status_t status = omprma_queue_create(device, &queue);

    if (status == OMPRMA_OK)
        status = omprma_alloc(device, BYTES, &address);
    if (status == OMPRMA_OK)
        status = omprma_submit(queue, address, out, BYTES);
    if (status == OMPRMA_OK)
        status = omprma_retrieve(queue, in, address, BYTES);
    return status == OMPRMA_OK ? omprma_queue_synchronize(queue) : status;
}

#endif
