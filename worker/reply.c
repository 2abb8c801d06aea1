/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * reply.c: gathers results into one message, which leaves when it is full or when the loop has
 * nothing more to do at once (reply_flush()). With it goes the serial of the last message that
 * came, which acknowledges all up to that one.
 */
#include "worker/session.h"

#include <string.h>

#include "base/error.h"
#include "worker/output.h"
#include "worker/worker.h"

enum { OUTPUT_AT_ONCE = 32 << 10 };

static omprma_status_t reply_send(struct session *session)
{
    struct server *server = session->server;
    struct channel_message *message = session->out;
    struct wire_buffer buffer = channel_buffer(message);
    omprma_status_t status;

    session->out = NULL;
    session->owe_ack = false;
    message->peer = session->head;
    wire_seal(&buffer, WIRE_RESULTS, ++session->out_serial, session->in_serial, false);
    status = channel_send(server->channel, message);
    if (status != OMPRMA_OK) /* somebody waits for what was in it */
        server_break(server, status, error_text());
    return status;
}

static void *reply_place(struct session *session, const struct wire_record *record)
{
    struct server *server = session->server;

    for (int attempt = 0; attempt < 2; attempt++) {
        struct wire_buffer buffer;
        void *at;

        if (!session->out)
            session->out = channel_take(server->channel);
        if (!session->out) {
            server_break(server, OMPRMA_ERR_HOST_MEMORY, "no memory for a control message");
            return NULL;
        }
        buffer = channel_join_buffer(server->channel, session->out);
        at = wire_append(&buffer, record);
        session->out->bytes = buffer.used;
        if (at)
            return at;
        if (reply_send(session) != OMPRMA_OK)
            return NULL;
    }
    return NULL;
}

static uint16_t device_of(const struct stream *stream)
{
    return stream->device ? stream->device->index : WIRE_NO_DEVICE;
}

void reply_append(const struct stream *stream, uint16_t code, uint32_t op, uint64_t word,
                  const void *tail, uint32_t bytes)
{
    const struct wire_record record = {
        .code = code,
        .device = device_of(stream),
        .queue = stream->number,
        .op = op,
        .word = {word},
        .tail = tail,
        .tail_bytes = bytes,
    };

    reply_place(stream->session, &record);
}

void reply_failure(const struct stream *stream, uint32_t op, omprma_status_t status,
                   const char *text)
{
    bool earlier = stream->failed != OMPRMA_OK;
    const struct wire_record record = {
        .code = WIRE_FAILED,
        .flags = stream->device && stream->device->lost ? WIRE_CRASHED : 0,
        .device = device_of(stream),
        .queue = stream->number,
        .op = op,
        .word = {(uint64_t)status, earlier ? stream->failed_op : op,
                 (uint64_t)(earlier ? stream->failed_code : error_code()),
                 stream->device && stream->device->lost ? stream->device->fault_address : 0},
        .tail = text,
        .tail_bytes = (uint32_t)strnlen(text, ERROR_TEXT_BYTES),
    };

    reply_place(stream->session, &record);
}

void reply_stall(const struct stream *stream, int peer, int64_t seconds, uint32_t times)
{
    const struct wire_record record = {
        .code = WIRE_STALLED,
        .device = device_of(stream),
        .queue = stream->number,
        .op = stream->transfer_op,
        .word = {(uint64_t)peer, (uint64_t)seconds, times},
    };

    reply_place(stream->session, &record);
}

void reply_span(const struct stream *stream, uint32_t op, int64_t begin_ns, int64_t end_ns)
{
    const struct wire_record record = {
        .code = WIRE_SPAN,
        .device = device_of(stream),
        .queue = stream->number,
        .op = op,
        .word = {(uint64_t)begin_ns, (uint64_t)end_ns},
    };

    reply_place(stream->session, &record);
}

/* A result about no queue. */
static void *reply_append_own(struct session *session, uint16_t code, uint64_t word,
                              const void *tail, uint32_t bytes)
{
    const struct wire_record record = {
        .code = code,
        .device = WIRE_NO_DEVICE,
        .word = {word},
        .tail = tail,
        .tail_bytes = bytes,
    };

    return reply_place(session, &record);
}

void reply_output(struct session *session)
{
    char text[OUTPUT_AT_ONCE];
    enum output_stream stream;
    size_t bytes;
    bool flushed;

    while ((bytes = output_take(&stream, text, sizeof(text), &flushed)) > 0)
        reply_append_own(session, WIRE_OUTPUT, (uint64_t)stream | (flushed ? WIRE_FLUSHED : 0),
                         text, (uint32_t)bytes);
}

omprma_status_t reply_flush(struct session *session)
{
    if (!session->out) {
        if (!session->owe_ack)
            return OMPRMA_OK;
        if (!reply_append_own(session, WIRE_ALIVE, stream_count_busy(session), NULL, 0))
            return OMPRMA_ERR_HOST_MEMORY;
    }
    return reply_send(session);
}
