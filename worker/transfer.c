/* transfer.c: commands that move bulk data, one-sided and two-sided. See command.h. */
#include "worker/command.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "worker/crash.h"

enum {
    LOOKS_PER_CLOCK = 16,   /* looks at a transfer for one at the clock */
    NS_PER_BYTE_MOST = 1000 /* only whole pieces count: what is under way has so long in addition */
};

static struct stream_transfer *take_transfer(struct server *server)
{
    struct stream_transfer *node = server->spare_transfers;

    if (node)
        server->spare_transfers = node->next;
    else
        node = malloc(sizeof(*node));
    if (node)
        memset(node, 0, sizeof(*node));
    return node;
}

static bool ranges_meet(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes)
{
    return a < b + b_bytes && b < a + a_bytes;
}

static bool is_one_sided(const struct wire_record *record)
{
    return record->code == WIRE_PUT || record->code == WIRE_GET;
}

/* True if the transfer of this command touches what one under way touches, here or at the peer. */
static bool overlaps(const struct stream *stream, const struct wire_record *record)
{
    uint64_t bytes = record->word[is_one_sided(record) ? 2 : 1];

    for (const struct stream_transfer *node = stream->transfers; node; node = node->next) {
        const struct transfer *other = &node->transfer;

        if (ranges_meet(record->word[0], bytes, (uint64_t)(uintptr_t)other->local, other->bytes))
            return true;
        if (is_one_sided(record) && node->path->one_sided && (int)record->word[3] == other->peer &&
            ranges_meet(record->word[1], bytes, other->remote, other->bytes))
            return true;
    }
    return false;
}

/* Fills `transfer` from a command. */
static void describe(const struct server *server, const struct wire_record *record,
                     struct stream_transfer *node)
{
    bool one_sided = is_one_sided(record);
    bool out = record->code == WIRE_PUT || record->code == WIRE_SEND;

    node->op = record->op;
    node->path = one_sided ? server->one_sided : server->two_sided;
    node->transfer.direction = out ? TRANSFER_OUT : TRANSFER_IN;
    node->transfer.local = command_pointer(record->word[0]);
    node->transfer.peer = (int)record->word[3];
    if (one_sided) {
        node->transfer.remote = record->word[1];
        node->transfer.bytes = record->word[2];
    } else {
        node->transfer.bytes = record->word[1];
        node->transfer.tag = (uint32_t)record->word[2];
    }
}

/* The other end of a two-sided transfer already waits: it must be served, from memory of ours, even
 * if the range is refused or the queue has failed. */
static bool use_scratch(struct stream_transfer *node)
{
    node->scratch = calloc(1, node->transfer.bytes);
    node->transfer.local = node->scratch;
    return node->scratch != NULL;
}

static const struct lost_peer *find_lost(const struct server *server, int rank)
{
    const struct lost_peer *peer = server->lost_peers;

    while (peer && peer->rank != rank)
        peer = peer->next;
    return peer;
}

void command_lose_peer(struct server *server, const struct wire_record *record)
{
    struct lost_peer *peer = calloc(1, sizeof(*peer));

    if (peer)
        peer->text = strndup(record->tail, record->tail_bytes);
    if (!peer || !peer->text) {
        free(peer);
        return; /* what waits for it is given up with this worker */
    }
    peer->rank = (int)record->word[0];
    peer->next = server->lost_peers;
    server->lost_peers = peer;
    for (uint32_t i = 0; i < server->stream_count; i++)
        if (server->streams[i])
            stream_lose_peer(server, server->streams[i], peer);
}

/* Of a two-sided transfer the other end has the other half, and would wait for this one for ever.
 */
void command_fail_transfer(struct server *server, struct stream *stream,
                           const struct stream_transfer *node, omprma_status_t status)
{
    if (!node->path->one_sided)
        server_break(server, status, error_text());
    stream_fail_at(stream, node->op, status, error_text());
}

/* True some time after the application has dealt with what it was told. */
static bool was_heard(const struct server *server, struct stream_transfer *node, int64_t now)
{
    if ((int32_t)(server->out_acked - node->told_in) < 0)
        return false;
    if (node->heard_ns == 0)
        node->heard_ns = now;
    return now - node->heard_ns >= server->stall_ns / 2;
}

/* Between workers, that is: the application may be busy elsewhere. It also knows whether a receive
 * has only to wait for the other worker to come so far, which may take as long as kernels do. Slow
 * networks are shared, so what any transfer moves counts for all. */
void command_watch_transfer(struct server *server, const struct stream *stream,
                            struct stream_transfer *node)
{
    const struct transfer *transfer = &node->transfer;
    int64_t now, since, limit;

    if (server->stall_ns == 0 || transfer->peer == server->head || ++node->looks % LOOKS_PER_CLOCK)
        return;
    now = clock_ns();
    if (node->watch_ns == 0)
        node->watch_ns = now;
    if (node->moved != transfer->completed) {
        server->moved_ns = now;
        node->told = 0;
    }
    node->moved = transfer->completed;
    since = node->watch_ns > server->moved_ns ? node->watch_ns : server->moved_ns;
    limit = server->stall_ns + (int64_t)(transfer->issued - transfer->completed) * NS_PER_BYTE_MOST;
    if (now - since < limit || (node->told && !was_heard(server, node, now)))
        return;
    node->told++;
    node->heard_ns = 0;
    node->told_in = server->out_serial + 1;
    reply_stall(server, stream, transfer->peer, (now - since) / 1000000000, node->told);
}

static void begin_transfer(struct server *server, struct stream *stream,
                           const struct wire_record *record)
{
    struct stream_transfer *node = take_transfer(server);
    const struct lost_peer *lost;
    struct transfer *transfer;
    uint64_t bad = 0;
    omprma_status_t status;

    if (!node) {
        stream_fail(stream, OMPRMA_ERR_DEVICE_MEMORY, "the worker has no memory for a transfer");
        return;
    }
    describe(server, record, node);
    transfer = &node->transfer;
    lost = find_lost(server, transfer->peer);
    if (lost)
        stream_fail(stream, OMPRMA_ERR_DEVICE_LOST, lost->text);
    else if (transfer->bytes == 0 || !node->path ||
             (server->world && (transfer->peer < 0 || transfer->peer >= server->world->size)))
        stream_fail(stream, OMPRMA_ERR_PROTOCOL, "a transfer of 0 bytes, or to an unknown peer");
    else if (stream->failed == OMPRMA_OK &&
             !memory_holds(&server->memory, record->word[0], transfer->bytes) &&
             !guarded_probe(record->word[0], transfer->bytes, transfer->direction == TRANSFER_IN,
                            &bad))
        command_fail_range(stream, transfer->direction == TRANSFER_IN ? "submit" : "retrieve",
                           record->word[0], transfer->bytes, bad);
    if (stream->failed != OMPRMA_OK &&
        (lost || record->code == WIRE_PUT || record->code == WIRE_GET || transfer->bytes == 0 ||
         !node->path || !use_scratch(node))) {
        free(node);
        return;
    }
    status = datapath_start(node->path, transfer);
    if (status != OMPRMA_OK) {
        command_fail_transfer(server, stream, node, status);
        free(node->scratch);
        free(node);
        return;
    }
    node->next = stream->transfers;
    stream->transfers = node;
}

enum command_step command_transfer(struct server *server, struct stream *stream,
                                   const struct wire_record *record)
{
    if (!stream->begun) {
        if (overlaps(stream, record))
            return COMMAND_STALL;
        begin_transfer(server, stream, record);
        if (!(record->flags & WIRE_REPLY))
            return COMMAND_DONE;
        stream->begun = true;
    }
    if (stream->transfers)
        return COMMAND_STALL;
    stream->begun = false;
    if (stream->failed == OMPRMA_OK)
        command_finish(server, stream, record, 0, NULL, 0);
    else
        command_refuse(server, stream, record, stream->failed, stream->failed_text);
    return COMMAND_DONE;
}
