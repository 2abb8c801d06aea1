/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_agent_line.c: an agent that others reach over a network, and who calls it: strangers who say
 * nothing, or what nobody says, more of them than may prove themselves at a time, or than files may
 * be open. Each time somebody who knows the secret is let in.
 * Covers: agent_line.c agent_far.c
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "control/agent/join.h"
#include "control/direct/packet.h"
#include "tests/unit/draw.h"
#include "worker/agent.h"
#include "tests/unit/worker/agent_fixture.h"
#include "worker/agent_parts.h"

enum { PATIENCE_MS = 20000, STRANGERS = 150, KEPT = 20, FILES = 40, SEEDS = 200 };

static struct sockaddr_in at;
static char name[PACKET_NAME_BYTES];
static uint8_t secret[PROVE_SECRET_BYTES];
static int control;
static pid_t agent;

static void make_secret(void)
{
    char text[PROVE_SECRET_TEXT + 1];

    for (int i = 0; i < PROVE_SECRET_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", 7 * i + 1);
    setenv(FAR_SECRET_VARIABLE, text, 1);
    assert_true(prove_read_secret(text, secret));
}

static int listen_on_network(void)
{
    socklen_t bytes = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    at = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(fd, SOMAXCONN), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &bytes), 0);
    return fd;
}

static void start(rlim_t files)
{
    int network = listen_on_network();

    make_secret();
    agent = agent_begin("1", network, files, name, &control);
    assert_true(agent > 0);
    close(network);
}

static void end(void)
{
    int status;

    close(control);
    assert_int_equal(waitpid(agent, &status, 0), agent);
    assert_int_equal(status, 0);
}

static int call(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(connect(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    return fd;
}

static bool hear(int fd, void *data, size_t bytes)
{
    struct timeval limit = {.tv_sec = PATIENCE_MS / 1000};

    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    return recv(fd, data, bytes, MSG_WAITALL) == (ssize_t)bytes;
}

/* Another host's agent, which has a slot. False: it is turned away. */
static bool call_rightly(int fd)
{
    struct agent_call own = {.wish = {.kind = FAR_HOST, .port = 1, .slots = 1, .name = "other"}};
    struct prove_opening opening;
    struct prove_answer answer;
    struct direct_event event;

    assert_true(prove_open(&opening, FAR_MAGIC, FAR_VERSION));
    if (send(fd, &opening, sizeof(opening), MSG_NOSIGNAL) < 0 ||
        !hear(fd, &answer, sizeof(answer)) || !prove_accept_answer(secret, &opening, &answer))
        return false;
    prove_call(secret, &opening, &answer, &own.wish, sizeof(own.wish), own.proof);
    if (send(fd, &own, sizeof(own), MSG_NOSIGNAL) < 0)
        return false;
    /* With its end goes the host, which omprma-run hears of. */
    shutdown(fd, SHUT_WR);
    return hear(control, &event, sizeof(event)) && event.what == DIRECT_HOST &&
           strcmp(event.host, "other") == 0;
}

static bool is_open(int fd)
{
    char byte;

    return recv(fd, &byte, 1, MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

/* The last KEPT of them are still there when who has come behind them was let in: nobody has waited
 * for their time to be over. */
static void hold_up(int count)
{
    int strangers[STRANGERS], fd;

    for (int i = 0; i < count; i++)
        strangers[i] = call();
    fd = call();
    assert_true(call_rightly(fd));
    for (int i = count > KEPT ? count - KEPT : 0; i < count; i++)
        assert_true(is_open(strangers[i]));
    close(fd);
    for (int i = 0; i < count; i++)
        close(strangers[i]);
}

TEST(strangers_who_say_nothing_hold_up_nobody)
{
    start(0);
    hold_up(STRANGERS);
    hold_up(1);
    end();
}

TEST(where_no_more_files_may_be_open_the_oldest_makes_room)
{
    start(FILES);
    hold_up(STRANGERS);
    end();
}

/* Is it taken, and not turned away? */
static bool is_taken(int fd)
{
    struct pollfd answer = {.fd = fd, .events = POLLIN};

    return poll(&answer, 1, 300) == 0;
}

/* A session that asks for a way for its data hears that there is none, and does not wait for it. */
TEST(where_no_more_files_may_be_open_a_session_hears_that_there_is_no_way)
{
    struct direct_way way = {.magic = DIRECT_WAY_MAGIC, .version = DIRECT_VERSION, .rank = 5};
    struct direct_arrival arrival;
    int programs[FILES], count = 0, door, came, fd, none;
    struct pollfd ready = {.events = POLLIN};

    start(FILES);
    assert_int_equal(packet_listen(DIRECT_DOOR_PREFIX, way.own, &door), OMPRMA_OK);
    do {
        assert_true(count < FILES);
        programs[count] = packet_connect(name);
    } while (is_taken(programs[count++]));
    close(programs[--count]);
    assert_true(count > 2);
    assert_int_equal(packet_send(programs[count - 1], &way, sizeof(way)), sizeof(way));
    ready.fd = door;
    assert_int_equal(poll(&ready, 1, PATIENCE_MS), 1);
    ready.fd = came = packet_accept(door);
    assert_int_equal(poll(&ready, 1, PATIENCE_MS), 1);
    assert_int_equal(packet_receive_with(came, &arrival, sizeof(arrival), &fd, 1, &none),
                     sizeof(arrival));
    assert_int_equal(none, 0);
    assert_int_equal(arrival.rank, 5);
    assert_int_equal(arrival.is_ours, 1);
    close(came);
    close(door);
    while (count > 0)
        close(programs[--count]);
    end();
}

/* What is right up to some byte, or all of it, but for the secret. */
static void say_something(struct draw *random)
{
    struct prove_opening opening;
    struct agent_call own = {.wish = {.kind = FAR_HOST}};
    struct prove_answer answer;
    int fd = call();
    char byte;

    prove_open(&opening, FAR_MAGIC, FAR_VERSION);
    if (draw_below(random, 2))
        ((uint8_t *)&opening)[draw_below(random, 8)] ^= (uint8_t)(1 + draw_below(random, 255));
    assert_int_equal(send(fd, &opening, sizeof(opening), MSG_NOSIGNAL), sizeof(opening));
    if (hear(fd, &answer, sizeof(answer))) {
        prove_call(secret, &opening, &answer, &own.wish, sizeof(own.wish), own.proof);
        ((uint8_t *)&own)[draw_below(random, sizeof(own))] ^=
            (uint8_t)(1 + draw_below(random, 255));
        send(fd, &own, sizeof(own), MSG_NOSIGNAL);
    }
    assert_int_not_equal(recv(fd, &byte, 1, 0), 1);
    close(fd);
}

TEST(what_is_not_quite_right_is_turned_away)
{
    struct draw random = {1};

    start(0);
    for (int i = 0; i < SEEDS; i++)
        say_something(&random);
    hold_up(1);
    end();
}
