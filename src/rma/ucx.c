/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ucx.c: submit is ucp_put, retrieve is ucp_get, straight between the user's memory and the peer's
 * arena, in pieces, several under way. That a put has left says nothing about the target, so a
 * transfer out is done only after a flush; one flush serves all transfers to a peer that were
 * issued before it.
 *
 * UCX tells when a peer is gone, and the connection is then closed by force, which ends all that is
 * under way with it. Others learn of the end of a process as well, with better words, so transfers
 * with such a peer stand still for a while before they fail.
 */
#include "rma/ucx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "rma/ucx_parts.h"

enum {
    LOST_S = 3,     /* for so long somebody else may tell why a peer is gone */
    CLOSE_MS = 1000 /* at most, until what was closed by force has ended */
};

/* Of one transfer. */
struct pieces {
    void *request[TRANSFER_PIECES]; /* UCX's; NULL: the piece is over, or there is none */
    uint32_t bytes[TRANSFER_PIECES];
    uint64_t flush; /* number of the one that makes it complete at the peer; 0: not known yet */
};
_Static_assert(sizeof(struct pieces) <= TRANSFER_STATE_BYTES, "state of a transfer");

static const char *name = "";

static struct ucx *self_of(struct datapath *path)
{
    return (struct ucx *)path;
}

static struct pieces *pieces_of(struct transfer *transfer)
{
    return (struct pieces *)transfer->state;
}

/* ---- connections ---- */

void ucx_lose(struct ucx *self, int rank, ucs_status_t why)
{
    struct ucx_peer *peer = &self->peers[rank];

    if (peer->is_lost)
        return;
    peer->is_lost = self->has_work = true;
    peer->why = why;
    peer->lost_ns = clock_ns();
    ucx_keys_lose(self, rank);
}

/* Inside ucp_worker_progress(). */
static void end_of_peer(void *path, ucp_ep_h endpoint, ucs_status_t why)
{
    struct ucx *self = path;

    for (int rank = 0; rank < self->options.size; rank++)
        if (self->peers[rank].endpoint == endpoint)
            ucx_lose(self, rank, why);
}

ucp_ep_h ucx_endpoint(struct ucx *self, int rank)
{
    struct ucx_peer *peer = &self->peers[rank];
    const ucp_ep_params_t params = {
        .field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE |
                      UCP_EP_PARAM_FIELD_ERR_HANDLER,
        .address = peer->address,
        .err_mode = UCP_ERR_HANDLING_MODE_PEER,
        .err_handler = {end_of_peer, self},
    };
    ucs_status_t code = UCS_ERR_UNREACHABLE;

    if (peer->is_lost || peer->endpoint)
        return peer->is_lost ? NULL : peer->endpoint;
    if (peer->address)
        code = self->library.ucp_ep_create(self->library.worker, &params, &peer->endpoint);
    if (code == UCS_OK)
        return peer->endpoint;
    peer->endpoint = NULL;
    ucx_lose(self, rank, code);
    return NULL;
}

/* By force: waits for nobody. The request, if it is not over. */
static void *close_endpoint(struct ucx *self, struct ucx_peer *peer)
{
    const ucp_request_param_t param = {
        .op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS,
        .flags = UCP_EP_CLOSE_FLAG_FORCE,
    };
    void *request = NULL;

    if (peer->endpoint)
        request = self->library.ucp_ep_close_nbx(peer->endpoint, &param);
    peer->endpoint = NULL;
    return UCS_PTR_IS_PTR(request) ? request : NULL;
}

static void close_lost(struct ucx *self)
{
    for (int rank = 0; rank < self->options.size; rank++)
        if (self->peers[rank].is_lost) {
            void *request = close_endpoint(self, &self->peers[rank]);

            if (request)
                self->library.ucp_request_free(request);
        }
}

/* True if something has come or gone. */
static bool ucx_progress(struct datapath *path)
{
    struct ucx *self = self_of(path);
    bool moved = self->library.ucp_worker_progress(self->library.worker) > 0;

    if (self->has_work) {
        self->has_work = false;
        close_lost(self);
        ucx_keys_answer(self);
    }
    return moved;
}

/* UCX has its descriptor tell of what comes from now on. */
static bool ucx_prepare(struct datapath *path)
{
    const struct ucx *self = self_of(path);

    return !self->has_work && self->library.ucp_worker_arm(self->library.worker) == UCS_OK;
}

/* ---- a transfer ---- */

/* Puts or gets [at, at + bytes) of the transfer. */
static void *put_or_get(const struct ucx *self, const struct transfer *t, uint64_t at,
                        uint64_t bytes, ucp_rkey_h key)
{
    const ucp_request_param_t param = {.op_attr_mask = 0};
    ucp_ep_h endpoint = self->peers[t->peer].endpoint;
    char *local = (char *)t->local + at;

    return t->direction == TRANSFER_OUT
               ? self->library.ucp_put_nbx(endpoint, local, bytes, t->remote + at, key, &param)
               : self->library.ucp_get_nbx(endpoint, local, bytes, t->remote + at, key, &param);
}

/* Fills the free slots with the next pieces. */
static void issue_pieces(struct ucx *self, struct transfer *t, ucp_rkey_h key)
{
    struct pieces *pieces = pieces_of(t);

    for (int i = 0; i < TRANSFER_PIECES && t->issued < t->bytes; i++) {
        uint64_t bytes = t->bytes - t->issued;
        void *request;

        if (pieces->request[i])
            continue;
        if (bytes > self->options.piece_bytes)
            bytes = self->options.piece_bytes;
        request = put_or_get(self, t, t->issued, bytes, key);
        if (UCS_PTR_IS_ERR(request)) {
            ucx_lose(self, t->peer, UCS_PTR_STATUS(request));
            return;
        }
        t->issued += bytes;
        pieces->request[i] = request;
        pieces->bytes[i] = (uint32_t)bytes;
        if (!request)
            t->completed += bytes;
    }
}

static omprma_status_t issue(struct ucx *self, struct transfer *t)
{
    bool none = false;
    ucp_rkey_h key;

    if (t->issued == t->bytes || self->peers[t->peer].is_lost)
        return OMPRMA_OK;
    key = ucx_key_to(self, t->peer, t->remote, &none);
    if (none)
        return error_set(
            OMPRMA_ERR_ADDRESS,
            "%s of %llu bytes: worker %d of this program has no memory attached at 0x%llx",
            t->direction == TRANSFER_OUT ? "put" : "get", (unsigned long long)t->bytes, t->peer - 1,
            (unsigned long long)t->remote);
    if (key && ucx_endpoint(self, t->peer))
        issue_pieces(self, t, key);
    return OMPRMA_OK;
}

/* True while pieces are under way. */
static bool test_pieces(struct ucx *self, struct transfer *t)
{
    struct pieces *pieces = pieces_of(t);
    bool under_way = false;

    for (int i = 0; i < TRANSFER_PIECES; i++) {
        ucs_status_t code;

        if (!pieces->request[i])
            continue;
        code = self->library.ucp_request_check_status(pieces->request[i]);
        if (code == UCS_INPROGRESS) {
            under_way = true;
            continue;
        }
        self->library.ucp_request_free(pieces->request[i]);
        pieces->request[i] = NULL;
        if (code == UCS_OK)
            t->completed += pieces->bytes[i];
        else
            ucx_lose(self, t->peer, code);
    }
    return under_way;
}

static void end_flush(struct ucx *self, int rank, ucs_status_t code)
{
    struct ucx_peer *peer = &self->peers[rank];

    peer->flush = NULL;
    if (code == UCS_OK)
        peer->ended = peer->begun;
    else
        ucx_lose(self, rank, code);
}

static void test_flush(struct ucx *self, int rank)
{
    void *flush = self->peers[rank].flush;
    ucs_status_t code = flush ? self->library.ucp_request_check_status(flush) : UCS_INPROGRESS;

    if (code == UCS_INPROGRESS)
        return;
    self->library.ucp_request_free(flush);
    end_flush(self, rank, code);
}

static void begin_flush(struct ucx *self, int rank)
{
    const ucp_request_param_t param = {.op_attr_mask = 0};
    struct ucx_peer *peer = &self->peers[rank];
    ucp_ep_h endpoint = ucx_endpoint(self, rank);
    void *request;

    if (!endpoint)
        return;
    peer->begun++;
    request = self->library.ucp_ep_flush_nbx(endpoint, &param);
    if (UCS_PTR_IS_PTR(request))
        peer->flush = request;
    else
        end_flush(self, rank, UCS_PTR_STATUS(request));
}

/* Whether all of it, which was issued, is known to be at the peer. */
static bool is_flushed(struct ucx *self, struct transfer *t)
{
    struct ucx_peer *peer = &self->peers[t->peer];
    struct pieces *pieces = pieces_of(t);

    if (t->direction == TRANSFER_IN)
        return true;
    if (!pieces->flush)
        pieces->flush = peer->begun + 1;
    test_flush(self, t->peer);
    if (peer->ended < pieces->flush && !peer->flush)
        begin_flush(self, t->peer);
    return peer->ended >= pieces->flush;
}

static omprma_status_t ucx_start(struct datapath *path, struct transfer *t)
{
    *pieces_of(t) = (struct pieces){.flush = 0};
    return issue(self_of(path), t);
}

/* Nothing is under way any more. */
static omprma_status_t stand_still(const struct ucx *self, const struct transfer *t)
{
    const struct ucx_peer *peer = &self->peers[t->peer];

    if (clock_ns() - peer->lost_ns < LOST_S * INT64_C(1000000000))
        return OMPRMA_OK;
    return error_set(OMPRMA_ERR_DEVICE_LOST,
                     "UCX has lost its connection to worker %d of this program: %s", t->peer - 1,
                     self->library.ucs_status_string(peer->why));
}

static omprma_status_t ucx_test(struct datapath *path, struct transfer *t, bool *done)
{
    struct ucx *self = self_of(path);
    bool under_way, flushed;
    omprma_status_t status;

    *done = false;
    ucx_progress(path);
    under_way = test_pieces(self, t);
    status = issue(self, t);
    flushed = t->issued == t->bytes && !self->peers[t->peer].is_lost && is_flushed(self, t);
    *done = flushed && t->completed == t->bytes;
    if (*done || status != OMPRMA_OK || under_way || !self->peers[t->peer].is_lost)
        return status;
    return stand_still(self, t);
}

/* Its peer is given up: so is the connection, and what is under way ends by that. */
static void ucx_abandon(struct datapath *path, struct transfer *t)
{
    struct ucx *self = self_of(path);
    struct pieces *pieces = pieces_of(t);

    for (int i = 0; i < TRANSFER_PIECES; i++)
        if (pieces->request[i])
            self->library.ucp_request_free(pieces->request[i]);
    ucx_lose(self, t->peer, UCS_ERR_CANCELED);
    close_lost(self);
}

/* ---- memory ---- */

static omprma_status_t ucx_attach(struct datapath *path, void *base, uint64_t bytes)
{
    return ucx_range_add(self_of(path), base, bytes);
}

static void ucx_detach(struct datapath *path, void *base)
{
    ucx_range_remove(self_of(path), base);
}

static void *ucx_below(const struct datapath *path)
{
    return ucx_ranges_below((const struct ucx *)path);
}

/* ---- beginning and end ---- */

const char *ucx_name(void)
{
    return name;
}

/* Whatever was closed by force has ended when its requests have. */
static void close_all(struct ucx *self)
{
    int64_t until = clock_ns() + CLOSE_MS * INT64_C(1000000);

    for (int rank = 0; rank < self->options.size; rank++) {
        struct ucx_peer *peer = &self->peers[rank];
        void *request = close_endpoint(self, peer);

        while (request && clock_ns() < until &&
               self->library.ucp_request_check_status(request) == UCS_INPROGRESS)
            self->library.ucp_worker_progress(self->library.worker);
        if (request)
            self->library.ucp_request_free(request);
        if (peer->flush)
            self->library.ucp_request_free(peer->flush);
        free(peer->address);
    }
}

static void ucx_destroy(struct datapath *path)
{
    struct ucx *self = self_of(path);

    close_all(self);
    ucx_keys_end(self);
    if (self->address)
        self->library.ucp_worker_release_address(self->library.worker, self->address);
    ucx_library_close(&self->library);
    free(self);
}

/* What peers are to know. */
static omprma_status_t begin(struct ucx *self)
{
    static char text[32];
    ucs_status_t code = ucx_keys_begin(self);

    if (code == UCS_OK)
        code = self->library.ucp_worker_get_address(self->library.worker, &self->address,
                                                    &self->address_bytes);
    if (code != UCS_OK)
        return error_set(OMPRMA_ERR_UNSUPPORTED, "UCX cannot be used: %s",
                         self->library.ucs_status_string(code));
    snprintf(text, sizeof(text), "UCX %s", self->library.ucp_get_version_string());
    name = text;
    return OMPRMA_OK;
}

static const struct datapath operations = {
    .name = "ucx",
    .one_sided = true,
    .attach = ucx_attach,
    .detach = ucx_detach,
    .below = ucx_below,
    .progress = ucx_progress,
    .prepare = ucx_prepare,
    .start = ucx_start,
    .test = ucx_test,
    .abandon = ucx_abandon,
    .destroy = ucx_destroy,
};

omprma_status_t ucx_open(const struct ucx_options *options, struct datapath **path)
{
    struct ucx *self = calloc(1, sizeof(*self) + (size_t)options->size * sizeof(*self->peers));
    omprma_status_t status;

    if (!self)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for the data path over UCX");
    self->base = operations;
    self->options = *options;
    status = ucx_library_open(&self->library, options->any_network);
    if (status != OMPRMA_OK) {
        free(self);
        return status;
    }
    status = begin(self);
    if (status == OMPRMA_OK)
        *path = &self->base;
    else
        ucx_destroy(&self->base);
    return status;
}

const void *ucx_address(const struct datapath *path, size_t *bytes)
{
    const struct ucx *self = (const struct ucx *)path;

    *bytes = self->address_bytes;
    return self->address;
}

int ucx_descriptor(const struct datapath *path)
{
    const struct ucx *self = (const struct ucx *)path;
    int descriptor = -1;

    if (self->library.ucp_worker_get_efd(self->library.worker, &descriptor) != UCS_OK)
        return -1;
    return descriptor;
}

omprma_status_t ucx_meet(struct datapath *path, int rank, const void *address, size_t bytes)
{
    struct ucx_peer *peer = &self_of(path)->peers[rank];

    peer->address = malloc(bytes ? bytes : 1);
    if (!peer->address)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for an address");
    memcpy(peer->address, address, bytes);
    return OMPRMA_OK;
}

void ucx_share_secret(struct datapath *path, const unsigned char secret[UCX_SECRET_BYTES])
{
    memcpy(self_of(path)->secret, secret, UCX_SECRET_BYTES);
}
