/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* test_world.c: a program asks an agent that turns it away, or vanishes, before it has read
 * all.
 * Covers: direct/world.c */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/test.h"
#include "base/error.h"
#include "control/agent/join.h"
#include "control/direct/packet.h"
#include "control/direct/world.h"
#include "control/world.h"

enum { ROUNDS = 100, PATIENCE_MS = 20000 };

/* What the agent does when somebody has connected. */
struct way {
    int delay_us; /* before its reply: what comes meanwhile it does not read */
    int reads;    /* so many packets */
    bool replies;
    uint32_t version;
};

static pid_t start_agent(const struct way *way)
{
    char name[PACKET_NAME_BYTES], join[PACKET_NAME_BYTES + 8], byte;
    int listener;
    assert_int_equal(packet_listen(DIRECT_NAME, name, &listener), OMPRMA_OK);
    snprintf(join, sizeof(join), "%s%s", DIRECT_JOIN_FORM, name + strlen(DIRECT_NAME));
    setenv(DIRECT_JOIN_VARIABLE, join, 1);
    pid_t agent = fork();
    assert_true(agent >= 0);
    if (agent == 0) {
        struct direct_reply reply = {
            .magic = DIRECT_MAGIC, .version = way->version, .refused = 1, .text = "not today"};
        struct pollfd ready = {.fd = listener, .events = POLLIN};
        poll(&ready, 1, PATIENCE_MS);
        int fd = packet_accept(listener);
        for (int i = 0; i < way->reads; i++) {
            ready.fd = fd;
            poll(&ready, 1, PATIENCE_MS);
            packet_receive(fd, &byte, sizeof(byte));
        }
        usleep((useconds_t)way->delay_us);
        if (way->replies)
            packet_send(fd, &reply, sizeof(reply));
        _exit(0);
    }
    close(listener);
    return agent;
}

static void expect(const struct way *way, omprma_status_t wanted, const char *words)
{
    for (int round = 0; round < ROUNDS; round++) {
        struct world world = {0};
        int status;
        pid_t agent = start_agent(way);
        assert_int_equal(direct_start(&world), wanted);
        assert_non_null(strstr(error_text(), words));
        assert_int_equal(waitpid(agent, &status, 0), agent);
    }
    unsetenv(DIRECT_JOIN_VARIABLE);
}

TEST(a_refusal_is_heard_however_much_was_read)
{
    setenv("OMP_TEST", "a setting, so that there is a second packet", 1);
    for (int reads = 0; reads <= 2; reads++) {
        expect(&(struct way){0, reads, true, DIRECT_VERSION}, OMPRMA_ERR_NO_WORKERS, "not today");
        expect(&(struct way){200, reads, true, DIRECT_VERSION}, OMPRMA_ERR_NO_WORKERS, "not today");
    }
}

TEST(another_version_is_heard)
{
    expect(&(struct way){0, 1, true, DIRECT_VERSION + 1}, OMPRMA_ERR_VERSION, "another version");
}

TEST(an_agent_that_vanishes_is_said)
{
    for (int reads = 0; reads <= 2; reads++)
        expect(&(struct way){50, reads, false, DIRECT_VERSION}, OMPRMA_ERR_NO_WORKERS,
               "the agent of omprma-run has ended");
}
