/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * channel.c: Short messages between processes of a host go through FIFOs, where they take a
 * fraction of the inner channel's time. What is too long and what finds no room goes through the
 * inner channel: sending waits for nothing. Who would rather wait asks whether there is room. Where
 * messages of a peer come by both ways, the serial that every message has says which one is due;
 * one that the inner channel gives too early is held.
 */
#include "control/shm/channel.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum {
    POLLS_PER_LOOK = 4,     /* of FIFOs while nothing comes, for one look at the inner channel; */
    POLLS_MOST = 16,        /* twice as many after each look that has found nothing */
    SENDING_NAP_NS = 50000, /* the inner channel goes on only when it is called */
    PAGE = 4096,
    AHEAD_MOST = 1 << 20 /* a serial that is further ahead of its peer's last one is damaged */
};

enum way { WAY_NONE, WAY_SHARED, WAY_INNER };

/* Memory shared with a peer. */
struct shared {
    struct fifo_end to, from; /* without FIFOs: there is none */
    bool is_open;             /* `to` */
    uint32_t serial;          /* of the last message given out */
    struct channel_message *held;
};

struct shm_channel {
    struct channel base;
    struct shared *shared;          /* by rank */
    int *sharers, sharer_count;     /* their ranks */
    int next_sharer;                /* whose turn it is */
    bool shared_is_used;            /* a message has gone or come that way */
    enum way gave;                  /* the message of the last channel_receive() */
    unsigned polls, polls_per_look; /* since the last look at the inner channel; see above */
    unsigned polls_most;
    int64_t longest_ns;       /* of the next sleep */
    int inner_descriptor;     /* likewise */
    _Atomic bool is_prepared; /* who has announced a sleep looks once more, or sleeps */
    _Atomic bool heard;       /* the inner channel has something, as that sleep has told */
    struct shm_options options;
};

static struct shm_channel *self_of(struct channel *channel)
{
    return (struct shm_channel *)channel;
}

/* ---- sending ---- */

/* The peer reads what is put there. */
static bool is_open(struct shared *shared)
{
    if (!shared->is_open)
        shared->is_open = shared->to.fifo && fifo_is_open(shared->to.fifo);
    return shared->is_open;
}

static bool shm_has_room(struct channel *channel, int peer, uint32_t bytes)
{
    struct shared *shared = &self_of(channel)->shared[peer];

    return !is_open(shared) || bytes > FIFO_MESSAGE_BYTES || fifo_has_room(&shared->to, bytes);
}

/* True if it went through shared memory. */
static bool send_shared(struct shm_channel *self, const struct channel_message *message)
{
    struct shared *shared = &self->shared[message->peer];

    if (!is_open(shared) || !fifo_push(&shared->to, message->data, message->bytes))
        return false;
    self->shared_is_used = true;
    return true;
}

static void ring(struct shm_channel *self, int peer)
{
    struct doorbell *bell = self->options.bells[peer];

    if (!doorbell_is_asleep(bell))
        return;
    if (self->options.ring)
        self->options.ring(self->options.data, bell);
    else
        doorbell_ring(bell);
}

static omprma_status_t shm_send(struct channel *channel, struct channel_message *message)
{
    struct shm_channel *self = self_of(channel);
    omprma_status_t status = OMPRMA_OK;
    int peer = message->peer;

    if (send_shared(self, message))
        channel_drop(channel, message);
    else
        status = channel_send(channel->inner, message);
    if (status == OMPRMA_OK)
        ring(self, peer);
    /* Who sleeps here has chosen its descriptor before there was something to wait for room with.
     */
    if (channel->hears && channel->inner->is_sending)
        doorbell_ring(self->options.own);
    return status;
}

static omprma_status_t shm_drain(struct channel *channel)
{
    return channel_drain(channel->inner);
}

/* ---- receiving ---- */

/* A message that is the next one of its sender. So is one whose serial no message can have: others
 * judge it. */
static bool is_due(const struct shared *shared, const void *data, uint32_t bytes)
{
    uint32_t missing = wire_serial(data, bytes) - shared->serial - 1;

    return missing == 0 || missing > AHEAD_MOST;
}

/* The inner channel tells by the serials what is the next one of its sender. */
static void note(struct shm_channel *self, const struct channel_message *message)
{
    uint32_t serial = wire_serial(message->data, message->bytes);

    self->shared[message->peer].serial = serial;
    if (self->base.inner->serials)
        self->base.inner->serials[message->peer] = serial;
}

static void hold(struct shared *shared, struct channel_message *message)
{
    struct channel_message **last = &shared->held;

    while (*last)
        last = &(*last)->next;
    *last = message;
}

/* What is held of a peer, if it is due. */
static struct channel_message *take_held(struct shared *shared)
{
    struct channel_message *message = shared->held;

    if (!message || !is_due(shared, message->data, message->bytes))
        return NULL;
    shared->held = message->next;
    message->next = NULL;
    return message;
}

/* The oldest message of a peer in shared memory, if it is due. */
static const void *peek(struct shm_channel *self, struct shared *shared, uint32_t *bytes)
{
    const void *data = fifo_peek(&shared->from, bytes);

    if (!data || is_due(shared, data, *bytes))
        return data;
    self->polls = POLLS_MOST; /* the inner channel has what is missing */
    return NULL;
}

static omprma_status_t take_shared(struct shm_channel *self, int peer,
                                   struct channel_message **message)
{
    struct shared *shared = &self->shared[peer];
    uint32_t bytes;
    const void *data = peek(self, shared, &bytes);

    if (!data)
        return OMPRMA_OK;
    *message = channel_take(&self->base);
    if (!*message) {
        self->base.failed_peer = -1;
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a control message");
    }
    memcpy((*message)->data, data, bytes);
    (*message)->bytes = bytes;
    (*message)->peer = peer;
    fifo_pop(&shared->from);
    self->shared_is_used = true;
    return OMPRMA_OK;
}

/* A message of a peer with shared memory: of each in turns. */
static omprma_status_t receive_shared(struct shm_channel *self, struct channel_message **message)
{
    omprma_status_t status = OMPRMA_OK;

    for (int i = 0; i < self->sharer_count && !*message && status == OMPRMA_OK; i++) {
        int peer = self->sharers[self->next_sharer];

        if (++self->next_sharer == self->sharer_count)
            self->next_sharer = 0;
        *message = take_held(&self->shared[peer]);
        if (!*message)
            status = take_shared(self, peer, message);
    }
    if (*message) {
        note(self, *message);
        self->gave = WAY_SHARED;
    }
    return status;
}

/* False: others of its sender are still in shared memory, and it is held. */
static bool accept(struct shm_channel *self, struct channel_message *message)
{
    struct shared *shared = &self->shared[message->peer];

    if (!shared->from.fifo)
        return true;
    if (!is_due(shared, message->data, message->bytes)) {
        hold(shared, message);
        return false;
    }
    note(self, message);
    return true;
}

/* Looks at the inner channel, and takes a message that came by it. */
static omprma_status_t receive_inner(struct shm_channel *self, struct channel_message **message)
{
    struct channel *inner = self->base.inner;

    self->polls = 0;
    if (atomic_load_explicit(&self->heard, memory_order_relaxed))
        atomic_store(&self->heard, false);
    do {
        omprma_status_t status;

        inner->must_look = self->base.must_look;
        status = channel_receive(inner, message);
        if (status != OMPRMA_OK) {
            self->base.failed_peer = inner->failed_peer;
            return status;
        }
    } while (*message && !accept(self, *message));
    self->base.must_look = false;
    if (*message) {
        self->gave = WAY_INNER;
        self->polls_per_look = POLLS_PER_LOOK;
    } else if (self->polls_per_look < self->polls_most) {
        self->polls_per_look *= 2;
    }
    return OMPRMA_OK;
}

/* A look at the inner channel takes as long as many at shared memory. It comes behind each message,
 * when nobody waits for the next one yet, and now and then: more often where others wait for it.
 * Who hears will be told when something is there that was not read with the last message. */
static bool inner_is_due(struct shm_channel *self, enum way gave)
{
    const struct channel *inner = self->base.inner;

    if (inner->is_sending || atomic_load_explicit(&self->heard, memory_order_relaxed))
        return true;
    if (self->base.hears && !self->base.must_look &&
        (gave == WAY_INNER || atomic_load_explicit(&self->is_prepared, memory_order_relaxed)))
        return inner->has_more;
    return !self->shared_is_used || self->base.must_look || gave != WAY_NONE ||
           ++self->polls > self->polls_per_look;
}

static omprma_status_t shm_receive(struct channel *channel, struct channel_message **message)
{
    struct shm_channel *self = self_of(channel);
    enum way gave = self->gave;
    omprma_status_t status = OMPRMA_OK;

    *message = NULL;
    self->gave = WAY_NONE;
    /* The way that gave the last message comes second: nobody starves. */
    if (gave != WAY_SHARED)
        status = receive_shared(self, message);
    if (status == OMPRMA_OK && !*message && inner_is_due(self, gave))
        status = receive_inner(self, message);
    if (status == OMPRMA_OK && !*message && gave == WAY_SHARED)
        status = receive_shared(self, message);
    return status;
}

/* ---- sleeping ---- */

static void shm_prepare(struct channel *channel, bool on)
{
    struct shm_channel *self = self_of(channel);

    channel->must_look = on && !channel->hears;
    atomic_store(&self->is_prepared, on);
    if (!on) {
        doorbell_cancel(self->options.own);
        return;
    }
    if (channel->hears)
        self->inner_descriptor = channel->inner->ops->descriptor(channel->inner);
    self->longest_ns =
        channel->inner->is_sending && !channel->hears ? SENDING_NAP_NS : self->options.longest_ns;
    doorbell_prepare(self->options.own);
}

/* Sleeps without holding anybody's lock, so it must not call the inner channel. */
static void shm_sleep(struct channel *channel, int64_t ns, int also)
{
    struct shm_channel *self = self_of(channel);
    const int descriptors[DOORBELL_DESCRIPTORS] = {self->inner_descriptor, also};

    if (ns > self->longest_ns)
        ns = self->longest_ns;
    if (!channel->hears)
        doorbell_sleep(self->options.own, ns);
    else if (doorbell_sleep_at(self->options.own, descriptors, ns))
        atomic_store(&self->heard, true);
    atomic_store(&self->is_prepared, false);
}

static void shm_wake(struct channel *channel)
{
    doorbell_ring(self_of(channel)->options.own);
}

/* ---- beginning and end ---- */

static void shm_destroy(struct channel *channel)
{
    struct shm_channel *self = self_of(channel);

    for (int i = 0; i < self->sharer_count; i++) {
        struct shared *shared = &self->shared[self->sharers[i]];

        while (shared->held) {
            struct channel_message *message = shared->held;

            shared->held = message->next;
            channel_drop(channel, message);
        }
    }
    channel_destroy(channel->inner);
    free(self->sharers);
    free(self->shared);
    free(self);
}

static const struct channel_ops shm_ops = {
    .send = shm_send,
    .receive = shm_receive,
    .drain = shm_drain,
    .destroy = shm_destroy,
    .prepare = shm_prepare,
    .sleep = shm_sleep,
    .wake = shm_wake,
    .has_room = shm_has_room,
};

omprma_status_t shm_channel_create(struct channel *inner, const struct shm_options *options,
                                   struct channel **channel)
{
    struct shm_channel *self = calloc(1, sizeof(*self));

    if (!self) {
        channel_destroy(inner);
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for the control channel");
    }
    self->base.ops = &shm_ops;
    self->base.inner = inner;
    self->options = *options;
    self->base.hears = options->descriptors && inner->ops->descriptor;
    self->inner_descriptor = -1;
    self->polls_per_look = POLLS_PER_LOOK;
    self->polls_most = options->is_awaited ? POLLS_PER_LOOK : POLLS_MOST;
    self->shared = calloc((size_t)options->ranks, sizeof(*self->shared));
    self->sharers = calloc((size_t)options->ranks, sizeof(*self->sharers));
    if (!self->shared || !self->sharers) {
        shm_destroy(&self->base);
        /* cppcheck-suppress memleak ; that has freed it */
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for the control channel");
    }
    *channel = &self->base;
    return OMPRMA_OK;
}

/* Maps all pages of the shared memory now, not by a fault of each one when messages get there. They
 * are written, since reading is not enough where a hypervisor keeps page tables of its own: there
 * the first write takes 5 us. The other process may be writing, too. */
static void touch(void *memory, size_t bytes)
{
    volatile char *at = memory; /* else it may become a read */

    for (size_t i = 0; i < bytes; i += PAGE)
        __atomic_fetch_or(at + i, 0, __ATOMIC_RELAXED);
}

void shm_channel_share(struct channel *channel, int peer, void *memory, bool is_owner)
{
    struct shm_channel *self = self_of(channel);
    struct shared *shared = &self->shared[peer];
    struct fifo *to_owner = memory;
    struct fifo *from_owner = (struct fifo *)(void *)((char *)memory + FIFO_BYTES);

    shared->to.fifo = is_owner ? from_owner : to_owner;
    shared->from.fifo = is_owner ? to_owner : from_owner;
    self->sharers[self->sharer_count++] = peer;
    channel->short_bytes = FIFO_MESSAGE_BYTES;
    touch(memory, SHM_CHANNEL_BYTES);
    fifo_open(shared->from.fifo);
}
