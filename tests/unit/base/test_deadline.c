/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_deadline.c: a call of MPI, or a step of start-up, that does not return ends the process with
 * a line; others do not, nor does a process that was stopped.
 * Covers: deadline.c base/watch.c phase.c */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "base/deadline.h"
#include "host/start/phase.h"

enum { FOR_EVER = 0 };
static const int64_t moment = 1000000, hour = 3600 * INT64_C(1000000000);

/* Runs `body` in a process of its own; gives its exit status and what it wrote to stderr. */
static int run(void (*body)(void), char *text, size_t room)
{
    int ends[2], status;
    size_t used = 0;
    ssize_t bytes;
    pid_t child;

    assert_int_equal(pipe(ends), 0);
    child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        body();
        _exit(42);
    }
    close(ends[1]);
    while ((bytes = read(ends[0], text + used, room - 1 - used)) > 0)
        used += (size_t)bytes;
    text[used] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void say(const void *data, int peer)
{
    fprintf(stderr, "%s %d;", (const char *)data, peer);
}

/* ---- calls ---- */

static void a_call_stays(void)
{
    struct deadline deadline = {0}, other = {0};

    deadline_begin(&other, hour, say, "other");
    deadline_begin(&deadline, moment, say, "peer");
    deadline_enter(&other, 2);
    for (int i = 0; i < 1000; i++) {
        deadline_enter(&deadline, 1);
        deadline_leave(&deadline);
    }
    deadline_enter(&deadline, 3);
    for (;;)
        pause();
}

static void calls_in_time(void)
{
    struct deadline deadline = {0}, other = {0};

    deadline_begin(&deadline, hour, say, "peer");
    deadline_enter(&deadline, 1);
    deadline_leave(&deadline);
    deadline_enter(&deadline, 1);
    deadline_begin(&other, moment, say, "other");
    deadline_end(&deadline); /* at once, whatever the limit */
    deadline_end(&other);
    deadline_end(&other);
    deadline_enter(NULL, 1);
    deadline_leave(NULL);
}

/* The same call was seen at eight looks, however far apart: once more, and it has taken too long.
 */
static void look(int more)
{
    struct deadline deadline = {.say = say, .data = "peer"};

    for (int call = 0; call < 3; call++) {
        deadline_enter(&deadline, call);
        for (int i = 0; i < 8; i++)
            deadline_look(&deadline);
        if (call < 2)
            deadline_leave(&deadline);
    }
    for (int i = 0; i < more; i++)
        deadline_look(&deadline);
}

static void eight_looks(void)
{
    look(0);
}

static void nine_looks(void)
{
    look(1);
}

static void looks_between_calls(void)
{
    struct deadline deadline = {.say = say, .data = "peer"};

    for (int i = 0; i < 100; i++)
        deadline_look(&deadline);
}

TEST(a_call_that_stays_ends_the_process_with_one_line)
{
    char text[512];

    assert_int_equal(run(a_call_stays, text, sizeof(text)), 1);
    assert_string_equal(text, "peer 3;");
}

TEST(calls_in_time_do_not)
{
    char text[512];

    assert_int_equal(run(calls_in_time, text, sizeof(text)), 42);
    assert_string_equal(text, "");
}

TEST(looks_count_and_not_time)
{
    char text[512];

    assert_int_equal(run(eight_looks, text, sizeof(text)), 42);
    assert_int_equal(run(looks_between_calls, text, sizeof(text)), 42);
    assert_int_equal(run(nine_looks, text, sizeof(text)), 1);
    assert_string_equal(text, "peer 2;");
}

/* ---- steps ---- */

static void stuck_at_once(void)
{
    struct phase phase;

    phase_begin(&phase, "start-up", "try that", "one", moment);
    for (;;)
        pause();
}

static void stuck_later(void)
{
    struct phase phase;

    phase_begin(&phase, "start-up", "try that", "one", FOR_EVER);
    phase_next(&phase, "two", hour);
    phase_next(&phase, "three", moment);
    for (;;)
        pause();
}

static void in_time(void)
{
    struct phase phase;

    phase_begin(&phase, "start-up", "try that", "one", hour);
    phase_next(&phase, "two", FOR_EVER);
    phase_end(&phase);
    phase_begin(&phase, "start-up", "try that", "three", hour);
    phase_end(&phase);
}

TEST(ends_the_process)
{
    char text[512];

    assert_int_equal(run(stuck_at_once, text, sizeof(text)), 1);
    assert_non_null(strstr(text, ": start-up did not get past one within 0.001 s; try that; "
                                 "OMPRMA_TIMEOUT sets the limit\n"));
    assert_int_equal(run(stuck_later, text, sizeof(text)), 1);
    assert_non_null(strstr(text, "did not get past three within"));
}

TEST(does_nothing)
{
    char text[512];

    assert_int_equal(run(in_time, text, sizeof(text)), 42);
    assert_string_equal(text, "");
}
