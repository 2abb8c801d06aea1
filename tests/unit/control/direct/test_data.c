/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_data.c: two-sided data over sockets, between a program and workers and between workers:
 * random transfers, both ends of which begin in any order, some empty, some abandoned, beside a
 * model; a peer that is gone; frames that nobody sends; many who come at once, and no room for what
 * they bring.
 * Covers: direct/data.c */
#include <poll.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "tests/unit/test.h"
#include "base/error.h"
#include "control/direct/data.h"
#include "tests/unit/control/direct/direct_fixture.h"
#include "tests/unit/draw.h"

enum { SEEDS = 60, PAIRS = 40, BYTES = 700000, ROUNDS = 100000 };

static struct datapath *paths[DIRECT_RANKS];

static int begin(void **state)
{
    int failed = direct_begin_places(state);

    for (int rank = 0; rank < DIRECT_RANKS && !failed; rank++)
        failed = direct_data_create(&places[rank].world, &paths[rank]) != OMPRMA_OK;
    return failed;
}

static int end(void **state)
{
    for (int rank = 0; rank < DIRECT_RANKS; rank++)
        datapath_destroy(paths[rank]);
    return direct_end_places(state);
}

TEST_EACH(begin, end)

static struct draw drawn;

/* Both ends of one transfer; [0] sends. */
struct pair {
    struct transfer end[2];
    bool begun[2], done[2], given_up[2];
    unsigned char *data[2];
};

static void make_pair(struct pair *pair, uint32_t tag)
{
    int from = (int)draw_below(&drawn, DIRECT_RANKS),
        to = (int)draw_below(&drawn, DIRECT_RANKS - 1);
    uint64_t bytes = 1 + draw_below(&drawn, draw_below(&drawn, 4) ? 5000 : BYTES);

    to += to >= from;
    *pair = (struct pair){.begun = {false}};
    for (int i = 0; i < 2; i++) {
        pair->data[i] = malloc(bytes);
        for (uint64_t at = 0; at < bytes; at++)
            pair->data[i][at] = i == 0 ? (unsigned char)(at * 7 + tag) : 0xee;
        pair->end[i] = (struct transfer){
            .direction = i == 0 ? TRANSFER_OUT : TRANSFER_IN,
            .peer = i == 0 ? to : from,
            .local = pair->data[i],
            .bytes = bytes,
            .tag = tag,
        };
    }
    pair->end[0].empty = draw_below(&drawn, 8) == 0;
}

static struct datapath *path_of(const struct pair *pair, int i)
{
    return paths[pair->end[1 - i].peer];
}

static void go_on(struct pair *pair, int i)
{
    if (pair->done[i] || pair->given_up[i])
        return;
    if (!pair->begun[i])
        assert_int_equal(datapath_start(path_of(pair, i), &pair->end[i]), OMPRMA_OK);
    pair->begun[i] = true;
    assert_int_equal(datapath_test(path_of(pair, i), &pair->end[i], &pair->done[i]), OMPRMA_OK);
}

/* Nothing goes to or from this one any more, and nobody waits for it. */
static void give_up(struct pair *pair, int lost)
{
    for (int i = 0; i < 2; i++) {
        if (pair->end[i].peer != lost && pair->end[1 - i].peer != lost)
            continue;
        if (pair->begun[i] && !pair->done[i])
            datapath_abandon(path_of(pair, i), &pair->end[i]);
        pair->given_up[i] = !pair->done[i];
    }
}

static bool is_over(const struct pair *pair)
{
    return (pair->done[0] || pair->given_up[0]) && (pair->done[1] || pair->given_up[1]);
}

static void check_pair(struct pair *pair)
{
    struct transfer *in = &pair->end[1];

    for (uint64_t at = 0; pair->done[1] && at < in->bytes; at++)
        if (pair->data[1][at] != (in->empty ? 0xee : pair->data[0][at]))
            fail_msg("byte %llu is wrong", (unsigned long long)at);
    if (pair->done[1])
        assert_int_equal(in->empty, pair->end[0].empty);
    free(pair->data[0]);
    free(pair->data[1]);
}

/* In round `ends`, if it comes to that, a worker is lost. */
static void run_pairs(uint32_t seed, int ends)
{
    static struct pair pairs[PAIRS];
    int left = PAIRS, lost;

    drawn.state = seed;
    lost = 1 + (int)draw_below(&drawn, DIRECT_RANKS - 1);
    for (uint32_t i = 0; i < PAIRS; i++)
        make_pair(&pairs[i], i);
    for (int round = 0; left > 0; round++) {
        assert_true(round < ROUNDS);
        left = 0;
        for (int i = 0; i < PAIRS; i++) {
            int first = (int)draw_below(&drawn, 2);

            if (draw_below(&drawn, 3))
                go_on(&pairs[i], first);
            if (draw_below(&drawn, 3))
                go_on(&pairs[i], 1 - first);
            if (round >= ends)
                give_up(&pairs[i], lost);
            left += !is_over(&pairs[i]);
        }
    }
    for (int i = 0; i < PAIRS; i++)
        check_pair(&pairs[i]);
}

TEST(all_data_gets_where_it_belongs)
{
    for (uint32_t seed = 1; seed <= SEEDS; seed++)
        run_pairs(seed, ROUNDS);
}

TEST(what_is_abandoned_holds_up_nothing_else)
{
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        run_pairs(seed, (int)(seed % 8));
        end(NULL);
        assert_int_equal(begin(NULL), 0);
    }
}

TEST(what_goes_to_one_that_is_gone_stays)
{
    static unsigned char data[BYTES];
    struct transfer out = {TRANSFER_OUT, .peer = 1, .local = data, .bytes = sizeof(data)};
    bool done = true;

    link_close(&places[1].data[0]);
    assert_int_equal(datapath_start(paths[0], &out), OMPRMA_OK);
    for (int i = 0; i < 10; i++)
        assert_int_equal(datapath_test(paths[0], &out, &done), OMPRMA_OK);
    assert_false(done);
    assert_int_equal(out.completed, 0);
    datapath_abandon(paths[0], &out);
}

/* Its end is for others to tell, and fails nothing here. */
TEST(what_goes_to_a_worker_that_is_gone_stays)
{
    static unsigned char data[BYTES];
    struct transfer out = {TRANSFER_OUT, .peer = 2, .local = data, .bytes = sizeof(data)};
    bool done;

    close(places[2].direct.listener);
    places[2].direct.listener = -1;
    assert_int_equal(datapath_start(paths[1], &out), OMPRMA_OK);
    for (int i = 0; i < 10; i++)
        assert_int_equal(datapath_test(paths[1], &out, &done), OMPRMA_OK);
    assert_false(done);
    assert_int_equal(datapath_descriptor(paths[1], 1), -1);
    datapath_abandon(paths[1], &out);
}

static void let_open(int files, struct rlimit *most)
{
    int next = dup(STDERR_FILENO);
    struct rlimit few;

    close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, most), 0);
    few = *most;
    few.rlim_cur = (rlim_t)(next + files);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
}

TEST(a_worker_that_cannot_be_reached_is_an_error)
{
    static unsigned char data[BYTES];
    struct transfer out = {TRANSFER_OUT, .peer = 2, .local = data, .bytes = sizeof(data)};
    struct rlimit most;
    bool done;

    let_open(0, &most);
    assert_int_equal(datapath_start(paths[1], &out), OMPRMA_OK);
    assert_int_equal(datapath_test(paths[1], &out, &done), OMPRMA_ERR_DEVICE_LOST);
    assert_non_null(strstr(error_text(), "worker 1 cannot be reached for data by worker 0"));
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &most), 0);
}

/* Whoever receives it waits for nothing that can come, and hears of the failure otherwise. */
TEST(memory_that_is_not_there_is_an_error)
{
    static unsigned char there[BYTES];
    unsigned char *data =
        mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct transfer out = {TRANSFER_OUT, .peer = 1, .local = data, .bytes = BYTES};
    struct transfer in = {TRANSFER_IN, .peer = 0, .local = there, .bytes = BYTES};
    omprma_status_t status = OMPRMA_OK;
    bool done;

    munmap(data, BYTES);
    assert_int_equal(datapath_start(paths[0], &out), OMPRMA_OK);
    assert_int_equal(datapath_start(paths[1], &in), OMPRMA_OK);
    for (int i = 0; i < 10 && status == OMPRMA_OK; i++)
        status = datapath_test(paths[0], &out, &done);
    assert_int_equal(status, OMPRMA_ERR_ARGUMENT);
    datapath_abandon(paths[1], &in);
}

TEST(more_data_than_was_asked_for_is_refused)
{
    const struct {
        uint32_t kind, tag;
        uint64_t bytes;
    } frame = {2, 7, 1000};
    unsigned char data[1000] = {0}, there[16] = {0};
    struct transfer in = {TRANSFER_IN, .peer = 1, .local = there, .bytes = 10, .tag = 7};
    bool done;

    assert_int_equal(datapath_start(paths[0], &in), OMPRMA_OK);
    memset(data, 9, sizeof(data));
    assert_int_equal(link_send(&places[1].data[0], &frame, sizeof(frame)), OMPRMA_OK);
    assert_int_equal(link_send(&places[1].data[0], data, sizeof(data)), OMPRMA_OK);
    assert_int_equal(datapath_test(paths[0], &in, &done), OMPRMA_OK);
    assert_false(done);
    assert_true(places[0].data[1].ended);
    for (size_t i = 0; i < sizeof(there); i++)
        assert_int_equal(there[i], 0);
    datapath_abandon(paths[0], &in);
}

/* Worker 0 sends to worker 2, whose end has not begun yet. */
static void send_before_it_is_wanted(struct transfer *out, struct transfer *in)
{
    static unsigned char data[BYTES], there[BYTES];

    *out = (struct transfer){TRANSFER_OUT, .peer = 3, .local = data, .bytes = BYTES};
    *in = (struct transfer){TRANSFER_IN, .peer = 1, .local = there, .bytes = BYTES};
    assert_int_equal(datapath_start(paths[1], out), OMPRMA_OK);
}

static bool comes(struct transfer *out, struct transfer *in)
{
    bool sent = false, done = false;

    for (int i = 0; i < 100 && !done; i++) {
        if (!sent)
            assert_int_equal(datapath_test(paths[1], out, &sent), OMPRMA_OK);
        assert_int_equal(datapath_test(paths[3], in, &done), OMPRMA_OK);
    }
    return done;
}

TEST(who_has_said_who_it_is_is_heard_beside_many_who_have_not)
{
    enum { MANY = 100 };
    int strangers[MANY];
    struct transfer out, in;

    send_before_it_is_wanted(&out, &in);
    for (int i = 0; i < MANY; i++)
        strangers[i] = packet_connect(places[3].names[3]);
    assert_int_equal(datapath_start(paths[3], &in), OMPRMA_OK);
    assert_true(comes(&out, &in));
    for (int i = 0; i < MANY; i++)
        close(strangers[i]);
}

/* The connection can be accepted, but not what it brings; that waits. */
TEST(a_way_comes_when_there_is_room_for_it)
{
    struct rlimit most;
    struct transfer out, in;

    send_before_it_is_wanted(&out, &in);
    let_open(1, &most);
    assert_int_equal(datapath_start(paths[3], &in), OMPRMA_OK);
    assert_false(comes(&out, &in));
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &most), 0);
    assert_true(comes(&out, &in));
}

static bool can_be_read(int fd)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};

    return poll(&ready, 1, 0) == 1;
}

/* Whoever sleeps at the descriptor of a path is woken whenever its transfer can get on: the two
 * ends go on only then, and the data comes. */
TEST(who_sleeps_is_woken)
{
    struct pair pair = {.data = {NULL, NULL}};
    int idle = 0;

    drawn = (struct draw){5};
    do {
        for (int i = 0; i < 2; i++)
            free(pair.data[i]);
        make_pair(&pair, 1);
    } while (pair.end[0].bytes < BYTES / 2 || (pair.end[0].peer && pair.end[1].peer));
    assert_int_equal(datapath_descriptor(path_of(&pair, 0), 1), -1); /* nothing is under way */
    for (int i = 0; i < 2; i++)
        go_on(&pair, i);
    while ((!pair.done[0] || !pair.done[1]) && idle < 2)
        for (int i = 0; i < 2; i++) {
            int fd = pair.done[i] ? -1 : datapath_descriptor(path_of(&pair, i), 1);

            if (pair.done[i])
                continue;
            assert_int_equal(datapath_descriptor(path_of(&pair, i), 2), -1);
            idle = can_be_read(fd) ? 0 : idle + 1;
            if (can_be_read(fd))
                go_on(&pair, i);
        }
    assert_true(pair.done[0] && pair.done[1]);
    for (int i = 0; i < 2; i++)
        free(pair.data[i]);
}
