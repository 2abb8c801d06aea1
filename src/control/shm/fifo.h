/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * fifo.h: messages from one process to another of the same host, through memory that both have
 * mapped: elements that are filled and emptied in turns, one behind the other; a long message takes
 * several. A short one takes as long as its cache lines from core to core. Knows nothing of what
 * messages mean, nor of MPI.
 *
 * Thread: one that pushes, and one that peeks and pops, at a time. Blocks: never.
 */
#ifndef OMPRMA_CONTROL_SHM_FIFO_H
#define OMPRMA_CONTROL_SHM_FIFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FIFO_BYTES = 530 << 10,           /* of shared memory, 64-byte aligned, zero at first */
    FIFO_MESSAGE_BYTES = 36 * 512 - 8 /* longest message */
};

struct fifo;

/* One end of it, in the memory of its process. Begins as {fifo}. */
struct fifo_end {
    struct fifo *fifo;
    uint32_t position; /* of the next element; wraps around */
    uint32_t emptied;  /* what the writer knows of the reader */
    uint32_t reserved; /* elements that the writer leaves empty: for tests, else none */
};

/* The reader opens it: nobody may push before. */
void fifo_open(struct fifo *fifo);
bool fifo_is_open(const struct fifo *fifo);

/* Whether there is room for a message of at most FIFO_MESSAGE_BYTES now. */
bool fifo_has_room(struct fifo_end *writer, uint32_t bytes);

/* Puts one in. False if there is no room now, or if it is longer. */
bool fifo_push(struct fifo_end *writer, const void *message, uint32_t bytes);

/* The oldest message and its bytes, in the shared memory until fifo_pop(); NULL if there is none.
 */
const void *fifo_peek(const struct fifo_end *reader, uint32_t *bytes);

/* Removes it. Only after fifo_peek() has given one. */
void fifo_pop(struct fifo_end *reader);

#endif
