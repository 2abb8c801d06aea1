/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * agent_join.c: a program asks for workers. Nothing here waits for it: what is not there yet is
 * taken up when poll() says so. Whoever does not keep to join.h is told so in one line, and loses
 * its own workers only.
 */
#define _GNU_SOURCE
#include "worker/agent_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "control/direct/packet.h"
#include "worker/share.h"

/* How long sessions may take to end when their program has, a refusal may lie unread, and what
 * cannot be sent now is left. */
static const int64_t GRACE_NS = 2000000000, READ_NS = 2000000000, AGAIN_NS = 20000000;

/* ---- the end -------------------------------------------------------------------------------- */

static void close_one(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* What only the start of sessions needs. */
static void program_close_request(struct agent_program *program)
{
    for (int i = 0; i < DIRECT_REQUEST_DESCRIPTORS; i++)
        close_one(&program->outputs[i]);
    close_one(&program->folder);
    free(program->environment);
    program->environment = NULL;
}

void agent_program_free(struct agent_program *program)
{
    program_close_request(program);
    close_one(&program->fd);
    close_one(&program->process);
    free(program);
}

static bool is_here(const struct agent_program *program)
{
    return program->fd >= 0 && (program->phase == AGENT_SENDING || program->phase == AGENT_SERVED);
}

void agent_program_leave(struct agent *agent, struct agent_program *program)
{
    if (program->phase >= AGENT_WAITING && program->phase <= AGENT_SERVED)
        agent_sessions_end(agent, program, GRACE_NS, 0);
    if (is_here(program)) {
        agent_say(agent, DIRECT_LEFT, program->pid, 0, 0);
        log_write(LOG_DETAIL, "process %d has left", (int)program->pid);
    }
    far_end(agent, program);
    program->phase = AGENT_LEFT;
    program_close_request(program);
    close_one(&program->fd);
}

/* Were the socket closed while something of the program's lies in it unread, it would not come to
 * read why. */
void agent_program_refuse(struct agent *agent, struct agent_program *program, const char *format,
                          ...)
{
    struct direct_reply reply = {.magic = DIRECT_MAGIC, .version = DIRECT_VERSION, .refused = 1};
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(reply.text, sizeof(reply.text), format, arguments);
    va_end(arguments);
    log_write(LOG_CHOICE, "process %d gets no workers: %s", (int)program->pid, reply.text);
    agent_sessions_end(agent, program, 0, SIGKILL);
    far_end(agent, program);
    packet_send(program->fd, &reply, sizeof(reply));
    shutdown(program->fd, SHUT_WR);
    program_close_request(program);
    program->phase = AGENT_REFUSED;
    program->until_ns = clock_ns() + READ_NS;
}

/* ---- the answer ----------------------------------------------------------------------------- */

static struct share_wish wish_of(const struct agent *agent, const struct agent_program *program)
{
    int share = program->request.share ? program->request.share : agent->config.share;

    return (struct share_wish){.split = share != DIRECT_SHARE_ALL,
                               .rank = program->request.local_rank,
                               .size = program->request.local_size,
                               .slots = agent->slots};
}

/* Those that are here, where no launcher tells how many will be. */
int agent_count_processes(const struct agent *agent)
{
    int count = 0;

    for (const struct agent_program *one = agent->programs; one; one = one->next)
        count += is_here(one);
    for (const struct agent_session *one = agent->sessions; one; one = one->next)
        count += !one->host;
    return count;
}

static void log_share(const struct agent_program *program, const struct share_wish *wish,
                      const int *slots, int count, int far)
{
    char text[256] = "", others[64] = "";
    size_t used = 0;

    for (int i = 0; i < count && used + 16 < sizeof(text); i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%d", i ? "," : "", slots[i]);
    if (far)
        snprintf(others, sizeof(others), ", and %d of other hosts", far);
    if (share_is_split(wish))
        log_write(LOG_CHOICE, "process %d, rank %d of %d on this host, gets slots %s of %d%s",
                  (int)program->pid, wish->rank, wish->size, text, wish->slots, others);
    else
        log_write(LOG_CHOICE, "process %d gets slots %s of %d%s", (int)program->pid, text,
                  wish->slots, others);
}

/* Puts the one into the list that is number `index` of those of all other hosts. */
static bool program_add_far(struct agent *agent, struct agent_program *program, int index, int rank,
                            int size)
{
    struct agent_host *host = agent->hosts;
    struct agent_session *session;

    for (; index >= host->slots; host = host->next)
        index -= host->slots;
    session = agent_session_add(agent, program, index, rank, size);
    if (session)
        session->host = host;
    return session != NULL;
}

/* First those of this host. */
static omprma_status_t program_start_all(struct agent *agent, struct agent_program *program,
                                         const int *slots, int near, int count)
{
    omprma_status_t status = OMPRMA_OK;

    if (count == 0)
        return error_set(OMPRMA_ERR_NO_WORKERS, "there are no workers any more on any host");
    for (int i = 0; i < near && status == OMPRMA_OK; i++)
        status = agent_session_start(agent, program, slots[i], i + 1, count + 1);
    for (int i = near; i < count && status == OMPRMA_OK; i++)
        if (!program_add_far(agent, program, slots[i], i + 1, count + 1))
            status = error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a request");
    return status == OMPRMA_OK && count > near ? far_begin(agent, program) : status;
}

static omprma_status_t program_start_sessions(struct agent *agent, struct agent_program *program)
{
    const struct share_wish wish = wish_of(agent, program);
    struct share_wish beyond = wish;
    int *slots, near, far;
    omprma_status_t status;

    beyond.slots = share_reaches_far(&wish) ? far_slots(agent) : 0;
    slots = calloc((size_t)(agent->slots + beyond.slots) + 1, sizeof(*slots));
    if (!slots)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a request");
    near = share_slots(&wish, slots);
    far = share_slots(&beyond, slots + near);
    status = program_start_all(agent, program, slots, near, near + far);
    if (status == OMPRMA_OK)
        log_share(program, &wish, slots, near, far);
    free(slots);
    return status;
}

static struct direct_session session_packet(const struct agent *agent,
                                            const struct agent_session *session)
{
    struct direct_session packet = {.magic = DIRECT_MAGIC,
                                    .version = DIRECT_VERSION,
                                    .slot = session->slot,
                                    .pid = session->pid,
                                    .rank = session->rank,
                                    .far = session->host != NULL,
                                    .processes = session->processes,
                                    .alone = session->alone};

    if (packet.far)
        return packet;
    packet.processes = session->program->processes;
    packet.alone = agent_is_alone(agent, session->program);
    return packet;
}

static void program_send_sessions(struct agent *agent, struct agent_program *program)
{
    struct agent_session *session;

    while ((session = agent_session_unsent(agent, program))) {
        const struct direct_session packet = session_packet(agent, session);

        if (packet_send_with(program->fd, &packet, sizeof(packet), session->ends,
                             DIRECT_SESSION_DESCRIPTORS) < 0) {
            if (errno == EAGAIN || errno == ETOOMANYREFS || errno == ENOBUFS)
                program->until_ns = clock_ns() + AGAIN_NS;
            else
                agent_program_leave(agent, program);
            return;
        }
        session->is_sent = true;
        for (int i = 0; i < DIRECT_SESSION_DESCRIPTORS; i++)
            close_one(&session->ends[i]);
    }
    program->until_ns = 0;
    program->phase = AGENT_SERVED;
}

/* Is there another rank, which has said what is true of all? */
static bool has_other_rank(const struct agent *agent, const struct agent_program *program)
{
    for (const struct agent_program *one = agent->programs; one; one = one->next)
        if (one != program && one->request.local_rank >= 0 && is_here(one))
            return true;
    return false;
}

void agent_program_answer(struct agent *agent, struct agent_program *program)
{
    struct direct_reply reply = {.magic = DIRECT_MAGIC,
                                 .version = DIRECT_VERSION,
                                 .slots = agent->slots,
                                 .measured = agent->measured};
    const struct share_wish wish = wish_of(agent, program);

    program_close_request(program);
    program->phase = AGENT_SENDING;
    for (const struct agent_session *one = agent->sessions; one; one = one->next) {
        reply.sessions += one->program == program;
        reply.far += one->program == program && one->host;
    }
    reply.repeats = program->request.local_rank >= 0 && has_other_rank(agent, program);
    reply.processes = agent_count_processes(agent);
    if (reply.processes < share_processes(&wish))
        reply.processes = share_processes(&wish);
    program->processes = reply.processes;
    agent_say(agent, DIRECT_JOINED, program->pid, 0, 0);
    if (packet_send(program->fd, &reply, sizeof(reply)) < 0)
        agent_program_leave(agent, program);
    else
        program_send_sessions(agent, program);
}

/* All that it has to say is here. */
static void program_begin(struct agent *agent, struct agent_program *program)
{
    program->phase = AGENT_WAITING;
    if (getrandom(&program->number, sizeof(program->number), 0) !=
            (ssize_t)sizeof(program->number) ||
        program_start_sessions(agent, program) != OMPRMA_OK) {
        agent_program_refuse(agent, program, "%s", error_text());
        return;
    }
    if (!far_uses(agent, program))
        agent_program_answer(agent, program);
}

/* ---- the request ---------------------------------------------------------------------------- */

static bool ranks_make_sense(const struct direct_request *request)
{
    int rank = request->local_rank, size = request->local_size;

    return (rank == -1 && size == -1) || (rank >= 0 && rank < size);
}

bool agent_request_makes_sense(const struct direct_request *request)
{
    return request->share >= DIRECT_SHARE_DEFAULT && request->share <= DIRECT_SHARE_ALL &&
           ranks_make_sense(request) && request->environment_bytes <= DIRECT_ENVIRONMENT_MOST &&
           memchr(request->folder, 0, sizeof(request->folder));
}

static bool joined_before(const struct agent *agent, const struct agent_program *program)
{
    for (const struct agent_program *one = agent->programs; one; one = one->next)
        if (one != program && one->fd >= 0 && one->pid == program->pid &&
            one->phase >= AGENT_TELLING && one->phase <= AGENT_SERVED)
            return true;
    return false;
}

static const char *why_not(ssize_t bytes)
{
    if (bytes < 0 && errno == EMFILE)
        return "the request to join brings more than two descriptors, or too many files are open "
               "in omprma-run's agent (ulimit -n)";
    return "what came is no request to join of omprma's";
}

/* False: it is refused. */
static bool program_check_request(struct agent *agent, struct agent_program *program, ssize_t bytes,
                                  int count)
{
    const struct direct_request *request = &program->request;
    size_t head = sizeof(request->magic) + sizeof(request->version);

    if (bytes >= (ssize_t)head && request->magic == DIRECT_MAGIC &&
        request->version != DIRECT_VERSION)
        agent_program_refuse(
            agent, program,
            "the program's libomprma speaks version %u of joining, and omprma-run %d: both must "
            "be of the same installation",
            request->version, DIRECT_VERSION);
    else if (bytes != (ssize_t)sizeof(*request) || request->magic != DIRECT_MAGIC ||
             count != DIRECT_REQUEST_DESCRIPTORS || !agent_request_makes_sense(request))
        agent_program_refuse(agent, program, "%s", why_not(bytes));
    else if (request->folder[0] != '/')
        agent_program_refuse(agent, program,
                             "the program's current folder cannot be used; change to another");
    else if (joined_before(agent, program))
        agent_program_refuse(agent, program, "process %d has joined before, and has its workers",
                             (int)program->pid);
    else
        return true;
    return false;
}

/* What is no request: a session's, or that of a process that adds a slot. */
static bool program_take_other(struct agent *agent, struct agent_program *program, ssize_t bytes)
{
    const struct direct_way *way = (const void *)&program->request;
    const struct direct_slot *slot = (const void *)&program->request;

    if (bytes == (ssize_t)sizeof(*way) && way->magic == DIRECT_WAY_MAGIC &&
        way->version == DIRECT_VERSION && far_way(agent, program->pid, way)) {
        agent_program_leave(agent, program);
        return true;
    }
    if (bytes == (ssize_t)sizeof(*slot) && slot->magic == DIRECT_SLOT_MAGIC &&
        slot->version == DIRECT_VERSION && (agent->home || agent->more >= 0)) {
        far_more_slots(agent);
        agent_program_leave(agent, program);
        return true;
    }
    return false;
}

static void program_take_request(struct agent *agent, struct agent_program *program)
{
    int count;
    ssize_t bytes = packet_receive_with(program->fd, &program->request, sizeof(program->request),
                                        program->outputs, DIRECT_REQUEST_DESCRIPTORS, &count);

    if (bytes < 0 && errno == EAGAIN)
        return;
    if (bytes == 0) {
        agent_program_leave(agent, program);
        return;
    }
    for (int i = count; i < DIRECT_REQUEST_DESCRIPTORS; i++)
        program->outputs[i] = -1;
    if (count == 0 && program_take_other(agent, program, bytes))
        return;
    if (!program_check_request(agent, program, bytes, count))
        return;
    program->folder = open(program->request.folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (program->folder < 0)
        agent_program_refuse(agent, program, "workers cannot use the program's folder %.128s: %s",
                             program->request.folder, strerror(errno));
    else if (program->request.environment_bytes)
        program->phase = AGENT_TELLING;
    else
        program_begin(agent, program);
}

/* Each string has a name, and a zero at its end. */
bool agent_is_environment(const char *text, size_t bytes)
{
    if (text[bytes - 1])
        return false;
    for (size_t at = 0; at < bytes; at += strlen(text + at) + 1)
        if (text[at] == '=' || !strchr(text + at, '='))
            return false;
    return true;
}

static void program_take_environment(struct agent *agent, struct agent_program *program)
{
    size_t room = program->request.environment_bytes;
    char *text = malloc(room);
    int count, none;
    ssize_t bytes = text ? packet_receive_with(program->fd, text, room, &none, 0, &count) : -1;

    if (text && bytes < 0 && errno == EAGAIN) {
        free(text);
        return;
    }
    program->environment = text;
    if (!text)
        agent_program_refuse(agent, program, "no memory for a request");
    else if (bytes == 0)
        agent_program_leave(agent, program);
    else if (bytes != (ssize_t)room || !agent_is_environment(text, room))
        agent_program_refuse(agent, program, "what came is not the environment of a program");
    else
        program_begin(agent, program);
}

/* ---- its connection ------------------------------------------------------------------------- */

static bool program_take_measured(struct agent *agent, const struct agent_program *program,
                                  const struct direct_measured *measured, ssize_t bytes)
{
    bool right = program->phase == AGENT_SERVED && bytes == (ssize_t)sizeof(*measured) &&
                 measured->magic == DIRECT_MEASURED_MAGIC && measured->version == DIRECT_VERSION &&
                 measured->bytes <= sizeof(measured->data);

    if (right)
        agent->measured = *measured;
    return right;
}

/* Nothing is to come from it but what it has measured, and its end. */
static void program_take_end(struct agent *agent, struct agent_program *program)
{
    struct direct_measured measured;
    ssize_t bytes = packet_receive(program->fd, &measured, sizeof(measured));
    bool refused = program->phase == AGENT_REFUSED;

    if (program_take_measured(agent, program, &measured, bytes))
        return;
    if (bytes < 0 && (errno == EAGAIN || errno == ENOBUFS))
        return;
    if (bytes > 0 && !refused)
        log_write(LOG_ERROR,
                  "process %d has sent something that is not of omprma's, and loses its workers",
                  (int)program->pid);
    if (bytes <= 0 || !refused)
        agent_program_leave(agent, program);
}

static void program_leave_late(struct agent *agent, struct agent_program *program)
{
    if (clock_ns() >= program->until_ns)
        agent_program_leave(agent, program);
}

/* What is done with a program in each phase: when something has come from it, or it has ended; and
 * then, or when its time is over. NULL: nothing. */
static const struct {
    void (*come)(struct agent *agent, struct agent_program *program);
    void (*late)(struct agent *agent, struct agent_program *program);
} steps[] = {
    [AGENT_ASKING] = {program_take_request, NULL},
    [AGENT_TELLING] = {program_take_environment, NULL},
    [AGENT_WAITING] = {program_take_end, NULL},
    [AGENT_SENDING] = {program_take_end, program_send_sessions},
    [AGENT_SERVED] = {program_take_end, NULL},
    [AGENT_REFUSED] = {program_take_end, program_leave_late},
    [AGENT_ENDING] = {NULL, program_leave_late},
    [AGENT_LEFT] = {NULL, NULL},
};

void agent_program_go_on(struct agent *agent, struct agent_program *program)
{
    enum agent_phase phase = program->phase;

    if (steps[phase].come)
        steps[phase].come(agent, program);
    if (steps[phase].late && program->phase == phase)
        steps[phase].late(agent, program);
}

/* Without a free descriptor whoever waits could be neither taken nor turned away. */
static int program_accept(struct agent *agent, bool *full)
{
    int fd = packet_accept(agent->listener);

    *full = fd < 0 && agent_spare_use(agent);
    return *full ? packet_accept(agent->listener) : fd;
}

struct agent_program *agent_program_make(struct agent *agent, int fd)
{
    struct agent_program *program = calloc(1, sizeof(*program));

    if (!program)
        return NULL;
    program->next = agent->programs;
    agent->programs = program;
    program->fd = fd;
    program->folder = program->process = -1;
    for (int i = 0; i < DIRECT_REQUEST_DESCRIPTORS; i++)
        program->outputs[i] = -1;
    return program;
}

void agent_accept(struct agent *agent)
{
    bool full;
    int fd = program_accept(agent, &full);
    pid_t pid = 0;
    /* A process of another user learns nothing here; its own side has seen whose socket it is. */
    bool ours = fd >= 0 && packet_same_user(fd, &pid);
    struct agent_program *program = ours ? agent_program_make(agent, fd) : NULL;

    if (!program) {
        close_one(&fd);
        agent_spare_keep(agent);
        return;
    }
    program->pid = pid;
    if (full) {
        char byte;

        packet_receive(fd, &byte, sizeof(byte));
        agent_program_refuse(
            agent, program,
            "too many files are open in omprma-run's agent; raise the limit (ulimit -n)");
        agent_program_leave(agent, program); /* with its descriptor goes the place for the next */
        agent_spare_keep(agent);
    } else {
        program->process = (int)syscall(SYS_pidfd_open, program->pid, 0);
        agent_program_go_on(agent, program); /* it sends at once */
    }
}
