/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * subqueue.c: takes a queue of the device, lets it follow the queue that it works for, and marks it
 * to go back to the device when it is idle.
 */
#include "host/queue/subqueue.h"

#include "base/error.h"
#include "host/queue/issue.h"

omprma_status_t subqueue_open(struct device *device, struct omprma_queue *after,
                              struct omprma_queue **subqueue)
{
    omprma_status_t status = queue_take(device, subqueue);

    if (status != OMPRMA_OK || !after)
        return status;
    (*subqueue)->observed =
        (struct observed_queue){.region = after->observed.region, .number = after->observed.number};
    status = queue_follow(*subqueue, after);
    return status == OMPRMA_OK ? status : subqueue_let_go(*subqueue, status);
}

omprma_status_t subqueue_let_go(struct omprma_queue *subqueue, omprma_status_t status)
{
    subqueue->give_when_idle = true;
    if (status != OMPRMA_OK)
        queue_fail(subqueue, NULL, status, error_text());
    queue_want(subqueue, subqueue->hazard);
    queue_flush(subqueue);
    return status;
}
