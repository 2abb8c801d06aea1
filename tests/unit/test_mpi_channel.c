/*
 * test_mpi_channel.c: in which order control messages are given out when MPI ends its receives in
 * another. MPI's functions stand here instead of the library's. Nothing here starts MPI.
 */
#include <mpi.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "control/mpi_channel.h"
#include "control/mpi_world.h"

/* ---- MPI ---- */

enum { RECEIVES = 1024, LOOKS = 64 };

/* Receives as they were posted. A request is the address of one. */
static struct receive {
    void *memory;
    int source, bytes;
    bool over;
} receives[RECEIVES];
static int posted, matched;

int MPI_Irecv(void *to, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    (void)count, (void)type, (void)tag, (void)comm;
    assert_int_equal(rank, MPI_ANY_SOURCE);
    assert_true(posted < RECEIVES);
    receives[posted].memory = to;
    *request = (MPI_Request)(void *)&receives[posted++];
    return MPI_SUCCESS;
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    const struct receive *receive = (const struct receive *)(void *)*request;

    *flag = receive->over;
    if (!receive->over)
        return MPI_SUCCESS;
    status->MPI_SOURCE = receive->source;
    status->MPI_TAG = receive->bytes; /* for MPI_Get_count() */
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    *flag = 0;
    *index = MPI_UNDEFINED;
    for (int i = count - 1; i >= 0 && !*flag; i--) { /* in any order */
        if (requests[i] == MPI_REQUEST_NULL)
            continue;
        MPI_Test(&requests[i], flag, status);
        *index = i;
    }
    return MPI_SUCCESS;
}

int MPI_Get_count(const MPI_Status *status, MPI_Datatype type, int *count)
{
    (void)type;
    *count = status->MPI_TAG;
    return MPI_SUCCESS;
}

int MPI_Cancel(MPI_Request *request)
{
    (void)request;
    return MPI_SUCCESS;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    (void)status;
    *request = MPI_REQUEST_NULL;
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
    static const struct world world = {.mpi = &mpi, .size = 4};
    struct channel *channel = NULL;

    memset(receives, 0, sizeof(receives));
    posted = matched = 0;
    assert_int_equal(mpi_channel_create(&world, NULL, NULL, false, 0, &channel), OMPRMA_OK);
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

static void nobody_waits_for_another_sender(void **state)
{
    struct channel *channel = open_channel();
    int slow = begin(1, 1);

    (void)state;
    for (uint32_t serial = 1; serial <= 100; serial++) {
        expect(channel, -1, 0);
        end(begin(2, serial));
        expect(channel, 2, serial);
    }
    end(slow);
    expect(channel, 1, 1);
    channel_destroy(channel);
}

static void a_sender_keeps_its_order(void **state)
{
    struct channel *channel = open_channel();
    int first = begin(1, 1), second = begin(1, 2), other = begin(3, 1), third = begin(1, 3);

    (void)state;
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
static void a_damaged_message_comes_when_it_is_the_oldest(void **state)
{
    struct channel *channel = open_channel();
    int first = begin(1, 1);

    (void)state;
    end(begin(2, 77));
    end(begin(2, 78));
    expect(channel, -1, 0);
    end(first);
    expect(channel, 1, 1);
    expect(channel, 2, 77);
    expect(channel, 2, 78);
    channel_destroy(channel);
}

static void any_order(void **state)
{
    struct channel *channel = open_channel();
    uint32_t begun[4] = {0}, got[4] = {0}, draw = 1;
    int under_way[8], count = 0;

    (void)state;
    while (got[1] + got[2] + got[3] < 900) {
        struct channel_message *message = NULL;

        draw = draw * 1664525 + 1013904223;
        if ((draw >> 16) % 3 == 0 && matched < posted && matched < 900) {
            int peer = 1 + (int)((draw >> 20) % 3);

            under_way[count++] = begin(peer, ++begun[peer]);
        } else if ((draw >> 16) % 3 == 1 && count) {
            int which = (int)((draw >> 20) % (unsigned)count);

            end(under_way[which]);
            under_way[which] = under_way[--count];
        }
        assert_int_equal(channel_receive(channel, &message), OMPRMA_OK);
        if (!message)
            continue;
        assert_int_equal(wire_serial(message->data, message->bytes), ++got[message->peer]);
        channel_drop(channel, message);
    }
    channel_destroy(channel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_waits_for_another_sender),
        cmocka_unit_test(a_sender_keeps_its_order),
        cmocka_unit_test(a_damaged_message_comes_when_it_is_the_oldest),
        cmocka_unit_test(any_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
