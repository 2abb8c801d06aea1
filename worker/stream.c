/* stream.c: the order of commands within a queue, on the worker. See server.h. */
#include "worker/server.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "worker/command.h"

enum { STREAMS_MOST = 1 << 20 };

static struct stream *stream_of(struct server *server, uint32_t queue)
{
    if (queue >= STREAMS_MOST)
        return NULL;
    if (queue >= server->stream_count) {
        uint32_t count = queue < 32 ? 64 : 2 * queue;
        struct stream **streams = realloc(server->streams, count * sizeof(*streams));

        if (!streams)
            return NULL;
        memset(streams + server->stream_count, 0,
               (count - server->stream_count) * sizeof(*streams));
        server->streams = streams;
        server->stream_count = count;
    }
    if (!server->streams[queue]) {
        struct stream *stream = calloc(1, sizeof(*stream));

        if (stream)
            stream->number = queue;
        server->streams[queue] = stream;
    }
    return server->streams[queue];
}

struct stream *stream_find(const struct server *server, uint32_t queue)
{
    return queue < server->stream_count ? server->streams[queue] : NULL;
}

void stream_fail_at(struct stream *stream, uint32_t op, omprma_status_t status, const char *text)
{
    if (stream->failed != OMPRMA_OK)
        return;
    stream->failed = status;
    stream->failed_after = stream->done_op;
    stream->failed_op = op;
    free(stream->failed_text);
    stream->failed_text = strdup(text);
}

void stream_fail(struct stream *stream, omprma_status_t status, const char *text)
{
    stream_fail_at(stream, stream->op, status, text);
}

void stream_reset(struct stream *stream, uint32_t op)
{
    stream->past[stream->resets++ % STREAM_FAILURES] =
        (struct stream_failure){stream->failed_after, op, stream->failed};
    stream->failed = OMPRMA_OK;
}

omprma_status_t stream_failure_of(const struct stream *stream, uint32_t op)
{
    for (uint32_t i = 0; i < STREAM_FAILURES && i < stream->resets; i++) {
        const struct stream_failure *past = &stream->past[i];

        if (op - past->after - 1 < past->reset - past->after - 1) /* numbers wrap around */
            return past->status;
    }
    return (int32_t)(op - stream->failed_after) > 0 ? stream->failed : OMPRMA_OK;
}

/* Puts a stream at the end of the list of those that need attention. */
static void stream_attend(struct server *server, struct stream *stream)
{
    if (stream->active)
        return;
    stream->active = true;
    stream->next_active = NULL;
    if (server->active_last)
        server->active_last->next_active = stream;
    else
        server->active_first = stream;
    server->active_last = stream;
    server->active_count++;
}

static struct stream *take_active(struct server *server)
{
    struct stream *stream = server->active_first;

    if (!stream)
        return NULL;
    server->active_first = stream->next_active;
    if (!server->active_first)
        server->active_last = NULL;
    server->active_count--;
    stream->active = false;
    return stream;
}

static void stream_wait_for_lane(struct server *server, struct stream *stream)
{
    stream->running = true;
    stream->next_ready = NULL;
    if (server->ready_last)
        server->ready_last->next_ready = stream;
    else
        server->ready_first = stream;
    server->ready_last = stream;
    if (server->lanes > 1)
        sem_post(&server->ready);
}

struct stream *stream_take_ready(struct server *server)
{
    struct stream *stream = server->ready_first;

    if (!stream)
        return NULL;
    server->ready_first = stream->next_ready;
    if (!server->ready_first)
        server->ready_last = NULL;
    stream->running = false;
    return stream;
}

static void finish_message(struct server *server, struct stream *stream)
{
    struct channel_message *message = stream->first;

    stream->first = message->next;
    if (!stream->first)
        stream->last = NULL;
    channel_drop(server->channel, message);
    if (stream->first) /* was checked when it came */
        wire_open(&stream->reader, stream->first->data, stream->first->bytes);
}

void stream_run(struct server *server, struct stream *stream, bool lane)
{
    while (stream->first && !stream->running) {
        struct wire_reader ahead = stream->reader;
        struct wire_record record;

        if (!wire_next(&ahead, &record)) {
            finish_message(server, stream);
            continue;
        }
        stream->op = record.op;
        switch (command_run(server, stream, &record, lane)) {
        case COMMAND_DONE:
            stream->reader = ahead;
            if (stream->transfers)
                stream->transfer_op = record.op;
            else
                stream->done_op = record.op;
            break;
        case COMMAND_STALL:
            stream_attend(server, stream);
            return;
        case COMMAND_LANE:
            stream_wait_for_lane(server, stream);
            return;
        }
    }
    if (stream->transfers)
        stream_attend(server, stream);
}

omprma_status_t stream_accept(struct server *server, struct channel_message *message, bool lane)
{
    struct wire_reader reader;
    struct wire_record record;
    struct stream *stream;
    omprma_status_t status = wire_open(&reader, message->data, message->bytes);

    if (status == OMPRMA_OK && reader.header.kind != WIRE_COMMANDS)
        status = error_set(OMPRMA_ERR_PROTOCOL, "a worker was sent results instead of commands");
    if (status != OMPRMA_OK) {
        channel_drop(server->channel, message);
        return status;
    }
    server->in_serial = reader.header.serial;
    server->out_acked = reader.header.ack;
    server->owe_ack |= reader.header.wants_ack;
    stream = NULL;
    if (reader.next < reader.end) {
        struct wire_reader peek = reader;

        wire_next(&peek, &record);
        stream = stream_of(server, record.queue);
        if (!stream)
            status = error_set(OMPRMA_ERR_PROTOCOL, "no memory for queue %u", record.queue);
    }
    if (!stream) {
        channel_drop(server->channel, message);
        return status;
    }
    message->next = NULL;
    if (stream->first) {
        stream->last->next = message;
        stream->last = message;
        /* It is not idle: whoever holds it up will go on with it. */
        return OMPRMA_OK;
    }
    stream->first = stream->last = message;
    stream->reader = reader;
    stream_run(server, stream, lane);
    return OMPRMA_OK;
}

/* Moves a transfer of a stream to another list. */
static void transfer_over(struct stream *stream, struct stream_transfer **link,
                          struct stream_transfer **list)
{
    struct stream_transfer *node = *link;

    *link = node->next;
    node->next = *list;
    *list = node;
    if (!stream->transfers)
        stream->done_op = stream->transfer_op;
}

/* Tests the transfers of a stream and frees those that are over. True if any is. */
static bool stream_test_transfers(struct server *server, struct stream *stream)
{
    struct stream_transfer **link = &stream->transfers;
    bool moved = false;

    while (*link) {
        struct stream_transfer *node = *link;
        bool done = false;
        omprma_status_t status = datapath_test(node->path, &node->transfer, &done);

        if (status != OMPRMA_OK)
            command_fail_transfer(server, stream, node, status);
        if (status == OMPRMA_OK && !done) {
            command_watch_transfer(server, stream, node);
            link = &node->next;
            continue;
        }
        if (node->transfer.peer != server->head && server->stall_ns)
            server->moved_ns = clock_ns();
        free(node->scratch);
        node->scratch = NULL;
        transfer_over(stream, link, &server->spare_transfers);
        moved = true;
    }
    return moved;
}

void stream_lose_peer(struct server *server, struct stream *stream, const struct lost_peer *peer)
{
    struct stream_transfer **link = &stream->transfers;

    while (*link) {
        if ((*link)->transfer.peer != peer->rank) {
            link = &(*link)->next;
            continue;
        }
        stream_fail_at(stream, (*link)->op, OMPRMA_ERR_DEVICE_LOST, peer->text);
        datapath_abandon((*link)->path, &(*link)->transfer);
        transfer_over(stream, link, &server->abandoned);
    }
}

bool stream_progress(struct server *server, bool lane)
{
    bool moved = false;

    /* Each stream once: one that still waits goes to the end. A kernel may run in between, and
     * other threads may then work on the list. */
    for (uint32_t turns = server->active_count; turns > 0; turns--) {
        struct stream *stream = take_active(server);
        const struct channel_message *first;
        uint32_t before;

        if (!stream)
            break;
        before = stream->done_op;
        first = stream->first;
        if (stream->transfers)
            moved |= stream_test_transfers(server, stream);
        stream_run(server, stream, lane);
        moved |= stream->done_op != before || stream->first != first;
    }
    return moved;
}

void stream_lose_all(struct server *server, const char *text)
{
    struct stream *waiting;

    while ((waiting = stream_take_ready(server)) != NULL)
        stream_attend(server, waiting);
    for (uint32_t i = 0; i < server->stream_count; i++) {
        struct stream *stream = server->streams[i];

        if (!stream)
            continue;
        stream_fail(stream, stream->running ? OMPRMA_ERR_KERNEL : OMPRMA_ERR_DEVICE_LOST, text);
        stream->running = false;
        if (stream->first)
            stream_attend(server, stream);
    }
}

static void free_transfers(struct stream_transfer **list)
{
    while (*list) {
        struct stream_transfer *node = *list;

        *list = node->next;
        free(node->scratch);
        free(node);
    }
}

void stream_free_all(struct server *server)
{
    for (uint32_t i = 0; i < server->stream_count; i++) {
        struct stream *stream = server->streams[i];

        if (!stream)
            continue;
        while (stream->first)
            finish_message(server, stream);
        free_transfers(&stream->transfers);
        free(stream->failed_text);
        free(stream);
    }
    free_transfers(&server->abandoned);
    free_transfers(&server->spare_transfers);
    while (server->lost_peers) {
        struct lost_peer *peer = server->lost_peers;

        server->lost_peers = peer->next;
        free(peer->text);
        free(peer);
    }
    free(server->streams);
    server->streams = NULL;
    server->stream_count = server->active_count = 0;
    server->active_first = server->active_last = NULL;
}
