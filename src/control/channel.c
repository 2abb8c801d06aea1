/*
 * channel.c: Recycling of messages, common to all channels: a list of at most 64 spare ones, so
 * that the steady state allocates nothing.
 */
#include "control/channel.h"

#include <stdlib.h>

enum { SPARES_KEPT = 64 };

struct channel_message *channel_take(struct channel *channel)
{
    struct channel_message *message = channel->spare;
    struct wire_buffer buffer;

    if (message) {
        channel->spare = message->next;
        channel->spares--;
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
    if (!message)
        return;
    if (channel->spares >= SPARES_KEPT) {
        free(message);
        return;
    }
    message->next = channel->spare;
    channel->spare = message;
    channel->spares++;
}
