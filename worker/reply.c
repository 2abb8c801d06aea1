/* reply.c: gathers results into messages. See server.h. */
#include "worker/server.h"

#include <string.h>

#include "base/error.h"
#include "worker/output.h"

enum { OUTPUT_AT_ONCE = 32 << 10 };

static omprma_status_t send_out(struct server *server)
{
    struct channel_message *message = server->out;
    struct wire_buffer buffer = channel_buffer(message);
    omprma_status_t status;

    server->out = NULL;
    server->owe_ack = false;
    message->peer = server->head;
    wire_seal(&buffer, WIRE_RESULTS, ++server->out_serial, server->in_serial, false);
    status = channel_send(server->channel, message);
    if (status != OMPRMA_OK) /* somebody waits for what was in it */
        server_break(server, status, error_text());
    return status;
}

static void *append(struct server *server, const struct wire_record *record)
{
    for (int attempt = 0; attempt < 2; attempt++) {
        struct wire_buffer buffer;
        void *at;

        if (!server->out)
            server->out = channel_take(server->channel);
        if (!server->out) {
            server_break(server, OMPRMA_ERR_HOST_MEMORY, "no memory for a control message");
            return NULL;
        }
        buffer = channel_buffer(server->out);
        at = wire_append(&buffer, record);
        server->out->bytes = buffer.used;
        if (at)
            return at;
        if (send_out(server) != OMPRMA_OK)
            return NULL;
    }
    return NULL;
}

void *reply_append(struct server *server, uint16_t code, uint32_t queue, uint32_t op, uint64_t word,
                   const void *tail, uint32_t bytes)
{
    const struct wire_record record = {
        .code = code,
        .queue = queue,
        .op = op,
        .word = {word},
        .tail = tail,
        .tail_bytes = bytes,
    };

    return append(server, &record);
}

void reply_failure(struct server *server, const struct stream *stream, uint32_t op,
                   omprma_status_t status, const char *text)
{
    const struct wire_record record = {
        .code = WIRE_FAILED,
        .flags = server->lost ? WIRE_CRASHED : 0,
        .queue = stream->number,
        .op = op,
        .word = {(uint64_t)status, stream->failed != OMPRMA_OK ? stream->failed_op : op},
        .tail = text,
        .tail_bytes = (uint32_t)strnlen(text, ERROR_TEXT_BYTES),
    };

    append(server, &record);
}

void reply_stall(struct server *server, const struct stream *stream, int peer, int64_t seconds,
                 uint32_t times)
{
    const struct wire_record record = {
        .code = WIRE_STALLED,
        .queue = stream->number,
        .op = stream->transfer_op,
        .word = {(uint64_t)peer, (uint64_t)seconds, times},
    };

    append(server, &record);
}

void reply_output(struct server *server)
{
    char text[OUTPUT_AT_ONCE];
    enum output_stream stream;
    size_t bytes;
    bool flushed;

    while ((bytes = output_take(&stream, text, sizeof(text), &flushed)) > 0)
        reply_append(server, WIRE_OUTPUT, 0, 0, (uint64_t)stream | (flushed ? WIRE_FLUSHED : 0),
                     text, (uint32_t)bytes);
}

omprma_status_t reply_flush(struct server *server)
{
    if (!server->out) {
        if (!server->owe_ack)
            return OMPRMA_OK;
        if (!reply_append(server, WIRE_ALIVE, 0, 0, 0, NULL, 0))
            return OMPRMA_ERR_HOST_MEMORY;
    }
    return send_out(server);
}
