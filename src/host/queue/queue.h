/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * queue.h: the application's side of a queue: the operations that were appended and are not over.
 *
 * - queue.c: the list: what is in it, is asked for, ends, fails
 * - host_ranges.c: memory of this process that those in it use
 * - order.c: which operation may be issued when: all rules, on one page (order_verify.c: kept?)
 * - append.c: operations come into the list
 * - issue.c: going on: issue, results, waiting
 *
 * Commands travel in control messages. The worker runs the commands of a queue in order, so they
 * leave without waiting for each other. The last message stays open so that a launch joins the
 * small submits before it and small retrieves join the launch: one message each way per small
 * region. What the worker does not see (puts and gets by this side, waits, tasks) this side orders
 * against the commands.
 *
 * Small submits to arenas need no answer: when they are sent they leave the list, nobody waits for
 * them, and they stand among `writes` until some later result tells that they are executed.
 *
 * Thread: with runtime->lock held.
 */
#ifndef OMPRMA_HOST_QUEUE_QUEUE_H
#define OMPRMA_HOST_QUEUE_QUEUE_H

#include "host/core/device.h"
#include "host/core/operation.h"
#include "host/core/observer.h"
#include "host/queue/host_ranges.h"

struct omprma_queue {
    struct device *device;
    uint32_t number;
    struct omprma_queue *next_free;
    struct omprma_queue *next_busy;
    bool busy; /* in the runtime's list of those that need attention */
    bool in_use;

    struct operation *first, *last; /* in the order in which they are issued */
    struct operation *next;         /* the first one that is not issued */
    struct operation *active;       /* issued, and moved on by this side */
    uint32_t unsettled;             /* in the list, but for marks */
    uint32_t entries;               /* see limits.h */
    uint32_t transfers;             /* issued transfers that are not over, */
    uint32_t copying;               /* and of those the copies that a thread makes */
    struct host_ranges hosts;       /* of those in the list */
    uint32_t mixed;                 /* in the list, that the worker does not see */
    struct read_parts *spare_parts; /* of one that is over, for the next one; NULL: none */

    struct channel_message *open; /* the message that may still be joined, and its commands */
    struct operation *open_first, *open_last;
    bool ripe; /* one has become full, and nobody has looked since: it may leave */
    bool held; /* nothing leaves: it is the other half of an exchange whose first has not left */

    struct operation *writes_first, *writes_last; /* sent, not known to be executed */
    struct omprma_queue *next_writer;             /* in the device's list of queues with writes */
    bool is_writer;

    /* Numbers of commands. Messages carry the lower 32 bits. */
    uint64_t appended;   /* was given out last */
    uint64_t issued;     /* was sent last */
    uint64_t asked;      /* is the last one that a result was asked for */
    uint64_t answered;   /* is the last one that a result has come for */
    uint64_t hazard;     /* is the last one that is more than a small submit to an arena */
    uint64_t launch;     /* of the last one that runs a kernel */
    uint64_t watching;   /* of the last one that has the worker wait for another queue */
    uint64_t ordinal;    /* of the operation that was appended last */
    uint32_t unanswered; /* messages sent that are not known to be executed */

    struct failure *failed;   /* the first one since the last synchronize, or NULL */
    bool must_ask;            /* there was no memory to */
    bool unasked;             /* background.c has seen something that nobody had asked for, */
    uint64_t unasked_since;   /* when `asked` was this */
    uint64_t pushed;          /* `ordinal` when background.c asked for the end of all */
    bool remote_failed;       /* the worker's side has failed too and needs a reset */
    uint64_t failures;        /* how often it has failed so far */
    int waiters;              /* threads that wait for it */
    bool give_when_idle;      /* nobody holds it: it goes back to the device when it is idle */
    struct operation *sender; /* reference: what its receive waits for */
    bool unwaited;            /* who appends goes on to compute, see omprma_queue_unwaited() */
    bool is_programs;         /* omprma_queue_create() made it: what is in it are regions */
    struct observed_queue observed;
    uint64_t check_seen; /* what of the check's queue it is ordered behind, see check_order() */
};

/* Gives a queue of the device, new or used before. Errors: HOST_MEMORY. */
omprma_status_t queue_take(struct device *device, struct omprma_queue **queue);
void queue_give(struct omprma_queue *queue);

/* Frees a queue and what is left in it, when the runtime ends. */
void queue_free(struct omprma_queue *queue);

/* Puts the queue into the runtime's list of those that need attention. */
void queue_attend(struct omprma_queue *queue);

/* Somebody needs to know the end of the commands up to `number`: it will be asked for when they
 * have been sent, or now. */
void queue_want(struct omprma_queue *queue, uint64_t number);

/* True when everything that anybody can depend on is over. */
static inline bool queue_is_idle(const struct omprma_queue *queue)
{
    return queue->unsettled == 0;
}

/* Whoever appends waits for room. */
static inline bool queue_is_full(const struct omprma_queue *queue)
{
    return queue->entries >= queue->device->runtime->limits.entries;
}

/* So much was sent that is not known to be executed that nothing else is. */
static inline bool queue_is_far_ahead(const struct omprma_queue *queue)
{
    const struct limits *limits = &queue->device->runtime->limits;

    return queue->unanswered >= limits->sent || queue->issued - queue->answered >= limits->unknown;
}

/* Puts an operation into the list, before another; at the end for NULL. */
void queue_insert(struct omprma_queue *queue, struct operation *operation,
                  struct operation *before);

/* The operation, of a list, is an exchange with the device: it uses memory of it. */
void queue_use(struct operation *operation, struct device *device);

/* The operation, queue->next, has been issued: the one behind it is next. */
void queue_pass(struct operation *operation);

/* Takes an operation out of the list that has not ended. */
void queue_unlist(struct operation *operation);

/* Closes the open message, if there is one: nothing joins it any more. */
void queue_seal(struct omprma_queue *queue);

/* Ends an operation of the queue, or, `failure`, fails it. The only function that does. */
void queue_end_operation(struct operation *operation, struct failure *failure);

/* Ends marks that nothing stands before any more. Where operations were ended, before the lock is
 * released. */
void queue_end_marks(struct omprma_queue *queue);

/* Fails the queue at an operation of its list: that one and what was appended or issued after it
 * fail. NULL: all that is not issued does. What this side has begun must come to its end. The
 * queue's first failure is kept. */
void queue_fail(struct omprma_queue *queue, struct operation *at, omprma_status_t status,
                const char *text) __attribute__((cold));

/* The same with the code of the device's driver. */
void queue_fail_coded(struct omprma_queue *queue, struct operation *at, omprma_status_t status,
                      int code, const char *text) __attribute__((cold));

/* Fails the queue with all that is in it: its device is lost, or something is stuck. Data that is
 * under way is left. If exchanges are not complete, one is named. */
void queue_lose(struct omprma_queue *queue, omprma_status_t status, const char *text)
    __attribute__((cold));

/* The text of a failure, in `named` with both devices in front if the operation is an exchange; for
 * NULL, if any of the queue is. Returns one of the two. */
const char *queue_name_exchange(const struct omprma_queue *queue, const struct operation *of,
                                const char *text, char *named, size_t bytes);

/* `lost` gives no answers any more: a device that was exchanging with it keeps its memory. */
void queue_keep_memory(struct omprma_queue *queue, const struct device *lost);

#endif
