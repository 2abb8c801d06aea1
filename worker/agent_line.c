/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * agent_line.c: connections between agents of different hosts. Until both sides have proved that
 * they know the secret (prove.h) nothing is looked at but the pieces of that, which have fixed
 * sizes, and there is a limit for the time and for how many may be under way: beyond it, and where
 * no more files may be open, whoever comes takes the place of the oldest one. So strangers who say
 * nothing hold up nobody who knows the secret.
 */
#define _GNU_SOURCE
#include "worker/agent_parts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"

static const int64_t PROVE_NS = 3000000000, CONNECT_NS = 10000000000;
enum { UNPROVED_MOST = 64 };

/* A host that vanishes without a word is given up after about that. */
enum { IDLE_S = 5, AGAIN_S = 2, TIMES = 5, UNSENT_MS = 15000 };

static void line_set_options(int fd)
{
    static const struct {
        int level, name, value;
    } options[] = {
        {IPPROTO_TCP, TCP_NODELAY, 1},       {SOL_SOCKET, SO_KEEPALIVE, 1},
        {IPPROTO_TCP, TCP_KEEPIDLE, IDLE_S}, {IPPROTO_TCP, TCP_KEEPINTVL, AGAIN_S},
        {IPPROTO_TCP, TCP_KEEPCNT, TIMES},   {IPPROTO_TCP, TCP_USER_TIMEOUT, UNSENT_MS},
    };

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        setsockopt(fd, options[i].level, options[i].name, &options[i].value,
                   sizeof(options[i].value));
}

static struct sockaddr_in address_of(uint32_t address, uint32_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = (in_port_t)port, .sin_addr.s_addr = address};
}

int line_listen(uint32_t address, uint32_t *port)
{
    struct sockaddr_in at = address_of(address, 0);
    socklen_t bytes = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0 &&
        listen(fd, SOMAXCONN) == 0 && getsockname(fd, (struct sockaddr *)&at, &bytes) == 0) {
        *port = at.sin_port;
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

static struct agent_line *line_make(struct agent *agent, int fd, bool calls, int64_t limit_ns)
{
    struct agent_line *line = calloc(1, sizeof(*line)), **last = &agent->lines;

    if (!line) {
        close(fd);
        return NULL;
    }
    line_set_options(fd);
    line->fd = fd;
    line->calls = calls;
    line->phase = calls ? LINE_CONNECTING : LINE_OPENING;
    line->until_ns = clock_ns() + limit_ns;
    while (*last) /* behind those that the loop is at */
        last = &(*last)->next;
    *last = line;
    return line;
}

struct agent_line *line_call(struct agent *agent, uint32_t address, uint32_t port,
                             const struct far_wish *wish)
{
    struct sockaddr_in to = address_of(address, port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct agent_line *line = fd >= 0 ? line_make(agent, fd, true, CONNECT_NS) : NULL;

    if (!line)
        return NULL;
    line->call.wish = *wish;
    line->steps = far_steps(wish->kind, true);
    connect(fd, (struct sockaddr *)&to, sizeof(to)); /* poll() tells how it goes */
    return line;
}

/* Closes the oldest one of those that have called and proved nothing yet, if there are more than
 * `most`. */
static void line_make_room(struct agent *agent, int most)
{
    struct agent_line *oldest = NULL;
    int unproved = 0;

    for (struct agent_line *line = agent->lines; line; line = line->next) {
        if (line->calls || line->phase >= LINE_OPEN)
            continue;
        if (!oldest)
            oldest = line;
        unproved++;
    }
    if (unproved > most)
        line_close(oldest);
}

static int line_accept_one(const struct agent *agent)
{
    return accept4(agent->network, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

/* Where no more files may be open. If whoever waits were left waiting, the loop would come back
 * here at once. */
static void line_turn_away(struct agent *agent)
{
    int fd = agent_spare_use(agent) ? line_accept_one(agent) : -1;

    if (fd >= 0)
        close(fd);
    agent_spare_keep(agent);
}

void line_accept(struct agent *agent)
{
    int fd = line_accept_one(agent);

    if (fd < 0 && (errno == EMFILE || errno == ENFILE)) {
        line_make_room(agent, 0);
        fd = line_accept_one(agent);
    }
    if (fd >= 0)
        line_make(agent, fd, false, PROVE_NS);
    else
        line_turn_away(agent);
    line_make_room(agent, UNPROVED_MOST);
}

/* ---- sending -------------------------------------------------------------------------------- */

static void line_flush(struct agent_line *line)
{
    while (line->sent < line->out_bytes) {
        ssize_t moved = send(line->fd, line->out + line->sent, line->out_bytes - line->sent,
                             MSG_NOSIGNAL | MSG_DONTWAIT);

        if (moved < 0 && errno == EINTR)
            continue;
        if (moved < 0)
            return; /* the end shows when something is to be received */
        line->sent += (size_t)moved;
    }
    line->sent = line->out_bytes = 0;
}

void line_send(struct agent_line *line, const void *data, size_t bytes)
{
    char *out;

    if (line->phase >= LINE_GIVEN)
        return;
    out = realloc(line->out, line->out_bytes + bytes);
    if (!out) {
        line_close(line);
        return;
    }
    line->out = out;
    memcpy(out + line->out_bytes, data, bytes);
    line->out_bytes += bytes;
    line_flush(line);
}

/* ---- receiving ------------------------------------------------------------------------------ */

bool line_collect(struct agent_line *line, void *to, size_t bytes)
{
    ssize_t moved;

    do {
        moved = recv(line->fd, (char *)to + line->come, bytes - line->come, MSG_DONTWAIT);
    } while (moved < 0 && errno == EINTR);
    if (moved == 0 || (moved < 0 && errno != EAGAIN && errno != EWOULDBLOCK)) {
        line_close(line);
        return false;
    }
    if (moved < 0)
        return false;
    line->come += (size_t)moved;
    if (line->come < bytes)
        return false;
    line->come = 0;
    return true;
}

/* What is not of this version of omprma's is not answered. */
static bool is_right(const struct prove_opening *opening)
{
    return opening->magic == FAR_MAGIC && opening->version == FAR_VERSION;
}

/* The caller's address towards the other side is where others reach this agent. */
static bool line_listen_here(struct agent *agent, struct agent_line *line)
{
    struct sockaddr_in own;
    socklen_t bytes = sizeof(own);

    if (line->call.wish.kind != FAR_HOST)
        return true;
    if (getsockname(line->fd, (struct sockaddr *)&own, &bytes))
        return false;
    agent->address = own.sin_addr.s_addr;
    agent->network = line_listen(agent->address, &agent->port);
    line->call.wish.port = agent->port;
    return agent->network >= 0;
}

static void line_begin_call(struct agent *agent, struct agent_line *line)
{
    int code = 0;
    socklen_t bytes = sizeof(code);

    if (getsockopt(line->fd, SOL_SOCKET, SO_ERROR, &code, &bytes) || code ||
        !line_listen_here(agent, line) || !prove_open(&line->opening, FAR_MAGIC, FAR_VERSION)) {
        line_close(line);
        return;
    }
    line->phase = LINE_ANSWER;
    line_send(line, &line->opening, sizeof(line->opening));
}

static void line_open(struct agent *agent, struct agent_line *line)
{
    line->phase = LINE_OPEN;
    line->was_open = true;
    line->until_ns = 0;
    line->steps->opened(agent, line);
}

static void line_take_answer(struct agent *agent, struct agent_line *line)
{
    if (!line_collect(line, &line->answer, sizeof(line->answer)))
        return;
    if (!is_right(&line->answer.opening) ||
        !prove_accept_answer(agent->secret, &line->opening, &line->answer)) {
        line_close(line);
        return;
    }
    prove_call(agent->secret, &line->opening, &line->answer, &line->call.wish,
               sizeof(line->call.wish), line->call.proof);
    line_send(line, &line->call, sizeof(line->call));
    line_open(agent, line);
}

static void line_take_opening(struct agent *agent, struct agent_line *line)
{
    if (!line_collect(line, &line->opening, sizeof(line->opening)))
        return;
    if (!is_right(&line->opening) || !prove_answer(agent->secret, &line->opening, &line->answer)) {
        line_close(line);
        return;
    }
    line->phase = LINE_CALL;
    line_send(line, &line->answer, sizeof(line->answer));
}

static void line_take_call(struct agent *agent, struct agent_line *line)
{
    if (!line_collect(line, &line->call, sizeof(line->call)))
        return;
    if (!prove_accept_call(agent->secret, &line->opening, &line->answer, &line->call.wish,
                           sizeof(line->call.wish), line->call.proof)) {
        log_write(agent->has_told ? LOG_DETAIL : LOG_WARNING,
                  "somebody who does not know the secret of this run has called, and was turned "
                  "away; others will be, too, without a line");
        agent->has_told = true;
        line_close(line);
        return;
    }
    line->call.wish.name[sizeof(line->call.wish.name) - 1] = '\0';
    line->steps = far_steps(line->call.wish.kind, false);
    if (line->steps)
        line_open(agent, line);
    else
        line_close(line);
}

static void line_take_more(struct agent *agent, struct agent_line *line)
{
    line->steps->readable(agent, line);
}

static void (*const takes[])(struct agent *agent, struct agent_line *line) = {
    [LINE_CONNECTING] = line_begin_call, [LINE_OPENING] = line_take_opening,
    [LINE_ANSWER] = line_take_answer,    [LINE_CALL] = line_take_call,
    [LINE_OPEN] = line_take_more,
};

void line_go_on(struct agent *agent, struct agent_line *line, bool readable)
{
    enum agent_line_phase before = line->phase;

    if (before >= LINE_GIVEN)
        return;
    if (readable)
        takes[before](agent, line);
    if (line->phase < LINE_GIVEN && line->sent < line->out_bytes)
        line_flush(line);
    if (line->until_ns && line->until_ns <= clock_ns())
        line_close(line);
    if (line->phase == LINE_CLOSED && (line->calls || before == LINE_OPEN))
        line->steps->lost(agent, line);
}

/* ---- the end -------------------------------------------------------------------------------- */

int line_take(struct agent_line *line)
{
    const int never = 0;
    int fd = line->fd;

    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    /* A program or a worker may be stopped, or compute, and read nothing meanwhile. */
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &never, sizeof(never));
    line->fd = -1;
    line->phase = LINE_GIVEN;
    line->until_ns = 0;
    return fd;
}

void line_close(struct agent_line *line)
{
    if (line->fd >= 0)
        close(line->fd);
    line->fd = -1;
    line->phase = LINE_CLOSED;
    line->until_ns = 0;
}

void lines_forget(struct agent *agent)
{
    for (struct agent_line **at = &agent->lines; *at;) {
        struct agent_line *line = *at;

        if (line->phase < LINE_GIVEN) {
            at = &line->next;
            continue;
        }
        *at = line->next;
        free(line->out);
        free(line);
    }
}
