/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * stream.c: the worker's side of queues. A table per device finds them by number. A message is read
 * record by record and each becomes a command (pipeline.c), as far as that goes; whoever it had to
 * wait for goes on with it. Streams that only go on when somebody looks, since a device is polled,
 * transfers are under way or another queue is waited for, stand in the session's list of active
 * ones, each once. A failed stream stays so until the program resets it.
 */
#include "worker/session.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
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

static void stream_fail_with(struct stream *stream, uint32_t op, omprma_status_t status, int code,
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
    stream_fail_with(stream, op, status, 0, text);
}

void stream_fail_error(struct stream *stream, uint32_t op, omprma_status_t status)
{
    stream_fail_with(stream, op, status, error_code(), error_text());
}

void stream_fail(struct stream *stream, omprma_status_t status, const char *text)
{
    stream_fail_at(stream, stream->op, status, text);
}

void stream_lose(struct stream *stream)
{
    struct worker_device *device = stream->device;

    stream_fail_with(stream, stream->op, OMPRMA_ERR_DEVICE_LOST, device->fault_code,
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

/* Puts a stream at the end of the list of active ones. */
static void stream_schedule(struct stream *stream)
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
    if (stream->commands)
        pipeline_keep(stream, message);
    else
        channel_drop(stream->session->server->channel, message);
    if (stream->first) /* was checked when it came */
        wire_open(&stream->reader, stream->first->data, stream->first->bytes);
}

static bool stream_begin_next(struct stream *stream)
{
    while (stream->first) {
        struct wire_reader ahead = stream->reader;
        struct wire_record record;

        if (wire_next(&ahead, &record))
            return pipeline_begin(stream, &record, &ahead);
        finish_message(stream);
    }
    return false;
}

/* A first command that is over has another job to begin. */
static bool is_to_be_looked_at(const struct stream *stream)
{
    const struct command *first = stream->commands;

    if (stream->transfers)
        return true;
    if (first)
        return first->job.over || first->job.device->backend->poll;
    return stream->first != NULL;
}

void stream_run(struct stream *stream)
{
    do
        pipeline_end(stream, false);
    while (stream_begin_next(stream));
    if (is_to_be_looked_at(stream))
        stream_schedule(stream);
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
        /* Whoever the one before waits for goes on with it. */
        return OMPRMA_OK;
    }
    stream->first = stream->last = message;
    stream->reader = reader;
    stream_run(stream);
    return OMPRMA_OK;
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
            moved |= transfers_test(stream);
        pipeline_end(stream, true);
        stream_run(stream);
        moved |= stream->done_op != before || stream->first != first;
    }
    return moved;
}

bool stream_count_two_sided(const struct session *session, uint32_t *transfers)
{
    *transfers = 0;
    for (const struct stream *stream = session->active_first; stream;
         stream = stream->next_active) {
        if (!stream->transfers)
            return false;
        for (const struct stream_transfer *node = stream->transfers; node; node = node->next) {
            if (node->path->one_sided)
                return false;
            ++*transfers;
        }
    }
    return true;
}

/* Where transfers are under way the command is one of them. */
static uint64_t count_busy(const struct stream *stream)
{
    const struct stream_transfer *node = stream->transfers;
    uint64_t count = stream->commands && !node;

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

/* Transfers go on, and what waits for them. */
static void lose_stream(struct stream *stream, const struct worker_device *device, const char *text)
{
    bool launches = stream->device == device && pipeline_launches(stream);

    stream_fail_with(stream, stream->commands ? stream->commands->record.op : stream->op,
                     launches ? OMPRMA_ERR_KERNEL : OMPRMA_ERR_DEVICE_LOST, device->fault_code,
                     text);
    if (!stream->transfers)
        pipeline_lose(stream);
    if (stream->first)
        stream_schedule(stream);
}

/* Also what copies from other devices to this one. */
void stream_lose_device(struct session *session, const struct worker_device *device,
                        const char *text)
{
    for (int t = 0; t < session->table_count; t++)
        for (uint32_t i = 0; i < session->tables[t].count; i++) {
            struct stream *stream = session->tables[t].streams[i];

            if (stream && (stream->device == device ||
                           (stream->commands && stream->commands->job.device == device)))
                lose_stream(stream, device, text);
        }
}

static void stream_free(struct stream *stream)
{
    if (!stream)
        return;
    pipeline_free(stream);
    while (stream->first)
        finish_message(stream);
    transfers_leave(stream);
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
    transfers_free_all(session);
    pipeline_free_spare(session);
    session->active_count = 0;
    session->active_first = session->active_last = NULL;
}
