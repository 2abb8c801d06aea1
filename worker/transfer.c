/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * transfer.c: commands that move bulk data, one-sided and two-sided. They are not kept in the
 * pipeline: each starts a transfer in a list of its stream, is over, and lets the next one start,
 * unless the two touch the same memory. A command that somebody waits for ends when the list is
 * empty. Transfers with other workers that move nothing for long are told to the program.
 */
#include "worker/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/range.h"
#include "control/shm/channel.h"
#include "control/shm/doorbell.h"
#include "control/shm/neighbours.h"
#include "worker/worker.h"

enum {
    LOOKS_PER_CLOCK = 16,   /* looks at a transfer for one at the clock */
    NS_PER_BYTE_MOST = 1000 /* only whole pieces count: what is under way has so long in addition */
};

static struct stream_transfer *take_transfer(struct session *session)
{
    struct stream_transfer *node = session->spare_transfers;

    if (node)
        session->spare_transfers = node->next;
    else
        node = malloc(sizeof(*node));
    if (node)
        memset(node, 0, sizeof(*node));
    return node;
}

static void give_transfer(struct session *session, struct stream_transfer *node)
{
    free(node->scratch);
    node->scratch = NULL;
    node->next = session->spare_transfers;
    session->spare_transfers = node;
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

        if (ranges_meet(record->word[0], bytes, node->address, other->bytes))
            return true;
        if (is_one_sided(record) && node->path->one_sided && (int)record->word[3] == other->peer &&
            ranges_meet(record->word[1], bytes, other->remote, other->bytes))
            return true;
    }
    return false;
}

static struct datapath *one_sided_path(const struct server *server,
                                       const struct wire_record *record)
{
    bool copied =
        record->flags & WIRE_MAPPED &&
        neighbours_hold(server->neighbours, (int)record->word[3], record->word[1], record->word[2]);

    return copied ? server->neighbours : server->one_sided;
}

/* Fills `transfer` from a command. */
static void transfer_fill(const struct server *server, const struct wire_record *record,
                          struct stream_transfer *node)
{
    bool one_sided = is_one_sided(record);
    bool out = record->code == WIRE_PUT || record->code == WIRE_SEND;

    node->op = record->op;
    node->path = one_sided ? one_sided_path(server, record) : server->two_sided;
    node->transfer.direction = out ? TRANSFER_OUT : TRANSFER_IN;
    node->address = record->word[0];
    node->transfer.peer = (int)record->word[3];
    if (one_sided) {
        node->transfer.remote = record->word[1];
        node->transfer.bytes = record->word[2];
    } else {
        node->transfer.bytes = record->word[1];
        node->transfer.tag = (uint32_t)record->word[2];
    }
}

/* Memory of ours for what the other end of a two-sided transfer sends though the range is refused
 * or the queue has failed. */
static bool use_scratch(struct stream_transfer *node)
{
    if (!node->scratch)
        node->scratch = calloc(1, node->transfer.bytes);
    node->transfer.local = node->scratch;
    return node->scratch != NULL;
}

static const struct lost_peer *find_lost(const struct session *session, int rank)
{
    const struct lost_peer *peer = session->lost_peers;

    while (peer && peer->rank != rank)
        peer = peer->next;
    return peer;
}

/* Takes a transfer out of its stream's list. */
static struct stream_transfer *take_out(struct stream *stream, struct stream_transfer **link)
{
    struct stream_transfer *node = *link;

    *link = node->next;
    if (!stream->transfers)
        stream->done_op = stream->transfer_op;
    return node;
}

/* ---- peers that are lost ---- */

/* The memory of what is under way may still be used. */
static void lose_peer(struct stream *stream, const struct lost_peer *peer)
{
    struct stream_transfer **link = &stream->transfers;

    while (*link) {
        struct stream_transfer *node = *link;

        if (node->transfer.peer != peer->rank) {
            link = &node->next;
            continue;
        }
        stream_fail_at(stream, node->op, OMPRMA_ERR_DEVICE_LOST, peer->text);
        datapath_abandon(node->path, &node->transfer);
        take_out(stream, link);
        node->next = stream->session->abandoned;
        stream->session->abandoned = node;
    }
}

/* A peer gives no answers any more: nothing is begun with it, and what is under way fails. */
static void note_lost(struct session *session, int rank, const char *text, size_t bytes)
{
    struct lost_peer *peer = calloc(1, sizeof(*peer));

    if (peer)
        peer->text = strndup(text, bytes);
    if (!peer || !peer->text) {
        free(peer);
        return; /* what waits for it is given up with this worker */
    }
    peer->rank = rank;
    peer->next = session->lost_peers;
    session->lost_peers = peer;
    for (int t = 0; t < session->table_count; t++)
        for (uint32_t i = 0; i < session->tables[t].count; i++)
            if (session->tables[t].streams[i])
                lose_peer(session->tables[t].streams[i], peer);
    neighbours_drop_all(session->server->neighbours, peer->rank);
}

enum backend_step command_begin_lost(struct stream *stream, struct command *command)
{
    const struct wire_record *record = &command->record;

    note_lost(stream->session, (int)record->word[0], record->tail, record->tail_bytes);
    return BACKEND_OVER;
}

/* ---- memory of other workers ---- */

/* Its memory has gone with it. Open MPI would try for ever to reach that, inside one call of ours.
 */
static void note_dead(struct session *session, int rank)
{
    char text[64];
    int bytes = snprintf(text, sizeof(text), "the worker of rank %d has died", rank);

    note_lost(session, rank, text, (size_t)bytes);
}

/* By it the one-sided path sees, before each piece, whether that worker has died. */
enum backend_step command_begin_bell(struct stream *stream, struct command *command)
{
    struct server *server = stream->session->server;
    const struct wire_record *record = &command->record;
    struct shm_address address;
    int rank = (int)record->word[0];

    if (!server->others)
        return BACKEND_OVER;
    if (record->tail_bytes != sizeof(address) || record->word[0] >= (uint64_t)server->world->size ||
        server->others[rank]) {
        server_break(server, OMPRMA_ERR_PROTOCOL, "a doorbell of nobody");
        return BACKEND_OVER;
    }
    memcpy(&address, record->tail, sizeof(address));
    errno = ENOMEM;
    server->others[rank] = doorbell_open(&address, SHM_CHANNEL_BYTES);
    if (!server->others[rank] && errno == ENOENT && server->sees_program)
        note_dead(stream->session, rank);
    return BACKEND_OVER;
}

/* Where it cannot be mapped, what is put there goes by the one-sided path. */
enum backend_step command_begin_map(struct stream *stream, struct command *command)
{
    struct server *server = stream->session->server;
    const struct wire_record *record = &command->record;
    struct shm_address file;

    if (record->tail_bytes != sizeof(file)) {
        server_break(server, OMPRMA_ERR_PROTOCOL, "an arena to map without its file");
        return BACKEND_OVER;
    }
    memcpy(&file, record->tail, sizeof(file));
    errno = ENOMEM;
    if ((server->neighbours || neighbours_create(&server->neighbours) == OMPRMA_OK) &&
        neighbours_add(server->neighbours, (int)record->word[0], &file, record->word[1],
                       record->word[2]))
        return BACKEND_OVER;
    if (errno == ENOENT && server->sees_program) { /* and so it would see the other worker */
        note_dead(stream->session, (int)record->word[0]);
        return BACKEND_OVER;
    }
    log_write(LOG_CHOICE, "memory of the worker of rank %d cannot be mapped: %s",
              (int)record->word[0], strerror(errno));
    return BACKEND_OVER;
}

enum backend_step command_begin_unmap(struct stream *stream, struct command *command)
{
    neighbours_drop(stream->session->server->neighbours, (int)command->record.word[0],
                    command->record.word[1]);
    return BACKEND_OVER;
}

/* Fails the stream of a transfer that has failed with error_text(). Of a two-sided transfer the
 * other end has the other half, and would wait for this one for ever: then the worker fails as
 * well. */
static void fail_transfer(struct stream *stream, const struct stream_transfer *node,
                          omprma_status_t status)
{
    if (!node->path->one_sided)
        server_break(stream->session->server, status, error_text());
    stream_fail_at(stream, node->op, status, error_text());
}

/* ---- going on ---- */

/* True some time after the application has dealt with what it was told. */
static bool was_heard(const struct session *session, struct stream_transfer *node, int64_t now)
{
    if ((int32_t)(session->out_acked - node->told_in) < 0)
        return false;
    if (node->heard_ns == 0)
        node->heard_ns = now;
    return now - node->heard_ns >= session->stall_ns / 2;
}

/* Looks whether a transfer that is not done gets on, and tells the application if it does not.
 * Between workers, that is: the application may be busy elsewhere. It also knows whether a receive
 * has only to wait for the other worker to come so far, which may take as long as kernels do. Slow
 * networks are shared, so what any transfer moves counts for all. */
static void watch_transfer(struct stream *stream, struct stream_transfer *node)
{
    struct session *session = stream->session;
    const struct transfer *transfer = &node->transfer;
    int64_t now, since, limit;

    if (session->stall_ns == 0 || transfer->peer == session->head ||
        ++node->looks % LOOKS_PER_CLOCK)
        return;
    now = clock_ns();
    if (node->watch_ns == 0)
        node->watch_ns = now;
    if (node->moved != transfer->completed) {
        session->moved_ns = now;
        node->told = 0;
    }
    node->moved = transfer->completed;
    since = node->watch_ns > session->moved_ns ? node->watch_ns : session->moved_ns;
    limit =
        session->stall_ns + (int64_t)(transfer->issued - transfer->completed) * NS_PER_BYTE_MOST;
    if (now - since < limit || (node->told && !was_heard(session, node, now)))
        return;
    node->told++;
    node->heard_ns = 0;
    node->told_in = session->out_serial + 1;
    reply_stall(stream, transfer->peer, (now - since) / 1000000000, node->told);
}

/* False if it has failed. */
static bool start_moving(struct stream *stream, struct stream_transfer *node)
{
    omprma_status_t status = datapath_start(node->path, &node->transfer);

    if (status != OMPRMA_OK)
        fail_transfer(stream, node, status);
    return status == OMPRMA_OK;
}

static bool move_transfer(struct stream *stream, struct stream_transfer *node)
{
    struct session *session = stream->session;
    bool done = false;
    omprma_status_t status = datapath_test(node->path, &node->transfer, &done);

    if (status != OMPRMA_OK)
        fail_transfer(stream, node, status);
    if (status == OMPRMA_OK && !done) {
        watch_transfer(stream, node);
        return false;
    }
    if (node->transfer.peer == session->head)
        return true;
    if (session->stall_ns)
        session->moved_ns = clock_ns();
    if (session->traces)
        reply_span(stream, node->op, node->began_ns, clock_ns());
    return true;
}

bool transfers_test(struct stream *stream)
{
    struct stream_transfer **link = &stream->transfers;
    bool moved = false;

    while (*link)
        if (move_transfer(stream, *link)) {
            give_transfer(stream->session, take_out(stream, link));
            moved = true;
        } else {
            link = &(*link)->next;
        }
    return moved;
}

/* ---- beginning ---- */

/* Finds memory to move to or from, in the device or in its staging memory. Refused ranges fail the
 * stream. */
static void transfer_reach(struct stream *stream, const struct wire_record *record,
                           struct stream_transfer *node)
{
    struct transfer *transfer = &node->transfer;
    bool in = transfer->direction == TRANSFER_IN;
    struct worker_device *device = stream->device;
    uint64_t bad = 0;

    if (record->flags & WIRE_STAGED || !worker_device_is_touchable(device)) {
        transfer->local = record->flags & WIRE_STAGED
                              ? worker_device_staging(device, node->address, transfer->bytes)
                              : NULL;
        if (!transfer->local)
            stream_fail(stream, OMPRMA_ERR_PROTOCOL,
                        "a transfer with a device that needs staging memory lies outside of it");
        return;
    }
    transfer->local = device->backend->touch(device, node->address, transfer->bytes, in, &bad);
    if (transfer->local)
        return;
    worker_device_refuse_range(in ? "submit" : "retrieve", node->address, transfer->bytes, bad);
    stream_fail(stream, OMPRMA_ERR_ADDRESS, error_text());
}

/* The other end of a two-sided transfer will wait for this one for ever. */
static void leave_waiting(const struct stream *stream)
{
    server_break(stream->session->server, OMPRMA_ERR_DEVICE_MEMORY,
                 "the worker has no memory for a transfer that another process waits for");
}

/* Checks what the command says; false: nothing of it may be done. */
static bool transfer_prepare(struct stream *stream, const struct wire_record *record,
                             struct stream_transfer *node)
{
    const struct server *server = stream->session->server;
    const struct transfer *transfer = &node->transfer;
    const struct lost_peer *lost = find_lost(stream->session, transfer->peer);

    if (lost) {
        stream_fail(stream, OMPRMA_ERR_DEVICE_LOST, lost->text);
        return false;
    }
    if (transfer->bytes == 0 || !node->path ||
        (server->world && (transfer->peer < 0 || transfer->peer >= server->world->size))) {
        stream_fail(stream, OMPRMA_ERR_PROTOCOL, "a transfer of 0 bytes, or to an unknown peer");
        return false;
    }
    if (stream->failed == OMPRMA_OK)
        transfer_reach(stream, record, node);
    if (stream->failed == OMPRMA_OK)
        return true;
    if (node->path->one_sided)
        return false;
    node->transfer.empty = transfer->direction == TRANSFER_OUT; /* the other end waits for it */
    if (node->transfer.empty || use_scratch(node))
        return true;
    leave_waiting(stream);
    return false;
}

static void begin_transfer(struct stream *stream, const struct wire_record *record)
{
    struct stream_transfer *node = take_transfer(stream->session);
    bool going;

    if (!node) {
        stream_fail(stream, OMPRMA_ERR_DEVICE_MEMORY, "the worker has no memory for a transfer");
        if (!is_one_sided(record))
            leave_waiting(stream);
        return;
    }
    transfer_fill(stream->session->server, record, node);
    if (stream->session->traces)
        node->began_ns = clock_ns();
    going = transfer_prepare(stream, record, node) && start_moving(stream, node);
    /* Small puts and gets are over by now; those need no second round of the loop. */
    if (going && node->path->one_sided)
        going = !move_transfer(stream, node);
    if (!going) {
        give_transfer(stream->session, node);
        return;
    }
    node->next = stream->transfers;
    stream->transfers = node;
}

bool command_transfer_ready(const struct stream *stream, const struct wire_record *record)
{
    return !overlaps(stream, record);
}

enum backend_step command_begin_transfer(struct stream *stream, struct command *command)
{
    begin_transfer(stream, &command->record);
    stream->transfer_op = command->record.op;
    return stream->transfers ? BACKEND_PENDING : BACKEND_OVER;
}

static void transfers_free(struct stream_transfer **list)
{
    while (*list) {
        struct stream_transfer *node = *list;

        *list = node->next;
        free(node->scratch);
        free(node);
    }
}

void transfers_leave(struct stream *stream)
{
    for (struct stream_transfer *node = stream->transfers; node; node = node->next)
        if (node->path == stream->session->server->neighbours)
            datapath_abandon(node->path, &node->transfer);
    transfers_free(&stream->transfers);
}

void transfers_free_all(struct session *session)
{
    transfers_free(&session->abandoned);
    transfers_free(&session->spare_transfers);
    while (session->lost_peers) {
        struct lost_peer *peer = session->lost_peers;

        session->lost_peers = peer->next;
        free(peer->text);
        free(peer);
    }
}
