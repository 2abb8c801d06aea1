/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * agent.c: what a host's agent is sent. The first byte says by whom: over the network by a
 * stranger, who must not get beyond the proof; by one who knows the secret, whose wish follows, and
 * what it says when it is let in; by a program of this host, with or without descriptors. Each byte
 * after a packet's length is one of the packet. No process is started: fork() is refused.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control/direct/packet.h"
#include "tests/fuzz/fuzz.h"
#include "worker/agent_parts.h"
#include "worker/stragglers.h"

enum { BY_STRANGER, BY_HOST, BY_PROGRAM, KINDS, PIECES_MOST = 16 };

/* What is left of the input. */
struct input {
    const uint8_t *at;
    size_t bytes;
};

pid_t __wrap_fork(void);
pid_t __wrap_fork(void)
{
    return -1;
}

static size_t take(struct input *input, void *to, size_t most)
{
    size_t bytes = input->bytes < most ? input->bytes : most;

    if (bytes)
        memcpy(to, input->at, bytes);
    input->at += bytes;
    input->bytes -= bytes;
    return bytes;
}

/* The next piece has up to 255 bytes, or all that is left. */
static size_t take_piece(struct input *input, uint8_t *to, size_t most)
{
    uint8_t bytes = 0;

    take(input, &bytes, 1);
    return take(input, to, bytes && bytes < most ? bytes : most);
}

static struct agent make_agent(uint8_t how)
{
    static struct quota *quota; /* sessions leave it */
    struct agent agent = {.listener = -1,
                          .control = -1,
                          .signals = -1,
                          .spare = -1,
                          .network = -1,
                          .more = how & 0x40 ? 3 : -1,
                          .slots = 2};

    memset(agent.secret, 7, sizeof(agent.secret));
    config_load(&agent.config);
    if (!quota)
        quota_create(1 << 30, &quota);
    agent.quota = quota;
    return agent;
}

static void forget(struct agent *agent)
{
    if (agent->spare >= 0)
        close(agent->spare);
    for (struct agent_program *one = agent->programs; one; one = one->next)
        agent_program_leave(agent, one);
    for (struct agent_line *line = agent->lines; line; line = line->next)
        line_close(line);
    lines_forget(agent);
    while (agent->sessions)
        agent_session_drop(agent, agent->sessions);
    while (agent->programs) {
        struct agent_program *one = agent->programs;

        agent->programs = one->next;
        agent_program_free(one);
    }
    while (agent->hosts) {
        struct agent_host *host = agent->hosts;

        agent->hosts = host->next;
        free(host);
    }
}

/* ---- over the network ---- */

static struct agent_line *add_line(struct agent *agent, int fd)
{
    struct agent_line *line = calloc(1, sizeof(*line));

    hold(line != NULL);
    line->fd = fd;
    line->phase = LINE_OPENING;
    agent->lines = line;
    return line;
}

static void go_on(struct agent *agent, struct agent_line *line)
{
    enum agent_line_phase before = LINE_CONNECTING;

    while (line->phase < LINE_GIVEN && line->phase != before) {
        before = line->phase;
        line_go_on(agent, line, true);
    }
}

/* What one says who knows the secret, with the input's wish. */
static void prove(struct agent *agent, struct agent_line *line, int fd, struct input *input)
{
    struct agent_call own = {.wish = {0}};
    struct prove_opening opening;
    struct prove_answer answer;

    hold(prove_open(&opening, FAR_MAGIC, FAR_VERSION));
    hold(send(fd, &opening, sizeof(opening), 0) == (ssize_t)sizeof(opening));
    go_on(agent, line);
    hold(recv(fd, &answer, sizeof(answer), MSG_DONTWAIT) == (ssize_t)sizeof(answer));
    hold(prove_accept_answer(agent->secret, &opening, &answer));
    take(input, &own.wish, sizeof(own.wish));
    own.wish.kind %= FAR_WAY + 2; /* one more than there are */
    prove_call(agent->secret, &opening, &answer, &own.wish, sizeof(own.wish), own.proof);
    hold(send(fd, &own, sizeof(own), 0) == (ssize_t)sizeof(own));
    go_on(agent, line);
    hold(line->phase >= LINE_OPEN);
}

static void by_network(struct agent *agent, bool is_stranger, struct input *input)
{
    uint8_t piece[512];
    struct agent_line *line;
    int ends[2];

    hold(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
    line = add_line(agent, ends[0]);
    if (!is_stranger)
        prove(agent, line, ends[1], input);
    for (int i = 0; i < PIECES_MOST && input->bytes && line->phase < LINE_GIVEN; i++) {
        size_t bytes = take_piece(input, piece, sizeof(piece));

        if (bytes && send(ends[1], piece, bytes, MSG_NOSIGNAL) < 0)
            break;
        go_on(agent, line);
        if (line->phase == LINE_OPEN)
            line_go_on(agent, line, true);
    }
    hold(!is_stranger || line->phase < LINE_OPEN || line->phase == LINE_CLOSED);
    close(ends[1]);
    if (line->phase < LINE_GIVEN)
        line_go_on(agent, line, true);
}

/* ---- on this host ---- */

static void send_packet(int fd, const void *packet, size_t bytes, int descriptors)
{
    const int outputs[] = {STDERR_FILENO, STDERR_FILENO, STDERR_FILENO};

    if (bytes)
        packet_send_with(fd, packet, bytes, outputs, descriptors);
}

/* A request that is right but for what the input changes, or the input itself. */
static void by_program(struct agent *agent, uint8_t how, struct input *input)
{
    struct direct_request request = {.magic = DIRECT_MAGIC,
                                     .version = DIRECT_VERSION,
                                     .local_rank = -1,
                                     .local_size = -1,
                                     .folder = "/"};
    struct agent_program *program;
    uint8_t piece[4096];
    int ends[2];

    hold(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, ends) == 0);
    program = agent_program_make(agent, ends[0]);
    hold(program != NULL);
    program->pid = getpid();
    if (how & 4) {
        take(input, &request.share,
             offsetof(struct direct_request, folder) - offsetof(struct direct_request, share));
        send_packet(ends[1], &request, sizeof(request), 2);
    } else {
        size_t bytes = take(input, piece, how & 8 ? sizeof(struct direct_way) : sizeof(piece));

        send_packet(ends[1], piece, bytes, how >> 4 & 3);
    }
    agent_program_go_on(agent, program);
    send_packet(ends[1], piece, take(input, piece, sizeof(piece)), 0);
    if (program->phase != AGENT_LEFT)
        agent_program_go_on(agent, program);
    close(ends[1]);
    if (program->phase != AGENT_LEFT)
        agent_program_go_on(agent, program);
}

/* The end of a run, which ends processes: not for inputs. */
void stragglers_tell(const char *digits)
{
    (void)digits;
}

void stragglers_end(const char *digits)
{
    (void)digits;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct input input;
    struct agent agent;

    if (bytes == 0)
        return 0;
    input = (struct input){data + 1, bytes - 1};
    signal(SIGCHLD, SIG_IGN);
    agent = make_agent(data[0]);
    if (data[0] % KINDS == BY_PROGRAM)
        by_program(&agent, data[0] / KINDS, &input);
    else
        by_network(&agent, data[0] % KINDS == BY_STRANGER, &input);
    forget(&agent);
    return 0;
}
