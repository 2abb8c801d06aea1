/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ucx_keys.c: Who needs a key to memory of a peer asks the peer for it, once for each range, by a
 * message over UCX; the answer comes while both call UCX. When memory is detached, all that have a
 * key are told. Until each has answered that it has forgotten the key, no memory is attached at
 * addresses that the key would seem to fit (below()).
 */
#include "rma/ucx_parts.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/error.h"

enum { MESSAGE_ID = 1, KEY_BYTES_MOST = 4096 };

enum kind { ASK = 1, KEY, NONE, FORGET, FORGOTTEN };

/* What is said, with a key behind it where that is what is said. */
struct words {
    unsigned char secret[UCX_SECRET_BYTES];
    uint32_t kind;
    int32_t rank; /* who says it */
    uint64_t base, bytes;
};

/* On its way. */
struct letter {
    const struct ucx *self;
    struct words words;
    unsigned char key[];
};

/* ---- saying ---- */

static void sent(void *request, ucs_status_t status, void *letter)
{
    const struct ucx *self = ((struct letter *)letter)->self;

    (void)status;
    free(letter);
    self->library.ucp_request_free(request);
}

/* A letter that cannot leave is lost with the connection: whoever waits for an answer is told so.
 */
static void say(struct ucx *self, int rank, enum kind kind, uint64_t base, uint64_t bytes,
                const void *key, size_t key_bytes)
{
    struct letter *letter = malloc(sizeof(*letter) + key_bytes);
    ucp_ep_h endpoint = ucx_endpoint(self, rank);
    const ucp_request_param_t param = {
        .op_attr_mask =
            UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_FLAGS,
        .flags = UCP_AM_SEND_FLAG_EAGER,
        .cb.send = sent,
        .user_data = letter,
    };
    void *request;

    if (!letter && endpoint)
        ucx_lose(self, rank, UCS_ERR_NO_MEMORY);
    if (!letter || !endpoint) {
        free(letter);
        return;
    }
    letter->self = self;
    letter->words =
        (struct words){.kind = kind, .rank = self->options.rank, .base = base, .bytes = bytes};
    memcpy(letter->words.secret, self->secret, sizeof(self->secret));
    if (key_bytes)
        memcpy(letter->key, key, key_bytes);
    request = self->library.ucp_am_send_nbx(endpoint, MESSAGE_ID, NULL, 0, &letter->words,
                                            sizeof(letter->words) + key_bytes, &param);
    if (!UCS_PTR_IS_PTR(request))
        free(letter);
    if (UCS_PTR_IS_ERR(request))
        ucx_lose(self, rank, UCS_PTR_STATUS(request));
}

/* ---- hearing ---- */

static struct ucx_key *find_key(const struct ucx_peer *peer, uint64_t base)
{
    struct ucx_key *key = peer->keys;

    while (key && key->base != base)
        key = key->next;
    return key;
}

static struct ucx_key *add_key(struct ucx_peer *peer, const struct words *words)
{
    struct ucx_key *key = calloc(1, sizeof(*key));

    if (!key)
        return NULL;
    key->base = words->base;
    key->bytes = words->bytes;
    key->next = peer->keys;
    peer->keys = key;
    return key;
}

/* Without memory it is asked for again. */
static void take_key(struct ucx_peer *peer, const struct words *words, const void *packed,
                     size_t bytes)
{
    void *copy = malloc(bytes);
    struct ucx_key *key = copy ? add_key(peer, words) : NULL;

    peer->i_ask = false;
    if (!key) {
        free(copy);
        return;
    }
    memcpy(copy, packed, bytes);
    key->packed = copy;
}

static void take_forget(struct ucx_peer *peer, const struct words *words)
{
    struct ucx_key *key = find_key(peer, words->base);

    if (!key)
        key = add_key(peer, words);
    if (key)
        key->is_forgotten = true;
}

static void take_forgotten(const struct ucx *self, const struct words *words)
{
    for (struct ucx_range *range = self->ranges; range; range = range->next)
        if (range->base == words->base && !range->memory)
            range->has_key[words->rank] = false;
}

static void take(struct ucx *self, const struct words *words, const void *key, size_t key_bytes)
{
    struct ucx_peer *peer = &self->peers[words->rank];

    switch ((enum kind)words->kind) {
    case ASK:
        peer->asks_me = true;
        peer->asked = words->base;
        break;
    case KEY:
        if (key_bytes > KEY_BYTES_MOST)
            ucx_lose(self, words->rank, UCS_ERR_EXCEEDS_LIMIT);
        else if (peer->i_ask && key_bytes)
            take_key(peer, words, key, key_bytes);
        break;
    case NONE:
        peer->has_none = peer->i_ask && words->base == peer->asking;
        peer->i_ask &= !peer->has_none;
        break;
    case FORGET:
        take_forget(peer, words);
        break;
    case FORGOTTEN:
        take_forgotten(self, words);
        break;
    }
    self->has_work = true;
}

static bool is_secret(const struct ucx *self, const struct words *words)
{
    unsigned char differs = 0;

    for (size_t i = 0; i < sizeof(self->secret); i++)
        differs |= self->secret[i] ^ words->secret[i];
    return !differs;
}

/* Inside ucp_worker_progress(). What makes no sense, or comes from a stranger, is thrown away. */
static ucs_status_t hear(void *path, const void *header, size_t header_bytes, void *data,
                         size_t bytes, const ucp_am_recv_param_t *param)
{
    struct ucx *self = path;
    struct words words;

    (void)header;
    if (header_bytes || bytes < sizeof(words) || param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV)
        return UCS_OK;
    memcpy(&words, data, sizeof(words));
    if (is_secret(self, &words) && words.rank >= 0 && words.rank < self->options.size)
        take(self, &words, (char *)data + sizeof(words), bytes - sizeof(words));
    return UCS_OK;
}

ucs_status_t ucx_keys_begin(struct ucx *self)
{
    const ucp_am_handler_param_t param = {
        .field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                      UCP_AM_HANDLER_PARAM_FIELD_ARG,
        .id = MESSAGE_ID,
        .cb = hear,
        .arg = self,
    };

    return self->library.ucp_worker_set_am_recv_handler(self->library.worker, &param);
}

/* ---- memory of this process ---- */

static bool covers(uint64_t base, uint64_t bytes, uint64_t address)
{
    return address >= base && address - base < bytes;
}

static omprma_status_t refuse(const struct ucx *self, uint64_t bytes, ucs_status_t code)
{
    struct rlimit locked = {0};
    char limit[64] = "without limit";

    getrlimit(RLIMIT_MEMLOCK, &locked);
    if (locked.rlim_cur != RLIM_INFINITY)
        snprintf(limit, sizeof(limit), "%llu KiB", (unsigned long long)locked.rlim_cur >> 10);
    return error_set(OMPRMA_ERR_DEVICE_MEMORY,
                     "UCX cannot make %llu MiB of device memory reachable: %s; RDMA needs memory "
                     "that may be locked, and here that is %s: set it without limit (ulimit -l "
                     "unlimited, in batch jobs too), or OMPRMA_NETWORK=sockets",
                     (unsigned long long)(bytes + (1 << 20) - 1) >> 20,
                     self->library.ucs_status_string(code), limit);
}

omprma_status_t ucx_range_add(struct ucx *self, void *base, uint64_t bytes)
{
    const ucp_mem_map_params_t params = {
        .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
        .address = base,
        .length = bytes,
    };
    struct ucx_range *range =
        calloc(1, sizeof(*range) + (size_t)self->options.size * sizeof(*range->has_key));
    ucs_status_t code;

    if (!range)
        return error_set(OMPRMA_ERR_DEVICE_MEMORY, "no memory to attach device memory");
    code = self->library.ucp_mem_map(self->library.context, &params, &range->memory);
    if (code != UCS_OK) {
        free(range);
        return refuse(self, bytes, code);
    }
    range->base = (uint64_t)(uintptr_t)base;
    range->bytes = bytes;
    range->next = self->ranges;
    self->ranges = range;
    return OMPRMA_OK;
}

/* Those that were detached and that nobody has a key to any more. */
static void drop_forgotten(struct ucx *self)
{
    struct ucx_range **link = &self->ranges;

    while (*link) {
        struct ucx_range *range = *link;
        bool is_used = range->memory != NULL;

        for (int rank = 0; rank < self->options.size; rank++)
            is_used |= range->has_key[rank];
        if (is_used) {
            link = &range->next;
            continue;
        }
        *link = range->next;
        free(range);
    }
}

void ucx_range_remove(struct ucx *self, const void *base)
{
    struct ucx_range *range = self->ranges;

    while (range && (!range->memory || range->base != (uint64_t)(uintptr_t)base))
        range = range->next;
    if (!range)
        return;
    self->library.ucp_mem_unmap(self->library.context, range->memory);
    range->memory = NULL;
    for (int rank = 0; rank < self->options.size; rank++)
        if (range->has_key[rank])
            say(self, rank, FORGET, range->base, range->bytes, NULL, 0);
    drop_forgotten(self);
}

void *ucx_ranges_below(const struct ucx *self)
{
    uint64_t lowest = UINT64_MAX;

    for (const struct ucx_range *range = self->ranges; range; range = range->next)
        if (!range->memory && range->base < lowest)
            lowest = range->base;
    return lowest == UINT64_MAX ? NULL : (void *)(uintptr_t)lowest;
}

static void tell_key(struct ucx *self, int rank, uint64_t address)
{
    struct ucx_range *range = self->ranges;
    void *packed = NULL;
    size_t bytes = 0;
    ucs_status_t code = UCS_ERR_NO_ELEM;

    if (self->peers[rank].is_lost)
        return;
    while (range && !(range->memory && covers(range->base, range->bytes, address)))
        range = range->next;
    if (range)
        code = self->library.ucp_rkey_pack(self->library.context, range->memory, &packed, &bytes);
    if (code != UCS_OK) {
        say(self, rank, NONE, address, 0, NULL, 0);
        return;
    }
    range->has_key[rank] = true;
    say(self, rank, KEY, range->base, range->bytes, packed, bytes);
    self->library.ucp_rkey_buffer_release(packed);
}

/* ---- memory of peers ---- */

static void free_key(const struct ucx *self, struct ucx_key *key)
{
    if (key->rkey)
        self->library.ucp_rkey_destroy(key->rkey);
    free(key->packed);
    free(key);
}

static void forget_keys(struct ucx *self, int rank)
{
    struct ucx_key **link = &self->peers[rank].keys;

    while (*link) {
        struct ucx_key *key = *link;

        if (!key->is_forgotten) {
            link = &key->next;
            continue;
        }
        *link = key->next;
        say(self, rank, FORGOTTEN, key->base, key->bytes, NULL, 0);
        free_key(self, key);
    }
}

void ucx_keys_answer(struct ucx *self)
{
    for (int rank = 0; rank < self->options.size; rank++) {
        struct ucx_peer *peer = &self->peers[rank];

        forget_keys(self, rank);
        if (peer->asks_me)
            tell_key(self, rank, peer->asked);
        peer->asks_me = false;
    }
    drop_forgotten(self);
}

static void unpack(struct ucx *self, int rank, struct ucx_key *key)
{
    ucp_ep_h endpoint = ucx_endpoint(self, rank);
    ucs_status_t code = UCS_OK;

    if (!endpoint)
        return;
    code = self->library.ucp_ep_rkey_unpack(endpoint, key->packed, &key->rkey);
    if (code != UCS_OK) {
        key->rkey = NULL;
        ucx_lose(self, rank, code);
        return;
    }
    free(key->packed);
    key->packed = NULL;
}

ucp_rkey_h ucx_key_to(struct ucx *self, int rank, uint64_t address, bool *none)
{
    struct ucx_peer *peer = &self->peers[rank];
    struct ucx_key *key = peer->keys;

    while (key && (key->is_forgotten || !covers(key->base, key->bytes, address)))
        key = key->next;
    if (key && key->packed)
        unpack(self, rank, key);
    if (key)
        return key->rkey;
    *none = peer->has_none && peer->asking == address;
    if (*none) {
        peer->has_none = false;
        return NULL;
    }
    if (!peer->i_ask) {
        peer->i_ask = true;
        peer->asking = address;
        peer->has_none = false;
        say(self, rank, ASK, address, 0, NULL, 0);
    }
    return NULL;
}

/* ---- the end ---- */

void ucx_keys_lose(struct ucx *self, int rank)
{
    for (struct ucx_range *range = self->ranges; range; range = range->next)
        range->has_key[rank] = false;
    self->has_work = true;
}

void ucx_keys_end(struct ucx *self)
{
    for (int rank = 0; rank < self->options.size; rank++)
        while (self->peers[rank].keys) {
            struct ucx_key *key = self->peers[rank].keys;

            self->peers[rank].keys = key->next;
            free_key(self, key);
        }
    while (self->ranges) {
        struct ucx_range *range = self->ranges;

        self->ranges = range->next;
        if (range->memory)
            self->library.ucp_mem_unmap(self->library.context, range->memory);
        free(range);
    }
}
