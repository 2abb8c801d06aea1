/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* loop.c: poll(); children are asked for when their signal has come. */
#include "tools/launch/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

static int wait_ms(const struct loop *loop, int most_ms)
{
    if (!loop->deadline_ns)
        return most_ms;
    int64_t left_ns = loop->deadline_ns - clock_ns();
    int left_ms = left_ns <= 0 ? 0 : (int)(left_ns / 1000000 + 1);
    return most_ms >= 0 && most_ms < left_ms ? most_ms : left_ms;
}

bool loop_wait(struct loop *loop, int most_ms)
{
    nfds_t count = 1;
    loop->polled[0] = (struct pollfd){.fd = loop->signals, .events = POLLIN};
    for (int i = 0; i < LOOP_SOURCES_MOST && loop->sources[i]; i++)
        loop->polled[count++] = (struct pollfd){.fd = loop->sources[i]->fd, .events = POLLIN};
    return poll(loop->polled, count, wait_ms(loop, most_ms)) >= 0 || errno == EINTR;
}

void loop_reap(struct loop *loop)
{
    pid_t pid;
    int status;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (int i = 0; i < LOOP_CHILDREN_MOST && loop->children[i]; i++) {
            struct loop_child *child = loop->children[i];
            if (child->pid != pid || child->ended)
                continue;
            child->ended = true;
            child->status = status;
            if (child->on_end)
                child->on_end(loop->owner);
        }
}

static void loop_take_signal(struct loop *loop)
{
    struct signalfd_siginfo info;
    if (read(loop->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
        return;
    if (info.ssi_signo == SIGCHLD)
        loop_reap(loop);
    else
        loop->on_signal(loop->owner, &info);
}

void loop_call(struct loop *loop)
{
    if (loop->polled[0].revents)
        loop_take_signal(loop);
    for (int i = 0; i < LOOP_SOURCES_MOST && loop->sources[i]; i++) {
        const struct pollfd *polled = &loop->polled[1 + i];
        if (polled->revents && polled->fd == loop->sources[i]->fd)
            loop->sources[i]->on_input(loop->sources[i]);
    }
    if (!loop->deadline_ns || clock_ns() < loop->deadline_ns)
        return;
    loop->deadline_ns = 0;
    loop->on_deadline(loop->owner);
}

void loop_set_deadline(struct loop *loop, int64_t seconds)
{
    loop->deadline_ns = clock_ns() + seconds * INT64_C(1000000000);
}

bool loop_runs(const struct loop_child *child)
{
    return child->pid > 0 && !child->ended;
}

void loop_kill(const struct loop_child *child, int number)
{
    if (loop_runs(child))
        kill(child->pid, number);
}

void loop_close(struct loop_source *source)
{
    if (source->fd >= 0)
        close(source->fd);
    source->fd = -1;
}

void loop_read(struct loop_source *source,
               bool (*take)(struct loop_source *source, const char *bytes, size_t count))
{
    char bytes[4096];
    int left = source->fd >= 0 ? fcntl(source->fd, F_GETPIPE_SZ) : 0;
    while (left > 0) {
        ssize_t count = read(source->fd, bytes, sizeof(bytes));
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0 && errno == EAGAIN)
            return;
        if (count <= 0 || !take(source, bytes, (size_t)count)) {
            loop_close(source);
            return;
        }
        left -= (int)count;
    }
}
