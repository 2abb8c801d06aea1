/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * broadcast.c: the same data to many devices. It is submitted to the first; every device passes on
 * what it has, piece by piece: one after the other when there are more pieces than devices, so that
 * each link carries the data once, else as a tree, so that the last one does not wait for long.
 */
#include <stdlib.h>

#include "base/error.h"
#include "host/calls/exchange.h"
#include "host/queue/subqueue.h"
#include "host/queue/append.h"
#include "host/queue/issue.h"
#include "host/calls/call.h"
#include "host/calls/memory.h"
#include "host/check/check.h"
#include "host/calls/submit.h"

enum {
    FEEDERS = 2,             /* pieces on their way to the first device */
    DIRECT_BYTES = 64 << 10, /* up to here the application submits to each */
    PIECE_LEAST = 256 << 10,
    PIECES_MOST = 32
};

/* A piece is fetched by a queue that is not the source's own. */
struct held {
    struct omprma_queue *source;
    struct operation *got; /* reference */
};

struct broadcast {
    omprma_queue_t *const *queues;
    const omprma_addr_t *to;
    size_t count;
    const char *from;
    uint64_t bytes, piece_bytes;
    struct omprma_queue *feeder[FEEDERS]; /* they submit to the first device, in turns */
    bool *arena;                          /* by queue: its range lies in an arena */
    struct held *held;                    /* pieces that are got, which their sources must keep */
    size_t held_count;
};

static struct operation_pool *pool_of(const struct broadcast *b)
{
    return &b->queues[0]->device->runtime->operations;
}

/* Which queue's device the i-th one has its data from. */
static size_t source_of(const struct broadcast *b, size_t i)
{
    return b->bytes / b->piece_bytes >= b->count ? i - 1 : i & (i - 1);
}

/* Device i passes a piece on to device k, whose queue waits for it. */
static omprma_status_t pass_on(struct broadcast *b, size_t i, size_t k, uint64_t at, uint64_t bytes)
{
    struct exchange x = {
        .queue = b->queues[i],
        .to_device = b->queues[k]->device,
        .from = b->to[i] + at,
        .to = b->to[k] + at,
        .bytes = bytes,
        .from_arena = b->arena[i],
        .to_arena = b->arena[k],
    };
    struct operation *arrived = NULL;
    omprma_status_t status = exchange_append(&x, &arrived);

    if (status != OMPRMA_OK)
        return status;
    status = queue_wait(b->queues[k], arrived, WAIT_PART);
    if (arrived->queue != x.queue)
        b->held[b->held_count++] = (struct held){x.queue, arrived};
    else
        operation_drop(pool_of(b), arrived);
    return status;
}

/* What comes later in a source's queue may overwrite the data: not before all have got theirs. */
static omprma_status_t keep_sources(const struct broadcast *b)
{
    omprma_status_t status = OMPRMA_OK;

    for (size_t i = 0; i < b->held_count && status == OMPRMA_OK; i++)
        status = queue_wait(b->held[i].source, b->held[i].got, WAIT_PART);
    return status;
}

/* To the first device, whose queue waits for it. One-sided pieces would all start at once and all
 * arrive late, so each waits for the one before it in its feeder; two-sided ones do so anyway. */
static omprma_status_t feed(const struct broadcast *b, struct omprma_queue *feeder, uint64_t at,
                            uint64_t bytes)
{
    struct operation *before = NULL, *fed = NULL;
    omprma_status_t status = OMPRMA_OK;

    if (b->arena[0] && paths_one_sided(&feeder->device->paths, true, bytes))
        status = queue_mark(feeder, &before);
    if (status == OMPRMA_OK && before)
        status = queue_append_wait(feeder, before, WAIT_PART);
    if (status == OMPRMA_OK)
        status = submit_part(feeder, true, b->to[0] + at, (void *)(uintptr_t)(b->from + at), bytes,
                             b->arena[0], &fed);
    if (status == OMPRMA_OK)
        status = queue_wait(b->queues[0], fed, WAIT_PART);
    operation_drop(pool_of(b), before);
    operation_drop(pool_of(b), fed);
    return status;
}

static omprma_status_t pass_piece(struct broadcast *b, struct omprma_queue *feeder, uint64_t at,
                                  uint64_t bytes)
{
    omprma_status_t status = feed(b, feeder, at, bytes);

    for (size_t i = 0; i < b->count; i++)
        for (size_t k = i + 1; k < b->count && status == OMPRMA_OK; k++)
            if (source_of(b, k) == i)
                status = pass_on(b, i, k, at, bytes);
    return status;
}

/* Nothing is sent before the earlier operations of all queues are over. */
static omprma_status_t feeder_open(const struct broadcast *b, struct omprma_queue **feeder)
{
    omprma_status_t status = subqueue_open(b->queues[0]->device, NULL, feeder);

    for (size_t i = 0; i < b->count && status == OMPRMA_OK; i++)
        status = queue_follow(*feeder, b->queues[i]);
    return status;
}

/* A device whose source has failed was sent something else than the data. */
static omprma_status_t share_failures(const struct broadcast *b)
{
    omprma_status_t status = OMPRMA_OK;

    for (size_t i = 1; i < b->count && status == OMPRMA_OK; i++)
        status = queue_follow(b->queues[i], b->queues[source_of(b, i)]);
    return status;
}

static omprma_status_t pass_all(struct broadcast *b)
{
    omprma_status_t status = OMPRMA_OK;
    uint64_t bytes;
    int turn = 0;

    for (int i = 0; i < FEEDERS && status == OMPRMA_OK; i++)
        status = feeder_open(b, &b->feeder[i]);
    for (uint64_t at = 0; at < b->bytes && status == OMPRMA_OK; at += bytes) {
        bytes = b->bytes - at < b->piece_bytes ? b->bytes - at : b->piece_bytes;
        status = pass_piece(b, b->feeder[turn], at, bytes);
        turn = (turn + 1) % FEEDERS;
    }
    if (status == OMPRMA_OK)
        status = share_failures(b);
    if (status == OMPRMA_OK)
        status = keep_sources(b);
    for (int i = 0; i < FEEDERS; i++)
        if (b->feeder[i])
            subqueue_let_go(b->feeder[i], status);
    for (size_t i = 0; i < b->count; i++)
        queue_flush(b->queues[i]);
    for (size_t i = 0; i < b->held_count; i++)
        operation_drop(pool_of(b), b->held[i].got);
    return status;
}

/* Notes on the way which ranges lie in arenas. */
static omprma_status_t check(const struct broadcast *b)
{
    for (size_t i = 0; i < b->count; i++) {
        struct omprma_queue *queue = b->queues[i];
        omprma_status_t status = call_check_queue(queue);

        if (status == OMPRMA_OK)
            status = device_check_alive(queue->device);
        if (status == OMPRMA_OK)
            status = call_check_range(queue->device, "broadcast", b->to[i], b->bytes, &b->arena[i]);
        for (size_t k = 0; k < i && status == OMPRMA_OK; k++)
            if (b->queues[k]->device == queue->device)
                status =
                    error_set(OMPRMA_ERR_ARGUMENT, "broadcast: queues %zu and %zu are both of %s",
                              k, i, device_name(queue->device));
        if (status != OMPRMA_OK)
            return status;
    }
    return OMPRMA_OK;
}

/* Whether the data gains nothing from going from worker to worker. */
static bool is_direct(const struct broadcast *b)
{
    if (b->count == 1 || b->bytes <= DIRECT_BYTES)
        return true;
    for (size_t i = 1; i < b->count; i++)
        if (exchange_paths_of(b->queues[i - 1]->device, b->queues[i]->device)->way ==
            EXCHANGE_APPLICATION)
            return true;
    return false;
}

static omprma_status_t submit_each(const struct broadcast *b)
{
    omprma_status_t status = OMPRMA_OK;

    for (size_t i = 0; i < b->count && status == OMPRMA_OK; i++)
        status = omprma_submit(b->queues[i], b->to[i], b->from, b->bytes);
    return status;
}

omprma_status_t omprma_broadcast(omprma_queue_t *const *queues, const omprma_addr_t *to,
                                 size_t count, const void *from, size_t bytes)
{
    struct broadcast b = {.queues = queues, .to = to, .count = count, .from = from, .bytes = bytes};
    omprma_status_t status = OMPRMA_OK;
    bool direct = false;

    if (count > 0 && (!queues || !to))
        return error_set(OMPRMA_ERR_ARGUMENT, "broadcast: %s is NULL", queues ? "to" : "queues");
    for (size_t i = 0; i < count; i++)
        if (!queues[i])
            return error_set(OMPRMA_ERR_ARGUMENT, "broadcast: queue %zu is NULL", i);
    if (count == 0 || bytes == 0)
        return OMPRMA_OK;
    if (!from)
        return error_set(OMPRMA_ERR_ARGUMENT, "broadcast of %zu bytes from NULL", bytes);
    status = memory_check_now(queues[0]->device, from, bytes, false);
    if (status != OMPRMA_OK)
        return status;
    b.arena = calloc(count, sizeof(*b.arena));
    b.held = calloc(count * (PIECES_MOST + 1), sizeof(*b.held));
    if (!b.arena || !b.held) {
        free(b.arena);
        free(b.held);
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a broadcast");
    }
    b.piece_bytes = bytes / PIECES_MOST < PIECE_LEAST ? PIECE_LEAST : bytes / PIECES_MOST;
    status = call_begin(queues[0]);
    if (status == OMPRMA_OK) {
        for (size_t i = 1; i < count; i++)
            call_make_room(queues[i]);
        status = check(&b);
        direct = is_direct(&b);
        for (size_t i = 0; i < count && status == OMPRMA_OK && !direct; i++) {
            if (!queues[i]->device->check)
                break;
            status = check_order(queues[i], queues[i]->device);
        }
        if (status == OMPRMA_OK && !direct)
            status = pass_all(&b);
        call_end(queues[0], status);
    }
    if (status == OMPRMA_OK && direct)
        status = submit_each(&b);
    free(b.arena);
    free(b.held);
    return status;
}
