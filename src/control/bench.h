/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * bench.h: what the library that connects the processes does without any of our machinery, so that
 * our paths have a limit to be compared to. A transport hands out the functions (transport.h).
 * WIRE_BENCH has a worker take part, in one blocking loop: it carries kind, bytes, repetitions and
 * an address. The application's half is driven by tools/perf.
 */
#ifndef OMPRMA_CONTROL_BENCH_H
#define OMPRMA_CONTROL_BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <omprma/omprma.h>

struct world;

enum bench_kind {
    BENCH_PING_PONG, /* bytes each way, blocking, into a small buffer of the worker */
    BENCH_RECEIVE,   /* bytes into the address, then an empty message back */
    BENCH_SEND,      /* an empty message in, then bytes from the address back */
    BENCH_PUT,       /* worker to peer: word 0 as bench_put() makes it, word 1 bytes, word 2 address
                      * here, word 3 address there; put + flush. The result's tail holds one double
                      * per repetition: microseconds */
};

enum { BENCH_PUTS_MOST = 4096 };

/* One-sided, to or from a peer. */
struct bench_move {
    bool put;       /* or get */
    int peer;       /* rank */
    char *here;     /* `bytes` in this process */
    uint64_t there; /* `most` in the peer, used again and again where `bytes` are more */
    int bytes, most;
};

struct bench_ops {
    /* On a worker: takes part in one measurement, as the words of its record say; addresses were
     * checked. Writes the times of BENCH_PUT to `us`, which has room for BENCH_PUTS_MOST, and their
     * number to *count. Blocks until the measurement is over. Errors: MPI; the application then
     * waits for this side. */
    omprma_status_t (*serve)(const struct world *world, const uint64_t *words, double *us,
                             uint32_t *count);

    /* Moves so often, one after the other, each with its flush. The world has a window. Errors:
     * MPI. */
    omprma_status_t (*move)(const struct world *world, const struct bench_move *move, int times);

    /* Sends `out` bytes and receives `in`, so often, with a peer that serves. Errors: MPI. */
    omprma_status_t (*exchange)(const struct world *world, int peer, void *buffer, int out, int in,
                                int times);
};

/* Word 0 of BENCH_PUT: kind in 8 bits, the peer's rank in 24, repetitions in 32. */
static inline uint64_t bench_put(uint32_t peer, uint32_t repetitions)
{
    return BENCH_PUT | (uint64_t)peer << 8 | (uint64_t)repetitions << 32;
}

static inline enum bench_kind bench_kind_of(uint64_t word)
{
    return (enum bench_kind)(word & 0xff);
}

static inline int bench_peer(uint64_t word)
{
    return (int)(word >> 8 & 0xffffff);
}

static inline uint32_t bench_repetitions(uint64_t word)
{
    return (uint32_t)(word >> 32);
}

#endif
