/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * mpi.c: submit is MPI_Put, retrieve is MPI_Get, straight between the user's memory and the peer's
 * arena. Large transfers go in pieces with request-based completion where requests are sound, with
 * flushes where they are not (quirks "no-rput", "get-leak", "put-leak"). Local completion of a put
 * says nothing about the target, so a transfer is done only after a flush; one flush serves all
 * transfers to a peer that were locally complete before it.
 *
 * Where the target has a part in transfers, a flush waits for it, and all else with it. There every
 * piece ends by a request, also small ones, and a flush comes only when no request is under way any
 * more: then it has nothing to wait for. Until it has come no other piece is begun with that peer.
 * A flush of one peer waits for all in some libraries (osc/rdma), so there is none while another
 * peer has work. On dynamic windows a request of all libraries that were tried ends when the data
 * is there; only what went in small ones, of which the last alone has a request, stays for the
 * flush.
 */
#include "rma/mpi.h"

#include <mpi.h>
#include <stdlib.h>

#include "base/error.h"
#include "control/mpi/world.h"
#include "control/mpi/yield.h"

enum {
    /* Below this a put or get is completed at once by a flush: cheaper than a request. */
    DIRECT_BYTES = 256 << 10,
    /* All requests of this process; some libraries abort at 255 (mpi-quirks: outstanding). */
    OUTSTANDING_MOST = 64,
    SMALL_ONES = 64, /* so many small ones are a piece: some hundred on their way make calls wait */
    GET_BYTES = 31 << 10, /* where larger ones leak (quirks "get-leak", "put-leak") */
    PUT_BYTES = 7 << 9,
    PAGE = 4096,
    RANGES_MOST = 31 /* where they are noted no more can be attached (attach-limit) */
};

/* An attached range, as Open MPI's table has it (quirk "attach-order"). */
struct range {
    void *base;
    int references;
};

/* What is known of a peer. */
struct target {
    uint64_t flushed; /* flushes so far */
    int under_way;    /* requests */
    int waiting;      /* transfers that only miss a flush, where that is awaited */
};

struct rma {
    struct datapath base;
    MPI_Win window;
    struct doorbell *const *bells;
    struct deadline *deadline;
    uint64_t piece_bytes;
    int attached, attach_most;        /* ranges (quirk "attach-limit") */
    bool ordered;                     /* ranges are noted (quirk "attach-order"): */
    struct range ranges[RANGES_MOST]; /* by address */
    uint64_t page;                    /* attached behind each range (quirk "end-of-region") */
    bool requests;                    /* MPI_Rput and MPI_Rget are sound */
    bool small_gets;                  /* of at most GET_BYTES (quirk "get-leak") */
    const bool *small_puts; /* per peer: of at most PUT_BYTES (quirk "put-leak"); NULL: none */
    int outstanding;        /* requests in use */
    bool awaited;           /* a flush may wait for its target, so all goes by requests */
    struct target *targets; /* per peer */
};

/* Of one transfer. */
struct pieces {
    MPI_Request request[TRANSFER_PIECES];
    uint32_t bytes[TRANSFER_PIECES];
    bool blind;         /* parts of it have no request */
    uint64_t epoch;     /* number of the flush that makes it complete at the peer */
    const char *failed; /* what has failed; the other pieces are still under way. Or NULL */
    int code;           /* with what */
};
_Static_assert(sizeof(struct pieces) <= TRANSFER_STATE_BYTES, "state of a transfer");

static struct rma *self_of(struct datapath *path)
{
    return (struct rma *)path;
}

static struct pieces *pieces_of(struct transfer *transfer)
{
    return (struct pieces *)transfer->state;
}

/* Around calls that may wait for the peer. */
static void enter(const struct rma *self, const struct transfer *transfer)
{
    deadline_enter(self->deadline, transfer->peer);
    mpi_yield_allow(true);
}

static void leave(const struct rma *self)
{
    mpi_yield_allow(false);
    deadline_leave(self->deadline);
}

/* Its requests do not say all: of a put, that it has arrived; of pieces of small ones, that the
 * others have. */
static bool needs_flush(const struct rma *self, const struct transfer *t)
{
    return t->direction == TRANSFER_OUT || (self->awaited && self->small_gets);
}

static omprma_status_t flush(struct rma *self, const struct transfer *transfer)
{
    int code;

    enter(self, transfer);
    if (needs_flush(self, transfer))
        code = MPI_Win_flush(transfer->peer, self->window);
    else
        code = MPI_Win_flush_local(transfer->peer, self->window);
    leave(self);
    if (code != MPI_SUCCESS)
        return world_error(code, "completing a one-sided transfer");
    if (needs_flush(self, transfer)) {
        self->targets[transfer->peer].flushed++;
        self->targets[transfer->peer].waiting = 0;
    }
    return OMPRMA_OK;
}

/* Puts or gets [at, at + bytes) of the transfer; with a request if `request` is not NULL. */
static int put_or_get(struct rma *self, const struct transfer *t, uint64_t at, uint64_t bytes,
                      MPI_Request *request)
{
    char *local = (char *)t->local + at;
    MPI_Aint remote = (MPI_Aint)(t->remote + at);
    int count = (int)bytes;

    if (t->direction == TRANSFER_OUT)
        return request ? MPI_Rput(local, count, MPI_BYTE, t->peer, remote, count, MPI_BYTE,
                                  self->window, request)
                       : MPI_Put(local, count, MPI_BYTE, t->peer, remote, count, MPI_BYTE,
                                 self->window);
    return request
               ? MPI_Rget(local, count, MPI_BYTE, t->peer, remote, count, MPI_BYTE, self->window,
                          request)
               : MPI_Get(local, count, MPI_BYTE, t->peer, remote, count, MPI_BYTE, self->window);
}

/* Requests to other peers are under way. */
static bool others_have_work(const struct rma *self, const struct transfer *t)
{
    return self->outstanding > self->targets[t->peer].under_way;
}

/* The most that one call may move without a request. */
static uint64_t most_at_once(const struct rma *self, const struct transfer *t)
{
    if (t->direction == TRANSFER_IN)
        return self->small_gets ? GET_BYTES : UINT64_MAX;
    return self->small_puts && self->small_puts[t->peer] ? PUT_BYTES : UINT64_MAX;
}

/* In small ones where these do not leak; the request is that of the last one. */
static int put_or_get_small(struct rma *self, const struct transfer *t, uint64_t at, uint64_t bytes,
                            MPI_Request *request)
{
    uint64_t most = most_at_once(self, t);
    int code = MPI_SUCCESS;

    for (uint64_t end = at + bytes; at < end && code == MPI_SUCCESS; at += most) {
        most = end - at < most ? end - at : most;
        code = put_or_get(self, t, at, most, at + most == end ? request : NULL);
    }
    return code;
}

static uint64_t next_piece(const struct rma *self, const struct transfer *t)
{
    uint64_t left = t->bytes - t->issued, most = most_at_once(self, t);
    uint64_t piece = self->piece_bytes;

    if (self->awaited && most < piece)
        piece = others_have_work(self, t) || most > piece / SMALL_ONES ? most : most * SMALL_ONES;
    return left < piece ? left : piece;
}

/* Over UCX this fetches the peer's attach table first, and waits for it. */
static int issue(struct rma *self, const struct transfer *t, uint64_t at, uint64_t bytes,
                 MPI_Request *request)
{
    int code;

    enter(self, t);
    code = put_or_get_small(self, t, at, bytes, request);
    leave(self);
    return code;
}

/* Within a host, Open MPI's osc/rdma tries for ever to reach memory that is gone, inside one call
 * of ours. So nothing more is handed to it once the peer has died. */
static bool has_died(const struct rma *self, const struct transfer *t)
{
    return self->bells && doorbell_owner_died(self->bells[t->peer]);
}

/* Without requests. */
static bool is_flushed(const struct rma *self, const struct transfer *t)
{
    return !self->requests ||
           (!self->awaited && (t->bytes <= DIRECT_BYTES || t->bytes > most_at_once(self, t)));
}

/* One piece, completed at once. */
static omprma_status_t move_flushed(struct rma *self, struct transfer *t)
{
    uint64_t bytes = next_piece(self, t);
    omprma_status_t status;
    int code;

    if (has_died(self, t))
        return OMPRMA_OK;
    code = issue(self, t, t->issued, bytes, NULL);
    if (code != MPI_SUCCESS)
        return world_error(code, t->direction == TRANSFER_OUT ? "MPI_Put" : "MPI_Get");
    t->issued += bytes;
    status = flush(self, t);
    if (status == OMPRMA_OK)
        t->completed = t->issued;
    return status;
}

/* The first failure counts. Nothing more is issued; test() tells when the rest has ended. */
static void note_failure(struct pieces *pieces, int code, const char *what)
{
    if (pieces->failed)
        return;
    pieces->failed = what;
    pieces->code = code;
}

/* Fills the free slots with requests for the next pieces. */
static void issue_pieces(struct rma *self, struct transfer *t)
{
    struct pieces *pieces = pieces_of(t);
    struct target *target = &self->targets[t->peer];

    for (int i = 0; i < TRANSFER_PIECES && t->issued < t->bytes && !pieces->failed; i++) {
        uint64_t bytes = next_piece(self, t);
        int code;

        if (pieces->request[i] != MPI_REQUEST_NULL || self->outstanding >= OUTSTANDING_MOST)
            continue;
        if ((target->waiting > 0 && !others_have_work(self, t)) || has_died(self, t))
            break;
        pieces->blind |= bytes > most_at_once(self, t);
        code = issue(self, t, t->issued, bytes, &pieces->request[i]);
        if (code != MPI_SUCCESS) {
            pieces->request[i] = MPI_REQUEST_NULL;
            note_failure(pieces, code, t->direction == TRANSFER_OUT ? "MPI_Rput" : "MPI_Rget");
            return;
        }
        self->outstanding++;
        target->under_way++;
        pieces->bytes[i] = (uint32_t)bytes;
        t->issued += bytes;
    }
}

static bool is_under_way(const struct pieces *pieces)
{
    for (int i = 0; i < TRANSFER_PIECES; i++)
        if (pieces->request[i] != MPI_REQUEST_NULL)
            return true;
    return false;
}

static void test_pieces(struct rma *self, struct transfer *t)
{
    struct pieces *pieces = pieces_of(t);

    for (int i = 0; i < TRANSFER_PIECES; i++) {
        int done = 0, code;

        if (pieces->request[i] == MPI_REQUEST_NULL)
            continue;
        code = MPI_Test(&pieces->request[i], &done, MPI_STATUS_IGNORE);
        if (code == MPI_SUCCESS && !done)
            continue;
        self->outstanding--;
        self->targets[t->peer].under_way--;
        if (code == MPI_SUCCESS) {
            t->completed += pieces->bytes[i];
            continue;
        }
        note_failure(pieces, code, "a one-sided transfer");
        if (pieces->request[i] != MPI_REQUEST_NULL) /* it is over, but Open MPI leaves it to us */
            MPI_Request_free(&pieces->request[i]);
    }
}

static omprma_status_t rma_start(struct datapath *path, struct transfer *t)
{
    struct rma *self = self_of(path);
    struct pieces *pieces = pieces_of(t);

    *pieces = (struct pieces){.epoch = 0};
    for (int i = 0; i < TRANSFER_PIECES; i++)
        pieces->request[i] = MPI_REQUEST_NULL;
    if (is_flushed(self, t))
        return move_flushed(self, t);
    issue_pieces(self, t);
    return pieces->failed && t->issued == 0 ? world_error(pieces->code, pieces->failed) : OMPRMA_OK;
}

static omprma_status_t test_flushed(struct rma *self, struct transfer *t, bool *done)
{
    omprma_status_t status = OMPRMA_OK;

    if (t->completed < t->bytes)
        status = move_flushed(self, t);
    *done = t->completed == t->bytes;
    return status;
}

/* One that has waited for a flush does not any more. */
static void leave_flush(struct target *target)
{
    if (target->waiting > 0)
        target->waiting--;
}

static omprma_status_t test_requests(struct rma *self, struct transfer *t, bool *done)
{
    struct pieces *pieces = pieces_of(t);
    struct target *target = &self->targets[t->peer];

    if (t->completed < t->bytes) {
        test_pieces(self, t);
        if (t->completed == t->bytes) {
            pieces->epoch = target->flushed + 1;
            target->waiting += self->awaited && needs_flush(self, t);
        }
        issue_pieces(self, t);
    }
    if (pieces->failed && !is_under_way(pieces))
        return world_error(pieces->code, pieces->failed);
    if (t->completed < t->bytes)
        return OMPRMA_OK;
    /* A later flush may have served this transfer already. */
    *done = !needs_flush(self, t) || target->flushed >= pieces->epoch;
    if (*done)
        return OMPRMA_OK;
    if (self->awaited && !pieces->blind && others_have_work(self, t)) {
        leave_flush(target);
        *done = true;
        return OMPRMA_OK;
    }
    if (self->awaited && (self->outstanding > 0 || has_died(self, t)))
        return OMPRMA_OK;
    *done = true;
    return flush(self, t);
}

static omprma_status_t rma_test(struct datapath *path, struct transfer *t, bool *done)
{
    struct rma *self = self_of(path);

    *done = false;
    return is_flushed(self, t) ? test_flushed(self, t, done) : test_requests(self, t, done);
}

/* Its requests do not count any more: transfers with others go on. */
static void rma_abandon(struct datapath *path, struct transfer *t)
{
    struct rma *self = self_of(path);
    struct pieces *pieces = pieces_of(t);
    struct target *target = &self->targets[t->peer];

    if (is_flushed(self, t))
        return;
    for (int i = 0; i < TRANSFER_PIECES; i++)
        if (pieces->request[i] != MPI_REQUEST_NULL) {
            self->outstanding--;
            target->under_way--;
        }
    if (pieces->epoch > target->flushed)
        leave_flush(target);
}

static void *rma_below(const struct datapath *path)
{
    const struct rma *self = (const struct rma *)path;

    return self->ordered && self->attached ? self->ranges[self->attached - 1].base : NULL;
}

/* A new entry of the table begins with the references of the one that was at its place. */
static void note_range(struct rma *self, void *base)
{
    int at = self->attached;

    while (at > 0 && self->ranges[at - 1].base > base) {
        self->ranges[at] = self->ranges[at - 1];
        at--;
    }
    self->ranges[at].base = base;
    self->ranges[at].references = at < self->attached ? self->ranges[at].references + 1 : 1;
}

/* How often the range is to be detached. */
static int forget_range(struct rma *self, const void *base)
{
    int at = 0, references;

    while (at < self->attached && self->ranges[at].base != base)
        at++;
    if (at == self->attached)
        return 1;
    references = self->ranges[at].references;
    for (; at + 1 < self->attached; at++)
        self->ranges[at] = self->ranges[at + 1];
    return references;
}

static omprma_status_t rma_attach(struct datapath *path, void *base, uint64_t bytes)
{
    struct rma *self = self_of(path);
    int code;

    if (self->attached == self->attach_most)
        return error_set(OMPRMA_ERR_DEVICE_MEMORY,
                         "all %d arenas that this MPI library can attach are in use; raise "
                         "OMPRMA_ARENA, or have fewer devices per worker",
                         self->attached);
    code = MPI_Win_attach(self->window, base, (MPI_Aint)(bytes + self->page));
    if (code != MPI_SUCCESS)
        return world_error(code, "MPI_Win_attach");
    if (self->ordered)
        note_range(self, base);
    self->attached++;
    return OMPRMA_OK;
}

static void rma_detach(struct datapath *path, void *base)
{
    struct rma *self = self_of(path);
    int times = self->ordered ? forget_range(self, base) : 1, code = MPI_SUCCESS;

    for (; times > 0 && code == MPI_SUCCESS; times--)
        code = MPI_Win_detach(self->window, base);
    self->attached -= code == MPI_SUCCESS;
}

static void rma_destroy(struct datapath *path)
{
    free(self_of(path)->targets);
    free(path);
}

omprma_status_t rma_create(const struct world *world, struct doorbell *const *bells,
                           struct deadline *deadline, struct datapath **path)
{
    struct rma *self = calloc(1, sizeof(*self));

    if (self)
        self->targets = calloc((size_t)world->size, sizeof(*self->targets));
    if (!self || !self->targets) {
        free(self);
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for the one-sided data path");
    }
    self->base = (struct datapath){
        .name = "rma",
        .one_sided = true,
        .attach = rma_attach,
        .detach = rma_detach,
        .below = rma_below,
        .start = rma_start,
        .test = rma_test,
        .abandon = rma_abandon,
        .destroy = rma_destroy,
    };
    self->window = world->mpi->window;
    self->attach_most = quirks_attach_limit(world->mpi->quirks);
    self->ordered = (world->mpi->quirks & QUIRK_ATTACH_ORDER) && self->attach_most <= RANGES_MOST;
    self->page = world->mpi->quirks & QUIRK_END_OF_REGION ? PAGE : 0;
    self->bells = bells;
    self->deadline = deadline;
    self->piece_bytes = world->settings.piece_bytes;
    self->requests = !(world->mpi->quirks & QUIRK_NO_RPUT);
    self->awaited = self->requests && !world->can.target_is_passive;
    self->small_gets = world->mpi->quirks & QUIRK_GET_LEAK;
    self->small_puts = world->mpi->quirks & QUIRK_PUT_LEAK ? world->mpi->near : NULL;
    *path = &self->base;
    return OMPRMA_OK;
}
