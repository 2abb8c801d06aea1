/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* null_channel.c: one inbox and one doorbell per rank. See null_channel.h. */
#include "tests/null/null_channel.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/error.h"
#include "control/shm/doorbell.h"

struct inbox {
    pthread_mutex_t lock;
    struct channel_message *first, *last;
    struct doorbell *bell;
};

struct null_network {
    int ranks;
    struct inbox inbox[];
};

struct null_channel {
    struct channel base;
    struct null_network *network;
    int rank;
    int failing_peer;    /* -1: none */
    int failed_receives; /* -1: they do not fail */
};

static struct inbox *inbox_of(struct channel *channel)
{
    struct null_channel *self = (struct null_channel *)channel;

    return &self->network->inbox[self->rank];
}

static omprma_status_t null_send(struct channel *channel, struct channel_message *message)
{
    struct null_channel *self = (struct null_channel *)channel;
    struct inbox *to;

    if (message->peer == self->failing_peer) {
        channel_drop(channel, message);
        return error_set(OMPRMA_ERR_MPI, "sending a control message: told to fail");
    }
    if (message->peer < 0 || message->peer >= self->network->ranks) {
        int peer = message->peer;

        channel_drop(channel, message);
        return error_set(OMPRMA_ERR_ARGUMENT, "a message to rank %d of %d", peer,
                         self->network->ranks);
    }
    to = &self->network->inbox[message->peer];
    message->peer = self->rank;
    message->next = NULL;
    pthread_mutex_lock(&to->lock);
    if (to->last)
        to->last->next = message;
    else
        to->first = message;
    to->last = message;
    pthread_mutex_unlock(&to->lock);
    doorbell_ring(to->bell);
    return OMPRMA_OK;
}

static omprma_status_t null_receive(struct channel *channel, struct channel_message **message)
{
    struct null_channel *self = (struct null_channel *)channel;
    struct inbox *inbox = inbox_of(channel);

    *message = NULL;
    if (self->failed_receives >= 0) {
        channel->failed_peer = -1;
        return error_set(OMPRMA_ERR_MPI, "receiving a control message: told to fail, %d before",
                         self->failed_receives++);
    }
    pthread_mutex_lock(&inbox->lock);
    *message = inbox->first;
    if (inbox->first) {
        inbox->first = inbox->first->next;
        if (!inbox->first)
            inbox->last = NULL;
        (*message)->next = NULL;
    }
    pthread_mutex_unlock(&inbox->lock);
    return OMPRMA_OK;
}

static omprma_status_t null_drain(struct channel *channel)
{
    (void)channel; /* a message has left when null_send() returns */
    return OMPRMA_OK;
}

static void null_prepare(struct channel *channel, bool on)
{
    if (on)
        doorbell_prepare(inbox_of(channel)->bell);
    else
        doorbell_cancel(inbox_of(channel)->bell);
}

static void null_sleep(struct channel *channel, int64_t ns, int also)
{
    (void)also;
    doorbell_sleep(inbox_of(channel)->bell, ns);
}

static void null_wake(struct channel *channel)
{
    doorbell_ring(inbox_of(channel)->bell);
}

static void free_list(struct channel_message *message)
{
    while (message) {
        struct channel_message *next = message->next;

        free(message);
        message = next;
    }
}

static void null_destroy(struct channel *channel)
{
    free_list(channel->spare);
    free(channel);
}

static const struct channel_ops null_ops = {
    .send = null_send,
    .receive = null_receive,
    .drain = null_drain,
    .prepare = null_prepare,
    .sleep = null_sleep,
    .wake = null_wake,
    .destroy = null_destroy,
};

omprma_status_t null_network_create(int ranks, struct null_network **out)
{
    struct null_network *network =
        calloc(1, sizeof(*network) + (size_t)ranks * sizeof(network->inbox[0]));

    if (!network)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for %d ranks", ranks);
    while (network->ranks < ranks) {
        struct inbox *inbox = &network->inbox[network->ranks];
        struct shm_address address;
        omprma_status_t status = doorbell_create(&inbox->bell, 0, &address);

        if (status != OMPRMA_OK) {
            null_network_destroy(network);
            return status;
        }
        pthread_mutex_init(&inbox->lock, NULL);
        network->ranks++;
    }
    *out = network;
    return OMPRMA_OK;
}

void null_network_destroy(struct null_network *network)
{
    if (!network)
        return;
    for (int rank = 0; rank < network->ranks; rank++) {
        free_list(network->inbox[rank].first);
        doorbell_close(network->inbox[rank].bell);
        pthread_mutex_destroy(&network->inbox[rank].lock);
    }
    free(network);
}

omprma_status_t null_channel_create(struct null_network *network, int rank,
                                    struct channel **channel)
{
    struct null_channel *self = calloc(1, sizeof(*self));

    if (!self)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a channel");
    self->base.ops = &null_ops;
    self->network = network;
    self->rank = rank;
    self->failing_peer = -1;
    self->failed_receives = -1;
    *channel = &self->base;
    return OMPRMA_OK;
}

void null_channel_fail_sends(struct channel *channel, int peer)
{
    struct null_channel *self = (struct null_channel *)channel;

    self->failing_peer = peer;
}

void null_channel_fail_receives(struct channel *channel)
{
    struct null_channel *self = (struct null_channel *)channel;

    self->failed_receives = 0;
}
