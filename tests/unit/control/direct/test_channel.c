/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_channel.c: control messages over sockets: ends that were announced and ends that were not;
 * lengths that nobody sends. Messages that come whole and in order: tests/unit/control.
 * Covers: direct/channel.c direct/link.c */
#include <stdlib.h>

#include "tests/unit/test.h"
#include "base/error.h"
#include "control/direct/channel.h"
#include "tests/unit/control/direct/direct_fixture.h"

static struct channel *channels[DIRECT_RANKS];

static int begin(void **state)
{
    int failed = direct_begin_places(state);

    for (int rank = 0; rank < DIRECT_RANKS && !failed; rank++)
        failed = direct_channel_create(&places[rank].world, &channels[rank]) != OMPRMA_OK;
    return failed;
}

static void leave(int rank)
{
    if (channels[rank])
        channel_destroy(channels[rank]);
    channels[rank] = NULL;
    for (int other = 0; other < DIRECT_RANKS; other++)
        link_close(&places[rank].messages[other]);
}

static int end(void **state)
{
    for (int rank = 0; rank < DIRECT_RANKS; rank++)
        leave(rank);
    return direct_end_places(state);
}

TEST_EACH(begin, end)

/* The number-th message of one direction. */
static void fill(struct channel_message *message, uint32_t number)
{
    uint32_t most = number % 3 ? 200 : WIRE_MESSAGE_BYTES;

    message->bytes = WIRE_HEADER_BYTES + number * 2654435761U % (most - WIRE_HEADER_BYTES + 1);
    for (uint32_t at = WIRE_HEADER_BYTES; at < message->bytes; at++)
        message->data[at] = (uint8_t)(number + at);
}

static bool is_right(const struct channel_message *message, uint32_t number)
{
    struct channel_message *expected = channel_take(channels[0]);
    bool right;

    fill(expected, number);
    right = message->bytes == expected->bytes &&
            memcmp(message->data + WIRE_HEADER_BYTES, expected->data + WIRE_HEADER_BYTES,
                   message->bytes - WIRE_HEADER_BYTES) == 0;
    channel_drop(channels[0], expected);
    return right;
}

static void send_to(int from, int to, uint32_t number)
{
    struct channel_message *message = channel_take(channels[from]);

    fill(message, number);
    message->peer = to;
    assert_int_equal(channel_send(channels[from], message), OMPRMA_OK);
}

/* How many messages have come from each, after what has come now. */
static bool receive_at(int rank, uint32_t *come)
{
    struct channel_message *message;

    assert_int_equal(channel_receive(channels[rank], &message), OMPRMA_OK);
    if (!message)
        return false;
    assert_true(is_right(message, come[message->peer]++));
    channel_drop(channels[rank], message);
    return true;
}

static omprma_status_t receive_nothing(int rank)
{
    struct channel_message *message;
    omprma_status_t status = channel_receive(channels[rank], &message);

    assert_null(message);
    return status;
}

TEST(an_end_that_was_announced_is_no_news)
{
    leave(2);
    assert_int_equal(receive_nothing(0), OMPRMA_OK);
    assert_int_equal(receive_nothing(0), OMPRMA_OK);
    leave(0);
    assert_int_equal(receive_nothing(1), OMPRMA_OK);
    assert_int_equal(receive_nothing(1), OMPRMA_OK);
}

TEST(a_program_that_dies_is_told_once)
{
    link_close(&places[0].messages[1]);
    assert_int_equal(receive_nothing(1), OMPRMA_ERR_CLOSED);
    assert_int_equal(channels[1]->failed_peer, 0);
    assert_int_equal(receive_nothing(1), OMPRMA_OK);
}

TEST(a_worker_that_dies_is_told_once_behind_what_it_has_sent)
{
    uint32_t come[DIRECT_RANKS] = {0};

    for (uint32_t number = 0; number < 5; number++)
        send_to(3, 0, number);
    link_close(&places[3].messages[0]);
    while (come[3] < 5)
        receive_at(0, come);
    assert_int_equal(receive_nothing(0), OMPRMA_ERR_DEVICE_LOST);
    assert_int_equal(channels[0]->failed_peer, 3);
    assert_int_equal(receive_nothing(0), OMPRMA_OK);
}

TEST(messages_for_one_that_is_gone_go_nowhere)
{
    for (uint32_t number = 0; number < 100; number++)
        send_to(0, 1, number);
    assert_true(channels[0]->is_sending);
    link_close(&places[1].messages[0]);
    assert_int_equal(channel_drain(channels[0]), OMPRMA_OK);
    assert_false(channels[0]->is_sending);
}

TEST(a_length_that_no_message_has_is_refused)
{
    const uint32_t length = WIRE_MESSAGE_BYTES + 1;

    assert_int_equal(link_send(&places[1].messages[0], &length, sizeof(length)), OMPRMA_OK);
    assert_int_equal(receive_nothing(0), OMPRMA_ERR_PROTOCOL);
    assert_int_equal(channels[0]->failed_peer, 1);
}
