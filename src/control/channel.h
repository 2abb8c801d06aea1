/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * channel.h: carries whole control messages between the application and its workers, in order per
 * pair. One implementation speaks MPI (mpi/channel.c); one wraps any other, adds shared memory to
 * it, and sleeps and wakes (shm/channel.c); one stays inside a process so that the core can be
 * tested, and run under the thread sanitizer, without MPI (tests/null). Knows nothing of
 * what messages mean.
 *
 * Thread: calls on one channel are serialised by the caller, except channel_sleep() (one thread at
 * a time) and channel_wake(). Blocks: only channel_sleep() and channel_drain().
 *
 * Ownership: a message belongs to its holder until it is given to channel_send() or
 * channel_drop(). Messages are recycled; no allocation in the steady state.
 */
#ifndef OMPRMA_CONTROL_CHANNEL_H
#define OMPRMA_CONTROL_CHANNEL_H

#include <stdbool.h>
#include <omprma/omprma.h>

#include "control/wire.h"

struct channel_message {
    struct channel_message *next; /* for the holder's lists */
    uint64_t request;             /* the implementation's, while it sends */
    uint32_t bytes;               /* received, or to be sent */
    int peer;                     /* rank it came from or goes to */
    _Alignas(64) uint8_t data[WIRE_MESSAGE_BYTES];
};

struct channel;

struct channel_ops {
    omprma_status_t (*send)(struct channel *channel, struct channel_message *message);
    omprma_status_t (*receive)(struct channel *channel, struct channel_message **message);
    omprma_status_t (*drain)(struct channel *channel);
    void (*destroy)(struct channel *channel);
    /* NULL for a channel that does not sleep, but is wrapped by one that does. */
    void (*prepare)(struct channel *channel, bool on);
    void (*sleep)(struct channel *channel, int64_t ns, int also);
    void (*wake)(struct channel *channel);
    /* NULL: there is always room. */
    bool (*has_room)(struct channel *channel, int peer, uint32_t bytes);
    /* Of one that is wrapped: what can be read when it has something to do that came since the last
     * look; holds until it is used again. NULL: there is none. */
    int (*descriptor)(const struct channel *channel);
};

/* First member of every implementation. */
struct channel {
    const struct channel_ops *ops;
    struct channel *inner; /* the one that it wraps, whose spare messages it uses, or NULL */
    struct channel_message *spare; /* recycled messages */
    uint32_t spares;
    uint32_t short_bytes; /* to peers that share memory: of longer messages; 0: all are alike */
    uint32_t *serials; /* by rank: of the last message given out, also by who wraps it; or NULL */
    bool is_sending;   /* goes on only when it is called: something has not left yet */
    bool must_look;    /* see channel_look_everywhere() */
    bool has_more;     /* has read what it has not given out yet */
    bool hears;        /* sleeps at descriptors: whatever comes, from any host, ends a sleep */
    int failed_peer;   /* whom the last error of channel_receive() is about; -1: everybody */
};

/* A message with an empty, begun content; NULL when malloc fails. */
struct channel_message *channel_take(struct channel *channel);

/* The message as memory to append records to; what is then used goes back to message->bytes. */
static inline struct wire_buffer channel_buffer(struct channel_message *message)
{
    return (struct wire_buffer){message->data, message->bytes, WIRE_MESSAGE_BYTES};
}

/* The same for a peer that shares memory: a record joins a message only while that stays short
 * enough to leave at once. */
static inline struct wire_buffer channel_join_buffer(const struct channel *channel,
                                                     struct channel_message *message)
{
    struct wire_buffer buffer = channel_buffer(message);

    if (channel->short_bytes && message->bytes > WIRE_HEADER_BYTES &&
        message->bytes <= channel->short_bytes)
        buffer.capacity = channel->short_bytes;
    return buffer;
}

/* Gives a message back unsent. */
void channel_drop(struct channel *channel, struct channel_message *message);

/* Sends message->data[0..bytes) to message->peer and takes the message over, also on an error.
 * Returns before it has arrived. Errors: MPI. */
static inline omprma_status_t channel_send(struct channel *channel, struct channel_message *message)
{
    return channel->ops->send(channel, message);
}

/* False: a message of so many bytes to `peer` would take a slower way now than it can take as soon
 * as the peer has received others. Who can wait sends it then; channel_send() waits for nothing. */
static inline bool channel_has_room(struct channel *channel, int peer, uint32_t bytes)
{
    return !channel->ops->has_room || channel->ops->has_room(channel, peer, bytes);
}

/* Gives the next message that has arrived, or sets *message to NULL. Errors: MPI: a message to
 * channel->failed_peer that channel_send() had taken over did not leave; MPI and HOST_MEMORY, if
 * that is -1: nothing can be received any more, now and later. */
static inline omprma_status_t channel_receive(struct channel *channel,
                                              struct channel_message **message)
{
    return channel->ops->receive(channel, message);
}

/* channel_receive() looks wherever messages may come from before it says that there is none.
 * Without, it may leave out what takes longer, as it can where it is called again at once. */
static inline void channel_look_everywhere(struct channel *channel)
{
    channel->must_look = true;
}

/* Waits until everything that was sent has left. Errors: MPI. */
static inline omprma_status_t channel_drain(struct channel *channel)
{
    return channel->ops->drain(channel);
}

/* Announces (`on`) or withdraws that this side is about to sleep. After announcing, and before
 * channel_sleep(), look once more for messages, which then is everywhere: one that came in between
 * ends the sleep. */
static inline void channel_prepare(struct channel *channel, bool on)
{
    channel->ops->prepare(channel, on);
}

/* Sleeps for at most `ns`, less when a message is sent to this side or channel_wake() is called
 * (where the host can tell; else the implementation bounds the time itself). One that hears also
 * wakes when the descriptor `also` can be read; -1: there is none. */
static inline void channel_sleep(struct channel *channel, int64_t ns, int also)
{
    channel->ops->sleep(channel, ns, also);
}

/* Ends a channel_sleep() of another thread of this process. Async-signal-safe. */
static inline void channel_wake(struct channel *channel)
{
    channel->ops->wake(channel);
}

static inline void channel_destroy(struct channel *channel)
{
    channel->ops->destroy(channel);
}

#endif
