/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_channels.c: what every channel promises, see control/channel.h, by each kind of them and by
 * those that shared memory is put around: messages come whole and in order, whoever is slow, and
 * none is slept over. What a kind does besides is tested in its folder. MPI's functions stand here
 * instead of the library's: receives end in any order.
 * Covers: control/channel.c direct/channel.c direct/link.c mpi/channel.c shm/channel.c
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "control/direct/channel.h"
#include "control/mpi/channel.h"
#include "control/mpi/world.h"
#include "control/shm/channel.h"
#include "tests/null/null_channel.h"
#include "tests/unit/control/direct/direct_fixture.h"
#include "tests/unit/control/mpi/receives.h"
#include "tests/unit/draw.h"

enum { RANKS = DIRECT_RANKS, STEPS = 20000, WINDOW = 200, RECEIVES = 1 << 15 };

static struct draw random_source;

/* ---- MPI ---- */

/* Receives of each rank as they were posted, and what was sent, as it is matched with them. */
static struct mpi_rank {
    struct receive receives[RECEIVES];
    struct sent {
        void *data;
        int source, bytes;
    } sent[RECEIVES];
    int posted, begun, matched;
} mpi_ranks[RANKS];

static bool all_is_there; /* whatever was sent: its receive ends with the next look */

static struct receive *receive_of(uintptr_t number)
{
    struct receive *receive = &mpi_ranks[(number - 1) / RECEIVES].receives[(number - 1) % RECEIVES];

    receive->over |= receive->bytes > 0 && (all_is_there || draw_below(&random_source, 3) == 0);
    return receive;
}

static void match(struct mpi_rank *rank)
{
    for (; rank->matched < rank->posted && rank->matched < rank->begun; rank->matched++) {
        struct receive *receive = &rank->receives[rank->matched];
        struct sent *sent = &rank->sent[rank->matched];

        memcpy(receive->memory, sent->data, (size_t)sent->bytes);
        receive->source = sent->source;
        receive->bytes = sent->bytes;
        free(sent->data);
        sent->data = NULL;
    }
}

int MPI_Irecv(void *to, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    int number = (int)(uintptr_t)comm;
    struct mpi_rank *rank = &mpi_ranks[number];

    (void)count, (void)type, (void)tag, (void)source;
    assert_true(rank->posted < RECEIVES);
    rank->receives[rank->posted].memory = to;
    *request = (MPI_Request)(uintptr_t)(number * RECEIVES + ++rank->posted);
    match(rank);
    return MPI_SUCCESS;
}

int MPI_Isend(const void *from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    struct mpi_rank *rank = &mpi_ranks[to];
    struct sent *sent = &rank->sent[rank->begun++];

    (void)type, (void)tag;
    assert_true(rank->begun <= RECEIVES);
    *sent = (struct sent){malloc((size_t)count), (int)(uintptr_t)comm, count};
    assert_non_null(sent->data);
    memcpy(sent->data, from, (size_t)count);
    match(rank);
    *request = (MPI_Request)(uintptr_t)0;
    return MPI_SUCCESS;
}

/* ---- kinds of channels ---- */

static struct channel *ends[RANKS];

static void open_mpi(void)
{
    memset(mpi_ranks, 0, sizeof(mpi_ranks));
    for (int i = 0; i < RANKS; i++) {
        struct world_mpi mpi = {.control = (MPI_Comm)(uintptr_t)i};
        const struct world world = {.mpi = &mpi, .size = RANKS};

        assert_int_equal(mpi_channel_create(&world, &ends[i]), OMPRMA_OK);
    }
}

static void close_mpi(void)
{
}

static struct null_network *network;

static void open_null(void)
{
    assert_int_equal(null_network_create(RANKS, &network), OMPRMA_OK);
    for (int i = 0; i < RANKS; i++)
        assert_int_equal(null_channel_create(network, i, &ends[i]), OMPRMA_OK);
}

static void close_null(void)
{
    null_network_destroy(network);
}

static void open_direct(void)
{
    assert_int_equal(direct_begin_places(NULL), 0);
    for (int i = 0; i < RANKS; i++)
        assert_int_equal(direct_channel_create(&places[i].world, &ends[i]), OMPRMA_OK);
}

static void close_direct(void)
{
    direct_end_places(NULL);
}

static const struct kind {
    const char *name;
    void (*open)(void), (*close)(void);
} kinds[] = {
    {"null", open_null, close_null},
    {"MPI", open_mpi, close_mpi},
    {"sockets", open_direct, close_direct},
};

/* ---- with shared memory around ---- */

static struct wrapper {
    struct doorbell *bell, *bells[RANKS];
    void *shared; /* with the program */
    struct channel_ops counting;
    const struct channel_ops *ops;
    int came; /* by the inner channel */
} wrappers[RANKS];

static omprma_status_t count_receive(struct channel *inner, struct channel_message **message)
{
    int i = 0;
    omprma_status_t status;

    while (inner->ops != &wrappers[i].counting)
        i++;
    status = wrappers[i].ops->receive(inner, message);
    wrappers[i].came += status == OMPRMA_OK && *message;
    return status;
}

static void wrap_end(int rank)
{
    struct wrapper *wrapper = &wrappers[rank];

    for (int peer = 0; peer < RANKS; peer++)
        wrapper->bells[peer] = peer == rank ? NULL : wrappers[peer].bell;
    wrapper->ops = ends[rank]->ops;
    wrapper->counting = *wrapper->ops;
    wrapper->counting.receive = count_receive;
    ends[rank]->ops = &wrapper->counting;
    assert_int_equal(shm_channel_create(ends[rank],
                                        &(struct shm_options){.ranks = RANKS,
                                                              .own = wrapper->bell,
                                                              .bells = wrapper->bells,
                                                              .longest_ns = INT64_MAX},
                                        &ends[rank]),
                     OMPRMA_OK);
}

static void wrap(void)
{
    struct shm_address address;

    memset(wrappers, 0, sizeof(wrappers));
    for (int i = 0; i < RANKS; i++)
        assert_int_equal(doorbell_create(&wrappers[i].bell, 0, &address), OMPRMA_OK);
    for (int i = 0; i < RANKS; i++)
        wrap_end(i);
    for (int i = 1; i < RANKS; i++) {
        wrappers[i].shared = aligned_alloc(64, SHM_CHANNEL_BYTES);
        assert_non_null(wrappers[i].shared);
        memset(wrappers[i].shared, 0, SHM_CHANNEL_BYTES);
        shm_channel_share(ends[0], i, wrappers[i].shared, false);
        shm_channel_share(ends[i], 0, wrappers[i].shared, true);
    }
}

static void unwrap(void)
{
    for (int i = 0; i < RANKS; i++) {
        assert_in_range(wrappers[i].came, 100, STEPS / 2); /* both ways were taken */
        doorbell_close(wrappers[i].bell);
        free(wrappers[i].shared);
    }
}

/* ---- traffic ---- */

/* From one rank to another. Lengths lie at the edges of what an element of shared memory and a
 * message hold. */
static struct direction {
    uint32_t sent, got, bytes[WINDOW];
} directions[RANKS][RANKS];

static uint8_t content[WIRE_MESSAGE_BYTES + 256];

static void send_some(int from, int to)
{
    static const uint32_t lengths[] = {65, 504, 1016, FIFO_MESSAGE_BYTES, WIRE_MESSAGE_BYTES - 1};
    struct direction *direction = &directions[from][to];
    struct channel_message *message = channel_take(ends[from]);
    struct wire_buffer buffer = channel_buffer(message);
    uint32_t serial = ++direction->sent;

    wire_seal(&buffer, WIRE_RESULTS, serial, 0, false);
    message->bytes =
        lengths[draw_below(&random_source, 5)] + (uint32_t)draw_below(&random_source, 3) - 1;
    memcpy(message->data + buffer.used, content + serial % 256, message->bytes - buffer.used);
    message->peer = to;
    direction->bytes[serial % WINDOW] = message->bytes;
    assert_int_equal(channel_send(ends[from], message), OMPRMA_OK);
}

static bool has_left(int from)
{
    return !ends[from]->is_sending && !(ends[from]->inner && ends[from]->inner->is_sending);
}

/* False: nothing has come. */
static bool receive_some(int rank, bool sleeps)
{
    struct channel_message *message;
    struct direction *direction;
    uint32_t serial;

    all_is_there = sleeps;
    if (sleeps && ends[rank]->ops->prepare)
        channel_prepare(ends[rank], true);
    else if (sleeps)
        channel_look_everywhere(ends[rank]);
    assert_int_equal(channel_receive(ends[rank], &message), OMPRMA_OK);
    if (sleeps && ends[rank]->ops->prepare)
        channel_prepare(ends[rank], false);
    for (int peer = 0; sleeps && !message && peer < RANKS; peer++) /* nothing is slept over */
        if (has_left(peer))
            assert_int_equal(directions[peer][rank].sent, directions[peer][rank].got);
    if (!message)
        return false;
    direction = &directions[message->peer][rank];
    serial = ++direction->got;
    assert_int_equal(wire_serial(message->data, message->bytes), serial);
    assert_int_equal(message->bytes, direction->bytes[serial % WINDOW]);
    assert_memory_equal(message->data + WIRE_HEADER_BYTES, content + serial % 256,
                        message->bytes - WIRE_HEADER_BYTES);
    channel_drop(ends[rank], message);
    return true;
}

static void run_traffic(void)
{
    uint32_t under_way = 0;

    memset(directions, 0, sizeof(directions));
    for (int step = 0; step < STEPS || under_way > 0; step++) {
        int worker = 1 + (int)draw_below(&random_source, RANKS - 1);
        int at = draw_below(&random_source, 2) ? worker : 0, peer = at ? 0 : worker;
        bool is_burst = step / 1000 % 2;

        if (step < STEPS && draw_below(&random_source, 8) < (is_burst ? 6 : 3)) {
            if (directions[at][peer].sent - directions[at][peer].got < WINDOW) {
                send_some(at, peer);
                under_way++;
            }
        } else {
            under_way -= receive_some(at, draw_below(&random_source, 8) == 0);
        }
    }
}

static void run_each(bool is_wrapped)
{
    for (size_t i = 0; i < sizeof(content); i++)
        content[i] = (uint8_t)(i * 7 + i / 251);
    for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++) {
        print_message("%s%s\n", kinds[kind].name, is_wrapped ? " and shared memory" : "");
        random_source = (struct draw){11};
        kinds[kind].open();
        if (is_wrapped)
            wrap();
        run_traffic();
        for (int i = 0; i < RANKS; i++)
            channel_destroy(ends[i]);
        if (is_wrapped)
            unwrap();
        kinds[kind].close();
    }
}

TEST(messages_come_whole_and_in_order)
{
    run_each(false);
}

TEST(messages_come_whole_and_in_order_with_shared_memory)
{
    run_each(true);
}
