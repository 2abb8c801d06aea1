/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * shared.c: within a host, the program copies to a worker's arena or from it, where it has mapped
 * that (control/shm/arena.h). Neither the worker nor MPI has a part in it. Of a large transfer each
 * look at its queue copies a piece, so that other queues get on, and a thread helps.
 */
#include "base/clock.h"
#include "control/shm/split.h"
#include "host/path/path.h"
#include "host/queue/append.h"

enum {
    HELP_LEAST = 1 << 20, /* bytes: a thread is awake within a fraction of that */
    LATE_NS = 1000000     /* longer than a piece takes */
};

static bool takes(const struct hop *hop)
{
    const struct hop_end *there = hop_there(hop);

    return hop_is_of_program(hop) && there->arena && there->device->paths.shared &&
           mapped_find(&there->device->mapped, there->at, hop->bytes);
}

static omprma_status_t append(const struct hop *hop, struct operation **operation)
{
    struct transfer transfer = hop_transfer(hop, 0);
    omprma_status_t status = queue_append_transfer(hop->queue, &path_shared, &transfer, operation);

    if (status == OMPRMA_OK)
        (*operation)->is_part = hop->is_part;
    return status;
}

/* Such a copy under way. The arena stays for as long as blocks of it are in use. */
struct shared_copy {
    const struct arena *arena;
    struct copying *helper; /* the thread that copies has a part in it; NULL: it has none */
    struct split split;     /* between both */
    int64_t alone_ns;       /* since when nothing is left to take; 0: not yet */
};

_Static_assert(sizeof(struct shared_copy) <= TRANSFER_STATE_BYTES, "a copy under way");

static struct shared_copy *copy_of(struct operation *move)
{
    return (struct shared_copy *)(void *)move->move.transfer.state;
}

static struct copier *copier_of(const struct operation *move)
{
    return &move->queue->device->runtime->copier;
}

/* Two processors copy about twice as fast. Without a thread this one copies it all. */
static void ask_for_help(struct operation *move)
{
    struct shared_copy *copy = copy_of(move);
    const struct transfer *transfer = &move->move.transfer;
    struct transfer part = *transfer;

    if (transfer->bytes < HELP_LEAST || !copier_may_help(copier_of(move)))
        return;
    split_begin(&copy->split, copy->arena, transfer);
    *(struct split **)(void *)part.state = &copy->split;
    if (copier_copy(copier_of(move), split_path(), &part, &copy->helper) != OMPRMA_OK)
        copy->helper = NULL;
}

static omprma_status_t start(struct operation *move)
{
    struct transfer *transfer = &move->move.transfer;

    transfer->issued = transfer->completed = 0;
    *copy_of(move) = (struct shared_copy){
        .arena = mapped_find(&move->queue->device->mapped, transfer->remote, transfer->bytes)};
    ask_for_help(move);
    return OMPRMA_OK;
}

/* True: the data is there. */
static bool move_together(struct operation *move)
{
    struct shared_copy *copy = copy_of(move);
    struct transfer *transfer = &move->move.transfer;
    bool took = split_move(&copy->split) > 0;

    transfer->issued = transfer->completed = split_moved(&copy->split);
    if (!took && !copy->alone_ns)
        copy->alone_ns = clock_ns();
    if (transfer->completed < transfer->bytes)
        return false;
    copier_leave(copier_of(move), copy->helper);
    copier_has_helped(copier_of(move), copy->alone_ns && clock_ns() - copy->alone_ns > LATE_NS);
    return true;
}

static omprma_status_t progress(struct operation *move, bool *done)
{
    const struct shared_copy *copy = copy_of(move);

    *done = copy->helper ? move_together(move) : arena_move(copy->arena, &move->move.transfer);
    return OMPRMA_OK;
}

/* Its device is lost. */
static void abandon(struct operation *move)
{
    if (copy_of(move)->helper)
        copier_leave(copier_of(move), copy_of(move)->helper);
}

const struct path_ops path_shared = {
    .name = "shared",
    .path = PATH_SHARED,
    .moves = {"copy", "copy"},
    .copies = true,
    .takes = takes,
    .append = append,
    .start = start,
    .progress = progress,
    .abandon = abandon,
};
