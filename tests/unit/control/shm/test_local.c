/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_local.c: copies to and from memory of another process, beside a model of that; and what is
 * said where its memory is not there, where it has ended, and where a filter forbids it.
 * Covers: local.c */
#define _GNU_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "base/error.h"
#include "control/shm/local.h"
#include "tests/unit/filter_fixture.h"

enum { BYTES = 3 * LOCAL_PIECE + 12345, PAGE = 4096, HOLE = 2 * LOCAL_PIECE + 5 * PAGE };

static unsigned char *theirs; /* memory at the same place in the other process, not the same */
static unsigned char model[BYTES], ours[BYTES];
static pid_t other; /* in which a page of that is missing */
static struct datapath *path;

static int begin(void **state)
{
    int ready[2];
    char byte = 0;

    (void)state;
    if (pipe(ready) != 0)
        return 1;
    theirs = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(theirs, 1, BYTES);
    memset(model, 1, BYTES);
    other = fork();
    if (other == 0) {
        prctl(PR_SET_PTRACER, getppid(), 0, 0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        munmap(theirs + HOLE, PAGE);
        if (write(ready[1], &byte, 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    if (other > 0 && read(ready[0], &byte, 1) != 1)
        return 1;
    close(ready[0]);
    close(ready[1]);
    return other < 0 || local_create(&other, NULL, 1, &path) != OMPRMA_OK;
}

static int end(void **state)
{
    (void)state;
    datapath_destroy(path);
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    munmap(theirs, BYTES);
    return 0;
}

TEST_EACH(begin, end)

static omprma_status_t move(bool out, uint64_t at, uint64_t bytes, uint64_t *completed)
{
    struct transfer transfer = {
        .direction = out ? TRANSFER_OUT : TRANSFER_IN,
        .local = ours + at,
        .remote = (uint64_t)(uintptr_t)theirs + at,
        .bytes = bytes,
    };
    bool done = false;
    omprma_status_t status = datapath_start(path, &transfer);

    while (status == OMPRMA_OK && !done) {
        uint64_t before = transfer.completed;

        status = datapath_test(path, &transfer, &done);
        if (status == OMPRMA_OK)
            assert_true(done || (transfer.completed > before && transfer.completed <= bytes));
    }
    *completed = transfer.completed;
    return status;
}

/* The hole is at least so far behind a range of up to HOLE bytes. */
TEST(random_ranges_are_those_of_the_model)
{
    uint64_t completed;

    srand(1);
    for (int i = 0; i < 200; i++) {
        uint64_t at = (uint64_t)rand() % (HOLE - 1), bytes = 1 + (uint64_t)rand() % (HOLE - at);

        if (rand() & 1) {
            memset(ours + at, rand(), bytes);
            ours[at + bytes / 2] ^= 0x55;
            memcpy(model + at, ours + at, bytes);
            assert_int_equal(move(true, at, bytes, &completed), OMPRMA_OK);
        } else {
            memset(ours, 0, sizeof(ours));
            assert_int_equal(move(false, at, bytes, &completed), OMPRMA_OK);
            assert_memory_equal(ours + at, model + at, bytes);
            assert_true(at == 0 || ours[at - 1] == 0);
            assert_int_equal(ours[at + bytes], 0);
        }
        assert_int_equal(completed, bytes);
    }
    assert_int_equal(theirs[0], 1); /* this process's own */
}

TEST(memory_that_is_not_there_is_told)
{
    uint64_t completed;

    for (int out = 0; out < 2; out++) {
        assert_int_equal(move(out, 100, BYTES - 100, &completed), OMPRMA_ERR_ARGUMENT);
        assert_int_equal(completed, HOLE - 100);
        assert_non_null(strstr(error_text(), out ? "submit of" : "retrieve of"));
        assert_non_null(strstr(error_text(), "unmapped"));
    }
    assert_int_equal(move(false, HOLE + PAGE, BYTES - HOLE - PAGE, &completed), OMPRMA_OK);
}

TEST(a_process_that_has_ended_is_told)
{
    uint64_t completed;

    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    assert_int_equal(move(true, 0, 8, &completed), OMPRMA_ERR_DEVICE_LOST);
}

enum { RIGHT, ANOTHER_STATUS, ANOTHER_TEXT };

static int under_a_filter(void)
{
    struct transfer transfer = {
        .local = ours, .remote = (uint64_t)(uintptr_t)theirs, .bytes = sizeof(ours)};

    if (datapath_start(path, &transfer) != OMPRMA_ERR_UNSUPPORTED)
        return ANOTHER_STATUS;
    return strstr(error_text(), "not permitted") ? RIGHT : ANOTHER_TEXT;
}

TEST(a_filter_that_forbids_it_is_told)
{
    int result = filter_run(under_a_filter);

    if (result == FILTER_CANNOT_BE)
        skip();
    assert_int_equal(result, RIGHT);
}
