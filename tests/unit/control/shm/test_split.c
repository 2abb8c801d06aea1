/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_split.c: copies to an arena and from it with the help of a thread and without, beside a
 * model; who has come late does not help for a while.
 * Covers: shm/split.c shm/copier.c */
#define _GNU_SOURCE
#include "tests/unit/test.h"
#include <string.h>
#include <sys/mman.h>

#include "control/shm/split.h"
#include "tests/unit/draw.h"

enum { HUGE = ARENA_HUGE_PAGE, BYTES = 21 << 20, MAPPED = BYTES + 4096 };

static char *reserved, *theirs; /* the owner's view; this process is both */
static int file;
static struct arena *arena;
static struct copier copier;
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
    copier_begin(&copier, NULL, NULL);
    copier.processors = 2; /* wherever this test runs */
}

static void end(void)
{
    copier_end(&copier);
    arena_close(arena);
    arena_unshare(theirs, MAPPED, file);
    munmap(reserved, MAPPED + HUGE);
}

/* Whether the thread was asked. */
static bool copy(enum transfer_direction direction, char *here, uint64_t at, uint64_t bytes)
{
    struct transfer what = {
        .direction = direction, .local = here, .remote = (uintptr_t)theirs + at, .bytes = bytes};
    struct split split;
    bool helped;

    copier.rests = 0;
    split_begin(&split, &copier, arena, &what);
    helped = split.helper != NULL;
    while (!split_progress(&split))
        assert_true(what.completed < bytes);
    assert_int_equal(what.completed, bytes);
    assert_null(split.helper);
    return helped;
}

TEST(copies_are_right)
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
        assert_true(copy(TRANSFER_OUT, data, at, bytes) == (bytes >= SPLIT_LEAST));
        assert_memory_equal(theirs + at, data, bytes);
        assert_true(copy(TRANSFER_IN, back, at, bytes) == (bytes >= SPLIT_LEAST));
        assert_memory_equal(back, data, bytes);
        if (bytes < BYTES)
            assert_int_equal(back[bytes], 1);
    }
    copier.processors = 1;
    assert_false(copy(TRANSFER_OUT, data, 0, BYTES));
    end();
}

/* Twice as many copies each time that it is late, up to a limit; none once it was in time. */
TEST(who_was_late_does_not_help_for_a_while)
{
    unsigned refused = 0;

    copier_begin(&copier, NULL, NULL);
    copier.processors = 1;
    assert_false(copier_may_help(&copier));
    copier.processors = 2;
    for (unsigned rests = 0; rests <= 256; rests = rests ? 2 * rests : 1) {
        for (refused = 0; !copier_may_help(&copier); refused++)
            ;
        assert_int_equal(refused, rests < 64 ? rests : 64);
        copier_has_helped(&copier, true);
    }
    while (!copier_may_help(&copier))
        ;
    copier_has_helped(&copier, false);
    assert_true(copier_may_help(&copier));
    assert_true(copier_may_help(&copier)); /* another one at the same time */
    copier_end(&copier);
}
