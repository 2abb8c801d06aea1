/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * incoming.c: one message is taken at a look, so that a thread that waited for it can go on at
 * once; then each queue that needs attention goes on once. A message that cannot be read loses its
 * worker.
 */
#include "host/queue/incoming.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "host/core/device.h"
#include "host/queue/issue.h"

static void print_output(struct peer *peer, const struct wire_record *record)
{
    bool is_error = (record->word[0] & ~(uint64_t)WIRE_FLUSHED) == 2;
    FILE *stream = is_error ? stderr : stdout;

    if (peer->mark)
        tagged_print(&peer->lines[is_error], peer->mark, stream, record->tail, record->tail_bytes);
    else
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
    const struct peer *other =
        record->word[0] < (uint64_t)runtime->world.size ? runtime->peers[record->word[0]] : NULL;
    char mine[PEER_NAME_BYTES];

    if (!other || waits_for_sender(device, record) || record->word[2] < 2)
        return;
    if (other->lost)
        return; /* both ends have told; this one has been told to give it up meanwhile */
    snprintf(mine, sizeof(mine), "%s", device_name(device));
    peer_lose(peer,
              "%s and %s: no data has moved between them for %llu s; if these hosts cannot reach "
              "each other, set OMPRMA_EXCHANGE=application; OMPRMA_TIMEOUT sets the limit",
              mine, peer_name(other), (unsigned long long)record->word[1]);
}

static void hear_of_life(struct peer *peer, const struct wire_record *record)
{
    peer->answer = peer->acked;
    peer->busy = record->word[0];
}

/* When the worker ran a command. It does not end by that. */
static void hear_of_span(const struct device *device, const struct wire_record *record)
{
    if (device->runtime->observers && record->queue < device->queue_count)
        queue_span(device->queues[record->queue], record);
}

/* What has failed may end the program, and all that workers have printed is to be read then. */
static void end_lines(const struct runtime *runtime)
{
    for (int rank = 0; rank < runtime->world.size; rank++)
        if (runtime->peers[rank])
            peer_end_lines(runtime->peers[rank]);
}

/* The device of a result, or NULL if the peer has none of that number. */
static struct device *device_of(const struct peer *peer, const struct wire_record *record)
{
    return record->device < peer->device_count ? peer_device(peer, record->device) : NULL;
}

void incoming_accept(struct peer *peer, const struct channel_message *message)
{
    struct wire_reader reader;
    struct wire_record record;

    if (wire_open(&reader, message->data, message->bytes) != OMPRMA_OK ||
        wire_check_next(&reader, WIRE_RESULTS, peer->received) != OMPRMA_OK) {
        peer_lose(peer, "%s: %s", peer_name(peer), error_text());
        return;
    }
    peer->received = reader.header.serial;
    peer->acked = reader.header.ack;
    peer->stats.messages_in++;
    peer->stats.bytes_in += message->bytes;
    while (wire_next(&reader, &record)) {
        struct device *device = device_of(peer, &record);

        if (record.code == WIRE_FAILED)
            end_lines(peer->runtime);
        if (record.code == WIRE_OUTPUT)
            print_output(peer, &record);
        else if (record.code == WIRE_ALIVE)
            hear_of_life(peer, &record);
        else if (peer->lost || !device)
            continue; /* it was given up, and so was the memory that results would go to */
        else if (record.code == WIRE_STALLED)
            hear_of_stall(peer, device, &record);
        else if (record.code == WIRE_SPAN)
            hear_of_span(device, &record);
        else if (record.queue < device->queue_count)
            queue_result(device->queues[record.queue], &record);
    }
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

void incoming_lost(struct peer *peer, const char *text)
{
    end_lines(peer->runtime);
    if (peer->runtime->config.on_loss == ON_LOSS_CONTINUE)
        peer->runtime->hooks.tell_lost();
    for (int i = 0; i < peer->device_count; i++) {
        struct device *device = peer_device(peer, i);

        device->lost = true;
        snprintf(device->lost_text, sizeof(device->lost_text), "%s", text);
    }
    for (int i = 0; i < peer->device_count; i++)
        keep_memory(peer_device(peer, i));
    for (int i = 0; i < peer->device_count; i++) {
        struct device *device = peer_device(peer, i);

        for (uint32_t k = 0; k < device->queue_count; k++)
            queue_lose(device->queues[k], OMPRMA_ERR_DEVICE_LOST, text);
        mapped_drop_all(&device->mapped);
    }
}

/* The connection to a worker, or to all, has failed. True if that was news. */
static bool lose_failed(struct runtime *runtime)
{
    int failed = runtime->channel->failed_peer;
    char text[ERROR_TEXT_BYTES];
    bool news = false;

    snprintf(text, sizeof(text), "%s", error_text());
    for (int rank = 0; rank < runtime->world.size; rank++) {
        struct peer *peer = runtime->peers[rank];

        if (!peer || peer->lost || (failed >= 0 && rank != failed))
            continue;
        peer_lose(peer, "%s: %s", peer_name(peer), text);
        news = true;
    }
    return news;
}

/* Takes one message, so that a thread that waited for it can go on at once. */
static bool take_message(struct runtime *runtime)
{
    struct channel_message *message = NULL;
    struct peer *peer;

    if (channel_receive(runtime->channel, &message) != OMPRMA_OK)
        return lose_failed(runtime);
    if (!message)
        return false;
    peer = runtime->peers[message->peer];
    peer->heard_ns = 0;
    incoming_accept(peer, message);
    channel_drop(runtime->channel, message);
    return true;
}

bool incoming_look(struct runtime *runtime)
{
    bool moved = take_message(runtime);

    atomic_store_explicit(&runtime->looks,
                          atomic_load_explicit(&runtime->looks, memory_order_relaxed) + 1,
                          memory_order_relaxed);

    for (uint32_t turns = runtime->busy_count; turns > 0; turns--) {
        struct omprma_queue *queue = runtime->busy_first;

        if (!queue)
            break;
        runtime->busy_first = queue->next_busy;
        if (!runtime->busy_first)
            runtime->busy_last = NULL;
        runtime->busy_count--;
        queue->busy = false;
        moved |= queue_advance(queue);
    }
    return moved;
}

int incoming_descriptor(const struct runtime *runtime)
{
    for (const struct omprma_queue *queue = runtime->busy_first; queue; queue = queue->next_busy)
        if (!queue->active)
            return -1;
    return datapath_descriptor(runtime->two_sided, runtime->moving);
}

bool incoming_query(struct runtime *runtime)
{
    channel_look_everywhere(runtime->channel);
    if (incoming_look(runtime))
        return true;
    runtime->hooks.watch(runtime, clock_ns());
    return false;
}
