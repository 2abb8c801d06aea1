/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_split.c: copies to an arena and from it that several threads make together, beside a model.
 * Covers: shm/split.c */
#define _GNU_SOURCE
#include "tests/unit/test.h"
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "control/shm/split.h"
#include "tests/unit/draw.h"

enum { HUGE = ARENA_HUGE_PAGE, BYTES = 7 << 20, MAPPED = BYTES + 4096, THREADS = 3 };

static char *reserved, *theirs; /* the owner's view; this process is both */
static int file;
static struct arena *arena;
static char data[BYTES], back[BYTES];

static void begin(void)
{
    struct shm_address address;

    reserved =
        mmap(NULL, MAPPED + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(reserved, MAP_FAILED);
    theirs = reserved + (-(uintptr_t)reserved & (HUGE - 1));
    file = arena_share(theirs, MAPPED, &address);
    if (file < 0) /* a container may not have name spaces */
        skip();
    arena = arena_open(&address, (uintptr_t)theirs, BYTES);
    assert_non_null(arena);
}

static void end(void)
{
    arena_close(arena);
    arena_unshare(theirs, MAPPED, file);
    munmap(reserved, MAPPED + HUGE);
}

static void *take_part(void *data_)
{
    struct split *split = data_;
    uint64_t moved = 0, piece;

    while ((piece = split_move(split)) > 0)
        moved += piece;
    return (void *)(uintptr_t)moved;
}

static void copy(enum transfer_direction direction, char *here, uint64_t at, uint64_t bytes)
{
    struct transfer what = {
        .direction = direction, .local = here, .remote = (uintptr_t)theirs + at, .bytes = bytes};
    struct split split;
    pthread_t threads[THREADS];
    uint64_t all = 0;

    split_begin(&split, arena, &what);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_part, &split), 0);
    for (int i = 0; i < THREADS; i++) {
        void *moved;

        pthread_join(threads[i], &moved);
        all += (uint64_t)(uintptr_t)moved;
    }
    assert_true(split_is_taken(&split));
    assert_int_equal(split_moved(&split), bytes);
    assert_int_equal(all, bytes);
    assert_int_equal(split_move(&split), 0);
}

TEST(each_byte_is_copied_once)
{
    struct draw from = {5};

    begin();
    for (int i = 0; i < 60; i++) {
        uint64_t at = draw_below(&from, BYTES), bytes = 1 + draw_below(&from, BYTES - at);

        at = i % 3 ? at : 0;
        bytes = i % 3 ? bytes : BYTES;
        for (uint64_t k = 0; k < bytes; k += 1 + k % 61)
            data[k] = (char)draw_below(&from, 256);
        memset(back, 1, BYTES);
        copy(TRANSFER_OUT, data, at, bytes);
        assert_memory_equal(theirs + at, data, bytes);
        copy(TRANSFER_IN, back, at, bytes);
        assert_memory_equal(back, data, bytes);
        if (bytes < BYTES)
            assert_int_equal(back[bytes], 1);
    }
    end();
}

/* One that nobody has written to is written as a whole; else pieces are small. */
TEST(new_huge_pages_are_pieces)
{
    struct transfer what = {.direction = TRANSFER_OUT, .local = data, .bytes = 2 * HUGE};
    struct split split;
    uint64_t before = 0;

    begin();
    what.remote = (uintptr_t)theirs + HUGE / 2;
    split_begin(&split, arena, &what);
    while (split_moved(&split) < HUGE / 2)
        assert_true(split_move(&split) < HUGE / 2);
    assert_int_equal(split_moved(&split), HUGE / 2);
    assert_int_equal(split_move(&split), HUGE);
    assert_false(split_is_taken(&split));
    for (before = 0; split_move(&split) > 0; before++)
        ;
    assert_true(before > 1);
    assert_int_equal(split_moved(&split), 2 * HUGE);
    end();
}

/* Who knows paths only is done when nothing is left to take, and has what it moved itself. */
TEST(it_is_a_path)
{
    struct transfer what = {.direction = TRANSFER_OUT, .local = data, .bytes = 2 * HUGE}, part;
    struct split split;
    bool done;

    begin();
    what.remote = (uintptr_t)theirs;
    split_begin(&split, arena, &what);
    part = what;
    *(struct split **)(void *)part.state = &split;
    assert_int_equal(OMPRMA_OK, datapath_start(split_path(), &part));
    assert_int_equal(split_move(&split), HUGE);
    for (done = false; !done;)
        assert_int_equal(OMPRMA_OK, datapath_test(split_path(), &part, &done));
    assert_int_equal(part.completed, HUGE);
    assert_int_equal(split_moved(&split), 2 * HUGE);
    end();
}
