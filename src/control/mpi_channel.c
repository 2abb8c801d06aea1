/*
 * mpi_channel.c: control messages over MPI point to point. A ring of receives from any source is
 * kept posted, so that a short message is copied once, from the transport into the message; sends
 * are immediate and are collected when they are done.
 */
#include "control/mpi_channel.h"

#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "control/mpi_world.h"
#include "control/mpi_yield.h"
#include "control/tags.h"

enum { RING = 8 };

struct mpi_channel {
    struct channel base;
    MPI_Comm comm;
    struct doorbell *own, **bells;
    bool can_sleep;
    int64_t remote_ns;
    struct channel_message *ring[RING]; /* posted receives, in matching order from `next` */
    MPI_Request requests[RING];
    unsigned next, empty; /* next to complete; the slot that may have to be posted again */
    bool deaf;            /* a receive has failed */
    struct channel_message *leaving; /* sends that are not done, newest first */
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
    self->ring[slot] = message;
    return OMPRMA_OK;
}

/* Recycles the messages whose sends are over, up to one that has failed. */
static omprma_status_t collect(struct mpi_channel *self)
{
    struct channel_message **link = &self->leaving;

    while (*link) {
        struct channel_message *message = *link;
        MPI_Request request = (MPI_Request)message->request;
        int done = 0, code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);

        message->request = (void *)request;
        if (code == MPI_SUCCESS && !done) {
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

static omprma_status_t mpi_send(struct channel *channel, struct channel_message *message)
{
    struct mpi_channel *self = self_of(channel);
    MPI_Request request;
    int peer = message->peer, done = 0;
    int code = MPI_Isend(message->data, (int)message->bytes, MPI_BYTE, peer, CONTROL_TAG,
                         self->comm, &request);

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
        message->request = (void *)request;
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

static omprma_status_t mpi_receive(struct channel *channel, struct channel_message **message)
{
    struct mpi_channel *self = self_of(channel);
    unsigned slot = self->next;
    omprma_status_t failed;
    MPI_Status status;
    int done = 0, bytes = 0, code;

    *message = NULL;
    if (self->deaf)
        return turn_deaf(self, error_set(OMPRMA_ERR_MPI, "receiving control messages has failed"));
    if (self->leaving && (failed = collect(self)) != OMPRMA_OK)
        return failed;
    /* The slot that gave the last message is filled again only now, when its message has been dealt
     * with: posting a receive is not on the way of an answer. The others are posted meanwhile. */
    if (!self->ring[self->empty] && (failed = post(self, self->empty)) != OMPRMA_OK)
        return turn_deaf(self, failed);
    code = MPI_Test(&self->requests[slot], &done, &status);
    if (code != MPI_SUCCESS)
        return turn_deaf(self, world_error(code, "receiving a control message"));
    if (!done)
        return OMPRMA_OK;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    *message = self->ring[slot];
    self->ring[slot] = NULL;
    self->empty = slot;
    self->next = (slot + 1) % RING;
    (*message)->bytes = (uint32_t)bytes;
    (*message)->peer = status.MPI_SOURCE;
    (*message)->next = NULL;
    return OMPRMA_OK;
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
    for (unsigned i = 0; i < RING; i++) {
        if (!self->ring[i])
            continue;
        MPI_Cancel(&self->requests[i]);
        MPI_Wait(&self->requests[i], MPI_STATUS_IGNORE);
        free(self->ring[i]);
    }
    mpi_yield_allow(false);
    while (self->base.spare) {
        struct channel_message *message = self->base.spare;

        self->base.spare = message->next;
        free(message);
    }
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
    self->comm = world->mpi->control;
    self->own = own;
    self->bells = bells;
    self->can_sleep = can_sleep;
    self->remote_ns = remote_ns;
    for (unsigned i = 0; i < RING; i++) {
        omprma_status_t status = post(self, i);

        if (status != OMPRMA_OK) {
            mpi_destroy(&self->base);
            return status;
        }
    }
    *channel = &self->base;
    return OMPRMA_OK;
}
