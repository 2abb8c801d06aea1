/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_input.c: that a region has read is told, once, and not before. In children, whose descriptor
 * 0 is replaced.
 * Covers: worker/input.c */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "worker/input.h"

static char *said;
static size_t said_bytes;

/* What a child has said on stderr by the time that it ends is its status. */
static int in_child(int mode, int (*body)(void))
{
    int status;

    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        close(STDIN_FILENO);
        if (open("/dev/null", mode) != STDIN_FILENO)
            _exit(99);
        stderr = open_memstream(&said, &said_bytes);
        input_begin();
        _exit(body());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int lines(void)
{
    int count = 0;

    fflush(stderr);
    for (const char *at = said; (at = strstr(at, "a region has read standard input")); at++)
        count++;
    return count;
}

static int nothing_is_read(void)
{
    input_look();
    input_look();
    return lines();
}

static int reads_descriptor(void)
{
    char byte;

    input_look();
    if (lines() || read(STDIN_FILENO, &byte, 1) != 0)
        return 98;
    input_look();
    if (read(STDIN_FILENO, &byte, 1) != 0)
        return 97;
    input_look();
    return lines();
}

static int reads_stream(void)
{
    if (getchar() != EOF)
        return 98;
    input_look();
    return lines();
}

static int finds_it_closed(void)
{
    char byte;

    if (read(STDIN_FILENO, &byte, 1) != -1 || errno != EBADF)
        return 98;
    input_look();
    return lines();
}

TEST(nothing_is_told_where_nothing_is_read)
{
    assert_int_equal(in_child(O_RDONLY, nothing_is_read), 0);
}

TEST(a_read_is_told_once)
{
    assert_int_equal(in_child(O_RDONLY, reads_descriptor), 1);
}

TEST(a_read_of_the_stream_is_told)
{
    assert_int_equal(in_child(O_RDONLY, reads_stream), 1);
}

/* /dev/null for the wrong direction holds the place of a stream that was closed. */
TEST(a_closed_stream_stays_closed)
{
    assert_int_equal(in_child(O_WRONLY, finds_it_closed), 0);
}
