/*
 * bench.h: what both ends of a bare MPI measurement agree on. WIRE_BENCH carries kind, bytes,
 * repetitions, and an address or a peer. Messages go over the data communicator with this tag.
 */
#ifndef OMPRMA_CONTROL_BENCH_H
#define OMPRMA_CONTROL_BENCH_H

enum bench_kind {
    BENCH_PING_PONG,    /* bytes each way, blocking, into a small buffer of the worker */
    BENCH_RECEIVE,      /* bytes into `address`, then an empty message back */
    BENCH_SEND,         /* an empty message in, then bytes from `address` back */
    BENCH_PUT,          /* worker to peer: word 1 bytes, word 2 repetitions << 32 | peer rank, word 3
                         * remote address; put + flush from its own first arena; the result's tail
                         * holds one double per repetition: microseconds */
};

enum { BENCH_TAG = 32767 };

#endif
