/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * stream.h: streams are omprma's queues. Also which of them wait for each other without being told:
 * what is put into the null stream waits for all that was put into blocking streams of its context
 * before, and the other way round.
 *
 * Thread: any. Blocks: where said.
 */
#ifndef OMPRMA_CUDA_STREAM_H
#define OMPRMA_CUDA_STREAM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/queue.h>

#include <omprma/omprma.h>

#include "cuda/abi.h"
#include "cuda/context.h"

struct stream {
    uint32_t tag; /* STREAM_TAG; another when it is destroyed */
    unsigned flags;
    struct context *context;
    atomic_int holders; /* whoever uses it; one that is destroyed stays until there is none */
    LIST_ENTRY(stream) link;
    omprma_queue_t *queue;
    omprma_event_t *mark;          /* for others to wait for, see join() */
    const void *thread;            /* whose stream it is, of those per thread */
    atomic_uint_least64_t issued;  /* operations so far */
    atomic_uint_least64_t settled; /* of these, known to be over */
    uint64_t joined;        /* of these, the null stream waits for; under the context's lock */
    uint64_t legacy_joined; /* of the null stream's, this waits for; under the context's lock */
};
enum { STREAM_TAG = 0x5354524d };

/*
 * Begins an operation: finds the stream that the handle stands for, holds it, and has it wait for
 * what it must. On success stream_finish() has to follow when the operation has been issued.
 * Errors: INVALID_HANDLE, OUT_OF_MEMORY, the queue's.
 */
CUresult stream_begin(struct context *context, CUstream handle, struct stream **stream);

/* The context that the handle's stream is in, for handles of no stream the current one. Errors:
 * INVALID_HANDLE, INVALID_CONTEXT. */
CUresult stream_context(CUstream handle, struct context **context);

/* Returns `result`. */
CUresult stream_finish(struct stream *stream, CUresult result);

/* The same, after waiting until all of the stream is over; returns its first error, if `result` is
 * none. Blocks: yes. */
CUresult stream_finish_settled(struct stream *stream, CUresult result);

/* Is all that was issued so far known to be over? */
bool stream_is_settled(struct stream *stream);

/* Waits until all of it is over; returns its first error. Blocks: yes. */
CUresult stream_settle(struct stream *stream);

void stream_hold(struct stream *stream);
void stream_drop(struct stream *stream);

/* Of a context, those among them that the program has destroyed. Block: yes. */
CUresult streams_settle(struct context *context);
void streams_clear(struct context *context);

#endif
