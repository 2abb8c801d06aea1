/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * datapath.h: how bulk data moves between this process and a peer. Implementations: rma (one-sided,
 * the peer takes no part) and twosided (the peer was told by a control message and does its half).
 * A further one is one more folder; it need not be MPI. Tests have one with both ends in one
 * process. Knows nothing of queues, blocks or ordering between transfers: whoever starts a transfer
 * has made sure that it may run.
 *
 * Thread: calls on all paths of a process are serialised by the caller. Blocks: never for long; a
 * call hands on at most a few pieces.
 */
#ifndef OMPRMA_CONTROL_DATAPATH_H
#define OMPRMA_CONTROL_DATAPATH_H

#include <stdbool.h>
#include <stddef.h>
#include <omprma/omprma.h>

enum transfer_direction {
    TRANSFER_OUT, /* from this process to the peer */
    TRANSFER_IN   /* from the peer to this process */
};

enum {
    TRANSFER_PIECES = 4,      /* pieces of one transfer under way at a time */
    TRANSFER_STATE_BYTES = 96 /* what a path may keep for one */
};

/* One contiguous movement. The owner fills the first part; the datapath owns the second part
 * between start and done. Memory at `local` must stay valid until done. */
struct transfer {
    enum transfer_direction direction;
    int peer;        /* rank */
    void *local;     /* address in this process */
    uint64_t remote; /* address in the peer; the two-sided path does not use it */
    uint64_t bytes;  /* > 0 */
    uint32_t tag;    /* two-sided: the same number at both ends */
    /* Two-sided, out: what the peer waits for comes, but without data: `local` is not read, and the
     * memory that was to receive it stays as it is. In: set when the peer sent so. */
    bool empty;

    uint64_t issued;    /* bytes handed on by the path */
    uint64_t completed; /* bytes that are finished with on this side */
    _Alignas(max_align_t) unsigned char state[TRANSFER_STATE_BYTES]; /* the path's own */
};

struct datapath {
    const char *name;

    /* True if the peer has no part in a transfer, so that the starter must order it against control
     * messages: after their results, and before later ones only when done. */
    bool one_sided;

    /* Makes [base, base + bytes) of this process reachable for the transfers of peers; the page
     * behind it is mapped as well. NULL: nothing need be announced. Errors: DEVICE_MEMORY (no more
     * ranges can be attached at a time), MPI. */
    omprma_status_t (*attach)(struct datapath *path, void *base, uint64_t bytes);
    void (*detach)(struct datapath *path, void *base);

    /* The next range to attach must lie below this: some MPI libraries lose ranges otherwise. NULL,
     * also as the function: anywhere. */
    void *(*below)(const struct datapath *path);

    /* Lets the transfers of peers with memory of this process go on, and goes on with whatever else
     * peers wait for; to be called often by whoever has attached memory, and now and then by
     * others. True if something has moved. NULL: peers need nothing of the kind. */
    bool (*progress)(struct datapath *path);

    /* Whoever calls progress() is about to sleep, for at most so long as peers may wait, or until a
     * descriptor that the transport knows says that something has come. False: something has. NULL:
     * it may. */
    bool (*prepare)(struct datapath *path);

    /* Starts. Errors, of which the same is true as of those of test(): MPI. */
    omprma_status_t (*start)(struct datapath *path, struct transfer *transfer);

    /* Goes on with a transfer that was started. *done: the data is where it belongs (one-sided), or
     * this side's part is over (two-sided). On an error the transfer is over as well: one-sided,
     * nothing uses its memory any more; two-sided, what was handed on may still move as after
     * abandon(), for the other half may never come. Errors: MPI. */
    omprma_status_t (*test)(struct datapath *path, struct transfer *transfer, bool *done);

    /* Leaves a transfer whose peer gives no answers any more: nothing more of it is issued, nor is
     * test() called again. What was handed on may still move, at any time, so the memory stays as
     * it is until the process ends. NULL: nothing to do. */
    void (*abandon)(struct datapath *path, struct transfer *transfer);

    /* A descriptor that can be read when one of the transfers under way can get on, if these are
     * `transfers`; -1: it has others, or somebody has to look again and again. Holds until the next
     * call. NULL: always the latter. */
    int (*descriptor)(struct datapath *path, uint32_t transfers);

    void (*destroy)(struct datapath *path);
};

static inline omprma_status_t datapath_start(struct datapath *path, struct transfer *transfer)
{
    transfer->issued = transfer->completed = 0;
    return path->start(path, transfer);
}

static inline omprma_status_t datapath_test(struct datapath *path, struct transfer *transfer,
                                            bool *done)
{
    return path->test(path, transfer, done);
}

static inline void datapath_abandon(struct datapath *path, struct transfer *transfer)
{
    if (path->abandon)
        path->abandon(path, transfer);
}

/* Also for no path. */
static inline bool datapath_progress(struct datapath *path)
{
    return path && path->progress && path->progress(path);
}

/* Also for no path. */
static inline bool datapath_prepare(struct datapath *path)
{
    return !path || !path->prepare || path->prepare(path);
}

/* Also for no path. */
static inline int datapath_descriptor(struct datapath *path, uint32_t transfers)
{
    return path && path->descriptor ? path->descriptor(path, transfers) : -1;
}

/* Also for no path. */
static inline void *datapath_below(const struct datapath *path)
{
    return path && path->below ? path->below(path) : NULL;
}

static inline void datapath_destroy(struct datapath *path)
{
    if (path)
        path->destroy(path);
}

#endif
