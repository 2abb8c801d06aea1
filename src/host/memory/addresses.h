/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * addresses.h: addresses of this process that are kept free, because memory of a device has them:
 * an address then tells whose memory it is. Nothing can be read or written there, and it takes no
 * memory. Knows nothing of devices.
 *
 * Thread: one at a time for each list. Blocks: no.
 */
#ifndef OMPRMA_HOST_MEMORY_ADDRESSES_H
#define OMPRMA_HOST_MEMORY_ADDRESSES_H

#include <stdbool.h>
#include <stdint.h>

/* A smaller hole is no place for memory of a device. Stacks are further from the rest. */
enum { ADDRESSES_HOLE = 64 << 20 };

struct addresses {
    struct kept {
        uint64_t begin, bytes;
    } * all;
    int count, room;
};

/* Keeps these, if nothing of this process is there. False: something is (errno is EEXIST), or there
 * is no memory, or no address space. */
bool addresses_keep(struct addresses *addresses, uint64_t begin, uint64_t bytes);

/* Keeps so many that begin at a multiple of 2 MiB, nearest below `below`, and returns where. 0:
 * nothing was free in some tries, or there is no memory. */
uint64_t addresses_keep_below(struct addresses *addresses, uint64_t below, uint64_t bytes);

/* What this process has there, with what lies around it and leaves no hole of so many bytes: where
 * that begins, and its bytes in *length. Both 0: nothing is there, or it cannot be told. */
uint64_t addresses_taken(uint64_t begin, uint64_t bytes, uint64_t hole, uint64_t *length);

/* Lets go of those that were kept from there on, if any. */
void addresses_release(struct addresses *addresses, uint64_t begin);

/* The lowest address that is kept; 0: none is. */
uint64_t addresses_lowest(const struct addresses *addresses);

void addresses_clear(struct addresses *addresses);

#endif
