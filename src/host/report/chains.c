/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * chains.c: each queue has the chain that ends with what ended last in it, and the one that ends
 * with the call that appended to it; each device the one that ends with its last kernel. Workers
 * tell when they ran a command, by their own clock. What travels in messages has no times of its
 * own, and counts as messages.
 */
#include "host/report/chains.h"

#include <stdlib.h>

#include "base/clock.h"
#include "host/queue/queue.h"

struct queue_chains {
    struct chain done, asked;
};

struct device_chains {
    struct chain kernels;
    struct queue_chains *queues;
    uint32_t count;
};

struct chains {
    struct observer observer; /* the first member */
    struct recorded_names *names;
    struct recording *recording; /* theirs */
    struct chain last;           /* which ends last */
    int waiting;                 /* threads of the program */
    int device_count;
    struct device_chains devices[];
};

static struct chains *chains_of(struct observer *observer)
{
    return (struct chains *)observer;
}

/* NULL: there is no memory. */
static struct queue_chains *of_queue(struct chains *chains, const struct omprma_queue *queue)
{
    struct device_chains *device = &chains->devices[queue->device->number];
    uint32_t count = 2 * queue->number + 16;

    if (queue->number >= device->count) {
        struct queue_chains *longer = reallocarray(device->queues, count, sizeof(*longer));

        if (!longer)
            return NULL;
        for (uint32_t i = device->count; i < count; i++)
            longer[i] = (struct queue_chains){.done = {0}};
        device->queues = longer;
        device->count = count;
    }
    return &device->queues[queue->number];
}

/* The other one, if it ends later, but not after `by`. */
static const struct chain *later(const struct chain *one, const struct chain *other, int64_t by_ns)
{
    return other->end_ns > one->end_ns && other->end_ns <= by_ns ? other : one;
}

/* Something of a queue has run. The queue's chain, or NULL: nobody knows what it waited for. */
static struct chain *add_link(struct chains *chains, const struct omprma_queue *queue,
                              enum chain_part part, int64_t begin_ns, int64_t end_ns)
{
    struct queue_chains *own = of_queue(chains, queue);
    const struct chain *before, *kernels = &chains->devices[queue->device->number].kernels;

    if (!own || end_ns <= own->done.end_ns)
        return NULL;
    before = own->done.end_ns ? &own->done : &own->asked;
    before = later(before, &own->asked, begin_ns);
    before = later(before, kernels, begin_ns); /* which it may have waited for in the worker */
    if (!before->end_ns)
        return NULL; /* it was appended before anybody looked on */
    own->done = chain_grown(before, part, begin_ns, end_ns);
    if (own->done.end_ns > chains->last.end_ns)
        chains->last = own->done;
    return &own->done;
}

/* A thread of the program waits, and has so far for what ended last. */
static void learn(struct chains *chains, int64_t now)
{
    struct chain *program = &chains->recording->chain;

    *program = *later(program, &chains->last, now);
    *program = chain_grown(program, CHAIN_MESSAGES, now, now);
}

/* What was appended to a queue that is not done with what is in it waits for that anyway. */
static void see_appended(struct observer *observer, struct operation *operation, bool was_idle)
{
    struct chains *chains = chains_of(observer);
    struct queue_chains *own = of_queue(chains, operation->queue);
    int64_t now;

    if (operation->kind == OPERATION_MARK || !own ||
        (!was_idle && own->asked.end_ns > own->done.end_ns))
        return;
    now = clock_ns();
    if (chains->waiting)
        learn(chains, now);
    own->asked =
        chain_grown(&chains->recording->chain, CHAIN_PROGRAM, chains->recording->chain.end_ns, now);
}

static void see_ran(struct observer *observer, struct operation *operation, int64_t begin_ns,
                    int64_t end_ns)
{
    struct chains *chains = chains_of(observer);
    int number = operation->queue->device->number;
    struct chain *kernels = &chains->devices[number].kernels, *chain;
    int64_t ahead = chains->recording->device[number].first.ahead_ns;
    bool launch = operation_is_launch(operation);
    bool counts =
        launch && recorded_is_programs(chains->names, recorded_kernel(chains->names, operation));

    chain = add_link(chains, operation->queue, counts ? CHAIN_KERNELS : CHAIN_DATA,
                     begin_ns - ahead, end_ns - ahead);
    if (!chain)
        return;
    chain->kernels += counts;
    if (chains->last.end_ns == chain->end_ns)
        chains->last = *chain;
    if (launch && chain->end_ns > kernels->end_ns)
        *kernels = *chain;
}

/* What this side has carried. Of what a worker carries it has told already. */
static void see_carried(struct observer *observer, const struct carried *carried)
{
    struct chains *chains = chains_of(observer);
    struct queue_chains *own = of_queue(chains, carried->queue);
    int64_t now = clock_ns();

    if (carried->ns > 0 && own && own->done.end_ns <= now - carried->ns)
        add_link(chains, carried->queue, CHAIN_DATA, now - carried->ns, now);
}

/* A queue goes on when another one has come so far. */
static void see_ended(struct observer *observer, struct operation *operation)
{
    struct chains *chains = chains_of(observer);
    struct queue_chains *own;
    const struct queue_chains *other;
    struct chain chain;

    if (operation->kind != OPERATION_WAIT)
        return;
    other = of_queue(chains, operation->wait.target->queue);
    chain = other ? other->done : (struct chain){0};
    own = of_queue(chains, operation->queue); /* which may move the other's */
    if (own)
        own->done = *later(&own->done, &chain, INT64_MAX);
}

static void see_rests(struct observer *observer, bool begins)
{
    struct chains *chains = chains_of(observer);
    struct chain *program = &chains->recording->chain;
    int64_t now = clock_ns();

    if (begins && chains->waiting++ == 0)
        *program = chain_grown(program, CHAIN_PROGRAM, program->end_ns, now);
    else if (!begins && chains->waiting > 0 && --chains->waiting == 0)
        learn(chains, now);
}

struct chains *chains_open(struct runtime *runtime, struct recorded_names *names)
{
    struct recording *recording = names->recording;
    size_t devices = (size_t)runtime->device_count * sizeof(struct device_chains);
    struct chains *chains = calloc(1, sizeof(*chains) + devices);

    if (!chains)
        return NULL;
    chains->names = names;
    chains->recording = recording;
    chains->device_count = runtime->device_count;
    chains->observer = (struct observer){.appended = see_appended,
                                         .ran = see_ran,
                                         .ended = see_ended,
                                         .rests = see_rests,
                                         .carried = see_carried};
    recording->chain = (struct chain){.end_ns = recording->origin_ns};
    observer_add(&runtime->observers, &chains->observer);
    return chains;
}

void chains_close(struct runtime *runtime, struct chains *chains)
{
    if (!chains)
        return;
    observer_remove(&runtime->observers, &chains->observer);
    for (int i = 0; i < chains->device_count; i++)
        free(chains->devices[i].queues);
    free(chains);
}
