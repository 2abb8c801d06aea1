/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * channel.c: Recycling of messages, common to all channels: a list of at most 64 spare ones, so
 * that the steady state allocates nothing. A channel and the one that it wraps have one list: what
 * comes by the one may leave by the other.
 */
#include "control/channel.h"

#include <stdlib.h>

enum { SPARES_KEPT = 64 };

static struct channel *with_spares(struct channel *channel)
{
    return channel->inner ? channel->inner : channel;
}

struct channel_message *channel_take(struct channel *channel)
{
    struct channel *of = with_spares(channel);
    struct channel_message *message = of->spare;
    struct wire_buffer buffer;

    if (message) {
        of->spare = message->next;
        of->spares--;
    } else {
        message = aligned_alloc(64, sizeof(*message));
        if (!message)
            return NULL;
    }
    message->next = NULL;
    message->bytes = 0;
    buffer = channel_buffer(message);
    wire_begin(&buffer);
    message->bytes = buffer.used;
    return message;
}

void channel_drop(struct channel *channel, struct channel_message *message)
{
    struct channel *of = with_spares(channel);

    if (!message)
        return;
    if (of->spares >= SPARES_KEPT) {
        free(message);
        return;
    }
    message->next = of->spare;
    of->spare = message;
    of->spares++;
}
