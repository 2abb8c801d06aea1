/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_loop.c: what is called for pipes, children, signals and deadlines, and what is not.
 * Covers: loop.c */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "tools/launch/loop.h"

/* Two pipes, a child, and what was called. */
struct user {
    struct loop loop;
    struct loop_source first, second;
    struct loop_child child;
    int into_first, into_second;
    int inputs, ends, deadlines, number;
    bool closes, refuses; /* the first handler closes the second source; no more is wanted */
    size_t taken;
};

static void on_input(struct loop_source *source)
{
    struct user *user = source->owner;
    user->inputs++;
    if (user->closes)
        loop_close(&user->second);
}

static void on_end(void *owner)
{
    ((struct user *)owner)->ends++;
}

static void on_deadline(void *owner)
{
    ((struct user *)owner)->deadlines++;
}

static void on_signal(void *owner, const struct signalfd_siginfo *info)
{
    ((struct user *)owner)->number = (int)info->ssi_signo;
}

static int pipe_into(struct loop_source *source)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    source->fd = ends[0];
    return ends[1];
}

static void put(int fd)
{
    assert_int_equal(write(fd, "x", 1), 1);
}

static void begin(struct user *user)
{
    *user = (struct user){.loop = {.owner = user,
                                   .signals = -1,
                                   .on_signal = on_signal,
                                   .on_deadline = on_deadline,
                                   .sources = {&user->first, &user->second},
                                   .children = {&user->child}},
                          .first = {-1, on_input, user},
                          .second = {-1, on_input, user},
                          .child = {.on_end = on_end}};
    user->into_first = pipe_into(&user->first);
    user->into_second = pipe_into(&user->second);
}

static void end(struct user *user)
{
    loop_close(&user->first);
    loop_close(&user->second);
    close(user->into_first);
    close(user->into_second);
}

TEST(calls_all_that_can_be_read_but_what_another_has_closed)
{
    struct user user;
    begin(&user);
    put(user.into_first);
    put(user.into_second);
    assert_true(loop_wait(&user.loop, -1));
    loop_call(&user.loop);
    assert_int_equal(user.inputs, 2);
    user.closes = true;
    assert_true(loop_wait(&user.loop, -1));
    loop_call(&user.loop);
    assert_int_equal(user.inputs, 3);
    end(&user);
}

TEST(a_deadline_is_over_once)
{
    struct user user;
    begin(&user);
    loop_set_deadline(&user.loop, 1000);
    assert_true(loop_wait(&user.loop, 1));
    loop_call(&user.loop);
    assert_int_equal(user.deadlines, 0);
    loop_set_deadline(&user.loop, 0);
    assert_true(loop_wait(&user.loop, -1));
    loop_call(&user.loop);
    assert_true(loop_wait(&user.loop, 1));
    loop_call(&user.loop);
    assert_int_equal(user.deadlines, 1);
    end(&user);
}

static pid_t start(int status)
{
    pid_t made = fork();
    if (made == 0)
        _exit(status);
    assert_true(made > 0);
    return made;
}

TEST(ends_of_all_children_are_taken_and_other_signals_handed_on)
{
    struct user user;
    sigset_t set;
    begin(&user);
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    user.loop.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    assert_false(loop_runs(&user.child));
    start(0);
    user.child.pid = start(3);
    assert_true(loop_runs(&user.child));
    siginfo_t any;
    while (waitid(P_ALL, 0, &any, WEXITED | WNOHANG | WNOWAIT) == 0) { /* there are children */
        assert_true(loop_wait(&user.loop, -1));
        loop_call(&user.loop);
    }
    assert_false(loop_runs(&user.child));
    assert_int_equal(WEXITSTATUS(user.child.status), 3);
    assert_int_equal(user.ends, 1);
    raise(SIGUSR1);
    assert_true(loop_wait(&user.loop, -1));
    loop_call(&user.loop);
    assert_int_equal(user.number, SIGUSR1);
    close(user.loop.signals);
    end(&user);
}

/* Whoever writes is as quick as we are. */
static bool take(struct loop_source *source, const char *bytes, size_t count)
{
    struct user *user = source->owner;
    user->taken += count;
    return write(user->into_first, bytes, count) == (ssize_t)count && !user->refuses;
}

TEST(reads_no_more_than_a_pipe_holds)
{
    struct user user;
    begin(&user);
    put(user.into_first);
    loop_read(&user.first, take);
    assert_true(user.first.fd >= 0);
    assert_int_equal(user.taken, fcntl(user.first.fd, F_GETPIPE_SZ));
    user.refuses = true;
    loop_read(&user.first, take);
    assert_int_equal(user.first.fd, -1);
    loop_read(&user.first, take);
    end(&user);
}
