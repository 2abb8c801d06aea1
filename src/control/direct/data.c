/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * data.c: Whoever receives says that it is ready, with the transfer's tag, and only then data
 * comes, straight into its memory: nothing has to be kept for somebody who is not there yet, and no
 * transfer holds up another on the same socket. Data goes in pieces, of all transfers that are
 * ready in turns; the tag says whose a piece is, so it differs from that of each other transfer
 * that is under way.
 *
 * Between the program and a worker there is one socket for both directions. Between two workers
 * there is one for each: the one that sends makes it when it is first needed, and hands an end to
 * the other. Where that is on another host, it has the agents of both hosts do so, which hand each
 * an end. An end is handed over once, and whoever has done so does not ask whether it has come: it
 * waits at the other's door until that looks for it and may open one file more, and no stranger at
 * the door takes its place.
 */
#define _GNU_SOURCE
#include "control/direct/data.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "control/agent/join.h"
#include "control/direct/world.h"

enum {
    PIECE_MOST = 1 << 20,
    FRAMES_MOST = 8, /* read at a time */
    STRANGERS = 8,   /* that connect and say nothing */
    SCRATCH_BYTES = 64 << 10
};

enum kind { READY = 1, DATA, EMPTY };

/* Before each piece of data; alone, READY and EMPTY. */
struct frame {
    uint32_t kind, tag;
    uint64_t bytes;
};

/* Of one transfer. */
struct half {
    struct transfer *next;
    uint64_t framed; /* bytes that a frame was written for */
    bool ready;      /* whoever receives has said so */
};
_Static_assert(sizeof(struct half) <= TRANSFER_STATE_BYTES, "state of a transfer");

/* Tags in the order in which they came. */
struct tags {
    uint32_t *items;
    size_t count, room;
};

/* One socket and what goes over it. */
struct way {
    struct link *link, own;    /* the world's, or made here; NULL: not there yet */
    bool is_asked;             /* the agent was asked for it */
    struct transfer *out, *in; /* under way, oldest first */
    struct tags wishes;        /* READY frames to be written */
    struct tags early;         /* READY frames for transfers that have not begun here */
    struct transfer *sending;  /* whose piece is written; NULL: none, or it was abandoned */
    struct frame head;         /* of what is written */
    struct iovec rest[2];      /* what of that is still to be written */
    struct frame coming;       /* what is read */
    size_t come;               /* bytes of it that are here */
    struct transfer *taking;   /* whose data it is; NULL: nobody's any more */
    uint64_t left;             /* of its data */
    uint32_t asked;            /* what the kernel is to tell of it: events of epoll */
};

struct direct_data {
    struct datapath base;
    const struct world *world;
    struct way *to, *from; /* by rank; with the program's process only `to` is used, both ways */
    uint64_t piece_bytes;
    int ready;                   /* epoll, of ways with transfers: where somebody sleeps */
    int *doors, next_door;       /* connections that have not said yet whose they are; -1: none */
    char scratch[SCRATCH_BYTES]; /* what nobody wants is read here */
};

static struct half *half_of(struct transfer *transfer)
{
    return (struct half *)transfer->state;
}

static struct way *way_of(const struct direct_data *self, const struct transfer *t)
{
    bool both = self->world->rank == 0 || t->peer == 0;

    return both || t->direction == TRANSFER_OUT ? &self->to[t->peer] : &self->from[t->peer];
}

/* ---- lists ---- */

static bool tags_add(struct tags *tags, uint32_t tag)
{
    if (tags->count == tags->room) {
        size_t room = tags->room ? 2 * tags->room : 8;
        uint32_t *items = realloc(tags->items, room * sizeof(*items));

        if (!items)
            return false;
        tags->items = items;
        tags->room = room;
    }
    tags->items[tags->count++] = tag;
    return true;
}

static void tags_remove(struct tags *tags, size_t at)
{
    tags->count--;
    memmove(&tags->items[at], &tags->items[at + 1], (tags->count - at) * sizeof(*tags->items));
}

/* True if it was there. */
static bool tags_take(struct tags *tags, uint32_t tag)
{
    for (size_t i = 0; i < tags->count; i++)
        if (tags->items[i] == tag) {
            tags_remove(tags, i);
            return true;
        }
    return false;
}

static void add(struct transfer **list, struct transfer *t)
{
    while (*list)
        list = &half_of(*list)->next;
    half_of(t)->next = NULL;
    *list = t;
}

static void take_out(struct transfer **list, const struct transfer *t)
{
    while (*list && *list != t)
        list = &half_of(*list)->next;
    if (*list)
        *list = half_of(*list)->next;
}

/* ---- connections between workers ---- */

static omprma_status_t no_memory(void)
{
    return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for the two-sided data path");
}

/* There is none, and will be none. */
static void end_way(struct way *way)
{
    way->own = (struct link){.fd = -1, .ended = true};
    way->link = &way->own;
}

/* One comes to the door. */
static void ask_for_way(const struct direct_data *self, struct way *way, int peer)
{
    if (!way->is_asked && !direct_ask_way(self->world, peer))
        end_way(way);
    way->is_asked = true;
}

/* It cannot be made. Where the worker has ended, that is told elsewhere. */
static void miss_way(struct way *way)
{
    if (errno != ECONNREFUSED && errno != EPIPE && errno != ECONNRESET)
        end_way(way);
}

/* Hands the worker one end of a socket, with the rank of this one. */
static omprma_status_t make_way(const struct direct_data *self, struct way *way, int peer)
{
    const struct direct_arrival arrival = {.rank = self->world->rank};
    int ends[2], door = packet_connect(self->world->direct->names[peer]);

    if (door < 0) {
        miss_way(way);
        return OMPRMA_OK;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
        close(door);
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no socket to another worker can be made: %s",
                         strerror(errno));
    }
    if (packet_send_with(door, &arrival, sizeof(arrival), &ends[1], 1) < 0) {
        miss_way(way);
        close(ends[0]);
    } else {
        way->own = (struct link){.fd = ends[0]};
        way->link = &way->own;
    }
    close(ends[1]);
    close(door);
    return OMPRMA_OK;
}

/* An end of a socket to a worker; NULL: nobody waits for it. */
static struct way *way_for(struct direct_data *self, const struct direct_arrival *arrival)
{
    struct way *way;

    if (arrival->rank <= 0 || arrival->rank >= self->world->size)
        return NULL;
    way = arrival->is_ours ? &self->to[arrival->rank] : &self->from[arrival->rank];
    return way->link || (arrival->is_ours && !way->is_asked) ? NULL : way;
}

static int doors_of(const struct direct_data *self)
{
    return self->world->size + STRANGERS;
}

/* The kernel throws away an end that there is no room for. */
static bool may_open_one(int fd)
{
    int one = fcntl(fd, F_DUPFD_CLOEXEC, 0);

    if (one >= 0)
        close(one);
    return one >= 0;
}

/* Whoever has connected says who it is. False: not yet. */
static bool welcome(struct direct_data *self, int door)
{
    struct direct_arrival arrival;
    struct way *way = NULL;
    int end = -1, count = 0;
    ssize_t bytes;

    if (!may_open_one(door))
        return false;
    bytes = packet_receive_with(door, &arrival, sizeof(arrival), &end, 1, &count);
    if (bytes < 0 && errno == EAGAIN)
        return false;
    if (bytes == (ssize_t)sizeof(arrival))
        way = way_for(self, &arrival);
    if (way && count == 1) {
        way->own = (struct link){.fd = end};
        way->link = &way->own;
    } else if (way && arrival.is_ours) {
        end_way(way);
    } else if (count == 1) {
        close(end);
    }
    return true;
}

static void close_door(int *door)
{
    if (*door >= 0)
        close(*door);
    *door = -1;
}

/* The oldest one makes room: each other process has one at most, so among so many it is a
 * stranger's. */
static void keep_door(struct direct_data *self, int door)
{
    close_door(&self->doors[self->next_door]);
    self->doors[self->next_door] = door;
    self->next_door = (self->next_door + 1) % doors_of(self);
}

static void look_for_arrivals(struct direct_data *self)
{
    int listener = self->world->direct->listener, door;

    for (int i = 0; i < doors_of(self); i++)
        if (self->doors[i] >= 0 && welcome(self, self->doors[i]))
            close_door(&self->doors[i]);
    while (listener >= 0 && (door = packet_accept(listener)) >= 0)
        if (packet_same_user(door, NULL) && !welcome(self, door))
            keep_door(self, door);
        else
            close(door);
}

/* ---- writing ---- */

static bool is_writing(const struct way *way)
{
    return way->rest[0].iov_len + way->rest[1].iov_len > 0;
}

static void write_frame(struct way *way, enum kind kind, uint32_t tag, void *data, uint64_t bytes)
{
    way->head = (struct frame){kind, tag, bytes};
    way->rest[0] = (struct iovec){&way->head, sizeof(way->head)};
    way->rest[1] = (struct iovec){data, bytes};
}

/* The next piece of the oldest transfer that is ready, which then is the last in the list. */
static bool write_piece(const struct direct_data *self, struct way *way)
{
    struct transfer *t = way->out;
    uint64_t bytes;

    while (t && (!half_of(t)->ready || half_of(t)->framed == t->bytes))
        t = half_of(t)->next;
    if (!t)
        return false;
    bytes = t->bytes - half_of(t)->framed;
    if (bytes > self->piece_bytes)
        bytes = self->piece_bytes;
    if (t->empty) {
        bytes = t->bytes;
        write_frame(way, EMPTY, t->tag, NULL, 0);
    } else {
        write_frame(way, DATA, t->tag, (char *)t->local + half_of(t)->framed, bytes);
    }
    half_of(t)->framed += bytes;
    t->issued = half_of(t)->framed;
    way->sending = t;
    return true;
}

/* A frame has left. */
static void note_written(struct way *way)
{
    struct transfer *t = way->sending;

    if (!t)
        return;
    way->sending = NULL;
    t->completed = half_of(t)->framed;
    take_out(&way->out, t);
    if (t->completed < t->bytes)
        add(&way->out, t);
}

/* As much as there is room for. */
static void write_on(const struct direct_data *self, struct way *way)
{
    for (;;) {
        if (!is_writing(way) && way->wishes.count) {
            write_frame(way, READY, way->wishes.items[0], NULL, 0);
            tags_remove(&way->wishes, 0);
        } else if (!is_writing(way) && !write_piece(self, way)) {
            return;
        }
        if (!link_write(way->link, way->rest))
            return;
        note_written(way);
    }
}

/* ---- reading ---- */

/* Whoever receives waits for this. One that has not begun here takes it up when it does. */
static bool hear_ready(struct way *way, uint32_t tag)
{
    for (struct transfer *t = way->out; t; t = half_of(t)->next)
        if (t->tag == tag && !half_of(t)->ready) {
            half_of(t)->ready = true;
            return true;
        }
    return tags_add(&way->early, tag);
}

static void end_taking(struct way *way)
{
    struct transfer *t = way->taking;

    way->come = 0;
    way->taking = NULL;
    if (t && t->completed == t->bytes)
        take_out(&way->in, t);
}

/* A frame is here, but for its data. False: nothing makes sense any more. */
static bool begin_taking(struct way *way)
{
    const struct frame *frame = &way->coming;
    struct transfer *t = way->in;

    if (frame->kind == READY) {
        way->come = 0;
        return hear_ready(way, frame->tag);
    }
    while (t && t->tag != frame->tag)
        t = half_of(t)->next;
    way->taking = t;
    way->left = frame->bytes;
    if (frame->kind == EMPTY && t) {
        t->empty = true;
        t->issued = t->completed = t->bytes;
    }
    return (frame->kind == DATA && (!t || frame->bytes <= t->bytes - t->completed)) ||
           (frame->kind == EMPTY && frame->bytes == 0);
}

/* Reads on in the frame. True: all of it is here. */
static bool take_data(struct direct_data *self, struct way *way)
{
    struct transfer *t = way->taking;
    size_t bytes;

    if (t) {
        bytes = link_read(way->link, (char *)t->local + t->completed, way->left);
        t->completed += bytes;
        t->issued = t->completed;
    } else {
        bytes = link_read(way->link, self->scratch,
                          way->left < SCRATCH_BYTES ? way->left : SCRATCH_BYTES);
    }
    way->left -= bytes;
    return way->left == 0;
}

static void read_on(struct direct_data *self, struct way *way)
{
    for (int frames = 0; frames < FRAMES_MOST && !way->link->ended; frames++) {
        if (way->come < sizeof(way->coming)) {
            way->come += link_read(way->link, (char *)&way->coming + way->come,
                                   sizeof(way->coming) - way->come);
            if (way->come < sizeof(way->coming))
                return;
            if (!begin_taking(way)) {
                way->link->ended = true;
                return;
            }
            if (way->come == 0)
                continue;
        }
        if (!take_data(self, way))
            return;
        end_taking(way);
    }
}

/* ---- a transfer ---- */

static void go_on(struct direct_data *self, struct way *way)
{
    if (!way->link)
        look_for_arrivals(self);
    if (!way->link)
        return;
    write_on(self, way);
    read_on(self, way);
    write_on(self, way); /* what is wanted by what was read */
}

static omprma_status_t direct_data_start(struct datapath *path, struct transfer *t)
{
    struct direct_data *self = (struct direct_data *)path;
    struct way *way = way_of(self, t);
    omprma_status_t status = OMPRMA_OK;

    *half_of(t) = (struct half){.framed = 0};
    if (t->direction == TRANSFER_OUT) {
        if (!way->link && direct_is_elsewhere(self->world, t->peer))
            ask_for_way(self, way, t->peer);
        else if (!way->link)
            status = make_way(self, way, t->peer);
        if (status != OMPRMA_OK)
            return status;
        half_of(t)->ready = tags_take(&way->early, t->tag);
        add(&way->out, t);
    } else {
        if (!tags_add(&way->wishes, t->tag))
            return no_memory();
        add(&way->in, t);
    }
    go_on(self, way);
    return OMPRMA_OK;
}

/* What is being written is written to its end, and what comes is read and thrown away. */
static void drop(struct way *way, struct transfer *t)
{
    take_out(&way->out, t);
    take_out(&way->in, t);
    if (way->sending == t)
        way->sending = NULL;
    if (way->taking == t)
        way->taking = NULL;
}

/* The end of a process is told elsewhere; but a way that cannot be made is for nobody else to tell.
 */
static omprma_status_t check_way(const struct direct_data *self, struct way *way,
                                 struct transfer *t)
{
    if (!way->link || (!way->link->fault && way->link->fd >= 0))
        return OMPRMA_OK;
    drop(way, t);
    if (way->link->fault)
        return error_set(OMPRMA_ERR_ARGUMENT,
                         "a transfer of %llu bytes at %p: memory there, or of another transfer "
                         "between the same processes, was unmapped before it was copied, or is "
                         "protected",
                         (unsigned long long)t->bytes, t->local);
    return error_set(OMPRMA_ERR_DEVICE_LOST,
                     "worker %d cannot be reached for data by worker %d of this program",
                     t->peer - 1, self->world->rank - 1);
}

static omprma_status_t direct_data_test(struct datapath *path, struct transfer *t, bool *done)
{
    struct direct_data *self = (struct direct_data *)path;

    struct way *way = way_of(self, t);
    omprma_status_t status = OMPRMA_OK;

    if (t->completed < t->bytes)
        go_on(self, way);
    if (t->completed < t->bytes)
        status = check_way(self, way, t);
    *done = t->completed == t->bytes;
    return status;
}

static void direct_data_abandon(struct datapath *path, struct transfer *t)
{
    drop(way_of((struct direct_data *)path, t), t);
}

/* ---- sleeping ---- */

static uint32_t count(const struct transfer *list)
{
    uint32_t transfers = 0;

    for (; list; list = half_of((struct transfer *)(uintptr_t)list)->next)
        transfers++;
    return transfers;
}

/* The kernel tells when its transfers can get on. False: it cannot. */
static bool listen_to(const struct direct_data *self, struct way *way, bool has_transfers)
{
    uint32_t wanted = !has_transfers ? 0 : is_writing(way) ? EPOLLIN | EPOLLOUT : EPOLLIN;
    struct epoll_event event = {.events = wanted};
    int operation = !way->asked ? EPOLL_CTL_ADD : wanted ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;

    if (has_transfers && (!way->link || way->link->fd < 0 || way->link->ended || way->link->fault))
        return false;
    if (wanted == way->asked)
        return true;
    if (epoll_ctl(self->ready, operation, way->link->fd, &event) != 0)
        return false;
    way->asked = wanted;
    return true;
}

static int direct_data_descriptor(struct datapath *path, uint32_t transfers)
{
    struct direct_data *self = (struct direct_data *)path;
    uint32_t under_way = 0;

    for (int rank = 0; rank < self->world->size; rank++) {
        struct way *ways[] = {&self->to[rank], &self->from[rank]};

        for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
            uint32_t own = count(ways[i]->out) + count(ways[i]->in);

            if (!listen_to(self, ways[i], own > 0))
                return -1;
            under_way += own;
        }
    }
    return under_way == transfers ? self->ready : -1;
}

/* ---- beginning and end ---- */

static void free_all(struct direct_data *self)
{
    free(self->to);
    free(self->from);
    free(self->doors);
    free(self);
}

static void direct_data_destroy(struct datapath *path)
{
    struct direct_data *self = (struct direct_data *)path;

    for (int rank = 0; rank < self->world->size; rank++) {
        struct way *ways[] = {&self->to[rank], &self->from[rank]};

        for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
            free(ways[i]->wishes.items);
            free(ways[i]->early.items);
            if (ways[i]->link == &ways[i]->own)
                link_close(&ways[i]->own);
        }
    }
    for (int i = 0; i < doors_of(self); i++)
        close_door(&self->doors[i]);
    close(self->ready);
    free_all(self);
}

omprma_status_t direct_data_create(const struct world *world, struct datapath **path)
{
    size_t ranks = (size_t)world->size;
    struct direct_data *self = calloc(1, sizeof(*self));

    if (!self)
        return no_memory();
    self->to = calloc(ranks, sizeof(*self->to));
    self->from = calloc(ranks, sizeof(*self->from));
    self->world = world;
    self->doors = malloc((size_t)doors_of(self) * sizeof(*self->doors));
    self->ready = epoll_create1(EPOLL_CLOEXEC);
    if (!self->to || !self->from || !self->doors || self->ready < 0) {
        if (self->ready >= 0)
            close(self->ready);
        free_all(self);
        return no_memory();
    }
    self->base = (struct datapath){
        .name = "two-sided",
        .one_sided = false,
        .start = direct_data_start,
        .test = direct_data_test,
        .abandon = direct_data_abandon,
        .descriptor = direct_data_descriptor,
        .destroy = direct_data_destroy,
    };
    for (int i = 0; i < doors_of(self); i++)
        self->doors[i] = -1;
    self->piece_bytes =
        world->settings.piece_bytes < PIECE_MOST ? world->settings.piece_bytes : PIECE_MOST;
    for (size_t rank = 0; rank < ranks; rank++)
        if (world->direct->data[rank].fd >= 0)
            self->to[rank].link = &world->direct->data[rank];
    *path = &self->base;
    return OMPRMA_OK;
}
