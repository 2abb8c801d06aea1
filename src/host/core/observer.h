/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * observer.h: the life of operations, for those who look on: the trace, the statistics, the choice
 * of the path. They register here, so that whoever moves operations names none of them. Where
 * nobody has registered, each event costs one branch.
 *
 * Events of an operation, in this order:
 * - appended: it is about to come into a queue.
 * - sent: of the last command of a message, which leaves now.
 * - issued: it was handed to the worker or to a path.
 * - ran: a worker tells when it ran a command.
 * - ended: it is over and has left its queue; operation->failure says how. One that has waited has
 *   its target still.
 *
 * Events of a queue: somebody waits for it, has waited, and knows that it is idle. Data that was
 * carried has an event of its own, and so has a thread that waits for anything that is under way.
 *
 * Thread: with runtime->lock held. An observer may remove itself while it is told something. It
 * must not touch queues.
 */
#ifndef OMPRMA_HOST_CORE_OBSERVER_H
#define OMPRMA_HOST_CORE_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "host/core/paths.h"

struct omprma_queue;
struct operation;

/* A thread of the program waits for a queue. */
struct observed_wait {
    const char *what; /* static */
    int64_t begin_ns; /* when it began; 0: nobody has noted that */
};

/* Data that has been carried, or that leaves in a message. */
struct carried {
    const struct omprma_queue *queue;
    enum data_kind kind;
    enum path path;
    uint64_t bytes;
    int64_t ns; /* from its beginning to its end; 0: in a message, or it may hold the end of kernels
                 * that came before */
    const struct device *to; /* of an exchange, whose queue is its source's; else NULL */
};

/* Functions that are NULL are not called. */
struct observer {
    struct observer *next;
    void (*appended)(struct observer *observer, struct operation *operation, bool was_idle);
    void (*issued)(struct observer *observer, struct operation *operation);
    void (*sent)(struct observer *observer, struct operation *last, uint32_t bytes);
    /* By the worker's clock. */
    void (*ran)(struct observer *observer, struct operation *operation, int64_t begin_ns,
                int64_t end_ns);
    void (*ended)(struct observer *observer, struct operation *operation);
    void (*waits)(struct observer *observer, struct omprma_queue *queue,
                  struct observed_wait *wait);
    void (*waited)(struct observer *observer, struct omprma_queue *queue,
                   const struct observed_wait *wait);
    /* A thread waits for anything that is under way, or does no more. */
    void (*rests)(struct observer *observer, bool begins);
    /* Somebody knows now that the queue is idle. */
    void (*idle)(struct observer *observer, struct omprma_queue *queue);
    void (*carried)(struct observer *observer, const struct carried *carried);
};

/* What observers keep with a queue. */
struct observed_queue {
    uint32_t region; /* the recording's span of the region that it is in; 0: none */
    uint32_t number; /* which region that is */
    bool launched;   /* it has a launch */
    uint32_t ended;  /* number of the span that has ended last; 0: none */
};

/* Registers one; it is not registered yet. Takes it out; nothing happens if it is not in. */
void observer_add(struct observer **observers, struct observer *observer);
void observer_remove(struct observer **observers, const struct observer *observer);

/* Tell all of them; see the inline functions below. */
void observers_appended(struct observer *observers, struct operation *operation, bool was_idle);
void observers_issued(struct observer *observers, struct operation *operation);
void observers_sent(struct observer *observers, struct operation *last, uint32_t bytes);
void observers_ran(struct observer *observers, struct operation *operation, int64_t begin_ns,
                   int64_t end_ns);
void observers_ended(struct observer *observers, struct operation *operation);
void observers_waits(struct observer *observers, struct omprma_queue *queue,
                     struct observed_wait *wait);
void observers_waited(struct observer *observers, struct omprma_queue *queue,
                      const struct observed_wait *wait);
void observers_rests(struct observer *observers, bool begins);
void observers_idle(struct observer *observers, struct omprma_queue *queue);
void observers_carried(struct observer *observers, const struct carried *carried);

static inline void observe_appended(struct observer *observers, struct operation *operation,
                                    bool was_idle)
{
    if (observers)
        observers_appended(observers, operation, was_idle);
}

static inline void observe_issued(struct observer *observers, struct operation *operation)
{
    if (observers)
        observers_issued(observers, operation);
}

static inline void observe_sent(struct observer *observers, struct operation *last, uint32_t bytes)
{
    if (observers)
        observers_sent(observers, last, bytes);
}

static inline void observe_ended(struct observer *observers, struct operation *operation)
{
    if (observers)
        observers_ended(observers, operation);
}

static inline void observe_rests(struct observer *observers, bool begins)
{
    if (observers)
        observers_rests(observers, begins);
}

static inline void observe_idle(struct observer *observers, struct omprma_queue *queue)
{
    if (observers)
        observers_idle(observers, queue);
}

/* In a message: it takes no time of its own. */
static inline void observe_inline(struct observer *observers, const struct omprma_queue *queue,
                                  enum data_kind kind, uint64_t bytes)
{
    const struct carried carried = {queue, kind, PATH_INLINE, bytes, 0, NULL};

    if (observers)
        observers_carried(observers, &carried);
}

#endif
