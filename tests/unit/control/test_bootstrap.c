/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_bootstrap.c: what processes tell each other at start-up, each a thread here, with a pipe
 * from each to each. Only the hub exchanges anything with others.
 * Covers: bootstrap.c */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "base/error.h"
#include "control/bootstrap.h"

enum { RANKS = 4, HUB = 2, BROKEN = 9 };

static int pipes[RANKS][RANKS][2];
static _Thread_local int own;
static int failing; /* rank whose sends fail */

static omprma_status_t pipe_send(const void *data, size_t bytes, int to)
{
    if (own == failing || (own != HUB && to != HUB))
        return error_set(OMPRMA_ERR_MPI, "broken");
    return write(pipes[own][to][1], data, bytes) == (ssize_t)bytes ? OMPRMA_OK : OMPRMA_ERR_MPI;
}

static omprma_status_t pipe_receive(void *data, size_t bytes, int from)
{
    if (failing == from)
        return error_set(OMPRMA_ERR_MPI, "broken");
    return read(pipes[from][own][0], data, bytes) == (ssize_t)bytes ? OMPRMA_OK : OMPRMA_ERR_MPI;
}

/* What one process sees of all calls, in order. */
struct seen {
    omprma_status_t status;
    int gathered[RANKS], collected[RANKS], scattered, spread;
    bool any, none;
};

static struct seen seen[RANKS];

static void *process(void *data)
{
    int rank = (int)(size_t)data, mine = 10 + rank, numbers[RANKS] = {20, 21, 22, 23};
    struct bootstrap b = {rank, RANKS, pipe_send, pipe_receive};
    struct seen *s = &seen[rank];
    void *rooms[RANKS];
    size_t bytes[RANKS];

    own = rank;
    for (int i = 0; i < RANKS; i++) {
        rooms[i] = &s->collected[i];
        bytes[i] = i == 1 ? 2 : sizeof(int);
    }
    s->spread = rank == HUB ? 77 : 0;
    s->status = bootstrap_gather(&b, HUB, &mine, s->gathered, sizeof(mine));
    if (s->status == OMPRMA_OK)
        s->status = bootstrap_collect(&b, HUB, &mine, bytes[rank], rooms, bytes);
    if (s->status == OMPRMA_OK)
        s->status = bootstrap_scatter(&b, HUB, numbers, &s->scattered, sizeof(int));
    if (s->status == OMPRMA_OK)
        s->status = bootstrap_spread(&b, HUB, &s->spread, sizeof(int));
    if (s->status == OMPRMA_OK)
        s->status = bootstrap_any(&b, HUB, rank == 3, &s->any);
    if (s->status == OMPRMA_OK)
        s->status = bootstrap_any(&b, HUB, false, &s->none);
    return NULL;
}

static void run(int broken)
{
    pthread_t threads[RANKS];

    failing = broken;
    memset(seen, 0, sizeof(seen));
    for (int from = 0; from < RANKS; from++)
        for (int to = 0; to < RANKS; to++)
            assert_int_equal(pipe(pipes[from][to]), 0);
    for (size_t i = 0; i < RANKS; i++)
        if (broken >= RANKS || i == HUB)
            assert_int_equal(pthread_create(&threads[i], NULL, process, (void *)i), 0);
    for (size_t i = 0; i < RANKS; i++)
        if (broken >= RANKS || i == HUB)
            pthread_join(threads[i], NULL);
    for (int from = 0; from < RANKS; from++)
        for (int to = 0; to < RANKS; to++)
            for (int end = 0; end < 2; end++)
                close(pipes[from][to][end]);
}

TEST(each_hears_what_is_for_it)
{
    run(BROKEN);
    for (int rank = 0; rank < RANKS; rank++) {
        assert_int_equal(seen[rank].status, OMPRMA_OK);
        assert_int_equal(seen[rank].scattered, 20 + rank);
        assert_int_equal(seen[rank].spread, 77);
        assert_true(seen[rank].any);
        assert_false(seen[rank].none);
        assert_int_equal(seen[HUB].gathered[rank], 10 + rank);
        assert_int_equal(seen[HUB].collected[rank], rank == HUB ? 0 : 10 + rank);
    }
}

TEST(an_error_ends_the_call)
{
    run(0);
    assert_int_equal(seen[HUB].status, OMPRMA_ERR_MPI);
    assert_int_equal(seen[HUB].gathered[1], 0);
}
