/*
 * helper.c: takes a queue of the device, lets it wait for a mark of the queue that it works for,
 * and marks it to go back to the device when it is idle.
 */
#include "host/helper.h"

#include "base/error.h"
#include "host/append.h"
#include "host/issue.h"

omprma_status_t helper_open(struct device *device, struct omprma_queue *after,
                            struct omprma_queue **helper)
{
    struct operation *before = NULL;
    omprma_status_t status = queue_take(device, helper);

    if (status != OMPRMA_OK || !after)
        return status;
    (*helper)->observed.region = after->observed.region;
    status = queue_mark(after, &before);
    if (status == OMPRMA_OK)
        status = queue_wait(*helper, before, WAIT_PART);
    operation_drop(&device->runtime->operations, before);
    return status == OMPRMA_OK ? status : helper_let_go(*helper, status);
}

omprma_status_t helper_let_go(struct omprma_queue *helper, omprma_status_t status)
{
    helper->give_when_idle = true;
    if (status != OMPRMA_OK)
        queue_fail(helper, NULL, status, error_text());
    queue_want(helper, helper->hazard);
    queue_flush(helper);
    return status;
}
