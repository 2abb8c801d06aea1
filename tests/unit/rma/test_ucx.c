/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_ucx.c: the path over UCX, with three ends of it in one process, over TCP and over shared
 * memory: random transfers beside a model while memory comes and goes, strangers, memory that is
 * not there, an end that is gone.
 * Covers: ucx.c ucx_keys.c ucx_library.c */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/unit/test.h"
#include "base/error.h"
#include "rma/ucx.h"
#include "tests/unit/draw.h"
#include "worker/map.h"

enum {
    RANKS = 3, /* 0 is the program, which has no memory that others reach */
    ARENAS = 3,
    ARENA_BYTES = 300 << 10,
    PARTS = 6, /* of each arena, so that transfers under way do not meet */
    PART_BYTES = ARENA_BYTES / PARTS,
    ROUNDS = 60,
    UNDER_WAY = 12,
    LOOKS = 2000000
};

static const unsigned char secret[UCX_SECRET_BYTES] = {3, 1, 4, 1, 5, 9, 2, 6};

static const char *transports = "tcp,self";
static struct datapath *paths[RANKS];
static struct draw drawn;

/* Of one rank. */
static struct arena {
    unsigned char *memory;
    unsigned char model[ARENA_BYTES];
} arenas[RANKS][ARENAS];

static void attach(int rank, struct arena *arena)
{
    arena->memory = map_below(ARENA_BYTES, datapath_below(paths[rank]));
    assert_true(arena->memory != MAP_FAILED);
    memset(arena->model, 0, ARENA_BYTES);
    assert_int_equal(paths[rank]->attach(paths[rank], arena->memory, ARENA_BYTES), OMPRMA_OK);
}

static void detach(int rank, const struct arena *arena)
{
    paths[rank]->detach(paths[rank], arena->memory);
    munmap(arena->memory, ARENA_BYTES);
}

static bool progress_all(void)
{
    bool moved = false;

    for (int rank = 0; rank < RANKS; rank++)
        moved |= datapath_progress(paths[rank]);
    return moved;
}

static void meet(int here, int there)
{
    size_t bytes;
    const void *address = ucx_address(paths[there], &bytes);

    assert_int_equal(ucx_meet(paths[here], there, address, bytes), OMPRMA_OK);
}

enum { SIGNALS = 32 };

static int handlers_changed;

static void read_handlers(struct sigaction handlers[SIGNALS])
{
    for (int i = 1; i < SIGNALS; i++)
        sigaction(i, NULL, &handlers[i]);
}

/* The first time, UCX is loaded. */
static omprma_status_t open_path(const struct ucx_options *options, struct datapath **path)
{
    struct sigaction before[SIGNALS], after[SIGNALS];
    omprma_status_t status;

    read_handlers(before);
    status = ucx_open(options, path);
    read_handlers(after);
    for (int i = 1; i < SIGNALS; i++)
        handlers_changed += before[i].sa_sigaction != after[i].sa_sigaction;
    return status;
}

static int begin(void **state)
{
    (void)state;
    setenv("OMPRMA_UCX_TLS", transports, 1);
    for (int rank = 0; rank < RANKS; rank++) {
        const struct ucx_options options = {
            .rank = rank, .size = RANKS, .any_network = true, .piece_bytes = 20000};

        if (open_path(&options, &paths[rank]) != OMPRMA_OK) {
            print_message("%s\n", error_text());
            return 1;
        }
        ucx_share_secret(paths[rank], secret);
    }
    for (int rank = 0; rank < RANKS; rank++)
        for (int other = 0; other < RANKS; other++)
            if (other != rank)
                meet(rank, other);
    for (int rank = 1; rank < RANKS; rank++)
        for (int i = 0; i < ARENAS; i++)
            attach(rank, &arenas[rank][i]);
    return 0;
}

static int end(void **state)
{
    (void)state;
    for (int rank = 1; rank < RANKS; rank++)
        for (int i = 0; i < ARENAS; i++) {
            if (paths[rank])
                paths[rank]->detach(paths[rank], arenas[rank][i].memory);
            munmap(arenas[rank][i].memory, ARENA_BYTES);
        }
    for (int rank = 0; rank < RANKS; rank++) {
        datapath_destroy(paths[rank]);
        paths[rank] = NULL;
    }
    return 0;
}

TEST_EACH(begin, end)

/* One between `rank` and a part of an arena of another. */
struct move {
    int rank;
    struct transfer transfer;
    unsigned char *model; /* of what it reaches */
    bool done;
};

static void make_move(struct move *move, int rank, int peer, int part)
{
    int arena = part / PARTS;
    uint32_t bytes = 1 + draw_below(&drawn, draw_below(&drawn, 3) ? 3000 : PART_BYTES);
    uint64_t at =
        (uint64_t)(part % PARTS) * PART_BYTES + draw_below(&drawn, PART_BYTES - bytes + 1);

    move->done = false;
    move->rank = rank;
    move->model = arenas[peer][arena].model + at;
    move->transfer = (struct transfer){
        .direction = draw_below(&drawn, 2) ? TRANSFER_OUT : TRANSFER_IN,
        .peer = peer,
        .local = malloc(bytes),
        .remote = (uint64_t)(uintptr_t)arenas[peer][arena].memory + at,
        .bytes = bytes,
    };
    for (uint32_t i = 0; i < bytes; i++)
        ((unsigned char *)move->transfer.local)[i] = (unsigned char)draw_below(&drawn, 256);
    if (move->transfer.direction == TRANSFER_OUT)
        memcpy(move->model, move->transfer.local, bytes);
}

/* What was put is there, as soon as it is done; what was got is what was there. */
static void check_move(const struct move *move)
{
    const struct transfer *t = &move->transfer;

    if (t->direction == TRANSFER_OUT)
        assert_memory_equal((void *)(uintptr_t)t->remote, move->model, t->bytes);
    else
        assert_memory_equal(t->local, move->model, t->bytes);
}

static void run_moves(struct move *moves, int count)
{
    int left = count;

    for (int i = 0; i < count; i++)
        assert_int_equal(datapath_start(paths[moves[i].rank], &moves[i].transfer), OMPRMA_OK);
    for (int looks = 0; left > 0; looks++) {
        struct move *move = &moves[draw_below(&drawn, (uint32_t)count)];

        assert_true(looks < LOOKS);
        progress_all();
        if (move->done)
            continue;
        assert_int_equal(datapath_test(paths[move->rank], &move->transfer, &move->done), OMPRMA_OK);
        left -= move->done;
        if (move->done)
            check_move(move);
    }
    for (int i = 0; i < count; i++)
        free(moves[i].transfer.local);
}

static void check_arenas(void)
{
    for (int rank = 1; rank < RANKS; rank++)
        for (int i = 0; i < ARENAS; i++)
            assert_memory_equal(arenas[rank][i].memory, arenas[rank][i].model, ARENA_BYTES);
}

static void run_rounds(void)
{
    struct move moves[UNDER_WAY];

    drawn.state = 1;
    for (int round = 0; round < ROUNDS; round++) {
        int rank = 1 + (int)draw_below(&drawn, RANKS - 1);
        struct arena *arena = &arenas[rank][draw_below(&drawn, ARENAS)];

        if (draw_below(&drawn, 3) == 0) {
            detach(rank, arena);
            attach(rank, arena);
        }
        for (int i = 0; i < UNDER_WAY; i++) {
            int peer = 1 + (int)draw_below(&drawn, RANKS - 1);
            int from = (peer + 1 + (int)draw_below(&drawn, RANKS - 1)) % RANKS;

            /* Parts differ, whosever arena it is. */
            make_move(&moves[i], from, peer, (i + round) % (ARENAS * PARTS));
        }
        run_moves(moves, UNDER_WAY);
        check_arenas();
    }
}

TEST(all_data_gets_where_it_belongs)
{
    run_rounds();
}

TEST(over_shared_memory_it_does_as_well)
{
    end(NULL);
    transports = "posix,self";
    setenv("UCX_MM_ERROR_HANDLING", "y", 1); /* else UCX leaves it out: peers may go unnoticed */
    assert_int_equal(begin(NULL), 0);
    run_rounds();
    end(NULL);
    unsetenv("UCX_MM_ERROR_HANDLING");
    transports = "tcp,self";
    assert_int_equal(begin(NULL), 0);
}

/* A key that somebody may still use is to memory at which nothing else may come. */
TEST(addresses_are_used_again_when_all_have_forgotten_them)
{
    struct move move = {.rank = 0};

    drawn.state = 2;
    make_move(&move, 0, 1, 0);
    assert_null(datapath_below(paths[1]));
    run_moves(&move, 1);
    detach(1, &arenas[1][0]);
    assert_ptr_equal(datapath_below(paths[1]), arenas[1][0].memory);
    for (int looks = 0; datapath_below(paths[1]); looks++) {
        assert_true(looks < LOOKS);
        progress_all();
    }
    attach(1, &arenas[1][0]);
}

TEST(memory_that_is_not_attached_is_an_error)
{
    static unsigned char elsewhere[100], data[100];
    struct transfer put = {TRANSFER_OUT, .peer = 2, .local = data,
                           .remote = (uint64_t)(uintptr_t)elsewhere, .bytes = sizeof(data)};
    omprma_status_t status = OMPRMA_OK;
    bool done = false;

    assert_int_equal(datapath_start(paths[0], &put), OMPRMA_OK);
    for (int looks = 0; status == OMPRMA_OK; looks++) {
        assert_true(looks < LOOKS);
        progress_all();
        status = datapath_test(paths[0], &put, &done);
        assert_false(done);
    }
    assert_int_equal(status, OMPRMA_ERR_ADDRESS);
    assert_non_null(strstr(error_text(), "worker 1 of this program has no memory"));
}

TEST(who_does_not_know_the_secret_gets_no_key)
{
    const unsigned char wrong[UCX_SECRET_BYTES] = {3, 1, 4, 1, 5, 9, 2, 7};
    unsigned char data[10] = {0};
    struct transfer get = {TRANSFER_IN, .peer = 1, .local = data,
                           .remote = (uint64_t)(uintptr_t)arenas[1][0].memory, .bytes = 10};
    bool done = false;
    int quiet = 0;

    memset(arenas[1][0].memory, 9, 10);
    ucx_share_secret(paths[0], wrong);
    assert_int_equal(datapath_start(paths[0], &get), OMPRMA_OK);
    for (int looks = 0; looks < LOOKS && quiet < 20000; looks++) {
        quiet = progress_all() ? 0 : quiet + 1;
        assert_int_equal(datapath_test(paths[0], &get, &done), OMPRMA_OK);
        assert_false(done);
    }
    assert_int_equal(data[0], 0);
    datapath_abandon(paths[0], &get);
}

/* Its transfers stand still, and fail when nobody else has said why; others go on. */
TEST(one_that_is_gone_disturbs_no_other)
{
    static unsigned char data[ARENA_BYTES];
    struct transfer puts[2] = {
        {TRANSFER_OUT, .peer = 1, .local = data, .remote = (uint64_t)(uintptr_t)arenas[1][0].memory,
         .bytes = ARENA_BYTES},
        {TRANSFER_OUT, .peer = 1, .local = data, .remote = (uint64_t)(uintptr_t)arenas[1][1].memory,
         .bytes = ARENA_BYTES},
    };
    struct move moves[UNDER_WAY / 2];
    omprma_status_t status = OMPRMA_OK;
    bool done = false;

    assert_int_equal(datapath_start(paths[0], &puts[0]), OMPRMA_OK);
    while (puts[0].completed == 0) {
        datapath_progress(paths[1]);
        assert_int_equal(datapath_test(paths[0], &puts[0], &done), OMPRMA_OK);
    }
    assert_int_equal(datapath_start(paths[0], &puts[1]), OMPRMA_OK);
    paths[1]->destroy(paths[1]);
    paths[1] = NULL;
    for (int i = 0; i < UNDER_WAY / 2; i++)
        make_move(&moves[i], 0, 2, i);
    run_moves(moves, UNDER_WAY / 2);
    while (status == OMPRMA_OK && !done)
        status = datapath_test(paths[0], &puts[0], &done);
    assert_int_equal(status, OMPRMA_ERR_DEVICE_LOST);
    assert_non_null(strstr(error_text(), "lost its connection to worker 0"));
    datapath_abandon(paths[0], &puts[1]);
}

TEST(signals_are_left_alone)
{
    assert_int_equal(handlers_changed, 0);
}
