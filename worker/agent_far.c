/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * agent_far.c: sessions on other hosts. The agent of a program's host asks that of another one for
 * each of them, makes its two connections, and gives the program their ends as if they were those
 * of a session here. See far.h.
 */
#define _GNU_SOURCE
#include "worker/agent_parts.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "control/direct/packet.h"
#include "control/host.h"

_Static_assert((int)DIRECT_HOST_BYTES == (int)HOST_TEXT_BYTES, "name of a host");

static void nothing(struct agent *agent, struct agent_line *line)
{
    (void)agent, (void)line;
}

static void far_send_note(struct agent_line *line, const struct far_note *note)
{
    line_send(line, note, sizeof(*note));
}

/* ---- hosts ---------------------------------------------------------------------------------- */

/* In the order in which the user has named them. */
static struct agent_host *far_add_host(struct agent *agent, const char *name, uint32_t address,
                                       uint32_t port, int slots, int place)
{
    struct agent_host *host = calloc(1, sizeof(*host)), **last = &agent->hosts;

    if (!host)
        return NULL;
    snprintf(host->name, sizeof(host->name), "%s", name);
    host->address = address;
    host->port = port;
    host->slots = slots;
    host->place = place;
    while (*last && (*last)->place <= place)
        last = &(*last)->next;
    host->next = *last;
    *last = host;
    return host;
}

static void peer_note(struct far_note *note, const char *name, uint32_t address, uint32_t port,
                      int slots)
{
    *note = (struct far_note){.what = FAR_PEER, .address = address, .port = port, .slots = slots};
    snprintf(note->name, sizeof(note->name), "%s", name);
}

/* Each hears of all others. */
static void far_tell_hosts(struct agent *agent, struct agent_host *to)
{
    const struct far_note ready = {.what = FAR_READY};
    char own[HOST_TEXT_BYTES];
    struct far_note note;

    host_name(own);
    peer_note(&note, own, agent->address, agent->port, agent->slots);
    far_send_note(to->line, &note);
    for (const struct agent_host *host = agent->hosts; host; host = host->next) {
        peer_note(&note, host->name, host->address, host->port, host->slots);
        if (host != to)
            far_send_note(to->line, &note);
    }
    far_send_note(to->line, &ready);
}

int far_slots(const struct agent *agent)
{
    int count = 0;

    for (const struct agent_host *host = agent->hosts; host; host = host->next)
        count += host->slots;
    return count;
}

void far_ready(struct agent *agent)
{
    const struct direct_event event = {.what = DIRECT_READY};

    if (agent->more < 0 || far_slots(agent) < agent->more)
        return;
    agent->more = -1;
    for (struct agent_host *host = agent->hosts; host; host = host->next)
        far_tell_hosts(agent, host);
    agent_say_event(agent, &event);
}

void far_more_slots(struct agent *agent)
{
    struct far_note note = {.what = FAR_SLOTS};

    agent->slots++;
    note.slots = agent->slots;
    if (agent->home && agent->home->phase == LINE_OPEN)
        far_send_note(agent->home, &note);
    else if (agent->home)
        agent->home->call.wish.slots = agent->slots; /* it is still to be said */
    if (!agent->home && agent->more > 0)
        agent->more--;
    if (!agent->home)
        far_ready(agent);
}

/* The agent of another host calls that of omprma-run's. */
static void far_welcome_host(struct agent *agent, struct agent_line *line)
{
    const struct far_wish *wish = &line->call.wish;
    struct sockaddr_in peer;
    socklen_t bytes = sizeof(peer);

    if (agent->home || agent->more < 0 || getpeername(line->fd, (struct sockaddr *)&peer, &bytes)) {
        line_close(line);
        return;
    }
    line->host =
        far_add_host(agent, wish->name, peer.sin_addr.s_addr, wish->port, wish->slots, wish->rank);
    if (!line->host) {
        line_close(line);
        return;
    }
    line->host->line = line;
    log_write(LOG_CHOICE, "host %s has joined, from %s", line->host->name,
              inet_ntoa(peer.sin_addr));
    far_ready(agent);
}

/* The next note, once all of it is here. */
static const struct far_note *far_take_note(struct agent_line *line)
{
    return line_collect(line, &line->note, sizeof(line->note)) ? &line->note : NULL;
}

static void far_hear_of_host(struct agent *agent, struct agent_line *line)
{
    const struct far_note *note = far_take_note(line);

    if (note && note->what == FAR_PEER)
        far_add_host(agent, note->name, note->address, note->port, note->slots, 0);
}

static void far_hear_host(struct agent *agent, struct agent_line *line)
{
    const struct far_note *note = far_take_note(line);

    if (note && note->what == FAR_SLOTS && line->host && agent->more >= 0) {
        line->host->slots = note->slots;
        far_ready(agent);
    } else if (note && note->what == FAR_EVENT) {
        struct direct_event event = note->event;

        event.host[sizeof(event.host) - 1] = '\0';
        agent_say_event(agent, &event);
    }
}

/* ---- a program's sessions on another host: there -------------------------------------------- */

static void far_refuse_program(struct agent *agent, struct agent_line *line, const char *text)
{
    struct far_note note = {.what = FAR_REFUSED};

    snprintf(note.text, sizeof(note.text), "%s", text);
    far_send_note(line, &note);
    if (line->program)
        agent_sessions_end(agent, line->program, 0, SIGKILL);
}

static void far_welcome_program(struct agent *agent, struct agent_line *line)
{
    line->program = agent_program_make(agent, -1);
    if (!line->program) {
        line_close(line);
        return;
    }
    line->program->line = line;
    line->program->number = line->call.wish.program;
}

/* All that it has to say is here. */
static void far_accept_program(struct agent *agent, struct agent_line *line)
{
    struct agent_program *program = line->program;
    const struct far_note ready = {.what = FAR_READY};
    char text[DIRECT_TEXT_BYTES];

    program->phase = AGENT_SERVED;
    program->folder = open(program->request.folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    program->outputs[0] = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    program->outputs[1] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (program->folder >= 0) {
        far_send_note(line, &ready);
        return;
    }
    snprintf(text, sizeof(text), "workers cannot use the program's folder %.128s: %s",
             program->request.folder, strerror(errno));
    far_refuse_program(agent, line, text);
}

static void far_hear_request(struct agent *agent, struct agent_line *line)
{
    struct agent_program *program = line->program;

    if (!line_collect(line, &program->request, sizeof(program->request)))
        return;
    if (program->request.magic != DIRECT_MAGIC || program->request.version != DIRECT_VERSION ||
        !agent_request_makes_sense(&program->request)) {
        far_refuse_program(
            agent, line,
            program->request.magic == DIRECT_MAGIC && program->request.version != DIRECT_VERSION
                ? "the omprma of this host is of another version than the program's; "
                  "install the same on all hosts"
                : "what came is no request to join of omprma's");
        return;
    }
    program->phase = AGENT_TELLING;
    program->environment = calloc(1, program->request.environment_bytes + 1);
    if (!program->environment)
        far_refuse_program(agent, line, "no memory for a request");
    else if (!program->request.environment_bytes)
        far_accept_program(agent, line);
}

static void far_hear_environment(struct agent *agent, struct agent_line *line)
{
    struct agent_program *program = line->program;
    size_t bytes = program->request.environment_bytes;

    if (!line_collect(line, program->environment, bytes))
        return;
    if (agent_is_environment(program->environment, bytes))
        far_accept_program(agent, line);
    else
        far_refuse_program(agent, line, "what came is not the environment of a program");
}

/* What it has to say, and nothing after that. */
static void far_hear_program(struct agent *agent, struct agent_line *line)
{
    const struct agent_program *program = line->program;

    if (program && program->phase == AGENT_ASKING)
        far_hear_request(agent, line);
    else if (program && program->phase == AGENT_TELLING)
        far_hear_environment(agent, line);
    else if (far_take_note(line))
        line_close(line);
}

static void far_forget_program(struct agent *agent, struct agent_line *line)
{
    if (!line->program)
        return;
    line->program->line = NULL;
    agent_program_leave(agent, line->program);
}

static struct agent_program *find_program(struct agent *agent, uint64_t number)
{
    struct agent_program *program = agent->programs;

    while (program &&
           (program->number != number || !program->line || program->phase != AGENT_SERVED))
        program = program->next;
    return program;
}

static void far_run_session(struct agent *agent, struct agent_session *session)
{
    struct agent_program *program = session->program;
    struct far_note note = {.what = FAR_STARTED, .rank = session->rank};

    if (agent_session_run(agent, session) != OMPRMA_OK) {
        far_refuse_program(agent, program->line, error_text());
        return;
    }
    note.pid = session->pid;
    note.processes = agent_count_processes(agent);
    note.alone = agent_is_alone(agent, program);
    far_send_note(program->line, &note);
}

/* One of the two connections of a session; with the other one it starts. */
static void far_welcome_session(struct agent *agent, struct agent_line *line)
{
    const struct far_wish *wish = &line->call.wish;
    int which = wish->kind == FAR_DATA;
    struct agent_program *program = find_program(agent, wish->program);
    struct agent_session *session = program ? agent_session_find(agent, program, wish->rank) : NULL;
    bool right = program && wish->slot >= 0 && wish->slot < agent->slots && wish->rank > 0 &&
                 wish->rank < wish->size;

    if (right && !session)
        session = agent_session_add(agent, program, wish->slot, wish->rank, wish->size);
    if (!right || !session || session->pid || session->ends[which] >= 0) {
        line_close(line);
        return;
    }
    session->ends[which] = line_take(line);
    if (session->ends[0] >= 0 && session->ends[1] >= 0)
        far_run_session(agent, session);
}

void far_session_ended(const struct agent_session *session, int status)
{
    const struct far_note note = {
        .what = FAR_ENDED, .rank = session->rank, .pid = session->pid, .status = status};

    far_send_note(session->program->line, &note);
}

/* ---- and at the program's host -------------------------------------------------------------- */

static struct far_wish wish_of(enum far_kind kind, const struct agent_program *program)
{
    return (struct far_wish){.kind = kind, .program = program->number};
}

static bool uses(const struct agent *agent, const struct agent_program *program,
                 const struct agent_host *host)
{
    for (const struct agent_session *one = agent->sessions; one; one = one->next)
        if (one->program == program && one->host == host)
            return true;
    return false;
}

bool far_uses(const struct agent *agent, const struct agent_program *program)
{
    for (const struct agent_host *host = agent->hosts; host; host = host->next)
        if (uses(agent, program, host))
            return true;
    return false;
}

static omprma_status_t no_connection(const struct agent_host *host)
{
    return error_set(OMPRMA_ERR_HOST_MEMORY, "no connection to host %s can be made: %s", host->name,
                     strerror(errno));
}

omprma_status_t far_begin(struct agent *agent, struct agent_program *program)
{
    const struct far_wish wish = wish_of(FAR_PROGRAM, program);

    for (struct agent_host *host = agent->hosts; host; host = host->next) {
        struct agent_line *line;

        if (!uses(agent, program, host))
            continue;
        line = line_call(agent, host->address, host->port, &wish);
        if (!line)
            return no_connection(host);
        line->host = host;
        line->program = program;
    }
    return OMPRMA_OK;
}

/* The other agent has proved itself. */
static void far_ask(struct agent *agent, struct agent_line *line)
{
    const struct agent_program *program = line->program;

    (void)agent;
    line_send(line, &program->request, sizeof(program->request));
    if (program->request.environment_bytes)
        line_send(line, program->environment, program->request.environment_bytes);
}

/* It waits for the sessions of the program there. */
static void far_connect_sessions(struct agent *agent, const struct agent_line *line)
{
    static const enum far_kind kinds[] = {FAR_MESSAGES, FAR_DATA};

    for (struct agent_session *one = agent->sessions; one; one = one->next)
        for (int i = 0; i < DIRECT_SESSION_DESCRIPTORS; i++) {
            struct far_wish wish = wish_of(kinds[i], line->program);
            struct agent_line *made;

            if (one->program != line->program || one->host != line->host)
                continue;
            wish.slot = one->slot;
            wish.rank = one->rank;
            wish.size = one->size;
            made = line_call(agent, line->host->address, line->host->port, &wish);
            if (!made) {
                no_connection(line->host);
                agent_program_refuse(agent, line->program, "%s", error_text());
                return;
            }
            made->host = line->host;
            made->program = line->program;
            made->session = one;
        }
}

static void far_answer_when_ready(struct agent *agent, struct agent_program *program)
{
    for (const struct agent_session *one = agent->sessions; one; one = one->next)
        if (one->program == program && (!one->pid || one->ends[0] < 0 || one->ends[1] < 0))
            return;
    if (program->phase == AGENT_WAITING)
        agent_program_answer(agent, program);
}

static void far_take_end(struct agent *agent, struct agent_line *line)
{
    struct agent_session *session = line->session;

    session->ends[line->call.wish.kind == FAR_DATA] = line_take(line);
    far_answer_when_ready(agent, session->program);
}

static void far_hear_note(struct agent *agent, struct agent_line *line)
{
    const struct far_note *note = far_take_note(line);
    struct agent_program *program = line->program;
    struct agent_session *session;

    if (!note || !program)
        return;
    session = agent_session_find(agent, program, note->rank);
    if (session && session->host != line->host)
        session = NULL;
    if (note->what == FAR_READY) {
        far_connect_sessions(agent, line);
    } else if (note->what == FAR_STARTED && session) {
        session->pid = note->pid;
        session->processes = note->processes;
        session->alone = note->alone;
        far_answer_when_ready(agent, program);
    } else if (note->what == FAR_ENDED && session) {
        agent_session_ended(agent, session, note->status);
    } else if (note->what == FAR_REFUSED) {
        line->note.text[sizeof(line->note.text) - 1] = '\0';
        agent_program_refuse(agent, program, "host %s: %.180s", line->host->name, note->text);
    }
}

/* Closed without a word to anybody: what belongs to them is over. */
void far_end(struct agent *agent, const struct agent_program *program)
{
    for (struct agent_line *line = agent->lines; line; line = line->next)
        if (line->program == program) {
            line->program = NULL;
            line->session = NULL;
            line_close(line);
        }
}

static void far_lose_program(struct agent *agent, struct agent_line *line)
{
    struct agent_program *program = line->program;
    struct agent_session *next;

    if (!program)
        return;
    if (program->phase == AGENT_WAITING) {
        agent_program_refuse(agent, program,
                             "no worker of host %s could be had: its agent does not answer at "
                             "%s; do both hosts reach each other, and is a port open?",
                             line->host->name,
                             inet_ntoa((struct in_addr){.s_addr = line->host->address}));
        return;
    }
    if (program->phase == AGENT_SENDING) { /* it would be sent workers that are not there */
        agent_program_leave(agent, program);
        return;
    }
    for (struct agent_session *one = agent->sessions; one; one = next) {
        next = one->next;
        if (one->program == program && one->host == line->host)
            agent_session_ended(agent, one, DIRECT_GONE);
    }
}

static void far_lose_host(struct agent *agent, struct agent_line *line)
{
    struct direct_event event = {.what = DIRECT_HOST};

    if (agent->ending || !line->host)
        return;
    snprintf(event.host, sizeof(event.host), "%s", line->host->name);
    agent_say_event(agent, &event);
    line->host->line = NULL;
    line->host->slots = 0; /* no program gets any from now on */
}

static void far_lose_home(struct agent *agent, struct agent_line *line)
{
    if (!line->was_open && !agent->ending)
        log_write(LOG_ERROR,
                  "the agent of omprma-run's host does not answer at %s: do hosts reach each "
                  "other, and are its ports open?",
                  getenv(FAR_HOME_VARIABLE));
    agent->home = NULL;
    agent_begin_end(agent);
}

/* ---- ways for data between sessions --------------------------------------------------------- */

/* At the door of a session of this host. */
static void far_hand_over(struct agent *agent, const char *door, int rank, bool is_ours, int fd)
{
    const struct direct_arrival arrival = {.rank = rank, .is_ours = is_ours};
    int to = packet_connect_now(door); /* a session that is stopped holds up nobody */

    if (to < 0 && agent_spare_use(agent))
        to = packet_connect_now(door);
    if (to >= 0) {
        packet_send_with(to, &arrival, sizeof(arrival), &fd, fd >= 0 ? 1 : 0);
        close(to);
    }
    if (fd >= 0)
        close(fd);
    agent_spare_keep(agent);
}

/* Whoever knows the secret may name any door of this user's, but those of sessions only. */
static void far_welcome_way(struct agent *agent, struct agent_line *line)
{
    static const char prefix[] = DIRECT_DOOR_PREFIX;
    const struct far_wish *wish = &line->call.wish;

    if (strncmp(wish->name, prefix, sizeof(prefix) - 1) != 0 ||
        strlen(wish->name) >= DIRECT_DOOR_BYTES) {
        line_close(line);
        return;
    }
    far_hand_over(agent, wish->name, wish->rank, false, line_take(line));
}

/* What has become of the one that was asked for. */
static void far_hand_over_ours(struct agent *agent, struct agent_line *line)
{
    far_hand_over(agent, line->door, line->rank, true,
                  line->phase == LINE_CLOSED ? -1 : line_take(line));
}

bool far_way(struct agent *agent, pid_t pid, const struct direct_way *way)
{
    struct far_wish wish = {.kind = FAR_WAY};
    struct agent_session *session = agent->sessions;
    struct agent_line *line;

    while (session && (session->host || session->pid != pid))
        session = session->next;
    if (!memchr(way->door, 0, sizeof(way->door)) || !memchr(way->own, 0, sizeof(way->own)))
        return false;
    if (!session) { /* a command of OMPRMA_WRAP may have started who asks */
        far_hand_over(agent, way->own, way->rank, true, -1);
        return true;
    }
    wish.rank = session->rank;
    snprintf(wish.name, sizeof(wish.name), "%s", way->door);
    line = line_call(agent, way->address, way->port, &wish);
    if (!line) {
        far_hand_over(agent, way->own, way->rank, true, -1);
        return true;
    }
    memcpy(line->door, way->own, sizeof(line->door));
    line->rank = way->rank;
    return true;
}

/* ---- what lines are for --------------------------------------------------------------------- */

/* By its wish, and whether this agent has made it. */
static const struct line_steps steps[][2] = {
    [FAR_HOST] = {{far_welcome_host, far_hear_host, far_lose_host},
                  {nothing, far_hear_of_host, far_lose_home}},
    [FAR_PROGRAM] = {{far_welcome_program, far_hear_program, far_forget_program},
                     {far_ask, far_hear_note, far_lose_program}},
    [FAR_MESSAGES] = {{far_welcome_session, nothing, nothing},
                      {far_take_end, nothing, far_lose_program}},
    [FAR_DATA] = {{far_welcome_session, nothing, nothing},
                  {far_take_end, nothing, far_lose_program}},
    [FAR_WAY] = {{far_welcome_way, nothing, nothing},
                 {far_hand_over_ours, nothing, far_hand_over_ours}},
};

const struct line_steps *far_steps(uint32_t kind, bool calls)
{
    return kind >= FAR_HOST && kind <= FAR_WAY ? &steps[kind][calls] : NULL;
}
