/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_data_errors.c: what the data paths do when MPI fails, or when nothing comes any more. MPI's
 * functions stand here instead of the library's, so that a test can say how each piece ends.
 * Nothing here starts MPI.
 * Covers: rma/mpi.c twosided/mpi.c
 */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/test.h"
#include "control/mpi/world.h"
#include "rma/mpi.h"
#include "twosided/mpi.h"

/* ---- MPI ---- */

enum { PIECE = 1 << 20, REQUESTS = 256, LIES = 1000 };

/* A request, which some libraries have as a pointer and some as an int, is the number of one of
 * these, from 1 on. */
static struct piece {
    bool over, fails, freed, cancelled;
} pieces[REQUESTS];
static int issued, refused_from, flushes, small_ones;

static MPI_Request handle_of(struct piece *piece)
{
    return (MPI_Request)(uintptr_t)(piece - pieces + 1);
}

static struct piece *piece_of(const MPI_Request *request)
{
    return &pieces[(uintptr_t)*request - 1];
}

static int issue(MPI_Request *request)
{
    if (issued >= refused_from)
        return MPI_ERR_INTERN;
    *request = handle_of(&pieces[issued++]);
    return MPI_SUCCESS;
}

int MPI_Rput(const void *from, int count, MPI_Datatype type, int rank, MPI_Aint at, int there,
             MPI_Datatype other, MPI_Win window, MPI_Request *request)
{
    (void)from, (void)count, (void)type, (void)rank, (void)at, (void)there, (void)other;
    (void)window;
    return issue(request);
}

int MPI_Rget(void *to, int count, MPI_Datatype type, int rank, MPI_Aint at, int there,
             MPI_Datatype other, MPI_Win window, MPI_Request *request)
{
    (void)to, (void)count, (void)type, (void)rank, (void)at, (void)there, (void)other;
    (void)window;
    return issue(request);
}

/* Without a request. */
int MPI_Put(const void *from, int count, MPI_Datatype type, int rank, MPI_Aint at, int there,
            MPI_Datatype other, MPI_Win window)
{
    (void)from, (void)count, (void)type, (void)rank, (void)at, (void)there, (void)other;
    (void)window;
    small_ones++;
    return MPI_SUCCESS;
}

int MPI_Isend(const void *from, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    (void)from, (void)count, (void)type, (void)rank, (void)tag, (void)comm;
    return issue(request);
}

int MPI_Irecv(void *to, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
              MPI_Request *request)
{
    (void)to, (void)count, (void)type, (void)rank, (void)tag, (void)comm;
    return issue(request);
}

/* As Open MPI: a request that has failed stays. */
int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    struct piece *piece = piece_of(request);

    (void)status;
    *flag = piece->over;
    if (piece->over && piece->fails)
        return MPI_ERR_INTERN;
    if (piece->over)
        *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

int MPI_Request_free(MPI_Request *request)
{
    assert_true(piece_of(request)->over);
    piece_of(request)->freed = true;
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

int MPI_Cancel(MPI_Request *request)
{
    piece_of(request)->cancelled = true;
    return MPI_SUCCESS;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    (void)status;
    if (!piece_of(request)->over)
        fail_msg("this request is waited for, and never ends");
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

int MPI_Win_flush(int rank, MPI_Win window)
{
    (void)rank, (void)window;
    flushes++;
    return MPI_SUCCESS;
}

/* The library's needs MPI to run. */
int MPI_Error_string(int code, char *text, int *length)
{
    *length = snprintf(text, MPI_MAX_ERROR_STRING, "code %d", code);
    return MPI_SUCCESS;
}

/* ---- tests ---- */

static struct world_mpi mpi;
static struct world world = {
    .mpi = &mpi, .size = 4, .settings = {.piece_bytes = PIECE}, .can = {.target_is_passive = true}};
static char memory[1];

static void begin(void)
{
    memset(pieces, 0, sizeof(pieces));
    issued = flushes = small_ones = 0;
    refused_from = REQUESTS;
}

static struct transfer transfer_of(int peer, enum transfer_direction direction, int count)
{
    return (struct transfer){.direction = direction,
                             .peer = peer,
                             .local = memory,
                             .remote = LIES,
                             .bytes = (uint64_t)count * PIECE};
}

static struct datapath *one_sided(void)
{
    struct datapath *path = NULL;

    begin();
    assert_int_equal(rma_create(&world, NULL, NULL, &path), OMPRMA_OK);
    return path;
}

/* A piece fails: no other is issued, and the error comes when those under way have ended. */
TEST(a_failed_piece_waits_for_the_others)
{
    for (int out = 0; out < 2; out++) {
        struct datapath *path = one_sided();
        struct transfer t = transfer_of(1, out ? TRANSFER_OUT : TRANSFER_IN, 8);
        bool done;

        assert_int_equal(datapath_start(path, &t), OMPRMA_OK);
        assert_int_equal(issued, TRANSFER_PIECES);
        pieces[1].over = pieces[1].fails = true;
        for (int i = 0; i < 3; i++)
            assert_int_equal(datapath_test(path, &t, &done), OMPRMA_OK);
        assert_true(pieces[1].freed);
        pieces[0].over = pieces[2].over = true;
        assert_int_equal(datapath_test(path, &t, &done), OMPRMA_OK);
        assert_false(done);
        pieces[3].over = true;
        assert_int_equal(datapath_test(path, &t, &done), OMPRMA_ERR_MPI);
        assert_false(done);
        assert_int_equal(issued, TRANSFER_PIECES);
        datapath_destroy(path);
    }
}

TEST(a_refused_piece_waits_for_the_others)
{
    struct datapath *path = one_sided();
    struct transfer t = transfer_of(1, TRANSFER_OUT, 8);
    bool done;

    refused_from = 2;
    assert_int_equal(datapath_start(path, &t), OMPRMA_OK);
    assert_int_equal(datapath_test(path, &t, &done), OMPRMA_OK);
    pieces[0].over = pieces[1].over = true;
    assert_int_equal(datapath_test(path, &t, &done), OMPRMA_ERR_MPI);
    refused_from = 0;
    assert_int_equal(datapath_start(path, &t), OMPRMA_ERR_MPI);
    datapath_destroy(path);
}

/* All requests of the path are in use for a peer that gives no answers, until it is given up. */
TEST(abandoned_pieces_do_not_count)
{
    struct datapath *path = one_sided();
    struct transfer lost[64], t = transfer_of(2, TRANSFER_IN, 1);
    int count = 0, before;
    bool done;

    do {
        before = issued;
        lost[count] = transfer_of(1, TRANSFER_IN, 8);
        assert_int_equal(datapath_start(path, &lost[count]), OMPRMA_OK);
        count++;
    } while (issued > before && count < 64);
    assert_true(issued < REQUESTS / 2);
    assert_int_equal(datapath_start(path, &t), OMPRMA_OK);
    assert_int_equal(t.issued, 0);
    for (int i = 0; i < count; i++)
        datapath_abandon(path, &lost[i]);
    assert_int_equal(datapath_test(path, &t, &done), OMPRMA_OK);
    assert_int_equal(t.issued, PIECE);
    pieces[issued - 1].over = true;
    assert_int_equal(datapath_test(path, &t, &done), OMPRMA_OK);
    assert_true(done);
    datapath_destroy(path);
}

TEST(one_flush_completes_puts)
{
    struct datapath *path = one_sided();
    struct transfer a = transfer_of(1, TRANSFER_OUT, 2), b = transfer_of(1, TRANSFER_OUT, 2);
    bool done;

    assert_int_equal(datapath_start(path, &a), OMPRMA_OK);
    assert_int_equal(datapath_start(path, &b), OMPRMA_OK);
    for (int i = 0; i < 3; i++)
        pieces[i].over = true;
    assert_int_equal(datapath_test(path, &b, &done), OMPRMA_OK);
    assert_false(done);
    assert_int_equal(flushes, 0);
    assert_int_equal(datapath_test(path, &a, &done), OMPRMA_OK);
    assert_true(done);
    assert_int_equal(flushes, 1);
    pieces[3].over = true;
    assert_int_equal(datapath_test(path, &b, &done), OMPRMA_OK);
    assert_true(done);
    assert_int_equal(flushes, 2); /* it was not locally complete at the first one */
    datapath_destroy(path);
}

/* ---- where the target has a part ---- */

static struct datapath *awaited(void)
{
    struct datapath *path;

    world.can.target_is_passive = false;
    path = one_sided();
    world.can.target_is_passive = true;
    return path;
}

/* A small one as well: no call waits for the target. */
TEST(a_small_put_ends_by_its_request)
{
    struct datapath *path = awaited();
    struct transfer t = transfer_of(1, TRANSFER_OUT, 1);
    bool done;

    t.bytes = 8;
    assert_int_equal(datapath_start(path, &t), OMPRMA_OK);
    assert_int_equal(datapath_test(path, &t, &done), OMPRMA_OK);
    assert_false(done);
    assert_int_equal(issued, 1);
    assert_int_equal(flushes, 0);
    pieces[0].over = true;
    assert_int_equal(datapath_test(path, &t, &done), OMPRMA_OK);
    assert_true(done);
    assert_int_equal(flushes, 1);
    datapath_destroy(path);
}

/* What leaks when it is large goes in small ones, of which not too many are on their way. */
TEST(small_ones_end_by_the_last)
{
    static bool near[4] = {true, true, true, true};
    struct transfer t = transfer_of(1, TRANSFER_OUT, 1);
    struct datapath *path;
    int begun;
    bool done;

    mpi.quirks = QUIRK_PUT_LEAK;
    mpi.near = near;
    path = awaited();
    mpi.quirks = 0;
    assert_int_equal(datapath_start(path, &t), OMPRMA_OK);
    assert_int_equal(issued, TRANSFER_PIECES);
    begun = issued + small_ones;
    assert_true(begun <= 256);
    for (int i = 0; i < REQUESTS; i++)
        pieces[i].over = true;
    for (done = false; !done;)
        assert_int_equal(datapath_test(path, &t, &done), OMPRMA_OK);
    assert_true(issued + small_ones >= PIECE / 3584);
    assert_int_equal(flushes, 1);
    datapath_destroy(path);
}

/* While another peer has work each small one has its request, and no flush is needed. */
TEST(small_ones_have_requests_beside_others)
{
    static bool near[4] = {true, true, true, true};
    struct transfer late = transfer_of(2, TRANSFER_OUT, 1), t = transfer_of(1, TRANSFER_OUT, 1);
    struct datapath *path;
    int begun;
    bool done;

    mpi.quirks = QUIRK_PUT_LEAK;
    mpi.near = near;
    path = awaited();
    mpi.quirks = 0;
    late.bytes = 8;
    t.bytes = 4 * 3584;
    assert_int_equal(datapath_start(path, &late), OMPRMA_OK);
    begun = issued;
    assert_int_equal(datapath_start(path, &t), OMPRMA_OK);
    assert_int_equal(issued - begun, 4);
    assert_int_equal(small_ones, 0);
    for (int i = begun; i < issued; i++)
        pieces[i].over = true;
    assert_int_equal(datapath_test(path, &t, &done), OMPRMA_OK);
    assert_true(done);
    assert_int_equal(flushes, 0);
    datapath_destroy(path);
}

/* It would wait for the pieces of the other one. So that one begins no more, and one flush serves
 * both. */
TEST(a_flush_comes_when_nothing_is_under_way)
{
    struct datapath *path = awaited();
    struct transfer a = transfer_of(1, TRANSFER_OUT, 1), b = transfer_of(1, TRANSFER_OUT, 8),
                    other = transfer_of(2, TRANSFER_OUT, 1);
    bool done;

    assert_int_equal(datapath_start(path, &a), OMPRMA_OK);
    assert_int_equal(datapath_start(path, &b), OMPRMA_OK);
    pieces[0].over = pieces[1].over = true;
    assert_int_equal(datapath_test(path, &a, &done), OMPRMA_OK);
    assert_int_equal(datapath_test(path, &b, &done), OMPRMA_OK);
    assert_int_equal(issued, 1 + TRANSFER_PIECES);
    assert_int_equal(datapath_test(path, &a, &done), OMPRMA_OK);
    assert_false(done);
    assert_int_equal(flushes, 0);
    assert_int_equal(datapath_start(path, &other), OMPRMA_OK);
    pieces[issued - 1].over = true;
    assert_int_equal(datapath_test(path, &other, &done), OMPRMA_OK);
    assert_true(done); /* a flush might wait for the first peer */
    assert_int_equal(flushes, 0);
    for (int i = 2; i < 1 + TRANSFER_PIECES; i++)
        pieces[i].over = true;
    assert_int_equal(datapath_test(path, &b, &done), OMPRMA_OK);
    assert_int_equal(issued, 2 + TRANSFER_PIECES);
    assert_int_equal(datapath_test(path, &a, &done), OMPRMA_OK);
    assert_true(done);
    assert_int_equal(flushes, 1);
    assert_int_equal(datapath_test(path, &b, &done), OMPRMA_OK);
    assert_int_equal(issued, 2 + 2 * TRANSFER_PIECES);
    datapath_abandon(path, &b);
    datapath_destroy(path);
}

/* Its device was lost, others of the worker go on. */
TEST(who_waits_for_a_flush_may_leave)
{
    struct datapath *path = awaited();
    struct transfer a = transfer_of(1, TRANSFER_OUT, 1), b = transfer_of(1, TRANSFER_OUT, 1),
                    c = transfer_of(1, TRANSFER_OUT, 1);
    bool done;

    assert_int_equal(datapath_start(path, &a), OMPRMA_OK);
    assert_int_equal(datapath_start(path, &b), OMPRMA_OK);
    pieces[0].over = true;
    assert_int_equal(datapath_test(path, &a, &done), OMPRMA_OK);
    assert_false(done);
    assert_int_equal(datapath_start(path, &c), OMPRMA_OK);
    assert_int_equal(c.issued, 0);
    datapath_abandon(path, &a);
    assert_int_equal(datapath_test(path, &c, &done), OMPRMA_OK);
    assert_int_equal(c.issued, PIECE);
    datapath_abandon(path, &b);
    pieces[2].over = true;
    assert_int_equal(datapath_test(path, &c, &done), OMPRMA_OK);
    assert_true(done);
    datapath_destroy(path);
}

/* ---- two-sided ---- */

/* The other half may never come, so nothing is waited for; receives are taken back. */
TEST(a_failed_two_sided_transfer_ends_at_once)
{
    for (int how = 0; how < 4; how++) {
        struct transfer t = transfer_of(1, how & 1 ? TRANSFER_OUT : TRANSFER_IN, 8);
        omprma_status_t status;
        struct datapath *path;
        bool done;

        begin();
        assert_int_equal(twosided_create(&world, &path), OMPRMA_OK);
        refused_from = how & 2 ? 2 : REQUESTS;
        pieces[1].over = pieces[1].fails = true;
        status = datapath_start(path, &t);
        if (status == OMPRMA_OK)
            status = datapath_test(path, &t, &done);
        assert_int_equal(status, OMPRMA_ERR_MPI);
        assert_int_equal(pieces[0].cancelled, !(how & 1));
        assert_false(pieces[0].over);
        datapath_destroy(path);
    }
}
