/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * link.h: a stream socket between two processes, read and written piece by piece without waiting.
 * What a piece is for is the user's matter. The end of the other process shows here as the end of
 * the stream.
 *
 * Thread: calls on one link are serialised by the caller. Blocks: only where it is said.
 */
#ifndef OMPRMA_CONTROL_DIRECT_LINK_H
#define OMPRMA_CONTROL_DIRECT_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/uio.h>
#include <omprma/omprma.h>

struct link {
    int fd;     /* -1: there is none */
    bool ended; /* nothing comes or goes any more */
    bool fault; /* memory that was to be written or read is not there: it cannot be used any more */
};

/* Writes what there is room for of up to two ranges, and moves them on by that. True when all of it
 * is written. */
bool link_write(struct link *link, struct iovec ranges[2]);

/* Reads what is there of up to `bytes`. How much. */
size_t link_read(struct link *link, void *data, size_t bytes);

/* The same for two ranges, in one call of the kernel. How much of both together. */
size_t link_read_two(struct link *link, struct iovec ranges[2]);

/* All of it, for start-up; both wait for the other process. Errors: DEVICE_LOST (it has ended). */
omprma_status_t link_send(struct link *link, const void *data, size_t bytes);
omprma_status_t link_receive(struct link *link, void *data, size_t bytes);

/* Nothing happens if there is none. */
void link_close(struct link *link);

#endif
