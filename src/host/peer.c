/* peer.c: see peer.h. */
#include "host/peer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "host/device.h"
#include "host/queue.h"

enum {
    PEER_NAME_BYTES = 128,
    AWAKE_US = 5000, /* how long a worker is asked to keep polling at a time */
    DIED_S = 3       /* how long whoever started this process has to end it when a worker died */
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
    peer->hello.host[sizeof(hello->host) - 1] = peer->hello.cpu[sizeof(hello->cpu) - 1] = 0;
    peer->can_ring = runtime->bells && runtime->bells[rank];
    peer->heard_ns = clock_ns();
    *out = peer;
    return OMPRMA_OK;
}

omprma_status_t peer_send(struct peer *peer, struct channel_message *message, bool ask)
{
    struct wire_buffer buffer = channel_buffer(message);
    omprma_status_t status;

    if (peer->lost) {
        channel_drop(peer->runtime->channel, message);
        return error_set(OMPRMA_ERR_DEVICE_LOST, "%s", peer_device(peer, 0)->lost_text);
    }
    peer->sent++;
    ask |= peer->sent % PEER_ASK_EACH == 0;
    wire_seal(&buffer, WIRE_COMMANDS, peer->sent, peer->received, ask);
    message->peer = peer->rank;
    peer->stats.messages_out++;
    peer->stats.bytes_out += message->bytes;
    status = channel_send(peer->runtime->channel, message);
    /* A gap: what follows cannot be understood, and will not be answered. */
    if (status != OMPRMA_OK)
        peer_lose(peer, "%s: %s", peer_name(peer), error_text());
    else if (peer->can_ring)
        wakes_add_bell(&peer->runtime->wakes, peer->runtime->bells[peer->rank]);
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

static void print_output(const struct wire_record *record)
{
    FILE *stream = (record->word[0] & ~(uint64_t)WIRE_FLUSHED) == 2 ? stderr : stdout;

    fwrite(record->tail, 1, record->tail_bytes, stream);
    if (record->word[0] & WIRE_FLUSHED)
        fflush(stream);
}

/* A receive waits for the other end rather than for the network, as far as is known. */
static bool waits_for_sender(const struct device *device, const struct wire_record *record)
{
    struct operation *sender = NULL;

    if (record->queue < device->queue_count)
        sender = device->queues[record->queue]->sender;
    if (!sender || operation_has_ended(sender))
        return false;
    queue_push(sender);
    return true;
}

/* Data does not get from this worker to another, or back. The first time it may be that the other
 * one has not heard of it yet, because of this side: its window was full, and nobody drove. So only
 * being told again counts, which a worker does some time after it was heard the first time. */
static void hear_of_stall(struct peer *peer, const struct device *device,
                          const struct wire_record *record)
{
    const struct runtime *runtime = peer->runtime;
    char mine[PEER_NAME_BYTES];

    if (record->word[0] >= (uint64_t)runtime->world.size || !runtime->peers[record->word[0]] ||
        waits_for_sender(device, record) || record->word[2] < 2)
        return;
    snprintf(mine, sizeof(mine), "%s", device_name(device));
    peer_lose(peer,
              "%s and %s: no data has moved between them for %llu s; if these hosts cannot reach "
              "each other, set OMPRMA_EXCHANGE=application; OMPRMA_TIMEOUT sets the limit",
              mine, peer_name(runtime->peers[record->word[0]]),
              (unsigned long long)record->word[1]);
}

/* The device of a result, or NULL if the peer has none of that number. */
static struct device *device_of(const struct peer *peer, const struct wire_record *record)
{
    return record->device < peer->device_count ? peer_device(peer, record->device) : NULL;
}

void peer_accept(struct peer *peer, const struct channel_message *message)
{
    struct wire_reader reader;
    struct wire_record record;

    if (wire_open(&reader, message->data, message->bytes) != OMPRMA_OK) {
        peer_lose(peer, "%s", error_text());
        return;
    }
    peer->received = reader.header.serial;
    peer->acked = reader.header.ack;
    peer->stats.messages_in++;
    peer->stats.bytes_in += message->bytes;
    while (wire_next(&reader, &record)) {
        struct device *device = device_of(peer, &record);

        if (record.code == WIRE_OUTPUT)
            print_output(&record);
        else if (peer->lost || !device)
            continue; /* it was given up, and so was the memory that results would go to */
        else if (record.code == WIRE_STALLED)
            hear_of_stall(peer, device, &record);
        else if (record.code != WIRE_ALIVE && record.queue < device->queue_count)
            queue_result(device->queues[record.queue], &record);
    }
}

/* Workers that exchange with a lost one would wait for ever. */
static void tell_others(const struct peer *lost, const char *text)
{
    const struct runtime *runtime = lost->runtime;
    const struct wire_record record = {
        .code = WIRE_LOST,
        .device = WIRE_NO_DEVICE,
        .word = {(uint64_t)lost->rank},
        .tail = text,
        .tail_bytes = (uint32_t)strlen(text),
    };

    for (int rank = 0; rank < runtime->world.size; rank++)
        if (runtime->peers[rank] && !runtime->peers[rank]->lost)
            peer_send_record(runtime->peers[rank], &record, false);
}

/* Of devices that were exchanging with its: what their workers and it have begun cannot be taken
 * back, and may go on when it comes back to life. */
static void keep_memory(const struct device *lost)
{
    const struct runtime *runtime = lost->runtime;

    for (int i = 0; i < runtime->device_count; i++) {
        struct device *device = runtime->devices[i];

        for (uint32_t k = 0; device && k < device->queue_count; k++)
            queue_keep_memory(device->queues[k], lost);
    }
}

void peer_lose(struct peer *peer, const char *format, ...)
{
    char text[512];
    va_list arguments;

    if (peer->lost)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    peer->lost = true;
    peer->runtime->unresponsive = true;
    for (int i = 0; i < peer->device_count; i++) {
        struct device *device = peer_device(peer, i);

        device->lost = true;
        snprintf(device->lost_text, sizeof(device->lost_text), "%s", text);
    }
    for (int i = 0; i < peer->device_count; i++)
        keep_memory(peer_device(peer, i));
    for (int i = 0; i < peer->device_count; i++)
        device_fail_queues(peer_device(peer, i));
    tell_others(peer, text);
}

/* omprma-run, and mpirun, end the program when a worker dies, and say which one and of what. Only
 * where nobody does is it for the program to learn. */
void peer_watch_death(struct peer *peer, int64_t now)
{
    if (peer->lost || !peer->can_ring || !doorbell_owner_died(peer->runtime->bells[peer->rank]))
        return;
    if (peer->died_ns == 0)
        peer->died_ns = now;
    else if (now - peer->died_ns > DIED_S * INT64_C(1000000000))
        peer_lose(peer, "%s: its worker, process %d, has died", peer_name(peer),
                  peer->hello.bell.pid);
}

void peer_watch(struct peer *peer, int64_t now)
{
    int64_t limit = peer->runtime->config.timeout_s * INT64_C(1000000000);
    int64_t silent = now - peer->heard_ns;

    peer_watch_death(peer, now);
    if (limit == 0 || peer->lost || silent < limit / 4)
        return;
    if (peer->probed_ns < peer->heard_ns) { /* first doubt: ask for a sign of life */
        peer->probed_ns = now;
        peer_send_record(peer, NULL, true);
        return;
    }
    if (now - peer->probed_ns > limit)
        peer_lose(peer,
                  "%s (process %d) has not answered for %lld s and is given up; "
                  "OMPRMA_TIMEOUT sets the limit",
                  peer_name(peer), peer->hello.bell.pid, (long long)(silent / 1000000000));
}

void peer_keep_awake(struct peer *peer)
{
    struct runtime *runtime = peer->runtime;
    struct wire_record record = {
        .code = WIRE_AWAKE,
        .device = WIRE_NO_DEVICE,
        .word = {AWAKE_US},
    };
    int64_t now;

    /* Within one host osc/rdma copies by itself; the target has no part in it. */
    if (!runtime->world.component ||
        (peer->can_ring && strcmp(runtime->world.component, "rdma") == 0))
        return;
    now = clock_ns();
    if (now - peer->awake_sent_ns < AWAKE_US * INT64_C(500) || !peer_may_send(peer))
        return;
    if (peer_send_record(peer, &record, false) != OMPRMA_OK)
        return;
    peer->awake_sent_ns = now;
    if (peer->can_ring) /* at once: the call that moves the data may wait for the worker */
        doorbell_ring(runtime->bells[peer->rank]);
}

omprma_status_t peer_exit(struct peer *peer)
{
    struct wire_record record = {.code = WIRE_EXIT, .device = WIRE_NO_DEVICE};

    return peer_send_record(peer, &record, true);
}
