/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_channel.c: what goes through shared memory and what through the channel within, here the
 * one of null_channel.h; that messages of a peer keep their order over both; that nobody starves,
 * is slept over, or is left asleep.
 * Covers: shm/channel.c control/channel.c
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "control/shm/channel.h"
#include "tests/null/null_channel.h"

enum { RANKS = 4, LOOKS = 64, ELEMENTS = 1024 /* of a FIFO */, LONGEST = 36 /* elements */ };

static const int64_t long_ns = INT64_C(1000000000) * 1000; /* a test does not last so long */

/* ---- ends ---- */

/* The end of one rank. What it receives by the inner channel is counted, and so are the looks at
 * it. */
static struct end {
    struct channel *channel; /* which wraps the inner one where the rank is wrapped */
    struct doorbell *bell, *bells[RANKS];
    struct channel_ops counting;
    const struct channel_ops *ops;
    int looks, came;
} ends[RANKS];

static struct null_network *network;

static struct end *end_of(const struct channel *inner)
{
    int i = 0;

    while (inner->ops != &ends[i].counting)
        i++;
    return &ends[i];
}

static omprma_status_t count_receive(struct channel *inner, struct channel_message **message)
{
    struct end *end = end_of(inner);
    omprma_status_t status = end->ops->receive(inner, message);

    end->looks++;
    end->came += status == OMPRMA_OK && *message;
    return status;
}

/* All ranks, of which the first ones are wrapped. */
static void open_ends(int wrapped, const struct shm_options *wish)
{
    memset(ends, 0, sizeof(ends));
    assert_int_equal(null_network_create(RANKS, &network), OMPRMA_OK);
    for (int i = 0; i < RANKS; i++) {
        struct shm_address address;

        assert_int_equal(doorbell_create(&ends[i].bell, 0, &address), OMPRMA_OK);
        assert_int_equal(null_channel_create(network, i, &ends[i].channel), OMPRMA_OK);
        ends[i].ops = ends[i].channel->ops;
        ends[i].counting = *ends[i].ops;
        ends[i].counting.receive = count_receive;
        ends[i].channel->ops = &ends[i].counting;
    }
    for (int i = 0; i < wrapped; i++) {
        struct shm_options options = *wish;

        for (int peer = 0; peer < RANKS; peer++)
            ends[i].bells[peer] = peer == i ? NULL : ends[peer].bell;
        options.ranks = RANKS;
        options.own = ends[i].bell;
        options.bells = ends[i].bells;
        options.longest_ns = options.longest_ns ? options.longest_ns : INT64_MAX;
        assert_int_equal(shm_channel_create(ends[i].channel, &options, &ends[i].channel),
                         OMPRMA_OK);
    }
}

static struct channel *open_one(void)
{
    open_ends(1, &(struct shm_options){0});
    return ends[0].channel;
}

static void close_ends(void)
{
    for (int i = 0; i < RANKS; i++) {
        channel_destroy(ends[i].channel);
        doorbell_close(ends[i].bell);
    }
    null_network_destroy(network);
}

static void *make_shared(void)
{
    void *memory = aligned_alloc(64, SHM_CHANNEL_BYTES);

    assert_non_null(memory);
    memset(memory, 0, SHM_CHANNEL_BYTES);
    return memory;
}

/* ---- messages ---- */

/* Of a length, filled with its serial. */
static struct channel_message *make(struct channel *channel, int peer, uint32_t serial,
                                    uint32_t bytes)
{
    struct channel_message *message = channel_take(channel);
    struct wire_buffer buffer;

    assert_non_null(message);
    buffer = channel_buffer(message);
    wire_seal(&buffer, WIRE_RESULTS, serial, 0, false);
    if (bytes > buffer.used) {
        memset(message->data + buffer.used, (int)(serial & 0xff), bytes - buffer.used);
        message->bytes = bytes;
    }
    message->peer = peer;
    return message;
}

static void check(const struct channel_message *message, uint32_t serial, uint32_t bytes)
{
    assert_int_equal(wire_serial(message->data, message->bytes), serial);
    if (bytes <= WIRE_HEADER_BYTES)
        return;
    assert_int_equal(message->bytes, bytes);
    assert_int_equal(message->data[WIRE_HEADER_BYTES], serial & 0xff);
    assert_int_equal(message->data[bytes - 1], serial & 0xff);
}

static void send_to(struct channel *channel, int peer, uint32_t serial, uint32_t bytes)
{
    assert_int_equal(channel_send(channel, make(channel, peer, serial, bytes)), OMPRMA_OK);
}

/* A message of `peer` to rank 0 by the inner channel. */
static void send_inner(int peer, uint32_t serial)
{
    send_to(ends[peer].channel, 0, serial, 0);
}

/* What comes within some looks: its sender and serial, or nobody. */
static void expect(struct channel *channel, int peer, uint32_t serial)
{
    struct channel_message *message = NULL;

    for (int i = 0; i < LOOKS && !message; i++)
        assert_int_equal(channel_receive(channel, &message), OMPRMA_OK);
    if (peer < 0) {
        assert_null(message);
        return;
    }
    assert_non_null(message);
    assert_int_equal(message->peer, peer);
    check(message, serial, 0);
    channel_drop(channel, message);
}

/* The other side of the memory shared with a peer of rank 0: what it puts in and what it finds. */
struct beside {
    void *shared;
    struct fifo_end in, out;
};

static struct beside make_beside(int peer)
{
    struct beside beside = {.shared = make_shared()};

    beside.in.fifo = beside.shared;
    beside.out.fifo = (struct fifo *)(void *)((char *)beside.shared + FIFO_BYTES);
    shm_channel_share(ends[0].channel, peer, beside.shared, true);
    assert_true(fifo_is_open(beside.in.fifo));
    return beside;
}

static bool put_beside(struct beside *beside, uint32_t serial)
{
    struct channel_message *message = make(ends[0].channel, 0, serial, 0);
    bool put = fifo_push(&beside->in, message->data, message->bytes);

    channel_drop(ends[0].channel, message);
    return put;
}

static void close_beside(struct beside *beside, int count)
{
    close_ends();
    for (int i = 0; i < count; i++)
        free(beside[i].shared);
}

/* ---- what goes which way ---- */

/* Of those sent to a peer, how many have come by the inner channel. */
static int came_to(int peer)
{
    struct channel_message *message;

    do {
        assert_int_equal(channel_receive(ends[peer].channel, &message), OMPRMA_OK);
        channel_drop(ends[peer].channel, message);
    } while (message);
    return ends[peer].came;
}

TEST(what_is_short_goes_through_shared_memory)
{
    struct channel *channel = open_one();
    struct beside beside = make_beside(1);
    uint32_t serial = 0, bytes, found = 0;

    send_to(channel, 1, ++serial, 64); /* nobody reads there yet */
    assert_int_equal(came_to(1), 1);
    fifo_open(beside.out.fifo);
    send_to(channel, 1, ++serial, 64);
    send_to(channel, 2, 1, 64); /* shares nothing */
    send_to(channel, 1, ++serial, FIFO_MESSAGE_BYTES);
    assert_int_equal(came_to(1), 1);
    assert_int_equal(came_to(2), 1);
    send_to(channel, 1, ++serial, FIFO_MESSAGE_BYTES + 1);
    assert_int_equal(came_to(1), 2);
    for (; fifo_peek(&beside.out, &bytes); found++)
        fifo_pop(&beside.out);
    assert_int_equal(found, 2);
    close_beside(&beside, 1);
}

/* Who asks is told that there is no room; who sends all the same waits for nothing. */
TEST(what_finds_no_room_goes_the_other_way)
{
    struct channel *channel = open_one();
    struct beside beside = make_beside(1);
    uint32_t serial = 0, bytes;

    assert_true(channel_has_room(channel, 1, FIFO_MESSAGE_BYTES)); /* it goes by the inner one */
    fifo_open(beside.out.fifo);
    while (channel_has_room(channel, 1, FIFO_MESSAGE_BYTES)) {
        assert_true(serial < ELEMENTS);
        send_to(channel, 1, ++serial, FIFO_MESSAGE_BYTES);
    }
    assert_int_equal(serial, ELEMENTS / LONGEST);
    assert_int_equal(came_to(1), 0);
    assert_true(channel_has_room(channel, 1, 64));
    assert_true(channel_has_room(channel, 1, FIFO_MESSAGE_BYTES + 1)); /* never there */
    assert_true(channel_has_room(channel, 2, FIFO_MESSAGE_BYTES));
    assert_true(channel_has_room(ends[2].channel, 1, FIFO_MESSAGE_BYTES));
    send_to(channel, 1, ++serial, FIFO_MESSAGE_BYTES);
    assert_int_equal(came_to(1), 1);
    assert_non_null(fifo_peek(&beside.out, &bytes));
    fifo_pop(&beside.out);
    assert_true(channel_has_room(channel, 1, FIFO_MESSAGE_BYTES));
    send_to(channel, 1, ++serial, FIFO_MESSAGE_BYTES);
    assert_int_equal(came_to(1), 1);
    close_beside(&beside, 1);
}

/* ---- order ---- */

TEST(both_ways_keep_the_order)
{
    struct channel *channel = open_one();
    struct beside beside = make_beside(1);

    put_beside(&beside, 1);
    put_beside(&beside, 3);
    expect(channel, 1, 1);
    expect(channel, -1, 0);
    send_inner(2, 1); /* another sender does not wait for it */
    expect(channel, 2, 1);
    send_inner(1, 2);
    for (uint32_t serial = 2; serial <= 3; serial++)
        expect(channel, 1, serial);
    expect(channel, -1, 0);
    close_beside(&beside, 1);
}

TEST(what_comes_too_early_is_held)
{
    struct channel *channel = open_one();
    struct beside beside = make_beside(1);

    put_beside(&beside, 1);
    send_inner(1, 3);
    send_inner(1, 4);
    send_inner(2, 1);
    expect(channel, 1, 1);
    expect(channel, 2, 1);
    expect(channel, -1, 0);
    put_beside(&beside, 2);
    put_beside(&beside, 5);
    for (uint32_t serial = 2; serial <= 5; serial++)
        expect(channel, 1, serial);
    send_inner(1, 7); /* held at the end */
    expect(channel, -1, 0);
    close_beside(&beside, 1);
}

/* What no message of the peer can be is given out, for others to judge; nobody waits for ever. */
TEST(damaged_messages)
{
    struct channel *channel = open_one();
    struct beside beside = make_beside(1);

    put_beside(&beside, 0x7f000000);
    expect(channel, 1, 0x7f000000);
    send_inner(1, 0x3f000000);
    expect(channel, 1, 0x3f000000);
    put_beside(&beside, 2);
    expect(channel, 1, 2);
    send_inner(2, 77); /* shares nothing: the inner channel keeps the order */
    expect(channel, 2, 77);
    close_beside(&beside, 1);
}

/* ---- who is looked at ---- */

/* Others wait until the inner channel is looked at. */
TEST(the_inner_channel_is_looked_at_more_often_where_others_wait)
{
    struct beside beside;

    open_ends(1, &(struct shm_options){.is_awaited = true});
    beside = make_beside(1);
    expect(ends[0].channel, -1, 0);
    put_beside(&beside, 1);
    expect(ends[0].channel, 1, 1);
    ends[0].looks = 0;
    for (int i = 0; i < 4; i++)
        expect(ends[0].channel, -1, 0);
    assert_in_range(ends[0].looks, 4 * LOOKS / 5, 4 * LOOKS / 5 + 2); /* each fifth */
    close_beside(&beside, 1);
}

TEST(the_inner_channel_is_looked_at)
{
    struct channel *channel = open_one();
    struct beside beside = make_beside(1);
    struct channel_message *message;

    expect(channel, -1, 0);
    assert_int_equal(ends[0].looks, LOOKS); /* nothing has come the other way: at each poll */
    put_beside(&beside, 1);
    expect(channel, 1, 1);
    ends[0].looks = 0;
    for (int i = 0; i < 4; i++)
        expect(channel, -1, 0);
    /* Each 17th: nothing has come by it for long. */
    assert_in_range(ends[0].looks, 4 * LOOKS / 17, 4 * LOOKS / 17 + 4);
    for (int i = 0; i < 20; i++) {
        ends[0].looks = 0;
        channel_prepare(channel, true);
        assert_int_equal(channel_receive(channel, &message), OMPRMA_OK);
        channel_prepare(channel, false);
        channel_look_everywhere(channel);
        assert_int_equal(channel_receive(channel, &message), OMPRMA_OK);
        assert_int_equal(ends[0].looks, 2);
    }
    ends[0].looks = 0;
    channel->inner->is_sending = true; /* it goes on only when it is called */
    expect(channel, -1, 0);
    assert_int_equal(ends[0].looks, LOOKS);
    channel->inner->is_sending = false;
    ends[0].looks = 0;
    for (uint32_t serial = 2; serial <= 201; serial++) {
        put_beside(&beside, serial);
        expect(channel, 1, serial);
    }
    assert_true(ends[0].looks >= 199); /* behind each message */
    close_beside(&beside, 1);
}

/* A peer that always has something, by the one way or the other, keeps no other from being heard,
 * however the caller looks. */
static void hear_both(bool everywhere)
{
    struct channel *channel = open_one();
    struct beside beside = make_beside(1);
    uint32_t put = 0, got[RANKS] = {0}, begun = 0;

    for (int i = 0; i < 400; i++) {
        struct channel_message *message;

        put += put_beside(&beside, put + 1);
        send_inner(2, ++begun);
        if (everywhere)
            channel_look_everywhere(channel);
        assert_int_equal(channel_receive(channel, &message), OMPRMA_OK);
        assert_non_null(message);
        assert_int_equal(wire_serial(message->data, message->bytes), ++got[message->peer]);
        channel_drop(channel, message);
    }
    assert_true(got[1] > 100 && got[2] > 100);
    close_beside(&beside, 1);
}

TEST(nobody_starves)
{
    hear_both(false);
    hear_both(true);
}

/* Before a sleep it is not enough to find one that is not due. */
TEST(nothing_is_slept_over)
{
    struct channel *channel = open_one();
    struct beside beside = make_beside(1);
    struct channel_message *message;

    send_inner(1, 2);
    send_inner(1, 3);
    send_inner(2, 1);
    channel_prepare(channel, true);
    assert_int_equal(channel_receive(channel, &message), OMPRMA_OK);
    assert_non_null(message);
    assert_int_equal(message->peer, 2);
    channel_drop(channel, message);
    close_beside(&beside, 1);
}

/* ---- bells ---- */

static void note_ring(void *data, struct doorbell *bell)
{
    *(struct doorbell **)data = bell;
}

/* Who sleeps is rung by either way; who is awake, or has no bell, is not. */
TEST(peers_are_rung)
{
    struct channel *channel = open_one();
    struct beside beside = make_beside(1);
    uint32_t serial = 0;

    for (int shared = 0; shared < 2; shared++) {
        doorbell_prepare(ends[1].bell);
        send_to(channel, 1, ++serial, 64);
        assert_int_equal(came_to(1), 1);
        assert_false(doorbell_is_asleep(ends[1].bell));
        fifo_open(beside.out.fifo);
    }
    close_beside(&beside, 1);
}

TEST(peers_are_rung_as_the_caller_wishes)
{
    struct doorbell *rung = NULL;

    open_ends(1, &(struct shm_options){.ring = note_ring, .data = &rung});
    send_to(ends[0].channel, 1, 1, 64);
    assert_null(rung);
    doorbell_prepare(ends[1].bell);
    send_to(ends[0].channel, 1, 2, 64);
    assert_ptr_equal(rung, ends[1].bell);
    assert_true(doorbell_is_asleep(ends[1].bell));
    ends[0].bells[2] = rung = NULL;
    doorbell_prepare(ends[2].bell);
    send_to(ends[0].channel, 2, 1, 64);
    assert_null(rung);
    close_ends();
}

/* A sleep ends by itself where somebody cannot ring, and is not begun when somebody has woken. */
TEST(a_sleep_ends)
{
    struct channel *channel;

    open_ends(1, &(struct shm_options){.longest_ns = 1000});
    channel = ends[0].channel;
    channel_prepare(channel, true);
    channel_sleep(channel, long_ns, -1);
    assert_false(doorbell_is_asleep(ends[0].bell));
    close_ends();
    channel = open_one();
    channel_prepare(channel, true);
    channel_wake(channel);
    channel_sleep(channel, long_ns, -1);
    channel_prepare(channel, true);
    doorbell_ring(ends[0].bell);
    channel_sleep(channel, long_ns, -1);
    close_ends();
}

enum { EXCHANGED = 20000 };

/* Takes what has come; sleeps where nothing has. */
static struct channel_message *wait_for_message(struct channel *channel)
{
    struct channel_message *message = NULL;

    while (!message) {
        channel_prepare(channel, true);
        if (channel_receive(channel, &message) != OMPRMA_OK)
            return NULL;
        if (message)
            channel_prepare(channel, false);
        else
            channel_sleep(channel, long_ns, -1);
    }
    return message;
}

/* One side of a talk: says something of some length as often as it hears something. */
static void *talk(void *data)
{
    struct end *end = data;
    int peer = end == &ends[0];
    uint32_t got = 0;

    for (uint32_t sent = 0; got < EXCHANGED;) {
        for (int i = 0; i < 1 + (int)(got % 7) && sent < EXCHANGED; i++)
            if (++sent,
                channel_send(end->channel, make(end->channel, peer, sent,
                                                sent % 50 == 0 ? 20000 : sent % 900)) != OMPRMA_OK)
                return NULL;
        struct channel_message *message = wait_for_message(end->channel);
        if (!message || wire_serial(message->data, message->bytes) != ++got)
            return NULL;
        channel_drop(end->channel, message);
    }
    return data;
}

/* No ring is lost: both sleep as soon as they find nothing. */
TEST(two_that_sleep_wake_each_other)
{
    void *shared = make_shared(), *result;
    pthread_t other;

    open_ends(2, &(struct shm_options){0});
    shm_channel_share(ends[0].channel, 1, shared, false);
    shm_channel_share(ends[1].channel, 0, shared, true);
    assert_int_equal(pthread_create(&other, NULL, talk, &ends[1]), 0);
    assert_non_null(talk(&ends[0]));
    pthread_join(other, &result);
    assert_non_null(result);
    assert_in_range(ends[0].came, 1, EXCHANGED - 1); /* by both ways */
    close_ends();
    free(shared);
}

/* ---- errors ---- */

TEST(errors_of_the_inner_channel_are_told)
{
    struct channel *channel = open_one();
    struct channel_message *message;
    struct channel *inner = channel->inner;

    null_channel_fail_sends(inner, 2);
    doorbell_prepare(ends[2].bell);
    assert_int_equal(channel_send(channel, make(channel, 2, 1, 64)), OMPRMA_ERR_MPI);
    assert_true(doorbell_is_asleep(ends[2].bell));
    send_to(channel, 1, 1, 64);
    assert_int_equal(channel_drain(channel), OMPRMA_OK);
    channel->failed_peer = 1;
    null_channel_fail_receives(inner);
    assert_int_equal(channel_receive(channel, &message), OMPRMA_ERR_MPI);
    assert_int_equal(channel->failed_peer, -1);
    close_ends();
}

/* What comes by the one way and leaves by the other costs no allocation. */
TEST(messages_are_recycled_over_both_ways)
{
    struct channel *channel = open_one();
    struct channel_message *message = channel_take(channel);

    channel_drop(channel->inner, message);
    assert_ptr_equal(channel_take(channel), message);
    channel_drop(channel, message);
    assert_ptr_equal(channel_take(channel->inner), message);
    channel_drop(channel->inner, message);
    close_ends();
}
