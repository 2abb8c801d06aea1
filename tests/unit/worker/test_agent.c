/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_agent.c: tests the agent with programs and sessions that are this test itself: shares, a
 * program that joins twice, strangers, ends of all kinds. Each test proves at its end that a
 * program of good manners still gets its workers.
 * Covers: worker/agent.c agent_join.c agent_session.c
 */
#define _GNU_SOURCE
#include <errno.h>
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
#include "worker/agent.h"
#include "tests/unit/worker/agent_fixture.h"

enum { SLOTS = 3, PATIENCE_MS = 20000 };

/* ---- a session: says where it is, and waits for its program's end ---- */

struct said {
    int slot, slots, rank, size;
    char folder[128], setting[32], kept[32], join[32];
};

static void copy_variable(char *to, const char *name)
{
    const char *value = getenv(name);
    snprintf(to, 32, "%s", value ? value : "none");
}

/* Called before main() with its arguments, as glibc does. */
__attribute__((constructor)) static void be_session(int count, char **words)
{
    struct said said = {0};
    int messages, data;
    char byte;
    if (count != 3 || strcmp(words[1], DIRECT_SESSION_OPTION) != 0)
        return;
    if (sscanf(words[2], "%d,%d,%d,%d,%d,%d", &messages, &data, &said.slot, &said.slots, &said.rank,
               &said.size) != 6)
        _exit(9);
    if (!getcwd(said.folder, sizeof(said.folder)))
        _exit(9);
    copy_variable(said.setting, "OMP_TEST");
    copy_variable(said.kept, "OMP_KEPT");
    copy_variable(said.join, DIRECT_JOIN_VARIABLE);
    if (write(messages, &said, sizeof(said)) != (ssize_t)sizeof(said))
        _exit(9);
    while (read(messages, &byte, 1) > 0 || getenv("OMP_STAYS"))
        ;
    _exit(getenv("OMP_ENDS") ? atoi(getenv("OMP_ENDS")) : 0);
}

/* ---- the agent ---- */

static char name[PACKET_NAME_BYTES];
static int control;
static pid_t agent;

static int start_agent(void **state)
{
    (void)state;
    setenv("OMP_TEST", "agent", 1);
    setenv("OMP_KEPT", "kept", 1);
    setenv(DIRECT_JOIN_VARIABLE, "1:of another", 1);
    agent = agent_begin("3", -1, 0, name, &control);
    return agent < 0;
}

/* It ends with its control socket, whatever else is open. */
static int end_agent(void **state)
{
    int status;
    (void)state;
    close(control);
    if (waitpid(agent, &status, 0) != agent)
        return -1;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}
TEST_EACH(start_agent, end_agent)

static void expect_event(enum direct_event_kind what)
{
    struct direct_event event;
    struct pollfd ready = {.fd = control, .events = POLLIN};
    assert_int_equal(poll(&ready, 1, PATIENCE_MS), 1);
    assert_int_equal(packet_receive(control, &event, sizeof(event)), sizeof(event));
    assert_int_equal(event.what, what);
}

/* ---- a program ---- */

static struct direct_request good(void)
{
    return (struct direct_request){.magic = DIRECT_MAGIC,
                                   .version = DIRECT_VERSION,
                                   .local_rank = -1,
                                   .local_size = -1,
                                   .folder = "/"};
}

static int connect_agent(void)
{
    int fd = packet_connect(name);
    assert_true(fd >= 0);
    return fd;
}

static void ask(int fd, struct direct_request request, const char *settings, size_t bytes)
{
    const int outputs[] = {STDOUT_FILENO, STDERR_FILENO};
    request.environment_bytes = (uint32_t)bytes;
    assert_int_equal(packet_send_with(fd, &request, sizeof(request), outputs, 2), sizeof(request));
    if (bytes)
        assert_int_equal(packet_send(fd, settings, bytes), (ssize_t)bytes);
}

static struct direct_reply hear(int fd)
{
    struct direct_reply reply;
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&ready, 1, PATIENCE_MS), 1);
    assert_int_equal(packet_receive(fd, &reply, sizeof(reply)), sizeof(reply));
    assert_int_equal(reply.magic, DIRECT_MAGIC);
    return reply;
}

static void expect_refusal(int fd, const char *part)
{
    struct direct_reply reply = hear(fd);
    assert_int_not_equal(reply.refused, 0);
    assert_int_equal(reply.sessions, 0);
    if (!strstr(reply.text, part))
        fail_msg("\"%s\" does not say \"%s\"", reply.text, part);
    close(fd);
}

struct worker {
    int ends[DIRECT_SESSION_DESCRIPTORS];
    pid_t pid;
    struct said said;
};

static struct worker take_worker(int fd)
{
    struct direct_session session;
    struct worker worker;
    int count;
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    assert_int_equal(poll(&ready, 1, PATIENCE_MS), 1);
    assert_int_equal(packet_receive_with(fd, &session, sizeof(session), worker.ends,
                                         DIRECT_SESSION_DESCRIPTORS, &count),
                     sizeof(session));
    assert_int_equal(count, DIRECT_SESSION_DESCRIPTORS);
    assert_int_equal(recv(worker.ends[0], &worker.said, sizeof(worker.said), MSG_WAITALL),
                     sizeof(worker.said));
    assert_int_equal(worker.said.slot, session.slot);
    worker.pid = session.pid;
    return worker;
}

static void drop_worker(struct worker *worker)
{
    close(worker->ends[0]);
    close(worker->ends[1]);
}

static bool is_gone(pid_t pid)
{
    for (int i = 0; i < PATIENCE_MS / 10; i++) {
        if (kill(pid, 0) && errno == ESRCH)
            return true;
        poll(NULL, 0, 10);
    }
    return false;
}

/* Joins, has all slots, leaves. */
static void be_served(void)
{
    int fd = connect_agent();
    ask(fd, good(), NULL, 0);
    struct direct_reply reply = hear(fd);
    assert_int_equal(reply.refused, 0);
    assert_int_equal(reply.sessions, SLOTS);
    assert_int_equal(reply.slots, SLOTS);
    expect_event(DIRECT_JOINED);
    struct worker workers[SLOTS];
    for (int i = 0; i < SLOTS; i++)
        workers[i] = take_worker(fd);
    for (int i = 0; i < SLOTS; i++) {
        assert_int_equal(workers[i].said.slot, i);
        drop_worker(&workers[i]);
    }
    close(fd);
    expect_event(DIRECT_LEFT);
    for (int i = 0; i < SLOTS; i++)
        assert_true(is_gone(workers[i].pid));
}

/* ---- tests ---- */

TEST(a_program_has_its_workers_and_leaves)
{
    be_served();
    be_served();
}

static int32_t join_as(int fd, int rank)
{
    struct direct_request request = good();
    request.local_rank = rank;
    request.local_size = rank < 0 ? -1 : 3;
    ask(fd, request, NULL, 0);
    return hear(fd).repeats;
}

static void check_repeats(int rank, int wanted)
{
    int fd = connect_agent();
    assert_int_equal(join_as(fd, rank), wanted);
    expect_event(DIRECT_JOINED);
    close(fd);
    expect_event(DIRECT_LEFT);
}

TEST(what_holds_for_all_is_said_by_the_first_rank)
{
    int status;
    check_repeats(2, 0);
    pid_t child = fork(); /* a process joins once */
    if (child == 0) {
        join_as(connect_agent(), 0);
        pause();
    }
    expect_event(DIRECT_JOINED);
    check_repeats(2, 1);
    check_repeats(-1, 0);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    expect_event(DIRECT_LEFT);
    check_repeats(1, 0); /* of another launcher */
}

TEST(workers_are_in_the_programs_folder_with_its_settings)
{
    static const char settings[] = "OMP_TEST=program\0OMPRMA_JOIN=1:x";
    struct direct_request request = good();
    int fd = connect_agent();
    snprintf(request.folder, sizeof(request.folder), "/proc");
    request.local_rank = 1;
    request.local_size = 2;
    ask(fd, request, settings, sizeof(settings));
    struct direct_reply reply = hear(fd);
    assert_int_equal(reply.sessions, 1); /* slots 0 and 2 are the other rank's */
    assert_int_equal(reply.processes, 2 + 3);
    struct worker worker = take_worker(fd);
    assert_int_equal(worker.said.slot, 1);
    assert_int_equal(worker.said.rank, 1);
    assert_int_equal(worker.said.size, 2);
    assert_string_equal(worker.said.folder, "/proc");
    assert_string_equal(worker.said.setting, "program");
    assert_string_equal(worker.said.kept, "kept");
    assert_string_equal(worker.said.join, "none");
    drop_worker(&worker);
    close(fd);
}

TEST(a_worker_that_is_killed_is_told_of)
{
    struct direct_ended ended;
    int fd = connect_agent();
    ask(fd, good(), NULL, 0);
    hear(fd);
    expect_event(DIRECT_JOINED);
    struct worker workers[SLOTS];
    for (int i = 0; i < SLOTS; i++)
        workers[i] = take_worker(fd);
    kill(workers[1].pid, SIGKILL);
    expect_event(DIRECT_LOST);
    assert_int_equal(packet_receive(fd, &ended, sizeof(ended)), sizeof(ended));
    assert_int_equal(ended.rank, 2);
    assert_true(WIFSIGNALED(ended.status));
    for (int i = 0; i < SLOTS; i++)
        drop_worker(&workers[i]);
    close(fd);
    expect_event(DIRECT_LEFT);
    be_served();
}

/* One worker ends while its program has not. */
static void be_left_by_one(const char *setting, bool is_loss)
{
    struct direct_ended ended;
    int fd = connect_agent();
    ask(fd, good(), setting, strlen(setting) + 1);
    hear(fd);
    expect_event(DIRECT_JOINED);
    struct worker workers[SLOTS];
    for (int i = 0; i < SLOTS; i++)
        workers[i] = take_worker(fd);
    drop_worker(&workers[0]);
    assert_int_equal(packet_receive(fd, &ended, sizeof(ended)), sizeof(ended));
    assert_int_equal(ended.rank, 1);
    if (is_loss)
        expect_event(DIRECT_LOST);
    close(fd);
    for (int i = 1; i < SLOTS; i++)
        drop_worker(&workers[i]);
    expect_event(DIRECT_LEFT);
}

TEST(a_worker_may_see_first_that_its_program_has_ended)
{
    be_left_by_one("OMP_ENDS=3", false);
    be_left_by_one("OMP_ENDS=1", true);
}

TEST(a_worker_that_does_not_end_is_killed)
{
    int fd = connect_agent();
    ask(fd, good(), "OMP_STAYS=1", sizeof("OMP_STAYS=1"));
    hear(fd);
    expect_event(DIRECT_JOINED);
    struct worker workers[SLOTS];
    for (int i = 0; i < SLOTS; i++)
        workers[i] = take_worker(fd);
    close(fd);
    expect_event(DIRECT_LEFT);
    for (int i = 0; i < SLOTS; i++) {
        assert_true(is_gone(workers[i].pid));
        drop_worker(&workers[i]);
    }
    be_served();
}

TEST(who_joins_twice_is_told)
{
    int first = connect_agent(), second = connect_agent();
    ask(first, good(), NULL, 0);
    assert_int_equal(hear(first).refused, 0);
    expect_event(DIRECT_JOINED);
    ask(second, good(), NULL, 0);
    expect_refusal(second, "has joined before");
    close(first);
    expect_event(DIRECT_LEFT);
    be_served();
}

static void refused(struct direct_request request, const char *part)
{
    int fd = connect_agent();
    ask(fd, request, NULL, 0);
    expect_refusal(fd, part);
}

TEST(requests_that_make_no_sense_are_refused)
{
    struct direct_request request = good();
    request.version++;
    refused(request, "same installation");
    request = good();
    request.magic++;
    refused(request, "no request to join");
    request = good();
    request.share = 7;
    refused(request, "no request to join");
    request = good();
    request.local_rank = 4;
    request.local_size = 4;
    refused(request, "no request to join");
    request = good();
    memset(request.folder, '/', sizeof(request.folder));
    refused(request, "no request to join");
    request = good();
    request.folder[0] = '\0';
    refused(request, "current folder");
    request = good();
    snprintf(request.folder, sizeof(request.folder), "/nowhere");
    refused(request, "cannot use the program's folder /nowhere");
    be_served();
}

TEST(environments_that_are_none_are_refused)
{
    static const struct {
        const char *text;
        size_t bytes;
    } bad[] = {{"A=1", 3}, {"A", 2}, {"=1", 3}, {"A=1\0", 5}};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int fd = connect_agent();
        ask(fd, good(), bad[i].text, bad[i].bytes);
        expect_refusal(fd, "not the environment");
    }
    be_served();
}

TEST(descriptors_in_wrong_numbers_are_refused)
{
    const int many[] = {1, 1, 1, 1};
    const struct direct_request request = good();
    for (int count = 0; count <= 4; count++) {
        if (count == DIRECT_REQUEST_DESCRIPTORS)
            continue;
        int fd = connect_agent();
        packet_send_with(fd, &request, sizeof(request), many, count);
        expect_refusal(fd, "to join");
    }
    be_served();
}

/* Who says nothing keeps nobody waiting, and garbage of any length changes nothing. */
TEST(strangers)
{
    int silent = connect_agent();
    srand(5);
    for (int round = 0; round < 100; round++) {
        char garbage[8192];
        int fd = connect_agent();
        size_t bytes = 1 + (size_t)rand() % sizeof(garbage);
        for (size_t i = 0; i < bytes; i++)
            garbage[i] = (char)rand();
        if (rand() % 4 == 0)
            memcpy(garbage, &(struct direct_request){.magic = DIRECT_MAGIC}, 4);
        packet_send(fd, garbage, bytes);
        if (rand() % 2)
            assert_int_not_equal(hear(fd).refused, 0);
        close(fd);
    }
    be_served();
    close(silent);
}

/* Only what it may not say is its own loss. */
TEST(who_says_more_than_it_may_loses_its_workers)
{
    int fd = connect_agent();
    ask(fd, good(), NULL, 0);
    hear(fd);
    expect_event(DIRECT_JOINED);
    struct worker workers[SLOTS];
    for (int i = 0; i < SLOTS; i++)
        workers[i] = take_worker(fd);
    assert_int_equal(packet_send(fd, "more", 4), 4);
    expect_event(DIRECT_LEFT);
    for (int i = 0; i < SLOTS; i++) {
        assert_true(is_gone(workers[i].pid));
        drop_worker(&workers[i]);
    }
    close(fd);
    be_served();
}

/* Programs that come and go as they like, some killed in the midst of it. */
TEST(programs_at_random)
{
    srand(11);
    for (int round = 0; round < 30; round++) {
        pid_t child = fork();
        if (child == 0) {
            int fd = packet_connect(name), steps = round % 4;
            const int outputs[] = {1, 2};
            struct direct_request request = good();
            if (fd >= 0 && steps > 0)
                packet_send_with(fd, &request, sizeof(request), outputs, 2);
            if (steps > 1) {
                struct direct_reply reply;
                packet_receive(fd, &reply, sizeof(reply));
            }
            if (steps > 2)
                raise(SIGKILL);
            _exit(0);
        }
        if (round % 3 == 0)
            kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    struct direct_event event;
    struct pollfd ready = {.fd = control, .events = POLLIN};
    while (poll(&ready, 1, 1000) == 1)
        assert_int_equal(packet_receive(control, &event, sizeof(event)), sizeof(event));
    be_served();
}

/* Joins; what programs before have measured comes with the reply. */
static int join_and_hear(struct direct_measured *measured, struct worker workers[SLOTS])
{
    int fd = connect_agent();
    ask(fd, good(), NULL, 0);
    *measured = hear(fd).measured;
    expect_event(DIRECT_JOINED);
    for (int i = 0; i < SLOTS; i++)
        workers[i] = take_worker(fd);
    return fd;
}

/* Before its workers end: were that unread here, what was said last might be lost. */
static void leave(int fd, struct worker workers[SLOTS])
{
    close(fd);
    expect_event(DIRECT_LEFT);
    for (int i = 0; i < SLOTS; i++)
        drop_worker(&workers[i]);
}

/* The last one counts. What is too long is none of ours, and ends the program that says it. */
TEST(what_one_has_measured_others_are_told)
{
    struct worker workers[SLOTS];
    struct direct_measured told, mine = {.magic = DIRECT_MEASURED_MAGIC,
                                         .version = DIRECT_VERSION,
                                         .bytes = DIRECT_MEASURED_BYTES + 1,
                                         .data = "first"};
    int fd = join_and_hear(&told, workers);
    assert_int_equal(told.bytes, 0);
    assert_int_equal(packet_send(fd, &mine, sizeof(mine)), sizeof(mine));
    leave(fd, workers);
    fd = join_and_hear(&told, workers);
    assert_int_equal(told.bytes, 0);
    mine.bytes = 5;
    assert_int_equal(packet_send(fd, &mine, sizeof(mine)), sizeof(mine));
    memcpy(mine.data, "other", 5);
    assert_int_equal(packet_send(fd, &mine, sizeof(mine)), sizeof(mine));
    leave(fd, workers);
    fd = join_and_hear(&told, workers);
    assert_int_equal(told.bytes, 5);
    assert_memory_equal(told.data, "other", 5);
    leave(fd, workers);
}

/* One that was started with this run's variable, as what a script has started. */
static pid_t start_straggler(void)
{
    char variable[128], *arguments[] = {(char *)"sleep", (char *)"60", NULL};
    char *environment[] = {variable, NULL};
    pid_t made;
    snprintf(variable, sizeof(variable), "%s=%s%s", DIRECT_JOIN_VARIABLE, DIRECT_JOIN_FORM,
             name + sizeof(DIRECT_NAME) - 1);
    made = fork();
    if (made == 0) {
        execve("/bin/sleep", arguments, environment);
        _exit(127);
    }
    for (int i = 0; i < PATIENCE_MS / 10; i++) { /* until it has become that */
        char path[64], comm[32] = "";
        FILE *file;
        snprintf(path, sizeof(path), "/proc/%d/comm", (int)made);
        file = fopen(path, "r");
        if (file && fscanf(file, "%31s", comm) == 1 && strcmp(comm, "sleep") == 0)
            i = PATIENCE_MS;
        if (file)
            fclose(file);
        poll(NULL, 0, 10);
    }
    return made;
}

/* Ends the run, with a word about it or without, and starts another agent for end_agent(). */
static void end_run(bool in_order)
{
    const char word = DIRECT_IN_ORDER;
    void *none = NULL;
    if (in_order)
        assert_int_equal(packet_send(control, &word, 1), 1);
    assert_int_equal(end_agent(&none), 0);
    assert_int_equal(start_agent(&none), 0);
}

TEST(programs_of_a_run_that_was_killed_end)
{
    pid_t straggler = start_straggler();
    int status = 0;
    end_run(true);
    assert_int_equal(waitpid(straggler, &status, WNOHANG), 0);
    kill(straggler, SIGKILL);
    waitpid(straggler, &status, 0);
    straggler = start_straggler();
    end_run(false);
    /* The agent knows programs by their environment, which one has no more shortly before it can be
     * waited for. */
    for (int i = 0; i < PATIENCE_MS / 10 && waitpid(straggler, &status, WNOHANG) == 0; i++)
        poll(NULL, 0, 10);
    assert_int_equal(waitpid(straggler, NULL, WNOHANG), -1);
    assert_int_equal(WTERMSIG(status), SIGTERM);
}

TEST(the_end_ends_workers)
{
    int fd = connect_agent();
    char byte;
    ask(fd, good(), "OMP_STAYS=1", sizeof("OMP_STAYS=1"));
    hear(fd);
    expect_event(DIRECT_JOINED);
    struct worker workers[SLOTS];
    for (int i = 0; i < SLOTS; i++)
        workers[i] = take_worker(fd);
    kill(workers[0].pid, SIGSTOP);
    kill(agent, SIGTERM);
    assert_int_equal(packet_receive(fd, &byte, 1), 0);
    for (int i = 0; i < SLOTS; i++) {
        assert_true(is_gone(workers[i].pid));
        drop_worker(&workers[i]);
    }
    close(fd);
}
