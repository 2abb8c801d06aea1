/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ucx_parts.h: what the files of the path over UCX share: peers and their connections (ucx.c), and
 * who may reach which memory (ucx_keys.c). Only for those.
 */
#ifndef OMPRMA_RMA_UCX_PARTS_H
#define OMPRMA_RMA_UCX_PARTS_H

#include "rma/ucx.h"
#include "rma/ucx_library.h"

/* Memory of a peer that can be reached. */
struct ucx_key {
    struct ucx_key *next;
    uint64_t base, bytes;
    void *packed;      /* as it came; NULL: `rkey` is there */
    ucp_rkey_h rkey;   /* UCX's key to it; NULL: not unpacked yet */
    bool is_forgotten; /* the peer takes the memory away, and waits to hear that this is known */
};

/* Memory of this process that peers can reach. */
struct ucx_range {
    struct ucx_range *next;
    uint64_t base, bytes;
    ucp_mem_h memory; /* NULL: it was detached, but peers may still have keys */
    bool has_key[];   /* by rank */
};

struct ucx_peer {
    void *address;     /* UCX's, NULL: not met */
    ucp_ep_h endpoint; /* NULL: not connected */
    bool is_lost;      /* the connection has failed; there will be no other */
    ucs_status_t why;
    int64_t lost_ns;
    void *flush;            /* request; NULL: none is under way */
    uint64_t begun, ended;  /* flushes */
    struct ucx_key *keys;   /* to its memory */
    bool asks_me, i_ask;    /* for the key to an address: */
    uint64_t asked, asking; /* by the peer; by this process */
    bool has_none;          /* its answer: there is no such memory */
};

struct ucx {
    struct datapath base;
    struct ucx_library library;
    struct ucx_options options;
    ucp_address_t *address;
    size_t address_bytes;
    unsigned char secret[UCX_SECRET_BYTES];
    struct ucx_range *ranges;
    bool has_work; /* something was heard that is to be answered, or a connection has failed */
    struct ucx_peer peers[];
};

/* ---- ucx.c ---- */

/* The connection to a peer, made when it is first needed; NULL: it is lost. */
ucp_ep_h ucx_endpoint(struct ucx *self, int rank);

/* Nothing goes to or comes from the peer any more. */
void ucx_lose(struct ucx *self, int rank, ucs_status_t why);

/* ---- ucx_keys.c ---- */

/* Has UCX hand what peers say about keys to this file. */
ucs_status_t ucx_keys_begin(struct ucx *self);

/* UCX's key to an address of a peer's. NULL: it is not here yet and is asked for, or *none: the
 * peer has no memory there. */
ucp_rkey_h ucx_key_to(struct ucx *self, int rank, uint64_t address, bool *none);

/* See attach(), detach() and below() of control/datapath.h. */
omprma_status_t ucx_range_add(struct ucx *self, void *base, uint64_t bytes);
void ucx_range_remove(struct ucx *self, const void *base);
void *ucx_ranges_below(const struct ucx *self);

/* Answers what was heard. Not inside a call of UCX. */
void ucx_keys_answer(struct ucx *self);

/* The peer is lost, and needs to be told nothing. */
void ucx_keys_lose(struct ucx *self, int rank);

/* All keys and ranges. Nothing is under way. */
void ucx_keys_end(struct ucx *self);

#endif
