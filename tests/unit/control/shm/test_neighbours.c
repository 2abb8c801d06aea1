/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_neighbours.c: copies to arenas of other processes, which are this one here, beside a model,
 * with the help of a thread; an arena that goes, and a transfer that is left, in the middle.
 * Covers: shm/neighbours.c shm/split.c shm/mapped.c */
#define _GNU_SOURCE
#include "tests/unit/test.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "control/shm/arena.h"
#include "control/shm/neighbours.h"
#include "control/shm/split.h"
#include "tests/unit/draw.h"

enum { HUGE = ARENA_HUGE_PAGE, BYTES = 21 << 20, MAPPED = BYTES + 4096, PEERS = 2 };

static char *reserved[PEERS], *theirs[PEERS]; /* the owners' view */
static int files[PEERS];
static struct datapath *path;
static char data[BYTES], back[BYTES];

static bool add(int peer)
{
    struct shm_address address;

    theirs[peer] = reserved[peer] + (-(uintptr_t)reserved[peer] & (HUGE - 1));
    files[peer] = arena_share(theirs[peer], MAPPED, &address);
    return files[peer] >= 0 && neighbours_add(path, peer, &address, (uintptr_t)theirs[peer], BYTES);
}

static void begin(void)
{
    assert_int_equal(neighbours_create(&path), OMPRMA_OK);
    for (int i = 0; i < PEERS; i++) {
        reserved[i] =
            mmap(NULL, MAPPED + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(reserved[i], MAP_FAILED);
        if (!add(i)) /* a container may not have name spaces */
            skip();
    }
}

static void end(void)
{
    datapath_destroy(path);
    for (int i = 0; i < PEERS; i++) {
        arena_unshare(theirs[i], MAPPED, files[i]);
        munmap(reserved[i], MAPPED + HUGE);
    }
}

static struct transfer transfer_of(enum transfer_direction direction, int peer, char *here,
                                   uint64_t at, uint64_t bytes)
{
    return (struct transfer){.direction = direction,
                             .peer = peer,
                             .local = here,
                             .remote = (uintptr_t)theirs[peer] + at,
                             .bytes = bytes};
}

static void finish(struct transfer *transfer)
{
    bool done = false;

    while (!done)
        assert_int_equal(datapath_test(path, transfer, &done), OMPRMA_OK);
    assert_int_equal(transfer->completed, transfer->bytes);
}

/* Two at a time, to one peer each. */
TEST(copies_are_right)
{
    struct draw from = {11};

    begin();
    for (int i = 0; i < 30; i++) {
        uint64_t at = draw_below(&from, BYTES), bytes = 1 + draw_below(&from, BYTES - at);
        struct transfer one, other;

        memset(data + at, (int)draw_below(&from, 256), bytes);
        data[at + bytes - 1]++;
        one = transfer_of(TRANSFER_OUT, 0, data + at, at, bytes);
        other = transfer_of(TRANSFER_OUT, 1, data + at, at, bytes);
        assert_int_equal(datapath_start(path, &one), OMPRMA_OK);
        assert_int_equal(datapath_start(path, &other), OMPRMA_OK);
        finish(&one);
        finish(&other);
        one = transfer_of(TRANSFER_IN, i % PEERS, back + at, at, bytes);
        assert_int_equal(datapath_start(path, &one), OMPRMA_OK);
        finish(&one);
        assert_memory_equal(theirs[0], data, BYTES);
        assert_memory_equal(theirs[1], data, BYTES);
        assert_memory_equal(back + at, data + at, bytes);
    }
    end();
}

/* Nothing is copied once it has gone. */
TEST(an_arena_goes)
{
    for (int i = 0; i < 10; i++) {
        struct transfer gone, other;
        bool done = false;

        begin();
        gone = transfer_of(TRANSFER_IN, 0, back, 0, BYTES);
        other = transfer_of(TRANSFER_OUT, 1, data, 0, BYTES);
        assert_int_equal(datapath_start(path, &gone), OMPRMA_OK);
        assert_int_equal(datapath_start(path, &other), OMPRMA_OK);
        assert_int_equal(datapath_test(path, &gone, &done), OMPRMA_OK);
        usleep((useconds_t)i * 50);
        if (i % 2)
            neighbours_drop(path, 0, (uintptr_t)theirs[0]);
        else
            neighbours_drop_all(path, 0);
        memset(back, 3, BYTES);
        assert_false(neighbours_hold(path, 0, (uintptr_t)theirs[0], 1));
        finish(&other);
        if (!done) { /* else the thread was so fast that it is over */
            assert_int_equal(datapath_test(path, &gone, &done), OMPRMA_ERR_DEVICE_LOST);
            assert_false(done);
        }
        for (size_t k = 0; k < BYTES; k += 101)
            assert_int_equal(back[k], 3);
        end();
    }
}

TEST(a_transfer_is_left)
{
    for (int i = 0; i < 10; i++) {
        struct transfer left, other;

        begin();
        left = transfer_of(TRANSFER_IN, 0, back, 0, BYTES);
        other = transfer_of(TRANSFER_OUT, 0, data, 0, BYTES);
        assert_int_equal(datapath_start(path, &left), OMPRMA_OK);
        assert_int_equal(datapath_start(path, &other), OMPRMA_OK);
        usleep((useconds_t)i * 50);
        datapath_abandon(path, &left);
        memset(&left, 1, sizeof(left));
        memset(back, 3, BYTES);
        finish(&other);
        for (size_t k = 0; k < BYTES; k += 101)
            assert_int_equal(back[k], 3);
        end();
    }
}
