/*
 * channel.c: control messages over MPI point to point. Some receives from any source are kept
 * posted, so that a short message is copied once, from the transport into the message; sends are
 * immediate and are collected when they are done. Between processes of a host short messages go
 * through shared memory instead, where they take a fraction of MPI's time.
 *
 * MPI matches messages of a peer with receives in the order in which both were made, but does not
 * end the receives in that order: a long message may still be coming, or its sender have been
 * stopped in the middle, when those behind it are there. Only when a receive ends it tells of whom.
 * So what is there is given out when everything posted before is there as well, or when its serial
 * says that it is the next one of its sender. Where messages come by both ways, only the serial
 * counts.
 */
#include "control/mpi/channel.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "control/mpi/tags.h"
#include "control/mpi/world.h"
#include "control/mpi/yield.h"
#include "control/shm/fifo.h"

enum {
    SLOTS = 8,
    LOOKS_PER_SWEEP = 8, /* most looks are at the receive that is the next to end */
    POLLS_PER_LOOK = 4,  /* of shared memory while nothing comes, for one look at MPI; */
    POLLS_MOST = 16,     /* twice as many after each look that has found nothing */
    PAGE = 4096,
    AHEAD_MOST = 1 << 20 /* a serial that is further ahead of its peer's last one is damaged */
};

enum way { WAY_NONE, WAY_SHARED, WAY_MPI };

/* Memory shared with a peer, for short messages. */
struct shared {
    struct fifo_end to, from; /* without FIFOs: there is none */
    bool is_open;             /* `to` */
};

struct mpi_channel {
    struct channel base;
    MPI_Comm comm;
    struct doorbell *own, **bells;
    bool can_sleep;
    int64_t remote_ns;
    struct channel_message *slots[SLOTS]; /* receives */
    MPI_Request requests[SLOTS];          /* MPI_REQUEST_NULL: it has ended, or is not posted */
    unsigned order[SLOTS], posted;        /* slots that are not given out, as they were posted */
    unsigned empty, looks;                /* the slot that may have to be posted; see above */
    uint32_t *serials;                    /* by rank: of the last message given out */
    bool deaf;                            /* a receive has failed */
    struct channel_message *leaving;      /* sends that are not done, newest first */
    struct shared *shared;                /* by rank */
    int *sharers, sharer_count;           /* their ranks */
    int next_sharer;                      /* whose turn it is */
    bool shared_is_used;                  /* a message has gone or come that way */
    enum way gave;                        /* the message of the last channel_receive() */
    unsigned polls, polls_per_look;       /* since the last look at MPI; see above */
    unsigned polls_most;
};

static struct mpi_channel *self_of(struct channel *channel)
{
    return (struct mpi_channel *)channel;
}

static omprma_status_t post(struct mpi_channel *self, unsigned slot)
{
    struct channel_message *message = channel_take(&self->base);
    int code;

    if (!message)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a control message");
    code = MPI_Irecv(message->data, WIRE_MESSAGE_BYTES, MPI_BYTE, MPI_ANY_SOURCE, CONTROL_TAG,
                     self->comm, &self->requests[slot]);
    if (code != MPI_SUCCESS) {
        channel_drop(&self->base, message);
        return world_error(code, "posting a receive");
    }
    self->slots[slot] = message;
    self->order[self->posted++] = slot;
    return OMPRMA_OK;
}

/* A request is a pointer in some MPI libraries, and an integer in others. */
static void keep_request(struct channel_message *message, MPI_Request request)
{
    _Static_assert(sizeof(request) <= sizeof(message->request), "room for a request");
    memcpy(&message->request, &request, sizeof(request));
}

static MPI_Request request_of(const struct channel_message *message)
{
    MPI_Request request;

    memcpy(&request, &message->request, sizeof(request));
    return request;
}

/* Recycles the messages whose sends are over, up to one that has failed. */
static omprma_status_t collect(struct mpi_channel *self)
{
    struct channel_message **link = &self->leaving;

    while (*link) {
        struct channel_message *message = *link;
        MPI_Request request = request_of(message);
        int done = 0, code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);

        if (code == MPI_SUCCESS && !done) {
            keep_request(message, request);
            link = &message->next;
            continue;
        }
        *link = message->next;
        self->base.failed_peer = message->peer;
        channel_drop(&self->base, message);
        if (code != MPI_SUCCESS)
            return world_error(code, "sending a control message");
    }
    return OMPRMA_OK;
}

/* True if it went through shared memory. */
static bool send_shared(struct mpi_channel *self, const struct channel_message *message)
{
    struct shared *shared = &self->shared[message->peer];

    if (!shared->to.fifo || (!shared->is_open && !fifo_is_open(shared->to.fifo)))
        return false;
    shared->is_open = self->shared_is_used = true;
    return fifo_push(&shared->to, message->data, message->bytes);
}

static omprma_status_t mpi_send(struct channel *channel, struct channel_message *message)
{
    struct mpi_channel *self = self_of(channel);
    MPI_Request request;
    int peer = message->peer, done = 0, code;

    if (send_shared(self, message)) {
        channel_drop(channel, message);
        if (self->bells)
            doorbell_ring(self->bells[peer]);
        return OMPRMA_OK;
    }
    code = MPI_Isend(message->data, (int)message->bytes, MPI_BYTE, peer, CONTROL_TAG, self->comm,
                     &request);
    if (code == MPI_SUCCESS)
        code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) {
        channel_drop(channel, message);
        return world_error(code, "sending a control message");
    }
    if (self->bells)
        doorbell_ring(self->bells[peer]);
    if (done) {
        channel_drop(channel, message);
    } else {
        keep_request(message, request);
        message->next = self->leaving;
        self->leaving = message;
    }
    return OMPRMA_OK;
}

/* What a receive that has failed leaves behind is nothing to go on with. */
static omprma_status_t turn_deaf(struct mpi_channel *self, omprma_status_t status)
{
    self->deaf = true;
    self->base.failed_peer = -1;
    return status;
}

/* A receive has ended. */
static int note_arrival(struct mpi_channel *self, unsigned slot, const MPI_Status *status)
{
    struct channel_message *message = self->slots[slot];
    int bytes = 0, code = MPI_Get_count(status, MPI_BYTE, &bytes);

    message->bytes = (uint32_t)bytes;
    message->peer = status->MPI_SOURCE;
    message->next = NULL;
    return code;
}

/* Looks at the receive that was posted first, now and then and before a sleep at all of them. True
 * in *arrived: one has ended. */
static int look(struct mpi_channel *self, bool *arrived)
{
    int slot = (int)self->order[0], done = 0, code = MPI_SUCCESS;
    bool all = self->base.must_look || ++self->looks % LOOKS_PER_SWEEP == 0;
    MPI_Status status;

    if (self->requests[slot] != MPI_REQUEST_NULL)
        code = MPI_Test(&self->requests[slot], &done, &status);
    else
        all = true; /* MPI goes on only when it is called */
    if (code == MPI_SUCCESS && !done && all)
        code = MPI_Testany(SLOTS, self->requests, &slot, &done, &status);
    *arrived = code == MPI_SUCCESS && done && slot != MPI_UNDEFINED;
    return *arrived ? note_arrival(self, (unsigned)slot, &status) : code;
}

/* How many messages of its sender are still missing before this one. */
static uint32_t count_missing(const struct mpi_channel *self, int peer, const void *data,
                              uint32_t bytes)
{
    return wire_serial(data, bytes) - self->serials[peer] - 1;
}

/* A message that is the next one of its sender. So is one whose serial no message can have: others
 * judge it. */
static bool is_due(const struct mpi_channel *self, int peer, const void *data, uint32_t bytes)
{
    uint32_t missing = count_missing(self, peer, data, bytes);

    return missing == 0 || missing > AHEAD_MOST;
}

/* The place in the order of the next message to be given out; SLOTS if there is none. */
static unsigned find_next(const struct mpi_channel *self)
{
    for (unsigned i = 0; i < self->posted; i++) {
        const struct channel_message *message = self->slots[self->order[i]];
        int peer;

        if (self->requests[self->order[i]] != MPI_REQUEST_NULL)
            continue;
        peer = message->peer;
        if (i == 0
                ? !self->shared[peer].from.fifo || is_due(self, peer, message->data, message->bytes)
                : count_missing(self, peer, message->data, message->bytes) == 0)
            return i;
    }
    return SLOTS;
}

static struct channel_message *give_out(struct mpi_channel *self, unsigned place)
{
    unsigned slot = self->order[place];
    struct channel_message *message = self->slots[slot];

    self->serials[message->peer] = wire_serial(message->data, message->bytes);
    self->slots[slot] = NULL;
    self->gave = WAY_MPI;
    self->empty = slot;
    self->posted--;
    for (unsigned i = place; i < self->posted; i++)
        self->order[i] = self->order[i + 1];
    return message;
}

/* The oldest message of a peer in shared memory, if it is due. */
static const void *peek_shared(struct mpi_channel *self, int peer, uint32_t *bytes)
{
    const void *data = fifo_peek(&self->shared[peer].from, bytes);

    if (!data || is_due(self, peer, data, *bytes))
        return data;
    self->polls = POLLS_MOST; /* MPI has what is missing */
    return NULL;
}

/* Takes a message out of shared memory: of each peer in turns. */
static omprma_status_t receive_shared(struct mpi_channel *self, struct channel_message **message)
{
    for (int i = 0; i < self->sharer_count; i++) {
        int peer = self->sharers[self->next_sharer];
        uint32_t bytes;
        const void *data = peek_shared(self, peer, &bytes);

        if (++self->next_sharer == self->sharer_count)
            self->next_sharer = 0;
        if (!data)
            continue;
        *message = channel_take(&self->base);
        if (!*message)
            return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a control message");
        memcpy((*message)->data, data, bytes);
        (*message)->bytes = bytes;
        (*message)->peer = peer;
        self->serials[peer] = wire_serial((*message)->data, bytes);
        fifo_pop(&self->shared[peer].from);
        self->shared_is_used = true;
        self->gave = WAY_SHARED;
        break;
    }
    return OMPRMA_OK;
}

/* Looks at MPI, and takes a message that came by it. */
static omprma_status_t receive_mpi(struct mpi_channel *self, struct channel_message **message)
{
    omprma_status_t failed;
    unsigned place;
    bool arrived;

    self->polls = 0;
    /* The slot that gave the last message is filled again only now, when its message has been dealt
     * with: posting a receive is not on the way of an answer. The others are posted meanwhile. */
    if (!self->slots[self->empty] && (failed = post(self, self->empty)) != OMPRMA_OK)
        return failed;
    do {
        int code = look(self, &arrived);

        if (code != MPI_SUCCESS)
            return world_error(code, "receiving a control message");
        place = find_next(self);
    } while (place == SLOTS && arrived && self->base.must_look);
    self->base.must_look = false;
    if (place < SLOTS) {
        *message = give_out(self, place);
        self->polls_per_look = POLLS_PER_LOOK;
    } else if (self->polls_per_look < self->polls_most) {
        self->polls_per_look *= 2;
    }
    return OMPRMA_OK;
}

/* A look at MPI takes as long as many at shared memory. It comes behind each message, when nobody
 * waits for the next one yet, and now and then: more often where a one-sided transfer of another
 * process waits until this one has called MPI. */
static bool mpi_is_due(struct mpi_channel *self, enum way gave)
{
    return !self->shared_is_used || self->base.must_look || gave != WAY_NONE ||
           ++self->polls > self->polls_per_look;
}

static omprma_status_t mpi_receive(struct channel *channel, struct channel_message **message)
{
    struct mpi_channel *self = self_of(channel);
    enum way gave = self->gave;
    omprma_status_t status = OMPRMA_OK;

    *message = NULL;
    self->gave = WAY_NONE;
    if (self->deaf)
        return turn_deaf(self, error_set(OMPRMA_ERR_MPI, "receiving control messages has failed"));
    if (self->leaving && (status = collect(self)) != OMPRMA_OK)
        return status;
    /* The way that gave the last message comes second: nobody starves. */
    if (gave != WAY_SHARED)
        status = receive_shared(self, message);
    if (status == OMPRMA_OK && !*message && mpi_is_due(self, gave))
        status = receive_mpi(self, message);
    if (status == OMPRMA_OK && !*message && gave == WAY_SHARED)
        status = receive_shared(self, message);
    return status == OMPRMA_OK ? OMPRMA_OK : turn_deaf(self, status);
}

static omprma_status_t mpi_drain(struct channel *channel)
{
    struct mpi_channel *self = self_of(channel);
    omprma_status_t status = OMPRMA_OK;

    mpi_yield_allow(true);
    while (self->leaving && status == OMPRMA_OK)
        status = collect(self);
    mpi_yield_allow(false);
    return status;
}

static void mpi_prepare(struct channel *channel, bool on)
{
    channel->must_look = on;
    if (on)
        doorbell_prepare(self_of(channel)->own);
    else
        doorbell_cancel(self_of(channel)->own);
}

/* Sleeps without holding anybody's lock, so it must not call MPI. */
static void mpi_sleep(struct channel *channel, int64_t ns)
{
    struct mpi_channel *self = self_of(channel);

    if (!self->can_sleep && ns > self->remote_ns)
        ns = self->remote_ns;
    doorbell_sleep(self->own, ns);
}

static void mpi_wake(struct channel *channel)
{
    doorbell_ring(self_of(channel)->own);
}

static void mpi_destroy(struct channel *channel)
{
    struct mpi_channel *self = self_of(channel);

    mpi_yield_allow(true);
    for (unsigned i = 0; i < SLOTS; i++) {
        if (self->requests[i] != MPI_REQUEST_NULL &&
            (MPI_Cancel(&self->requests[i]) != MPI_SUCCESS ||
             MPI_Wait(&self->requests[i], MPI_STATUS_IGNORE) != MPI_SUCCESS))
            continue; /* MPI may still write there */
        free(self->slots[i]);
    }
    mpi_yield_allow(false);
    while (self->base.spare) {
        struct channel_message *message = self->base.spare;

        self->base.spare = message->next;
        free(message);
    }
    free(self->sharers);
    free(self->shared);
    free(self->serials);
    free(self);
}

static const struct channel_ops mpi_ops = {
    .send = mpi_send,
    .receive = mpi_receive,
    .drain = mpi_drain,
    .prepare = mpi_prepare,
    .sleep = mpi_sleep,
    .wake = mpi_wake,
    .destroy = mpi_destroy,
};

omprma_status_t mpi_channel_create(const struct world *world, struct doorbell *own,
                                   struct doorbell **bells, bool can_sleep, int64_t remote_ns,
                                   struct channel **channel)
{
    struct mpi_channel *self = calloc(1, sizeof(*self));

    if (!self)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for the control channel");
    self->base.ops = &mpi_ops;
    for (unsigned i = 0; i < SLOTS; i++)
        self->requests[i] = MPI_REQUEST_NULL;
    self->serials = calloc((size_t)world->size, sizeof(*self->serials));
    self->shared = calloc((size_t)world->size, sizeof(*self->shared));
    self->sharers = calloc((size_t)world->size, sizeof(*self->sharers));
    if (!self->serials || !self->shared || !self->sharers) {
        mpi_destroy(&self->base);
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for the control channel");
    }
    self->comm = world->mpi->control;
    self->own = own;
    self->bells = bells;
    self->can_sleep = can_sleep;
    self->remote_ns = remote_ns;
    self->polls_per_look = POLLS_PER_LOOK;
    self->polls_most = world_is_passive(world) ? POLLS_MOST : POLLS_PER_LOOK;
    for (unsigned i = 0; i < SLOTS; i++) {
        omprma_status_t status = post(self, i);

        if (status != OMPRMA_OK) {
            mpi_destroy(&self->base);
            return status;
        }
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

void mpi_channel_share(struct channel *channel, int peer, void *memory, bool is_owner)
{
    struct mpi_channel *self = self_of(channel);
    struct shared *shared = &self->shared[peer];
    struct fifo *to_owner = memory;
    struct fifo *from_owner = (struct fifo *)(void *)((char *)memory + FIFO_BYTES);

    shared->to.fifo = is_owner ? from_owner : to_owner;
    shared->from.fifo = is_owner ? to_owner : from_owner;
    self->sharers[self->sharer_count++] = peer;
    self->base.short_bytes = FIFO_MESSAGE_BYTES;
    touch(memory, MPI_CHANNEL_SHARED_BYTES);
    fifo_open(shared->from.fifo);
}
