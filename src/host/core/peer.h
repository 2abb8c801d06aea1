/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * peer.h: the connection to one worker process: its messages and their serials, how many may be
 * unacknowledged, whether it lives, its doorbell. Its devices are objects of their own (device.h):
 * a device whose kernel crashed is lost alone, with a peer all its devices are.
 *
 * Thread: with runtime->lock held.
 */
#ifndef OMPRMA_HOST_CORE_PEER_H
#define OMPRMA_HOST_CORE_PEER_H

#include "base/error.h"
#include "control/world.h"
#include "host/core/runtime.h"
#include "host/core/tagged.h"

enum { PEER_NAME_BYTES = 128 };

struct peer {
    struct runtime *runtime;
    int rank;
    int number; /* among the workers */
    struct world_hello hello;
    int first_device; /* its devices have that number and the following ones */
    int device_count;
    bool can_ring; /* same host: it is woken by its doorbell */

    uint32_t sent, acked;   /* message serials */
    uint32_t received;      /* serial of the last message from it */
    int64_t heard_ns;       /* when it last sent anything; 0: the next look at the clock tells */
    int64_t awake_until_ns; /* it was told to stay awake */
    uint32_t looks;         /* what its doorbell has told of its looks for messages, */
    int64_t looks_ns;       /* and when that was read */
    int64_t probed_ns;      /* when it was last asked for a sign of life */
    int64_t died_ns;        /* when its process was found to have died */
    bool exits;             /* it was told to */
    bool is_near;           /* on this host; a container of another name may ring, though data to it
                             * goes over a network */
    bool shares;            /* short messages to and from it go through shared memory */
    struct datapath *local; /* the runtime's path of that name, where it reaches this peer */

    bool has_run;                    /* a region; see cores.h */
    bool numbered;                   /* it knows its devices' numbers */
    uint32_t turn_index, turn_count; /* of those that divide the host's cores, as it was told */

    uint32_t question; /* serial of the message that last asked it whether it does anything, */
    uint32_t answer;   /* of the last one that it had taken when it said so, */
    uint64_t busy;     /* and what it said: see WIRE_ALIVE */

    struct told_arenas {
        struct told_arena {
            int rank; /* whose */
            uint64_t base;
        } * all;
        int count, room;
    } told; /* see told.h */

    struct operation *change; /* of its table of arenas, see attach_order.h; a reference */
    uint32_t accesses;        /* commands by which others put into its memory, or get from it */

    struct peer_stats {
        uint64_t messages_out, messages_in, bytes_out, bytes_in;
    } stats;

    char *mark; /* in front of lines that it prints (OMPRMA_TAG_OUTPUT); NULL: there is none */
    struct tagged lines[2]; /* that it has printed in part: on stdout, on stderr */

    bool lost; /* given up: it or the connection is dead, or nobody hears of its data */
    char lost_text[ERROR_TEXT_BYTES];
};

/* Whether two workers run on one host. Names do not tell: two hosts may have the same. */
static inline bool peer_shares_host(const struct peer *a, const struct peer *b)
{
    return a->hello.first == b->hello.first;
}

/* Makes a peer from what its worker said. Errors: HOST_MEMORY. */
omprma_status_t peer_create(struct runtime *runtime, int number, int rank,
                            const struct world_hello *hello, struct peer **peer);

/* "device 2 (node7)", or "devices 2 to 5 (node7)" where its worker has several; in static storage
 * of the calling thread. */
const char *peer_name(const struct peer *peer);

/* Device `index` of its worker. */
static inline struct device *peer_device(const struct peer *peer, int index)
{
    return peer->runtime->devices[peer->first_device + index];
}

/* Sends a sealed message of a queue. Ownership of `message` passes. `ask`: wants an answer soon. On
 * an error the peer is lost. */
omprma_status_t peer_send(struct peer *peer, struct channel_message *message, bool ask);

/* Sends a message of one record, outside the order of any queue's items; of none for NULL. `ask` as
 * above. Errors: HOST_MEMORY (nothing was sent), MPI, DEVICE_LOST. */
omprma_status_t peer_send_record(struct peer *peer, const struct wire_record *record, bool ask);

/* Does it read what is sent? Not when it is lost, or was told to exit. NULL: there is none. */
static inline bool peer_listens(const struct peer *peer)
{
    return peer && !peer->lost && !peer->exits;
}

/* True while another message may be sent without passing the window. */
static inline bool peer_may_send(const struct peer *peer)
{
    return peer->sent - peer->acked < peer->runtime->limits.window;
}

/* False: a message of so many bytes should wait until the worker has taken others out of the memory
 * that it shares with this process. */
static inline bool peer_has_room(const struct peer *peer, uint32_t bytes)
{
    return channel_has_room(peer->runtime->channel, peer->rank, bytes);
}

/* Gives the peer up: all its devices are lost, and their queues fail. */
void peer_lose(struct peer *peer, const char *format, ...)
    __attribute__((cold, format(printf, 2, 3)));

/* Checks that the worker lives: asks a silent one, and declares it lost after limit_ns of silence
 * (0: never), not counting absent_ns in which nobody here listened, or once its doorbell says that
 * it has died. */
void peer_watch(struct peer *peer, int64_t now_ns, int64_t absent_ns, int64_t limit_ns);

/* Keeps a worker polling while one-sided transfers to and from its memory are under way, where that
 * helps: for as long as so many bytes may take. Who still has some on their way then calls it
 * again.
 */
void peer_keep_awake(struct peer *peer, uint64_t bytes);

/* Whether a one-sided transfer of so many bytes, or its next piece, may be handed to MPI now. Where
 * the worker has a part in it, a call of MPI may wait for the worker, and nothing else goes on
 * meanwhile. So the worker has to have looked for messages a moment ago. One that sleeps is woken.
 * Always true where nobody can tell: on other hosts. */
bool peer_takes_part(struct peer *peer, uint64_t bytes);

/* Has the lines that it prints marked. Errors: HOST_MEMORY. */
omprma_status_t peer_mark(struct peer *peer);

/* Prints what it has printed of lines that have no end yet. */
void peer_end_lines(struct peer *peer);

/* Lets it poll without yielding for so many microseconds from now on. */
omprma_status_t peer_spin(struct peer *peer, int64_t us);

/* Sends exit. */
omprma_status_t peer_exit(struct peer *peer);

#endif
