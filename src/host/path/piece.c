/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* piece.c: where source and destination are one device, both entries are the same queue. */
#include "host/path/piece.h"

#include "base/error.h"
#include "host/queue/issue.h"
#include "host/queue/subqueue.h"

omprma_status_t piece_open(struct omprma_queue *queue[2], struct device *from, struct device *to)
{
    omprma_status_t status = OMPRMA_OK;

    if (from && !queue[0])
        status = subqueue_open(from, NULL, &queue[0]);
    if (to == from)
        queue[1] = queue[0];
    else if (status == OMPRMA_OK && to && !queue[1])
        status = subqueue_open(to, NULL, &queue[1]);
    return status;
}

void piece_push(struct omprma_queue *const queue[2], omprma_status_t status)
{
    for (int i = 0; i < 2; i++) {
        if (!queue[i])
            continue;
        if (status != OMPRMA_OK)
            queue_fail(queue[i], NULL, status, error_text());
        queue_want(queue[i], queue[i]->appended);
        queue_flush(queue[i]);
    }
}

/* It may hold something that nobody has asked about. */
static bool has_ended(struct omprma_queue *queue)
{
    if (!queue || queue_is_idle(queue))
        return true;
    queue_want(queue, queue->hazard);
    return false;
}

bool piece_has_ended(struct omprma_queue *const queue[2])
{
    return has_ended(queue[0]) && has_ended(queue[1]);
}

const struct failure *piece_failure(struct omprma_queue *const queue[2])
{
    const struct failure *first = queue[0] ? queue[0]->failed : NULL;

    return first || !queue[1] ? first : queue[1]->failed;
}

void piece_let_go(struct omprma_queue *const queue[2])
{
    if (queue[0])
        subqueue_let_go(queue[0], OMPRMA_OK);
    if (queue[1] && queue[1] != queue[0])
        subqueue_let_go(queue[1], OMPRMA_OK);
}
