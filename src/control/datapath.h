/*
 * datapath.h: how bulk data moves between this process and a peer. Implementations: rma (one-sided,
 * the peer takes no part), twosided (the peer was told by a control message and does its half), and
 * null (both ends in one process, for tests). A further one is one more file.
 * Knows nothing of queues, blocks or ordering between transfers: whoever starts a transfer has made
 * sure that it may run.
 *
 * Thread: calls are serialised by the caller (MPI_THREAD_SERIALIZED). Blocks: never for long; a
 * call hands at most a few pieces to MPI.
 */
#ifndef OMPRMA_CONTROL_DATAPATH_H
#define OMPRMA_CONTROL_DATAPATH_H

#include <mpi.h>
#include <stdbool.h>
#include <omprma/omprma.h>

enum transfer_direction {
    TRANSFER_OUT, /* from this process to the peer */
    TRANSFER_IN   /* from the peer to this process */
};

enum { TRANSFER_PIECES = 4 /* pieces of one transfer under way at a time */ };

/* One contiguous movement. The owner fills the first part; the datapath owns the second part
 * between start and done. Memory at `local` must stay valid until done. */
struct transfer {
    enum transfer_direction direction;
    int peer;        /* rank */
    void *local;     /* address in this process */
    uint64_t remote; /* address in the peer; the two-sided path does not use it */
    uint64_t bytes;  /* > 0 */
    uint32_t tag;    /* two-sided: the same number at both ends */

    uint64_t issued;    /* bytes handed to MPI */
    uint64_t completed; /* bytes that MPI has finished with on this side */
    uint64_t epoch;     /* rma: number of the flush that makes it complete at the peer */
    MPI_Request request[TRANSFER_PIECES];
    uint32_t request_bytes[TRANSFER_PIECES];
};

struct datapath {
    const char *name;

    /* True if the peer has no part in a transfer, so that the starter must order it against control
     * messages: after their results, and before later ones only when done. */
    bool one_sided;

    /* Starts. Errors: MPI. */
    omprma_status_t (*start)(struct datapath *path, struct transfer *transfer);

    /* Goes on with a transfer that was started. *done: the data is where it belongs (one-sided), or
     * this side's part is over (two-sided). On an error the transfer is over as well. Errors: MPI.
     */
    omprma_status_t (*test)(struct datapath *path, struct transfer *transfer, bool *done);

    /* Leaves a transfer whose peer gives no answers any more: nothing more of it is issued, nor is
     * test() called again. What MPI has been given it may still move, at any time, so the memory
     * stays as it is until the process ends. NULL: nothing to do. */
    void (*abandon)(struct datapath *path, struct transfer *transfer);

    void (*destroy)(struct datapath *path);
};

static inline omprma_status_t datapath_start(struct datapath *path, struct transfer *transfer)
{
    transfer->issued = transfer->completed = transfer->epoch = 0;
    for (int i = 0; i < TRANSFER_PIECES; i++)
        transfer->request[i] = MPI_REQUEST_NULL;
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

static inline void datapath_destroy(struct datapath *path)
{
    if (path)
        path->destroy(path);
}

#endif
