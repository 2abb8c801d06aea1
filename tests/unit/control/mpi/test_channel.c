/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_channel.c: in which order control messages are given out when MPI ends its receives in
 * another, also when the channel is wrapped and some come through shared memory. MPI's functions
 * stand here instead of the library's. Nothing here starts MPI.
 * Covers: mpi/channel.c
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "control/mpi/channel.h"
#include "control/mpi/world.h"
#include "control/shm/channel.h"
#include "tests/unit/control/mpi/receives.h"

/* ---- MPI ---- */

enum { RECEIVES = 1024, LOOKS = 160 /* one at all receives at least */ };

static struct receive receives[RECEIVES]; /* as they were posted */
static int posted, matched;

static struct receive *receive_of(uintptr_t number)
{
    return &receives[number - 1];
}

int MPI_Irecv(void *to, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    (void)count, (void)type, (void)tag, (void)comm;
    assert_int_equal(rank, MPI_ANY_SOURCE);
    assert_true(posted < RECEIVES);
    receives[posted].memory = to;
    *request = (MPI_Request)(uintptr_t)(++posted);
    return MPI_SUCCESS;
}

int MPI_Isend(const void *from, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    (void)from, (void)count, (void)type, (void)rank, (void)tag, (void)comm;
    *request = (MPI_Request)(uintptr_t)0;
    return MPI_SUCCESS;
}

/* ---- peers ---- */

/* A message of a peer has begun to come in; it is not there yet. Gives the receive's number. */
static int begin(int peer, uint32_t serial)
{
    struct receive *receive = &receives[matched];
    struct wire_buffer buffer = {receive->memory, 0, WIRE_MESSAGE_BYTES};

    assert_true(matched < posted);
    wire_begin(&buffer);
    wire_seal(&buffer, WIRE_RESULTS, serial, 0, false);
    receive->source = peer;
    receive->bytes = (int)buffer.used;
    return matched++;
}

static void end(int number)
{
    receives[number].over = true;
}

/* ---- tests ---- */

static struct channel *open_channel(void)
{
    static struct world_mpi mpi;
    const struct world world = {.mpi = &mpi, .size = 4};
    struct channel *channel = NULL;

    memset(receives, 0, sizeof(receives));
    posted = matched = 0;
    assert_int_equal(mpi_channel_create(&world, &channel), OMPRMA_OK);
    return channel;
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
    assert_int_equal(wire_serial(message->data, message->bytes), serial);
    channel_drop(channel, message);
}

TEST(nobody_waits_for_another_sender)
{
    struct channel *channel = open_channel();
    int slow = begin(1, 1);

    for (uint32_t serial = 1; serial <= 100; serial++) {
        expect(channel, -1, 0);
        end(begin(2, serial));
        expect(channel, 2, serial);
    }
    end(slow);
    expect(channel, 1, 1);
    channel_destroy(channel);
}

TEST(a_sender_keeps_its_order)
{
    struct channel *channel = open_channel();
    int first = begin(1, 1), second = begin(1, 2), other = begin(3, 1), third = begin(1, 3);

    end(third);
    end(second);
    expect(channel, -1, 0);
    end(other);
    expect(channel, 3, 1);
    expect(channel, -1, 0);
    end(first);
    for (uint32_t serial = 1; serial <= 3; serial++)
        expect(channel, 1, serial);
    expect(channel, -1, 0);
    channel_destroy(channel);
}

/* What its header says is for others to judge. */
TEST(a_damaged_message_comes_when_it_is_the_oldest)
{
    struct channel *channel = open_channel();
    int first = begin(1, 1);

    end(begin(2, 77));
    end(begin(2, 78));
    expect(channel, -1, 0);
    end(first);
    expect(channel, 1, 1);
    expect(channel, 2, 77);
    expect(channel, 2, 78);
    channel_destroy(channel);
}

/* Before a sleep it is not enough to find one that is not due. */
TEST(nothing_is_slept_over)
{
    struct channel *channel = open_channel();
    struct channel_message *message;
    int first, second;

    begin(1, 1); /* long */
    first = begin(2, 1);
    second = begin(2, 2);
    end(second);
    end(first);
    channel_look_everywhere(channel);
    assert_int_equal(channel_receive(channel, &message), OMPRMA_OK);
    assert_non_null(message);
    assert_int_equal(message->peer, 2);
    assert_int_equal(wire_serial(message->data, message->bytes), 1);
    channel_drop(channel, message);
    channel_destroy(channel);
}

/* ---- a peer with shared memory ---- */

/* The other side of the memory shared with `peer`: what it puts in. */
struct beside {
    int peer;
    void *shared;
    struct fifo_end in;
};

static struct channel *open_wrapped(void)
{
    static struct doorbell *bell, *none[4];
    struct shm_address address;
    struct channel *channel = NULL;

    if (!bell)
        assert_int_equal(doorbell_create(&bell, 0, &address), OMPRMA_OK);
    assert_int_equal(
        shm_channel_create(open_channel(),
                           &(struct shm_options){.ranks = 4, .own = bell, .bells = none}, &channel),
        OMPRMA_OK);
    return channel;
}

static struct beside make_beside(struct channel *channel, int peer)
{
    struct beside beside = {.peer = peer, .shared = aligned_alloc(64, SHM_CHANNEL_BYTES)};

    assert_non_null(beside.shared);
    memset(beside.shared, 0, SHM_CHANNEL_BYTES);
    beside.in.fifo = beside.shared;
    shm_channel_share(channel, peer, beside.shared, true);
    assert_true(fifo_is_open(beside.in.fifo));
    return beside;
}

/* The peer's next message through shared memory. */
static void put_beside(struct beside *beside, uint32_t serial)
{
    _Alignas(8) uint8_t data[WIRE_HEADER_BYTES];
    struct wire_buffer buffer = {data, 0, sizeof(data)};

    wire_begin(&buffer);
    wire_seal(&buffer, WIRE_RESULTS, serial, 0, false);
    assert_true(fifo_push(&beside->in, data, buffer.used));
}

/* Nobody waits for another sender where the message before its own came by the other way. */
TEST(nobody_waits_for_another_sender_by_both_ways)
{
    struct channel *channel = open_wrapped();
    struct beside beside = make_beside(channel, 1);
    int slow = begin(2, 1);

    for (uint32_t serial = 1; serial <= 100; serial += 2) {
        put_beside(&beside, serial);
        end(begin(1, serial + 1));
        expect(channel, 1, serial);
        expect(channel, 1, serial + 1);
    }
    end(slow);
    expect(channel, 2, 1);
    channel_destroy(channel);
    free(beside.shared);
}
