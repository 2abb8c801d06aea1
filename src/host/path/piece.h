/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * piece.h: data that goes piece by piece through memory in between (slots.h). Each piece has queues
 * of its own, one on the source and one on the destination, in which nothing else stands; they are
 * kept for the next one. The whole is one operation of the user's queue: it looks at its pieces,
 * gives the slots of those that have ended back and begins others until all have ended. What a
 * piece is made of, the kind says.
 *
 * Thread: with runtime->lock held. Nothing here blocks.
 */
#ifndef OMPRMA_HOST_PATH_PIECE_H
#define OMPRMA_HOST_PATH_PIECE_H

#include "host/queue/queue.h"

enum { PIECES_MOST = 8 /* under way at a time */ };

/* A piece that is under way, or room for one. */
struct piece {
    bool busy;
    uint64_t first, amount;         /* bytes, or whatever the whole is counted in */
    uint64_t slot[SLOT_POOLS_MOST]; /* of the pools of the turn */
    struct omprma_queue *queue[2];  /* ours, on the source and the destination */
    bool astray;                    /* its data may arrive when both queues are done with it */
    struct operation *put;          /* reference: its first step, if that is a put by this side */
};

struct pieces;

/* Functions that are NULL are not called. */
struct pieces_kind {
    const char *memory; /* where it goes through, for an error: "memory in between" */
    /* Another one may begin now. NULL: always. */
    bool (*may_begin)(const struct pieces *pieces);
    /* How much the next one has. */
    uint64_t (*next)(const struct pieces *pieces);
    /* Appends the steps of a piece that has its slots to its queues. */
    omprma_status_t (*append)(struct pieces *pieces, struct piece *piece);
    /* It has ended well, and has its slots still. */
    void (*arrived)(struct pieces *pieces, const struct piece *piece);
    /* It has ended, or is `stuck`. Something may still write to its slot of this pool. */
    bool (*spoils)(const struct pieces *pieces, const struct piece *piece, int pool, bool stuck);
    /* Its slots were given back. */
    void (*gave)(struct pieces *pieces);
};

/* One operation that goes so. */
struct pieces {
    struct slot_turn turn; /* first */
    const struct pieces_kind *kind;
    struct omprma_queue *queue; /* the user's */
    struct device *from, *to;   /* NULL: the program */
    uint64_t all, begun, done;
    int most;    /* pieces under way at a time */
    bool failed; /* no further ones begin */
    struct piece piece[PIECES_MOST];
};

/* Those of an operation of the queue; `all` is set, and pools are added, by the caller. */
void pieces_init(struct pieces *pieces, const struct pieces_kind *kind, struct omprma_queue *queue,
                 struct device *from, struct device *to, int most);
void pieces_add_pool(struct pieces *pieces, struct slot_pool *pool);

static inline bool pieces_are_exchange(const struct pieces *pieces)
{
    return pieces->from && pieces->to;
}

static inline struct operation_pool *pieces_operations(const struct pieces *pieces)
{
    return &pieces->queue->device->runtime->operations;
}

/* A status with its text as the queue's user sees it: an exchange names both devices. */
omprma_status_t pieces_report(const struct pieces *pieces, omprma_status_t status,
                              const char *text);

/* The step of the operation: see operation_task. Ends what it took, but `pieces` itself. */
omprma_status_t pieces_step(struct pieces *pieces, const struct operation *operation, bool *done);
void pieces_end(struct pieces *pieces, const struct operation *operation);

#endif
