/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * incoming.h: what comes from the workers goes to the queues: results, output, signs of life; and
 * the loss of a worker.
 *
 * Thread: with runtime->lock held. Blocks: no.
 */
#ifndef OMPRMA_HOST_QUEUE_INCOMING_H
#define OMPRMA_HOST_QUEUE_INCOMING_H

#include "host/core/peer.h"

/* Takes what has come in and moves every busy queue on. True if anything happened. */
bool incoming_look(struct runtime *runtime);

/* Where to hear that it would, for who sleeps; -1: nowhere. See struct runtime_hooks. */
int incoming_descriptor(const struct runtime *runtime);

/* Looks for who asks and does not wait, and so does not look after everything else (hooks.watch)
 * while it waits. */
bool incoming_query(struct runtime *runtime);

/* Handles a message from the worker; keeps nothing of it. */
void incoming_accept(struct peer *peer, const struct channel_message *message);

/* A peer was given up: all its devices are lost, and their queues fail. */
void incoming_lost(struct peer *peer, const char *text);

#endif
