/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_log.c: lines of the log, and the end of a process whose invariants do not hold.
 * Covers: log.c base/check.c */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The assertions are what is tested, whatever the build. */
#undef NDEBUG
#include "tests/unit/test.h"
#include "base/check.h"
#include "base/log.h"

static int ends[2];

static int open_pipe(void **state)
{
    (void)state;
    if (pipe2(ends, O_NONBLOCK))
        return -1;
    log_to(ends[1]);
    return 0;
}

static int close_pipe(void **state)
{
    (void)state;
    log_to(STDERR_FILENO);
    log_open("", LOG_NOTE);
    close(ends[0]);
    close(ends[1]);
    return 0;
}

static const char *written(void)
{
    static char text[8192];
    ssize_t bytes = read(ends[0], text, sizeof(text) - 1);
    text[bytes > 0 ? bytes : 0] = '\0';
    return text;
}

TEST(line_has_prefix_and_newline)
{
    log_write(LOG_ERROR, "%d of %d", 1, 2);
    assert_string_equal(written(), "omprma: error: 1 of 2\n");
    log_open("worker 2 (node7)", LOG_NOTE);
    log_write(LOG_WARNING, "x");
    assert_string_equal(written(), "omprma: warning: worker 2 (node7): x\n");
    log_write(LOG_NOTE, "y");
    assert_string_equal(written(), "omprma: note: worker 2 (node7): y\n");
}

TEST(level_filters)
{
    log_open("", LOG_NOTE);
    log_write(LOG_CHOICE, "hidden");
    assert_string_equal(written(), "");
    log_set_level(LOG_DETAIL);
    assert_int_equal(log_level(), LOG_DETAIL);
    log_write(LOG_DETAIL, "seen");
    log_write(LOG_DEBUG, "hidden");
    assert_string_equal(written(), "omprma: note: seen\n");
    log_set_level(-1);
    log_write(LOG_ERROR, "always");
    assert_string_equal(written(), "omprma: error: always\n");
}

TEST(what_others_have_said_is_not_repeated)
{
    log_open("", LOG_NOTE);
    log_repeats(true);
    log_write(LOG_WARNING, "hidden");
    log_write(LOG_NOTE, "hidden");
    log_write(LOG_CHOICE, "hidden");
    log_write(LOG_ERROR, "always");
    assert_string_equal(written(), "omprma: error: always\n");
    log_set_level(LOG_CHOICE);
    log_write(LOG_WARNING, "seen");
    log_write(LOG_DETAIL, "hidden");
    assert_string_equal(written(), "omprma: warning: seen\n");
    log_set_level(LOG_NOTE);
    log_repeats(false);
    log_write(LOG_NOTE, "its own");
    assert_string_equal(written(), "omprma: note: its own\n");
}

TEST(long_line_is_cut)
{
    for (size_t length = 2000; length < 2100; length++) {
        char text[4096];
        memset(text, 'x', length);
        text[length] = '\0';
        log_write(LOG_ERROR, "%s", text);
        const char *line = written();
        size_t bytes = strlen(line);
        assert_true(bytes <= 2048);
        assert_int_equal(line[bytes - 1], '\n');
        assert_int_equal(strcspn(line, "\n"), bytes - 1);
        if (bytes < length + sizeof("omprma: error: "))
            assert_string_equal(line + bytes - 5, "x...\n");
    }
}

/* What comes out of a terminal. */
static const char *on_terminal(const char *variable, const char *value, const char *line)
{
    static char text[256];
    int ours = posix_openpt(O_RDWR | O_NOCTTY), theirs;
    assert_true(ours >= 0 && grantpt(ours) == 0 && unlockpt(ours) == 0);
    theirs = open(ptsname(ours), O_RDWR | O_NOCTTY);
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    unsetenv("CLICOLOR");
    setenv(variable, value, 1);
    log_pass(theirs, line, strlen(line));
    unsetenv(variable);
    /* A terminal may give a line in pieces. */
    size_t have = 0;
    while (have < sizeof(text) - 1 && memchr(text, '\n', have) == NULL) {
        ssize_t bytes = read(ours, text + have, sizeof(text) - 1 - have);
        assert_true(bytes > 0);
        have += (size_t)bytes;
    }
    text[have] = '\0';
    close(theirs);
    close(ours);
    return text;
}

TEST(words_have_colour_on_a_terminal)
{
    static const char error[] = "omprma: error: x\n", plain[] = "omprma: error: x\r\n";
    assert_string_equal(on_terminal("TERM", "xterm", error),
                        "omprma: \033[1;31merror: \033[0mx\r\n");
    assert_string_equal(on_terminal("TERM", "xterm", "omprma: warning: x\n"),
                        "omprma: \033[1;33mwarning: \033[0mx\r\n");
    assert_string_equal(on_terminal("TERM", "xterm", "omprma: note: x\n"),
                        "omprma: \033[1;36mnote: \033[0mx\r\n");
    assert_string_equal(on_terminal("TERM", "dumb", error), plain);
    assert_string_equal(on_terminal("TERM", "", error), plain);
    assert_string_equal(on_terminal("NO_COLOR", "1", error), plain);
    assert_string_equal(on_terminal("CLICOLOR", "0", error), plain);
    assert_string_equal(on_terminal("NO_COLOR", "", "omprma:   a table\n"),
                        "omprma:   a table\r\n");
    log_pass(ends[1], error, strlen(error));
    assert_string_equal(written(), error);
}

TEST(errno_stays)
{
    log_to(-1);
    errno = ENOENT;
    log_write(LOG_ERROR, "to a closed descriptor");
    assert_int_equal(errno, ENOENT);
    log_to(ends[1]);
}

TEST(failed_check_aborts_with_both_values)
{
    int one = 1, two = 2;
    CHECK(one, <, two);
    assert_string_equal(written(), "");
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        CHECK(one, ==, two);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
    const char *text = written();
    assert_non_null(strstr(text, "one == two does not hold (1 and 2)"));
    assert_non_null(strstr(text, "test_log.c:"));
}

TEST_EACH(open_pipe, close_pipe)
