/* stream.c: the order of commands within a queue, on the worker. See session.h. */
#include "worker/session.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "worker/command.h"
#include "worker/worker.h"

enum { STREAMS_MOST = 1 << 20 };

/* The table of a device, of the worker's own commands, or NULL. */
static struct stream_table *table_of(const struct session *session, uint32_t device)
{
    uint32_t devices = (uint32_t)session->table_count - 1;

    if (device == WIRE_NO_DEVICE)
        device = devices;
    else if (device >= devices)
        return NULL;
    return &session->tables[device];
}

static bool table_reach(struct stream_table *table, uint32_t queue)
{
    uint32_t count = queue < 32 ? 64 : 2 * queue;
    struct stream **streams;

    if (queue < table->count)
        return true;
    streams = realloc(table->streams, count * sizeof(*streams));
    if (!streams)
        return false;
    memset(streams + table->count, 0, (count - table->count) * sizeof(*streams));
    table->streams = streams;
    table->count = count;
    return true;
}

static struct stream *stream_of(struct session *session, uint32_t device, uint32_t queue)
{
    struct stream_table *table = table_of(session, device);
    struct stream *stream;

    if (!table || queue >= STREAMS_MOST || !table_reach(table, queue))
        return NULL;
    if (table->streams[queue])
        return table->streams[queue];
    stream = calloc(1, sizeof(*stream));
    if (!stream)
        return NULL;
    stream->session = session;
    stream->number = queue;
    if (device != WIRE_NO_DEVICE)
        stream->device = &session->server->devices[device];
    table->streams[queue] = stream;
    return stream;
}

struct stream *stream_find(const struct session *session, uint32_t device, uint32_t queue)
{
    const struct stream_table *table = table_of(session, device);

    return table && queue < table->count ? table->streams[queue] : NULL;
}

static void fail(struct stream *stream, uint32_t op, omprma_status_t status, int code,
                 const char *text)
{
    if (stream->failed != OMPRMA_OK)
        return;
    stream->failed = status;
    stream->failed_after = stream->done_op;
    if ((int32_t)(op - 1 - stream->done_op) > 0) /* transfers before it go on by themselves */
        stream->failed_after = op - 1;
    stream->failed_op = op;
    stream->failed_code = code;
    free(stream->failed_text);
    stream->failed_text = strdup(text);
}

void stream_fail_at(struct stream *stream, uint32_t op, omprma_status_t status, const char *text)
{
    fail(stream, op, status, 0, text);
}

void stream_fail_error(struct stream *stream, uint32_t op, omprma_status_t status)
{
    fail(stream, op, status, error_code(), error_text());
}

void stream_fail(struct stream *stream, omprma_status_t status, const char *text)
{
    stream_fail_at(stream, stream->op, status, text);
}

void stream_lose(struct stream *stream, struct worker_device *device)
{
    fail(stream, stream->op, OMPRMA_ERR_DEVICE_LOST, device->fault_code,
         device->backend->fault(device));
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
static void stream_attend(struct stream *stream)
{
    struct session *session = stream->session;

    if (stream->active)
        return;
    stream->active = true;
    stream->next_active = NULL;
    if (session->active_last)
        session->active_last->next_active = stream;
    else
        session->active_first = stream;
    session->active_last = stream;
    session->active_count++;
}

static struct stream *take_active(struct session *session)
{
    struct stream *stream = session->active_first;

    if (!stream)
        return NULL;
    session->active_first = stream->next_active;
    if (!session->active_first)
        session->active_last = NULL;
    session->active_count--;
    stream->active = false;
    return stream;
}

static void finish_message(struct stream *stream)
{
    struct channel_message *message = stream->first;

    stream->first = message->next;
    if (!stream->first)
        stream->last = NULL;
    if (stream->steps)
        steps_keep(stream, message);
    else
        channel_drop(stream->session->server->channel, message);
    if (stream->first) /* was checked when it came */
        wire_open(&stream->reader, stream->first->data, stream->first->bytes);
}

void stream_run(struct stream *stream)
{
    while (stream->first && !stream->held) {
        struct wire_reader ahead = stream->reader;
        struct wire_record record;

        if (!wire_next(&ahead, &record)) {
            finish_message(stream);
            continue;
        }
        stream->op = record.op;
        switch (command_run(stream, &record)) {
        case COMMAND_DONE:
            stream->reader = ahead;
            if (stream->transfers)
                stream->transfer_op = record.op;
            else if (!stream->steps)
                stream->done_op = record.op;
            break;
        case COMMAND_STALL:
            stream_attend(stream);
            return;
        case COMMAND_HELD:
            stream->held = true;
            return;
        }
    }
    if (stream->transfers || stream->steps)
        stream_attend(stream);
}

void stream_go_on(struct backend_job *job)
{
    struct stream *stream = (struct stream *)((char *)job - offsetof(struct stream, job));

    if (stream->device->lost)
        return; /* it was given up, and its queues have been answered */
    stream->held = false;
    stream_run(stream);
}

omprma_status_t stream_accept(struct session *session, struct channel_message *message)
{
    struct server *server = session->server;
    struct wire_reader reader;
    struct wire_record record;
    struct stream *stream;
    omprma_status_t status = wire_open(&reader, message->data, message->bytes);

    if (status == OMPRMA_OK)
        status = wire_check_next(&reader, WIRE_COMMANDS, session->in_serial);
    if (status != OMPRMA_OK) {
        channel_drop(server->channel, message);
        return status;
    }
    session->in_serial = reader.header.serial;
    session->out_acked = reader.header.ack;
    session->owe_ack |= reader.header.wants_ack;
    stream = NULL;
    if (reader.next < reader.end) {
        struct wire_reader peek = reader;

        wire_next(&peek, &record);
        stream = stream_of(session, record.device, record.queue);
        if (!stream)
            status = error_set(OMPRMA_ERR_PROTOCOL,
                               "commands for device %u, queue %u: there is no such device, or no "
                               "memory for the queue",
                               record.device, record.queue);
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
    stream_run(stream);
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

/* Moves the transfers of a stream on and frees those that are over. True if any is. */
static bool stream_test_transfers(struct stream *stream)
{
    struct stream_transfer **link = &stream->transfers;
    bool moved = false;

    while (*link) {
        struct stream_transfer *node = *link;

        if (!command_move_transfer(stream, node)) {
            link = &node->next;
            continue;
        }
        free(node->scratch);
        node->scratch = NULL;
        transfer_over(stream, link, &stream->session->spare_transfers);
        moved = true;
    }
    return moved;
}

void stream_lose_peer(struct stream *stream, const struct lost_peer *peer)
{
    struct stream_transfer **link = &stream->transfers;

    while (*link) {
        if ((*link)->transfer.peer != peer->rank) {
            link = &(*link)->next;
            continue;
        }
        stream_fail_at(stream, (*link)->op, OMPRMA_ERR_DEVICE_LOST, peer->text);
        datapath_abandon((*link)->path, &(*link)->transfer);
        transfer_over(stream, link, &stream->session->abandoned);
    }
}

bool stream_progress(struct session *session)
{
    bool moved = false;

    /* Each stream once: one that still waits goes to the end. A kernel may run in between, and
     * other threads may then work on the list. */
    for (uint32_t turns = session->active_count; turns > 0; turns--) {
        struct stream *stream = take_active(session);
        const struct channel_message *first;
        uint32_t before;

        if (!stream)
            break;
        before = stream->done_op;
        first = stream->first;
        if (stream->transfers)
            moved |= stream_test_transfers(stream);
        if (stream->steps)
            moved |= steps_settle(stream);
        stream_run(stream);
        moved |= stream->done_op != before || stream->first != first;
    }
    return moved;
}

/* Where transfers are under way the command that has begun is one of them. */
static uint64_t count_busy(const struct stream *stream)
{
    const struct stream_transfer *node = stream->transfers;
    uint64_t count = stream->launching || stream->steps || (stream->begun && !node);

    for (; node; node = node->next)
        count += node->transfer.peer != stream->session->head && node->told < 2;
    return count;
}

uint64_t stream_count_busy(const struct session *session)
{
    uint64_t count = 0;

    for (int t = 0; t < session->table_count; t++)
        for (uint32_t i = 0; i < session->tables[t].count; i++) {
            const struct stream *stream = session->tables[t].streams[i];

            if (stream)
                count += count_busy(stream);
        }
    return count;
}

/* Streams of other devices that wait for a copy by this one look again. */
static void wake_copies(const struct session *session, const struct worker_device *device)
{
    for (int t = 0; t < session->table_count; t++)
        for (uint32_t i = 0; i < session->tables[t].count; i++) {
            struct stream *stream = session->tables[t].streams[i];

            if (!stream || !stream->held || stream->device == device ||
                stream->job.device != device)
                continue;
            stream->held = false;
            stream_attend(stream);
        }
}

void stream_lose_device(struct session *session, const struct worker_device *device,
                        const char *text)
{
    struct stream_table *table = &session->tables[device->index];

    for (uint32_t i = 0; i < table->count; i++) {
        struct stream *stream = table->streams[i];
        bool launching;

        if (!stream)
            continue;
        launching = stream->launching || steps_launch(stream);
        fail(stream, stream->steps ? stream->steps->record.op : stream->op,
             launching ? OMPRMA_ERR_KERNEL : OMPRMA_ERR_DEVICE_LOST, device->fault_code, text);
        steps_lose(stream);
        stream->held = stream->launching = false;
        if (stream->first)
            stream_attend(stream);
    }
    wake_copies(session, device);
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

static void stream_free(struct stream *stream)
{
    if (!stream)
        return;
    steps_free(stream);
    while (stream->first)
        finish_message(stream);
    free_transfers(&stream->transfers);
    free(stream->stage);
    free(stream->failed_text);
    free(stream);
}

void stream_free_all(struct session *session)
{
    for (int t = 0; t < session->table_count; t++) {
        struct stream_table *table = &session->tables[t];

        for (uint32_t i = 0; i < table->count; i++)
            stream_free(table->streams[i]);
        free(table->streams);
        *table = (struct stream_table){0};
    }
    free_transfers(&session->abandoned);
    free_transfers(&session->spare_transfers);
    steps_free_spare(session);
    while (session->lost_peers) {
        struct lost_peer *peer = session->lost_peers;

        session->lost_peers = peer->next;
        free(peer->text);
        free(peer);
    }
    session->active_count = 0;
    session->active_first = session->active_last = NULL;
}
