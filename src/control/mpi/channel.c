/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * channel.c: control messages over MPI point to point. Some receives from any source are kept
 * posted, so that a short message is copied once, from the transport into the message; sends are
 * immediate and are collected when they are done.
 *
 * MPI matches messages of a peer with receives in the order in which both were made, but does not
 * end the receives in that order: a long message may still be coming, or its sender have been
 * stopped in the middle, when those behind it are there. Only when a receive ends it tells of whom.
 * So what is there is given out when everything posted before is there as well, or when its serial
 * says that it is the next one of its sender.
 */
#include "control/mpi/channel.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "control/mpi/tags.h"
#include "control/mpi/world.h"
#include "control/mpi/yield.h"

enum {
    SLOTS = 8,
    LOOKS_PER_SWEEP = 8 /* most looks are at the receive that is the next to end */
};

struct mpi_channel {
    struct channel base;
    MPI_Comm comm;
    struct channel_message *slots[SLOTS]; /* receives */
    MPI_Request requests[SLOTS];          /* MPI_REQUEST_NULL: it has ended, or is not posted */
    unsigned order[SLOTS], posted;        /* slots that are not given out, as they were posted */
    unsigned empty, looks;                /* the slot that may have to be posted; see above */
    bool deaf;                            /* a receive has failed */
    struct channel_message *leaving;      /* sends that are not done, newest first */
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
        self->base.is_sending = self->leaving != NULL;
        self->base.failed_peer = message->peer;
        channel_drop(&self->base, message);
        if (code != MPI_SUCCESS)
            return world_error(code, "sending a control message");
    }
    return OMPRMA_OK;
}

static omprma_status_t mpi_send(struct channel *channel, struct channel_message *message)
{
    struct mpi_channel *self = self_of(channel);
    MPI_Request request;
    int done = 0, code = MPI_Isend(message->data, (int)message->bytes, MPI_BYTE, message->peer,
                                   CONTROL_TAG, self->comm, &request);

    if (code == MPI_SUCCESS)
        code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) {
        channel_drop(channel, message);
        return world_error(code, "sending a control message");
    }
    if (done) {
        channel_drop(channel, message);
    } else {
        keep_request(message, request);
        message->next = self->leaving;
        self->leaving = message;
        channel->is_sending = true;
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

/* The place in the order of the next message to be given out; SLOTS if there is none. */
static unsigned find_next(const struct mpi_channel *self)
{
    for (unsigned i = 0; i < self->posted; i++) {
        const struct channel_message *message = self->slots[self->order[i]];

        if (self->requests[self->order[i]] != MPI_REQUEST_NULL)
            continue;
        if (i == 0 ||
            wire_serial(message->data, message->bytes) == self->base.serials[message->peer] + 1)
            return i;
    }
    return SLOTS;
}

static struct channel_message *give_out(struct mpi_channel *self, unsigned place)
{
    unsigned slot = self->order[place];
    struct channel_message *message = self->slots[slot];

    self->base.serials[message->peer] = wire_serial(message->data, message->bytes);
    self->slots[slot] = NULL;
    self->empty = slot;
    self->posted--;
    for (unsigned i = place; i < self->posted; i++)
        self->order[i] = self->order[i + 1];
    return message;
}

static omprma_status_t receive(struct mpi_channel *self, struct channel_message **message)
{
    omprma_status_t failed;
    unsigned place;
    bool arrived;

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
    if (place < SLOTS)
        *message = give_out(self, place);
    return OMPRMA_OK;
}

static omprma_status_t mpi_receive(struct channel *channel, struct channel_message **message)
{
    struct mpi_channel *self = self_of(channel);
    omprma_status_t status = OMPRMA_OK;

    *message = NULL;
    if (self->deaf)
        return turn_deaf(self, error_set(OMPRMA_ERR_MPI, "receiving control messages has failed"));
    if (self->leaving && (status = collect(self)) != OMPRMA_OK)
        return status;
    status = receive(self, message);
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
    free(self->base.serials);
    free(self);
}

static const struct channel_ops mpi_ops = {
    .send = mpi_send,
    .receive = mpi_receive,
    .drain = mpi_drain,
    .destroy = mpi_destroy,
};

omprma_status_t mpi_channel_create(const struct world *world, struct channel **channel)
{
    struct mpi_channel *self = calloc(1, sizeof(*self));
    omprma_status_t status = OMPRMA_OK;

    if (!self)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for the control channel");
    self->base.ops = &mpi_ops;
    self->comm = world->mpi->control;
    for (unsigned i = 0; i < SLOTS; i++)
        self->requests[i] = MPI_REQUEST_NULL;
    self->base.serials = calloc((size_t)world->size, sizeof(*self->base.serials));
    if (!self->base.serials)
        status = error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for the control channel");
    for (unsigned i = 0; i < SLOTS && status == OMPRMA_OK; i++)
        status = post(self, i);
    if (status == OMPRMA_OK)
        *channel = &self->base;
    else
        mpi_destroy(&self->base);
    return status;
}
