/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * null_path.c: One-sided: a transfer is a count of steps that must pass before it moves, then it
 * is copied piece by piece; a generator with a seed draws the steps. Two-sided: a send posts its
 * data with its tag in a list that all paths of an exchange share, and a receive looks for it
 * there. Faults (failed starts, wrong data, slow paths) are numbers in the options.
 */
#include "tests/null/null_path.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

struct null_path {
    struct datapath base;
    struct null_path_options options;
    uint64_t random;
    uint64_t starts;
    struct null_exchange *exchange; /* two-sided only */
    int rank;
    bool held;                /* receives get nothing */
    int moving, stopped_peer; /* one-sided only */
};

/* Of one transfer. */
struct progress {
    uint64_t delay; /* calls of test() that still move nothing */
    bool moves;     /* is one of those that move */
};
_Static_assert(sizeof(struct progress) <= TRANSFER_STATE_BYTES, "state of a transfer");

static struct null_path *self_of(struct datapath *path)
{
    return (struct null_path *)path;
}

static struct progress *progress_of(struct transfer *t)
{
    return (struct progress *)t->state;
}

static omprma_status_t count_start(struct null_path *self)
{
    if (++self->starts == self->options.fail_start)
        return error_set(OMPRMA_ERR_MPI, "this transfer was to fail");
    return OMPRMA_OK;
}

static uint64_t next_piece(const struct null_path *self, const struct transfer *t)
{
    uint64_t left = t->bytes - t->completed;

    return left < self->options.piece_bytes ? left : self->options.piece_bytes;
}

/* How many of the next bytes of a transfer arrive. */
static uint64_t arriving(const struct null_path *self, const struct transfer *t, uint64_t bytes)
{
    bool out = t->direction == TRANSFER_OUT;
    uint64_t wrong = out ? self->options.wrong_out : self->options.wrong_in;
    uint64_t most = self->options.wrong_most ? self->options.wrong_most : UINT64_MAX;
    bool here = !self->options.wrong_peer || t->peer == self->options.wrong_peer;
    bool is_wrong =
        wrong && t->bytes >= wrong && t->bytes <= most && here && t->completed + bytes == t->bytes;

    return is_wrong && bytes >= sizeof(uint64_t) ? bytes - sizeof(uint64_t) : bytes;
}

/* ---- one-sided ---- */

static void copy(const struct null_path *self, struct transfer *t, uint64_t bytes)
{
    char *local = (char *)t->local + t->completed;
    char *remote = (char *)(uintptr_t)t->remote + t->completed;
    uint64_t arrives = arriving(self, t, bytes);

    if (t->direction == TRANSFER_OUT)
        memcpy(remote, local, arrives);
    else
        memcpy(local, remote, arrives);
    t->completed += bytes;
}

static void draw_delay(struct null_path *self, struct transfer *t)
{
    self->random ^= self->random << 13;
    self->random ^= self->random >> 7;
    self->random ^= self->random << 17;
    progress_of(t)->delay = self->options.least_delay +
                            (self->options.delay ? self->random % (self->options.delay + 1) : 0);
}

/* It is one of those that move from now on. */
static bool may_move(struct null_path *self, struct transfer *t)
{
    struct progress *progress = progress_of(t);

    if (!progress->moves && (!self->options.most || self->moving < self->options.most)) {
        progress->moves = true;
        self->moving++;
    }
    return progress->moves && t->peer != self->stopped_peer;
}

static void move_no_more(struct null_path *self, struct transfer *t)
{
    if (progress_of(t)->moves)
        self->moving--;
    progress_of(t)->moves = false;
}

static omprma_status_t one_sided_start(struct datapath *path, struct transfer *t)
{
    struct null_path *self = self_of(path);
    omprma_status_t status = count_start(self);

    if (status != OMPRMA_OK)
        return status;
    t->issued = t->bytes;
    *progress_of(t) = (struct progress){0};
    if (t->bytes <= self->options.direct_bytes && t->peer != self->stopped_peer)
        copy(self, t, t->bytes);
    else if (may_move(self, t))
        draw_delay(self, t);
    return OMPRMA_OK;
}

static omprma_status_t one_sided_test(struct datapath *path, struct transfer *t, bool *done)
{
    struct null_path *self = self_of(path);

    *done = false;
    if (t->completed < t->bytes && !may_move(self, t))
        return OMPRMA_OK;
    if (t->completed < t->bytes && progress_of(t)->delay > 0) {
        progress_of(t)->delay--;
        return OMPRMA_OK;
    }
    if (t->completed < t->bytes) {
        copy(self, t, next_piece(self, t));
        draw_delay(self, t);
    }
    *done = t->completed == t->bytes;
    if (*done)
        move_no_more(self, t);
    return OMPRMA_OK;
}

static void one_sided_abandon(struct datapath *path, struct transfer *t)
{
    move_no_more(self_of(path), t);
}

static void path_destroy(struct datapath *path)
{
    free(path);
}

static struct null_path *path_create(const struct null_path_options *options)
{
    struct null_path *self = calloc(1, sizeof(*self));

    if (!self) {
        error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a data path");
        return NULL;
    }
    self->base.destroy = path_destroy;
    self->options = *options;
    self->random = options->seed;
    return self;
}

omprma_status_t null_one_sided_create(const struct null_path_options *options,
                                      struct datapath **path)
{
    struct null_path *self = path_create(options);

    if (!self)
        return OMPRMA_ERR_HOST_MEMORY;
    self->base.name = "null one-sided";
    self->base.one_sided = true;
    self->base.start = one_sided_start;
    self->base.test = one_sided_test;
    self->base.abandon = one_sided_abandon;
    self->stopped_peer = -1;
    *path = &self->base;
    return OMPRMA_OK;
}

/* ---- two-sided ---- */

/* A send, from its start until it was received in whole. */
struct parcel {
    struct parcel *next;
    int from, to;
    uint32_t tag;
    uint64_t bytes;
    const char *data;
    char *copy; /* of a small one, which ends before it is received; else NULL */
    const struct transfer *receive, *send; /* NULL: not met yet; ended before it was received */
    bool empty;                            /* see struct transfer */
    bool received;
};

struct null_exchange {
    pthread_mutex_t lock;
    struct parcel *parcels; /* in the order of their starts */
};

struct null_exchange *null_exchange_create(void)
{
    struct null_exchange *exchange = calloc(1, sizeof(*exchange));

    if (exchange)
        pthread_mutex_init(&exchange->lock, NULL);
    return exchange;
}

static void parcel_free(struct parcel **link)
{
    struct parcel *parcel = *link;

    *link = parcel->next;
    free(parcel->copy);
    free(parcel);
}

void null_exchange_destroy(struct null_exchange *exchange)
{
    if (!exchange)
        return;
    while (exchange->parcels)
        parcel_free(&exchange->parcels);
    pthread_mutex_destroy(&exchange->lock);
    free(exchange);
}

static omprma_status_t post(struct null_path *self, const struct transfer *t)
{
    struct parcel *parcel = calloc(1, sizeof(*parcel)), **link = &self->exchange->parcels;

    if (!parcel)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a send");
    *parcel = (struct parcel){
        .from = self->rank,
        .to = t->peer,
        .tag = t->tag,
        .bytes = t->bytes,
        .data = t->local,
        .send = t,
        .empty = t->empty,
    };
    if (!t->empty && t->bytes <= self->options.direct_bytes &&
        (parcel->copy = malloc(t->bytes)) != NULL) {
        parcel->data = memcpy(parcel->copy, t->local, t->bytes);
        parcel->send = NULL;
    }
    while (*link)
        link = &(*link)->next;
    *link = parcel;
    return OMPRMA_OK;
}

static omprma_status_t two_sided_start(struct datapath *path, struct transfer *t)
{
    struct null_path *self = self_of(path);
    omprma_status_t status = count_start(self);

    if (status != OMPRMA_OK)
        return status;
    t->issued = t->bytes;
    if (t->direction == TRANSFER_IN) { /* test() looks for the send */
        draw_delay(self, t);
        return OMPRMA_OK;
    }
    pthread_mutex_lock(&self->exchange->lock);
    status = post(self, t);
    pthread_mutex_unlock(&self->exchange->lock);
    return status;
}

static bool test_send(struct null_path *self, const struct transfer *t)
{
    for (struct parcel **link = &self->exchange->parcels; *link; link = &(*link)->next) {
        if ((*link)->send != t)
            continue;
        if (!(*link)->received)
            return false;
        parcel_free(link);
        return true;
    }
    return true; /* a small one: gone */
}

/* The send that this receive has met, or meets now. Receives of one tag are not reordered: each
 * takes the oldest send that no other has met. */
static struct parcel **find_send(struct null_path *self, const struct transfer *t)
{
    struct parcel **link = &self->exchange->parcels, **first = NULL;

    for (; *link; link = &(*link)->next) {
        const struct parcel *parcel = *link;

        if (parcel->receive == t && !parcel->received)
            return link;
        if (!first && !parcel->receive && parcel->from == t->peer && parcel->to == self->rank &&
            parcel->tag == t->tag)
            first = link;
    }
    return first;
}

static omprma_status_t test_receive(struct null_path *self, struct transfer *t, bool *done)
{
    struct parcel **link = find_send(self, t);
    uint64_t bytes = next_piece(self, t);

    if (!link)
        return OMPRMA_OK;
    if ((*link)->bytes != t->bytes)
        return error_set(OMPRMA_ERR_MPI, "%llu bytes were sent where %llu are received",
                         (unsigned long long)(*link)->bytes, (unsigned long long)t->bytes);
    (*link)->receive = t;
    if (progress_of(t)->delay > 0) {
        progress_of(t)->delay--;
        return OMPRMA_OK;
    }
    draw_delay(self, t);
    t->empty = (*link)->empty;
    if (!t->empty)
        memcpy((char *)t->local + t->completed, (*link)->data + t->completed,
               arriving(self, t, bytes));
    t->completed += bytes;
    *done = t->completed == t->bytes;
    (*link)->received = *done;
    if (*done && !(*link)->send)
        parcel_free(link);
    return OMPRMA_OK;
}

static omprma_status_t two_sided_test(struct datapath *path, struct transfer *t, bool *done)
{
    struct null_path *self = self_of(path);
    omprma_status_t status = OMPRMA_OK;

    *done = false;
    pthread_mutex_lock(&self->exchange->lock);
    if (t->direction == TRANSFER_OUT)
        *done = test_send(self, t);
    else if (!self->held)
        status = test_receive(self, t, done);
    pthread_mutex_unlock(&self->exchange->lock);
    return status;
}

/* Its owner may use its memory for another transfer. The other half still meets what was sent. */
static void two_sided_abandon(struct datapath *path, struct transfer *t)
{
    static const struct transfer nobody;
    struct null_path *self = self_of(path);

    pthread_mutex_lock(&self->exchange->lock);
    for (struct parcel *parcel = self->exchange->parcels; parcel; parcel = parcel->next) {
        if (parcel->send == t)
            parcel->send = NULL;
        if (parcel->receive == t)
            parcel->receive = &nobody;
    }
    pthread_mutex_unlock(&self->exchange->lock);
}

omprma_status_t null_two_sided_create(const struct null_path_options *options,
                                      struct null_exchange *exchange, int rank,
                                      struct datapath **path)
{
    struct null_path *self = path_create(options);

    if (!self)
        return OMPRMA_ERR_HOST_MEMORY;
    self->base.name = "null two-sided";
    self->base.start = two_sided_start;
    self->base.test = two_sided_test;
    self->base.abandon = two_sided_abandon;
    self->exchange = exchange;
    self->rank = rank;
    *path = &self->base;
    return OMPRMA_OK;
}

void null_path_fail_next(struct datapath *path)
{
    struct null_path *self = self_of(path);

    self->options.fail_start = self->starts + 1;
}

void null_path_stop_peer(struct datapath *path, int peer)
{
    self_of(path)->stopped_peer = peer;
}

void null_path_hold_data(struct datapath *path, bool hold)
{
    self_of(path)->held = hold;
}
