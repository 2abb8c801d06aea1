/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * channel.c: A message is its length and its bytes. Length 0 says that nothing follows, so that the
 * end of the stream is no news. Which sockets have something is asked of the kernel in one call.
 */
#include "control/direct/channel.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "control/direct/world.h"

enum { READY_MOST = 8 };

/* Both ways of one peer. */
struct line {
    struct link *link;
    struct channel_message *leaving, *last; /* not sent yet, oldest first */
    uint32_t head;                          /* length of the oldest one */
    struct iovec rest[2];                   /* what of that is still to be written */
    uint32_t length;                        /* of the message that comes */
    size_t come;                            /* bytes of length and message that are here */
    struct channel_message *coming;         /* NULL: its length is not known */
    bool said_farewell;
};

struct direct_channel {
    struct channel base;
    const struct world *world;
    int ready;   /* epoll */
    int senders; /* lines with messages that are leaving */
    struct line lines[];
};

static struct direct_channel *self_of(struct channel *channel)
{
    return (struct direct_channel *)channel;
}

/* ---- sending ---- */

static void write_oldest(struct line *line)
{
    struct channel_message *message = line->leaving;

    line->head = message->bytes;
    line->rest[0] = (struct iovec){&line->head, sizeof(line->head)};
    line->rest[1] = (struct iovec){message->data, message->bytes};
}

static void write_line(struct direct_channel *self, struct line *line)
{
    while (line->leaving && link_write(line->link, line->rest)) {
        struct channel_message *message = line->leaving;

        line->leaving = message->next;
        channel_drop(&self->base, message);
        if (line->leaving)
            write_oldest(line);
        else
            self->senders--;
    }
    self->base.is_sending = self->senders > 0;
}

static void write_all(struct direct_channel *self)
{
    for (int rank = 0; rank < self->world->size && self->senders > 0; rank++)
        if (self->lines[rank].leaving)
            write_line(self, &self->lines[rank]);
}

static omprma_status_t direct_send(struct channel *channel, struct channel_message *message)
{
    struct direct_channel *self = self_of(channel);
    struct line *line = &self->lines[message->peer];

    message->next = NULL;
    if (line->leaving) {
        line->last->next = message;
    } else {
        line->leaving = message;
        write_oldest(line);
        self->senders++;
    }
    line->last = message;
    write_line(self, line);
    return OMPRMA_OK;
}

/* What a peer does not take that has ended goes nowhere. */
static void forget(struct direct_channel *self, struct line *line)
{
    self->senders -= line->leaving != NULL;
    while (line->leaving) {
        struct channel_message *message = line->leaving;

        line->leaving = message->next;
        channel_drop(&self->base, message);
    }
    self->base.is_sending = self->senders > 0;
}

/* Nothing is read meanwhile, so the end of the other process is looked for. */
static bool is_gone(const struct line *line)
{
    char byte;

    return line->link->ended || recv(line->link->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

static omprma_status_t direct_drain(struct channel *channel)
{
    struct direct_channel *self = self_of(channel);

    for (int rank = 0; rank < self->world->size; rank++) {
        struct line *line = &self->lines[rank];

        while (line->leaving) {
            write_line(self, line);
            if (!line->leaving)
                break;
            if (is_gone(line))
                forget(self, line);
            else
                sched_yield();
        }
    }
    return OMPRMA_OK;
}

/* ---- receiving ---- */

static omprma_status_t no_memory(void)
{
    return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a control message");
}

/* Its length is here. */
static omprma_status_t begin_message(struct direct_channel *self, struct line *line)
{
    if (line->length == 0) {
        line->said_farewell = true;
        line->come = 0;
        return OMPRMA_OK;
    }
    if (line->length > WIRE_MESSAGE_BYTES) {
        line->link->ended = true;
        return error_set(OMPRMA_ERR_PROTOCOL, "a control message of %u bytes, and %d is the most",
                         line->length, WIRE_MESSAGE_BYTES);
    }
    line->coming = channel_take(&self->base);
    return line->coming ? OMPRMA_OK : no_memory();
}

/* Reads on. True: a message is complete. */
static bool read_line(struct direct_channel *self, struct line *line, omprma_status_t *status)
{
    const size_t head = sizeof(line->length);

    if (!line->coming) {
        line->come += link_read(line->link, (char *)&line->length + line->come, head - line->come);
        if (line->come == head)
            *status = begin_message(self, line);
    }
    if (!line->coming)
        return false;
    line->come += link_read(line->link, line->coming->data + line->come - head,
                            head + line->length - line->come);
    return line->come == head + line->length;
}

static struct channel_message *give_out(struct direct_channel *self, int rank)
{
    struct line *line = &self->lines[rank];
    struct channel_message *message = line->coming;

    message->bytes = line->length;
    message->peer = rank;
    message->next = NULL;
    line->coming = NULL;
    line->come = 0;
    self->base.serials[rank] = wire_serial(message->data, message->bytes);
    return message;
}

/* The other process has ended, and is not looked at any more. */
static omprma_status_t note_end(struct direct_channel *self, int rank)
{
    struct line *line = &self->lines[rank];
    char how[128];

    epoll_ctl(self->ready, EPOLL_CTL_DEL, line->link->fd, NULL);
    forget(self, line);
    if (line->said_farewell)
        return OMPRMA_OK;
    if (self->world->rank != self->world->head)
        return error_set(OMPRMA_ERR_CLOSED, "the program has ended");
    direct_end_of(self->world, rank, how, sizeof(how));
    return error_set(OMPRMA_ERR_DEVICE_LOST, "its worker, process %d, %s",
                     (int)self->world->direct->pids[rank], how);
}

/* The peers that have something, each once, until there is a message. */
static omprma_status_t receive(struct direct_channel *self, struct channel_message **message)
{
    struct epoll_event events[READY_MOST];
    int count = epoll_wait(self->ready, events, READY_MOST, 0);

    for (int i = 0; i < count; i++) {
        int rank = (int)events[i].data.u32;
        struct line *line = &self->lines[rank];
        omprma_status_t status = OMPRMA_OK;

        if (rank == self->world->size) /* not for the channel: see listen_to_ucx() */
            continue;
        if (read_line(self, line, &status)) {
            *message = give_out(self, rank);
            return OMPRMA_OK;
        }
        if (status == OMPRMA_OK && line->link->ended)
            status = note_end(self, rank);
        if (status == OMPRMA_OK)
            continue;
        self->base.failed_peer = rank;
        return status;
    }
    return OMPRMA_OK;
}

static omprma_status_t direct_receive(struct channel *channel, struct channel_message **message)
{
    struct direct_channel *self = self_of(channel);

    *message = NULL;
    self->base.must_look = false;
    write_all(self);
    return receive(self, message);
}

/* ---- beginning and end ---- */

/* The peers need not take this process's end for a failure. */
static void say_farewell(struct direct_channel *self)
{
    uint32_t none = 0;

    for (int rank = 0; rank < self->world->size; rank++) {
        struct iovec ranges[2] = {{&none, sizeof(none)}};

        if (self->lines[rank].link && !self->lines[rank].leaving)
            link_write(self->lines[rank].link, ranges);
    }
}

static void direct_destroy(struct channel *channel)
{
    struct direct_channel *self = self_of(channel);

    say_farewell(self);
    for (int rank = 0; rank < self->world->size; rank++) {
        forget(self, &self->lines[rank]);
        free(self->lines[rank].coming);
    }
    while (self->base.spare) {
        struct channel_message *message = self->base.spare;

        self->base.spare = message->next;
        free(message);
    }
    if (self->ready >= 0)
        close(self->ready);
    free(self->base.serials);
    free(self);
}

static const struct channel_ops direct_ops = {
    .send = direct_send,
    .receive = direct_receive,
    .drain = direct_drain,
    .destroy = direct_destroy,
};

static omprma_status_t listen_to(struct direct_channel *self, int rank)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)rank};
    struct link *link = &self->world->direct->messages[rank];

    if (link->fd < 0)
        return OMPRMA_OK;
    self->lines[rank].link = link;
    return epoll_ctl(self->ready, EPOLL_CTL_ADD, link->fd, &event) == 0
               ? OMPRMA_OK
               : error_set(OMPRMA_ERR_HOST_MEMORY, "cannot wait for a socket: %s", strerror(errno));
}

/* Whoever sleeps until messages come is to wake for UCX as well. */
static omprma_status_t listen_to_ucx(struct direct_channel *self)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)self->world->size};
    int events = self->world->direct->ucx_events;

    return events < 0 || epoll_ctl(self->ready, EPOLL_CTL_ADD, events, &event) == 0
               ? OMPRMA_OK
               : error_set(OMPRMA_ERR_HOST_MEMORY, "cannot wait for UCX: %s", strerror(errno));
}

omprma_status_t direct_channel_create(const struct world *world, struct channel **channel)
{
    size_t ranks = (size_t)world->size;
    struct direct_channel *self = calloc(1, sizeof(*self) + ranks * sizeof(*self->lines));
    omprma_status_t status = OMPRMA_OK;

    if (!self)
        return no_memory();
    self->base.ops = &direct_ops;
    self->world = world;
    self->ready = epoll_create1(EPOLL_CLOEXEC);
    self->base.serials = calloc(ranks, sizeof(*self->base.serials));
    if (self->ready < 0 || !self->base.serials)
        status = error_set(OMPRMA_ERR_HOST_MEMORY, "cannot make the control channel: %s",
                           strerror(errno));
    for (int rank = 0; rank < world->size && status == OMPRMA_OK; rank++)
        status = listen_to(self, rank);
    if (status == OMPRMA_OK)
        status = listen_to_ucx(self);
    if (status == OMPRMA_OK)
        *channel = &self->base;
    else
        direct_destroy(&self->base);
    return status;
}
