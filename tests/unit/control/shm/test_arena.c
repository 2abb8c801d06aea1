/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_arena.c: memory of one process that another one maps: copies beside a model; huge pages;
 * what is refused; a peer that has died.
 * Covers: shm/arena.c huge_file.c */
#define _GNU_SOURCE
#include "tests/unit/test.h"
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/shm/arena.h"
#include "tests/unit/draw.h"
#include "tests/unit/filter_fixture.h"

enum { PAGE = 4096, HUGE = ARENA_HUGE_PAGE, BYTES = 5 << 20, MAPPED = BYTES + PAGE };

static char *reserved, *theirs; /* the owner's view; this process is both */
static int file;
static struct shm_address address;
static struct arena *arena;

/* From the beginning of a huge page on. */
static char *anonymous(void)
{
    reserved =
        mmap(NULL, MAPPED + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(reserved, MAP_FAILED);
    return reserved + (-(uintptr_t)reserved & (HUGE - 1));
}

static void begin(void)
{
    theirs = anonymous();
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

/* The owner's memory goes on without a file, and is as it was. */
static int is_refused(int code)
{
    char *at = anonymous();

    if (arena_share(at, MAPPED, &address) >= 0 || errno != code)
        return 1;
    memset(at, 1, MAPPED);
    return 0;
}

static int refuse_files(void)
{
    return filter_mounts() ? FILTER_CANNOT_BE : is_refused(EPERM);
}

static int limit_files(void)
{
    struct rlimit little = {MAPPED / 2, MAPPED / 2};

    setrlimit(RLIMIT_FSIZE, &little);
    return is_refused(EFBIG);
}

/* The first test: who has made a file can make others. */
TEST(without_files_memory_stays_its_owners)
{
    int code = filter_run(refuse_files);

    assert_true(code == 0 || code == FILTER_CANNOT_BE);
    assert_int_equal(filter_run(limit_files), 0);
}

static int make_another(void)
{
    return filter_mounts()                                  ? FILTER_CANNOT_BE
           : arena_share(anonymous(), MAPPED, &address) < 0 ? 1
                                                            : 0;
}

/* Nor does it take another process, which would have a part in what kernels write meanwhile. */
TEST(further_files_take_no_mount)
{
    int code;

    begin();
    code = filter_run(make_another);
    assert_true(code == 0 || code == FILTER_CANNOT_BE);
    end();
}

TEST(copies_are_right)
{
    static unsigned char model[BYTES], data[BYTES];
    struct draw from = {11};

    begin();
    for (int i = 0; i < 600; i++) {
        uint64_t at = draw_below(&from, BYTES), bytes = 1 + draw_below(&from, BYTES - at);
        bool stream = draw_below(&from, 2);

        bytes = i % 2 ? bytes : 1 + bytes % (3 * PAGE);
        bytes = bytes < BYTES - at ? bytes : BYTES - at;
        if (draw_below(&from, 2)) {
            memset(data + at, (int)draw_below(&from, 256), bytes);
            data[at + bytes / 2] ^= 1;
            memcpy(model + at, data + at, bytes);
            arena_copy(arena, true, data + at, (uintptr_t)theirs + at, bytes, stream);
            assert_memory_equal(theirs + at, model + at, bytes);
        } else {
            theirs[at] = (char)(model[at] ^= 0x55); /* as a kernel there */
            arena_copy(arena, false, data + at, (uintptr_t)theirs + at, bytes, stream);
            assert_memory_equal(data + at, model + at, bytes);
        }
    }
    assert_memory_equal(theirs, model, BYTES);
    end();
}

/* Twice. */
static void copy_whole_pages(const char *data)
{
    for (int i = 0; i < 2; i++) {
        arena_copy(arena, true, (void *)(uintptr_t)(data + i), (uintptr_t)theirs + HUGE, HUGE, i);
        assert_memory_equal(theirs + HUGE, data + i, HUGE);
    }
}

/* The first time the kernel writes them: so it does not zero them before. */
TEST(whole_pages_are_not_zeroed_before)
{
    char *data = malloc(HUGE + 1);

    begin();
    for (int i = 0; i <= HUGE; i++)
        data[i] = (char)(i * 37 >> 5);
    assert_false(arena->filled[1]);
    copy_whole_pages(data);
    assert_true(arena->filled[1]);
    assert_false(arena->filled[0] || arena->filled[2]);
    free(data);
    end();
}

/* A smaller limit than the owner's would end this process. */
static int copy_limited(void)
{
    struct rlimit little = {HUGE, HUGE};
    char *data = calloc(1, HUGE);

    setrlimit(RLIMIT_FSIZE, &little);
    if (!data)
        return 1;
    memset(data, 5, HUGE);
    arena_copy(arena, true, data, (uintptr_t)theirs + HUGE, HUGE, false);
    return memcmp(theirs + HUGE, data, HUGE) != 0;
}

TEST(limits_on_files_do_not_end_who_copies)
{
    begin();
    /* A child does not have the arena's mapping. */
    madvise(arena->mapped, arena->mapped_bytes, MADV_DOFORK);
    assert_int_equal(filter_run(copy_limited), 0);
    end();
}

static bool is_there(const char *at)
{
    unsigned char page = 0;

    assert_int_equal(mincore((void *)(uintptr_t)at, PAGE, &page), 0);
    return page & 1;
}

/* One use of a page puts a huge page there, here as well as there; at the end it is a small one. */
TEST(pages_are_huge)
{
    begin();
    theirs[3 * PAGE] = 7;
    assert_true(is_there(theirs + HUGE - PAGE));
    assert_false(is_there(theirs + HUGE));
    arena->at[HUGE] = 8;
    assert_true(is_there(theirs + 2 * HUGE - PAGE));
    arena->at[2 * HUGE] = 9;
    assert_false(is_there(theirs + 2 * HUGE + PAGE));
    assert_int_equal(arena->at[3 * PAGE] + theirs[HUGE], 15);
    end();
}

TEST(who_has_it_takes_it_back)
{
    char *at = anonymous();

    file = arena_share(at, MAPPED, &address);
    if (file < 0)
        skip();
    at[5] = 1;
    arena_unshare(at, MAPPED, file);
    assert_int_equal(at[5], 0);
    memset(at, 1, MAPPED);
    assert_null(arena_open(&address, (uintptr_t)at, BYTES));
    munmap(reserved, MAPPED + HUGE);
}

static int limit_addresses(void)
{
    struct rlimit little = {1, 1};

    setrlimit(RLIMIT_AS, &little);
    return arena_open(&address, (uintptr_t)theirs, BYTES) != NULL;
}

TEST(only_the_right_file_is_opened)
{
    struct shm_address wrong;

    begin();
    wrong = address;
    wrong.cookie++;
    assert_null(arena_open(&wrong, (uintptr_t)theirs, BYTES));
    wrong = address;
    wrong.fd = 1000000;
    assert_null(arena_open(&wrong, (uintptr_t)theirs, BYTES));
    assert_null(arena_open(&address, (uintptr_t)theirs, MAPPED)); /* longer than it is */
    assert_int_equal(filter_run(limit_addresses), 0);
    end();
}

/* What is mapped stays when its owner is gone. */
TEST(memory_of_a_process_that_has_ended_can_be_copied)
{
    char data[64] = "", told;
    int ends[2], go[2];
    pid_t child;

    begin(); /* it can be */
    end();
    assert_int_equal(pipe(ends) | pipe(go), 0);
    child = fork();
    if (child == 0) {
        char *at = anonymous();

        arena_share(at, MAPPED, &address);
        snprintf(at, 64, "from the dead");
        if (write(ends[1], &address, sizeof(address)) < 0 || read(go[0], &told, 1) < 0)
            _exit(1);
        _exit(0);
    }
    assert_int_equal(read(ends[0], &address, sizeof(address)), sizeof(address));
    arena = arena_open(&address, 1 << 20, BYTES);
    assert_non_null(arena);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    arena_copy(arena, false, data, 1 << 20, sizeof(data), false);
    assert_string_equal(data, "from the dead");
    arena_copy(arena, true, data, (1 << 20) + HUGE, sizeof(data), false);
    arena_close(arena);
}
