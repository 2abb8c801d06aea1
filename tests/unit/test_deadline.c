/* test_deadline.c: a step of start-up that takes too long ends the process with a line. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"
#include "host/start/deadline.h"

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

static void stuck_at_once(void)
{
    struct deadline deadline;

    deadline_begin(&deadline, "start-up", "try that", "one", moment);
    for (;;)
        pause();
}

static void stuck_later(void)
{
    struct deadline deadline;

    deadline_begin(&deadline, "start-up", "try that", "one", FOR_EVER);
    deadline_next(&deadline, "two", hour);
    deadline_next(&deadline, "three", moment);
    for (;;)
        pause();
}

static void in_time(void)
{
    struct deadline deadline;

    deadline_begin(&deadline, "start-up", "try that", "one", hour);
    deadline_next(&deadline, "two", FOR_EVER);
    deadline_end(&deadline);
    deadline_begin(&deadline, "start-up", "try that", "three", hour);
    deadline_end(&deadline);
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
