/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * limits.h: what bounds the memory of queues that nobody synchronizes and of workers, and when they
 * are asked how far they are. The runtime has a copy, so that tests can make the numbers so small
 * that a few operations reach each of them; no setting of a user's changes them.
 */
#ifndef OMPRMA_HOST_CORE_LIMITS_H
#define OMPRMA_HOST_CORE_LIMITS_H

#include <stdint.h>

/* What they are but in tests. */
enum {
    QUEUE_ENTRIES_MOST = 256,
    QUEUE_SENT_MOST = 128,
    QUEUE_UNKNOWN_MOST = 8192,
    QUEUE_MARK_MESSAGES = 32,
    QUEUE_MARK_COMMANDS = 512,
    QUEUE_TRANSFERS_MOST = 16,
    PEER_WINDOW = 64,
    PEER_ASK_EACH = 16,
    EXCHANGE_MEMORY = 16 << 20
};

struct limits {
    /* of a queue */
    uint32_t entries;       /* messages, transfers, waits, tasks: then whoever appends waits */
    uint32_t sent;          /* messages sent that are not known to be executed */
    uint32_t unknown;       /* the same in commands */
    uint32_t mark_messages; /* with so many, one brings a result though nobody waits for it; */
    uint32_t mark_commands; /* with so many, too */
    uint32_t transfers;     /* puts and gets under way at a time */
    /* of a worker */
    uint32_t window;   /* messages that may be unacknowledged */
    uint32_t ask_each; /* one in so many asks for an acknowledgement: a power of two, <= window */
    /* of the program */
    uint32_t memory; /* bytes for all exchanges through it, in slots (slots.h) */
};

static const struct limits limits_usual = {
    .entries = QUEUE_ENTRIES_MOST,
    .sent = QUEUE_SENT_MOST,
    .unknown = QUEUE_UNKNOWN_MOST,
    .mark_messages = QUEUE_MARK_MESSAGES,
    .mark_commands = QUEUE_MARK_COMMANDS,
    .transfers = QUEUE_TRANSFERS_MOST,
    .window = PEER_WINDOW,
    .ask_each = PEER_ASK_EACH,
    .memory = EXCHANGE_MEMORY,
};

_Static_assert((PEER_ASK_EACH & (PEER_ASK_EACH - 1)) == 0 && PEER_ASK_EACH <= PEER_WINDOW,
               "a full window must have been asked about");

#endif
