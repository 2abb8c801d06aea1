/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * peer.c: messages carry serials and the serial that came last from the other side, which
 * acknowledges. When so many are on their way that the window is full, messages wait for an
 * acknowledgement, which the last ones ask for. A worker that is silent is asked for a sign of
 * life, and given up when the limit has passed, or when its doorbell says that its process is
 * gone.
 */
#include "host/core/peer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/traced.h"
#include "control/direct/local_rank.h"

enum {
    AWAKE_US = 5000,          /* a worker is asked to keep polling for so long, */
    AWAKE_BYTES_PER_US = 256, /* and for what the data takes at this rate, a slow one; */
    AWAKE_US_MOST = 2000000,  /* together not longer than that at a time */
    LOOK_FRESH_NS = 1000000,  /* a look that was seen within so long says that it polls */
    DIED_S = 3 /* how long whoever started this process has to end it when a worker died */
};

const char *peer_name(const struct peer *peer)
{
    static _Thread_local char text[PEER_NAME_BYTES];
    int first = peer->first_device, last = first + peer->device_count - 1;

    if (first == last)
        snprintf(text, sizeof(text), "device %d (%s)", first, peer->hello.host);
    else
        snprintf(text, sizeof(text), "devices %d to %d (%s)", first, last, peer->hello.host);
    return text;
}

omprma_status_t peer_create(struct runtime *runtime, int number, int rank,
                            const struct world_hello *hello, struct peer **out)
{
    struct peer *peer = calloc(1, sizeof(*peer));

    if (!peer)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for worker %d", number);
    peer->runtime = runtime;
    peer->number = number;
    peer->rank = rank;
    peer->hello = *hello;
    peer->hello.host[sizeof(hello->host) - 1] = 0;
    peer->hello.cpus[sizeof(hello->cpus) - 1] = 0;
    peer->can_ring = runtime->bells && runtime->bells[rank];
    peer->is_near = peer->can_ring && peer->hello.first == runtime->world.first;
    peer->heard_ns = clock_ns();
    *out = peer;
    return OMPRMA_OK;
}

omprma_status_t peer_mark(struct peer *peer)
{
    int rank = peer->runtime->world.direct ? rank_find() : -1;
    char of[24] = "";

    if (rank >= 0) /* of several programs */
        snprintf(of, sizeof(of), " of rank %d", rank);
    if (asprintf(&peer->mark, "[worker %d%s on %s] ", peer->number, of, peer->hello.host) < 0) {
        peer->mark = NULL;
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for worker %d", peer->number);
    }
    return OMPRMA_OK;
}

void peer_end_lines(struct peer *peer)
{
    tagged_end(&peer->lines[0], stdout);
    tagged_end(&peer->lines[1], stderr);
}

omprma_status_t peer_send(struct peer *peer, struct channel_message *message, bool ask)
{
    struct wire_buffer buffer = channel_buffer(message);
    omprma_status_t status;

    if (peer->lost) {
        channel_drop(peer->runtime->channel, message);
        return error_set(OMPRMA_ERR_DEVICE_LOST, "%s", peer->lost_text);
    }
    peer->sent++;
    /* A full window has been asked about: who waits for room in it need not. */
    ask |= (peer->sent & (peer->runtime->limits.ask_each - 1)) == 0;
    wire_seal(&buffer, WIRE_COMMANDS, peer->sent, peer->received, ask);
    message->peer = peer->rank;
    peer->stats.messages_out++;
    peer->stats.bytes_out += message->bytes;
    status = channel_send(peer->runtime->channel, message);
    /* A gap: what follows cannot be understood, and will not be answered. */
    if (status != OMPRMA_OK)
        peer_lose(peer, "%s: %s", peer_name(peer), error_text());
    return status;
}

omprma_status_t peer_send_record(struct peer *peer, const struct wire_record *record, bool ask)
{
    struct channel_message *message = channel_take(peer->runtime->channel);
    struct wire_buffer buffer;

    if (!message)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "%s: no memory for a control message",
                         peer_name(peer));
    buffer = channel_buffer(message);
    if (record)
        wire_append(&buffer, record);
    message->bytes = buffer.used;
    return peer_send(peer, message, ask);
}

/* Workers that exchange with a lost one would wait for ever. */
static void tell_others(const struct peer *lost)
{
    const struct runtime *runtime = lost->runtime;
    const struct wire_record record = {
        .code = WIRE_LOST,
        .device = WIRE_NO_DEVICE,
        .word = {(uint64_t)lost->rank},
        .tail = lost->lost_text,
        .tail_bytes = (uint32_t)strlen(lost->lost_text),
    };

    for (int rank = 0; rank < runtime->world.size; rank++)
        if (peer_listens(runtime->peers[rank]))
            peer_send_record(runtime->peers[rank], &record, false);
}

void peer_lose(struct peer *peer, const char *format, ...)
{
    va_list arguments;

    if (peer->lost)
        return;
    va_start(arguments, format);
    vsnprintf(peer->lost_text, sizeof(peer->lost_text), format, arguments);
    va_end(arguments);
    peer->lost = true;
    if (!peer->runtime->first_lost)
        peer->runtime->first_lost = peer;
    peer->runtime->unresponsive = true;
    peer->runtime->hooks.lost(peer, peer->lost_text);
    tell_others(peer);
}

/* One that was told to exit may have done so before its last words were read. */
static int64_t died_limit_ns(const struct peer *peer)
{
    bool at_once = peer->runtime->config.on_loss == ON_LOSS_CONTINUE && !peer->exits;

    return at_once ? 0 : DIED_S * INT64_C(1000000000);
}

/* omprma-run, and mpirun, end the program when a worker dies, and say which one and of what. Only
 * where nobody does is it for the program to learn. */
static void watch_death(struct peer *peer, int64_t now)
{
    if (peer->lost || !peer->can_ring || !doorbell_owner_died(peer->runtime->bells[peer->rank]))
        return;
    if (peer->died_ns == 0)
        peer->died_ns = now;
    if (now - peer->died_ns >= died_limit_ns(peer))
        peer_lose(peer, "%s: its worker, process %d, has died", peer_name(peer),
                  peer->hello.bell.pid);
}

void peer_watch(struct peer *peer, int64_t now, int64_t absent, int64_t limit)
{
    int64_t silent;

    if (peer->heard_ns == 0)
        peer->heard_ns = now;
    silent = now - peer->heard_ns;
    if (peer->probed_ns >= peer->heard_ns) /* it has had no time to answer */
        peer->probed_ns += absent;
    watch_death(peer, now);
    if (limit == 0 || peer->lost || silent < limit / 4)
        return;
    if (peer->probed_ns < peer->heard_ns) { /* first doubt: ask for a sign of life */
        peer->probed_ns = now;
        if (peer_listens(peer)) /* else the answer to what it was told last will do */
            peer_send_record(peer, NULL, true);
        return;
    }
    if (now - peer->probed_ns > limit && peer->is_near && process_is_traced(peer->hello.bell.pid))
        peer->probed_ns = now; /* a debugger holds it */
    if (now - peer->probed_ns > limit)
        peer_lose(peer,
                  "%s (process %d) has not answered for %lld s and is given up; "
                  "OMPRMA_TIMEOUT sets the limit",
                  peer_name(peer), peer->hello.bell.pid, (long long)(silent / 1000000000));
}

void peer_keep_awake(struct peer *peer, uint64_t bytes)
{
    struct runtime *runtime = peer->runtime;
    uint64_t us = AWAKE_US + bytes / AWAKE_BYTES_PER_US;
    struct wire_record record = {
        .code = WIRE_AWAKE,
        .device = WIRE_NO_DEVICE,
        .word = {us < AWAKE_US_MOST ? us : AWAKE_US_MOST},
    };
    int64_t now, until;

    if (runtime->channel->hears || (peer->can_ring && runtime->world.can.target_is_passive))
        return;
    now = clock_ns();
    until = now + (int64_t)record.word[0] * 1000;
    if ((now + until) / 2 < peer->awake_until_ns || !peer_may_send(peer))
        return;
    if (peer_send_record(peer, &record, false) != OMPRMA_OK)
        return;
    peer->awake_until_ns = until;
    if (peer->can_ring) /* at once: the call that moves the data may wait for the worker */
        doorbell_ring(runtime->bells[peer->rank]);
}

bool peer_takes_part(struct peer *peer, uint64_t bytes)
{
    struct runtime *runtime = peer->runtime;
    uint32_t looks;
    int64_t now, since;
    bool looked;

    if (!peer->can_ring || world_is_passive(&runtime->world))
        return true;
    now = clock_ns();
    since = now - peer->looks_ns;
    looks = doorbell_looks(runtime->bells[peer->rank]);
    looked = looks != peer->looks;
    peer->looks = looks;
    peer->looks_ns = now;
    if (looked && since < LOOK_FRESH_NS)
        return true;
    peer_keep_awake(peer, bytes);
    return false;
}

omprma_status_t peer_spin(struct peer *peer, int64_t us)
{
    struct wire_record record = {
        .code = WIRE_AWAKE, .flags = WIRE_SPIN, .device = WIRE_NO_DEVICE, .word = {(uint64_t)us}};

    return peer_send_record(peer, &record, false);
}

omprma_status_t peer_exit(struct peer *peer)
{
    struct wire_record record = {.code = WIRE_EXIT, .device = WIRE_NO_DEVICE};

    peer->exits = true;
    return peer_send_record(peer, &record, true);
}
