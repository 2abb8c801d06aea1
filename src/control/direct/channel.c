/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * channel.c: A message is its length and its bytes. Length 0 says that nothing follows, so that the
 * end of the stream is no news. A short message is read in one call of the kernel, with what is
 * behind it. Which sockets have something is asked of the kernel in one call, and of a single one
 * not at all.
 */
#define _GNU_SOURCE
#include "control/direct/channel.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "control/direct/world.h"

enum { READY_MOST = 8, AHEAD_BYTES = 4096 };

/* Both ways of one peer. */
struct line {
    struct link *link;
    struct channel_message *leaving, *last; /* not sent yet, oldest first */
    uint32_t head;                          /* length of the oldest one */
    struct iovec rest[2];                   /* what of that is still to be written */
    uint32_t length;                        /* of the message that comes */
    size_t come;                            /* bytes of length and message that are here */
    struct channel_message *coming;         /* NULL: its length is not known */
    bool said_farewell, ended;
    bool waits_for_room;    /* the kernel is asked for that, too */
    size_t ahead, ahead_at; /* bytes that were read ahead, and how many of them are used */
    char read_ahead[AHEAD_BYTES];
};

struct direct_channel {
    struct channel base;
    const struct world *world;
    int ready;   /* epoll */
    int senders; /* lines with messages that are leaving */
    int lines_count;
    int single;  /* the rank of the only line; -1: there are others */
    int further; /* the rank whose line has bytes that were read ahead; -1: none */
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

/* What the kernel tells of a line: that it can be read, and, while something is leaving, that it
 * can be written. */
static int listen_to(struct direct_channel *self, struct line *line, int operation)
{
    struct epoll_event event = {.events = line->leaving ? EPOLLIN | EPOLLOUT : EPOLLIN,
                                .data.u32 = (uint32_t)(line - self->lines)};

    line->waits_for_room = line->leaving != NULL;
    return epoll_ctl(self->ready, operation, line->link->fd, &event);
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
    if (line->waits_for_room != (line->leaving != NULL) && !line->ended)
        listen_to(self, line, EPOLL_CTL_MOD);
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

/* Waits for room. Nothing is read meanwhile, so the end of the other process is looked for. */
static bool is_gone(const struct line *line)
{
    struct pollfd room = {.fd = line->link->fd, .events = POLLOUT | POLLRDHUP};
    char byte;

    poll(&room, 1, -1);
    return line->link->ended || (room.revents & (POLLERR | POLLHUP | POLLNVAL)) ||
           recv(line->link->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
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

/* What was read ahead comes first. How many bytes. */
static size_t take_bytes(struct line *line, void *to, size_t bytes)
{
    struct iovec ranges[2] = {{to, bytes}, {line->read_ahead, AHEAD_BYTES}};
    size_t part = line->ahead - line->ahead_at;

    if (part == 0) {
        size_t come = link_read_two(line->link, ranges);

        line->ahead_at = 0;
        line->ahead = come > bytes ? come - bytes : 0;
        return come - line->ahead;
    }
    part = part < bytes ? part : bytes;
    memcpy(to, line->read_ahead + line->ahead_at, part);
    line->ahead_at += part;
    return part;
}

static bool has_ahead(const struct line *line)
{
    return line->ahead_at < line->ahead;
}

/* Reads on. True: a message is complete. */
static bool read_line(struct direct_channel *self, struct line *line, omprma_status_t *status)
{
    const size_t head = sizeof(line->length);

    if (!line->coming) {
        line->come += take_bytes(line, (char *)&line->length + line->come, head - line->come);
        if (line->come == head)
            *status = begin_message(self, line);
    }
    if (!line->coming)
        return false;
    line->come +=
        take_bytes(line, line->coming->data + line->come - head, head + line->length - line->come);
    if (line->come < head + line->length && !line->link->ended && !has_ahead(line) &&
        line->length > AHEAD_BYTES) /* the rest of a long one may be there, too */
        line->come += take_bytes(line, line->coming->data + line->come - head,
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
    line->ended = true;
    line->ahead = line->ahead_at = 0;
    forget(self, line);
    if (line->said_farewell)
        return OMPRMA_OK;
    if (self->world->rank != self->world->head)
        return error_set(OMPRMA_ERR_CLOSED, "the program has ended");
    direct_end_of(self->world, rank, how, sizeof(how));
    return error_set(OMPRMA_ERR_DEVICE_LOST, "its worker, process %d, %s",
                     (int)self->world->direct->pids[rank], how);
}

/* What a peer has sent. */
static omprma_status_t receive_from(struct direct_channel *self, int rank,
                                    struct channel_message **message)
{
    struct line *line = &self->lines[rank];
    omprma_status_t status = OMPRMA_OK;

    if (line->ended) {
        self->further = -1;
        self->base.has_more = false;
        return OMPRMA_OK;
    }
    if (read_line(self, line, &status))
        *message = give_out(self, rank);
    else if (status == OMPRMA_OK && line->link->ended)
        status = note_end(self, rank);
    self->base.has_more = has_ahead(line);
    self->further = self->base.has_more ? rank : -1;
    if (status != OMPRMA_OK)
        self->base.failed_peer = rank;
    return status;
}

/* The peers that have something, each once, until there is a message. */
static omprma_status_t receive(struct direct_channel *self, struct channel_message **message)
{
    struct epoll_event events[READY_MOST];
    omprma_status_t status = OMPRMA_OK;
    int count;

    while (self->further >= 0 && !*message && status == OMPRMA_OK)
        status = receive_from(self, self->further, message);
    if (*message || status != OMPRMA_OK)
        return status;
    if (self->single >= 0)
        return receive_from(self, self->single, message);
    count = epoll_wait(self->ready, events, READY_MOST, 0);
    for (int i = 0; i < count && !*message && status == OMPRMA_OK; i++)
        if (events[i].data.u32 != (uint32_t)self->world->size) /* not UCX's, see listen_to_ucx() */
            status = receive_from(self, (int)events[i].data.u32, message);
    return status;
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

static int direct_descriptor(const struct channel *channel)
{
    const struct direct_channel *self = (const struct direct_channel *)channel;

    /* A socket wakes sooner than what stands for many of them. */
    return self->single >= 0 && !self->lines[self->single].ended && !channel->is_sending
               ? self->lines[self->single].link->fd
               : self->ready;
}

static const struct channel_ops direct_ops = {
    .send = direct_send,
    .receive = direct_receive,
    .drain = direct_drain,
    .destroy = direct_destroy,
    .descriptor = direct_descriptor,
};

static omprma_status_t add_line(struct direct_channel *self, int rank)
{
    struct link *link = &self->world->direct->messages[rank];

    if (link->fd < 0)
        return OMPRMA_OK;
    self->lines[rank].link = link;
    self->single = self->lines_count++ ? -1 : rank;
    return listen_to(self, &self->lines[rank], EPOLL_CTL_ADD) == 0
               ? OMPRMA_OK
               : error_set(OMPRMA_ERR_HOST_MEMORY, "cannot wait for a socket: %s", strerror(errno));
}

/* Whoever sleeps until messages come is to wake for UCX as well. */
static omprma_status_t listen_to_ucx(struct direct_channel *self)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)self->world->size};
    int events = self->world->direct->ucx_events;

    if (events >= 0)
        self->single = -1;
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
    self->single = self->further = -1;
    self->ready = epoll_create1(EPOLL_CLOEXEC);
    self->base.serials = calloc(ranks, sizeof(*self->base.serials));
    if (self->ready < 0 || !self->base.serials)
        status = error_set(OMPRMA_ERR_HOST_MEMORY, "cannot make the control channel: %s",
                           strerror(errno));
    for (int rank = 0; rank < world->size && status == OMPRMA_OK; rank++)
        status = add_line(self, rank);
    if (status == OMPRMA_OK)
        status = listen_to_ucx(self);
    if (status == OMPRMA_OK)
        *channel = &self->base;
    else
        direct_destroy(&self->base);
    return status;
}
