/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * path.h: the paths that data takes over one link, as objects. Submits, retrieves, exchanges,
 * staged transfers and broadcasts are made of hops: they ask path_pick() for the path of each, and
 * the path appends what it needs to a queue. A path is a file of this folder, or shares one with
 * its like, and an entry of the list in path.c; it knows queues, and nothing of the calls that use
 * it.
 *
 * Thread: with runtime->lock held. Nothing here blocks.
 */
#ifndef OMPRMA_HOST_PATH_PATH_H
#define OMPRMA_HOST_PATH_PATH_H

#include "host/queue/queue.h"

/* Largest hop that travels in one record. */
enum { HOP_INLINE_MOST = 60 << 10 };

/* Where a hop begins, or ends. */
struct hop_end {
    struct device *device; /* NULL: memory of the program */
    uint64_t at;
    bool staged; /* the address is in the device's staging memory */
    bool arena;  /* it is in an arena, or in staging memory */
};

/* Data goes over one link. */
struct hop {
    struct omprma_queue *queue;    /* in whose order it goes */
    struct omprma_queue *receiver; /* of a send: a queue of ours on the destination; NULL: it takes
                                    * a subqueue */
    struct hop_end from, to;
    uint64_t bytes;
    bool is_part;                   /* of an operation of another queue, which is counted */
    bool stays;                     /* a submit: its source is used when its turn comes, however
                                     * little it is */
    const struct path_ops *between; /* staged, between workers: by what from slot to slot */
    bool copied;    /* a submit: the caller may overwrite its source at once, however much it is */
    bool scattered; /* a retrieve in several parts, which one message brings sooner than copies */
    struct read_parts *parts; /* of an inline retrieve: where the data goes in place of to.at */
};

/* Between the program and a worker. */
extern const struct path_ops path_inline, path_put_get, path_two_sided, path_staged, path_thread,
    path_shared;

/* Between workers, or within one. */
extern const struct path_ops path_copy, path_put, path_get, path_send, path_application,
    path_copy_to;

/* The preferred path if that takes the hop, else the first one of the list that wants it, else the
 * first one that takes it. `preferred`: NULL for what the table of the device says (paths.h). */
const struct path_ops *path_pick(const struct path_ops *preferred, const struct hop *hop);

/* The memory of the device that is at one end of a hop between the program and a worker. */
static inline const struct hop_end *hop_there(const struct hop *hop)
{
    return hop->from.device ? &hop->from : &hop->to;
}

static inline bool hop_is_submit(const struct hop *hop)
{
    return !hop->from.device;
}

/* The caller may reuse the source as soon as its call returns. */
static inline bool hop_is_reused(const struct hop *hop)
{
    return hop_is_submit(hop) && !hop->stays && hop->bytes <= OMPRMA_COPIED_SUBMIT;
}

static inline bool hop_is_of_program(const struct hop *hop)
{
    return !hop->from.device || !hop->to.device;
}

static inline bool hop_is_between_workers(const struct hop *hop)
{
    return !hop_is_of_program(hop) && hop->from.device->peer != hop->to.device->peer;
}

static inline enum data_kind hop_data(const struct hop *hop)
{
    return !hop_is_of_program(hop) ? DATA_EXCHANGE
           : hop_is_submit(hop)    ? DATA_SUBMIT
                                   : DATA_RETRIEVE;
}

/* The operation carries its data. */
static inline void hop_carried(const struct hop *hop, const struct path_ops *by,
                               struct operation *operation)
{
    operation->by = by;
    operation->data = hop_data(hop);
    operation->is_part = hop->is_part;
}

/* One between memory of the program and the device of the queue. Inline: small submits are short.
 */
static inline struct hop hop_of_program(struct omprma_queue *queue, bool submit,
                                        omprma_addr_t device, const void *host, uint64_t bytes,
                                        bool arena)
{
    struct hop_end here = {.at = (uint64_t)(uintptr_t)host};
    struct hop_end there = {.device = queue->device, .at = device, .arena = arena};

    return (struct hop){
        .queue = queue,
        .from = submit ? here : there,
        .to = submit ? there : here,
        .bytes = bytes,
    };
}

/* What this side moves of it. */
struct transfer hop_transfer(const struct hop *hop, uint32_t tag);

#endif
