/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * agent.c: one loop, one process, no threads. Whoever has started the agent, programs and sessions
 * may each end at any time and in any way; what follows is here.
 */
#define _GNU_SOURCE
#include "worker/agent.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descendants.h"
#include "base/error.h"
#include "base/log.h"
#include "control/direct/local_rank.h"
#include "control/direct/packet.h"
#include "control/host.h"
#include "control/shm/leftovers.h"
#include "worker/agent_parts.h"
#include "worker/free_memory.h"
#include "worker/stragglers.h"

/* How long sessions may take to end with the run, before they are killed, and how long programs are
 * waited for. */
static const int64_t END_NS = 1000000000, PROGRAMS_NS = 3000000000;

void agent_say_event(const struct agent *agent, const struct direct_event *event)
{
    struct far_note note = {.what = FAR_EVENT, .event = *event};

    if (agent->control >= 0)
        send(agent->control, event, sizeof(*event), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (!agent->home)
        return;
    if (!*note.event.host)
        host_name(note.event.host);
    line_send(agent->home, &note, sizeof(note));
}

void agent_say(const struct agent *agent, enum direct_event_kind what, pid_t pid, int status,
               int slot)
{
    const struct direct_event event = {.what = what, .pid = pid, .status = status, .slot = slot};

    agent_say_event(agent, &event);
}

bool agent_spare_use(struct agent *agent)
{
    if ((errno != EMFILE && errno != ENFILE) || agent->spare < 0)
        return false;
    close(agent->spare);
    agent->spare = -1;
    return true;
}

void agent_spare_keep(struct agent *agent)
{
    if (agent->spare < 0)
        agent->spare = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* What programs leave behind can be removed when they have ended. */
void agent_begin_end(struct agent *agent)
{
    if (agent->ending)
        return;
    agent->ending = true;
    close(agent->listener);
    agent->listener = -1;
    if (agent->network >= 0)
        close(agent->network);
    agent->network = -1;
    for (struct agent_line *line = agent->lines; line; line = line->next)
        if (line->phase < LINE_OPEN && line != agent->home) /* they would ask for workers */
            line_close(line);
    for (struct agent_program *program = agent->programs; program; program = program->next) {
        agent_sessions_end(agent, program, END_NS, SIGTERM);
        agent_program_leave(agent, program);
        if (program->process >= 0) {
            program->phase = AGENT_ENDING;
            program->until_ns = clock_ns() + PROGRAMS_NS;
        }
    }
}

static void agent_take_signal(struct agent *agent)
{
    struct signalfd_siginfo info;

    while (read(agent->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo == SIGCHLD)
            agent_sessions_reap(agent);
        else if (info.ssi_signo == SIGTERM)
            agent_begin_end(agent);
    }
}

/* Nothing comes from there but the end, which omprma-run announces unless it is killed. */
static void agent_take_control(struct agent *agent)
{
    char byte;
    ssize_t bytes = recv(agent->control, &byte, sizeof(byte), MSG_DONTWAIT);

    /* A reset is about what was not read there; what was said before comes next. */
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNRESET))
        return;
    if (bytes > 0) {
        agent->in_order |= byte == DIRECT_IN_ORDER;
        return;
    }
    close(agent->control);
    agent->control = -1;
    agent->orphaned = !agent->in_order;
    if (agent->orphaned)
        stragglers_tell(agent->join);
    agent_begin_end(agent);
}

static void agent_forget_programs(struct agent *agent)
{
    for (struct agent_program **at = &agent->programs; *at;) {
        struct agent_program *program = *at;

        if (program->phase != AGENT_LEFT) {
            at = &program->next;
            continue;
        }
        *at = program->next;
        agent_program_free(program);
    }
}

/* ---- the loop ------------------------------------------------------------------------------- */

enum { AT_CONTROL, AT_SIGNALS, AT_LISTENER, AT_NETWORK, AT_PROGRAMS, EACH = 2 };

/* Two entries for each program, and behind them one for each connection to another agent; NULL: no
 * memory. `*count` is of entries. */
static struct pollfd *agent_make_sources(const struct agent *agent, size_t *count)
{
    struct pollfd *sources;
    size_t at = AT_PROGRAMS;

    *count = AT_PROGRAMS;
    for (const struct agent_program *one = agent->programs; one; one = one->next)
        *count += EACH;
    for (const struct agent_line *line = agent->lines; line; line = line->next)
        ++*count;
    sources = calloc(*count, sizeof(*sources));
    if (!sources)
        return NULL;
    sources[AT_CONTROL] = (struct pollfd){.fd = agent->control, .events = POLLIN};
    sources[AT_SIGNALS] = (struct pollfd){.fd = agent->signals, .events = POLLIN};
    sources[AT_LISTENER] = (struct pollfd){.fd = agent->listener, .events = POLLIN};
    sources[AT_NETWORK] = (struct pollfd){.fd = agent->network, .events = POLLIN};
    for (const struct agent_program *one = agent->programs; one; one = one->next) {
        sources[at++] = (struct pollfd){.fd = one->fd, .events = POLLIN};
        sources[at++] = (struct pollfd){.fd = one->process, .events = POLLIN};
    }
    for (const struct agent_line *line = agent->lines; line; line = line->next) {
        bool writes = line->phase == LINE_CONNECTING || line->sent < line->out_bytes;

        sources[at++] = (struct pollfd){.fd = line->fd,
                                        .events = line->phase == LINE_CONNECTING ? POLLOUT
                                                  : writes                       ? POLLIN | POLLOUT
                                                                                 : POLLIN};
    }
    return sources;
}

static int wait_ms(struct agent *agent)
{
    int64_t next = agent_sessions_late(agent), left;

    for (const struct agent_program *one = agent->programs; one; one = one->next)
        if (one->until_ns && (!next || one->until_ns < next))
            next = one->until_ns;
    for (const struct agent_line *one = agent->lines; one; one = one->next)
        if (one->until_ns && (!next || one->until_ns < next))
            next = one->until_ns;
    if (!next)
        return -1;
    left = next - clock_ns();
    return left <= 0 ? 0 : (int)(left / 1000000 + 1);
}

/* A program's own end comes first: one that its workers have seen is not a worker's loss. Returns
 * what stands behind the programs. */
static const struct pollfd *agent_take_programs(struct agent *agent, const struct pollfd *sources)
{
    const struct pollfd *source = sources + AT_PROGRAMS;
    int64_t now = clock_ns();

    for (struct agent_program *program = agent->programs; program; program = program->next) {
        if (source[0].revents || (program->until_ns && program->until_ns <= now))
            agent_program_go_on(agent, program);
        if (source[1].revents && program->phase != AGENT_LEFT)
            agent_program_leave(agent, program);
        source += EACH;
    }
    return source;
}

/* Connections that are made meanwhile stand behind those that there were. */
static void agent_take_lines(struct agent *agent, const struct pollfd *source,
                             const struct pollfd *end)
{
    int64_t now = clock_ns();

    for (struct agent_line *line = agent->lines; line && source < end; line = line->next) {
        if (source->revents || (line->until_ns && line->until_ns <= now))
            line_go_on(agent, line, (source->revents & ~POLLOUT) || line->phase == LINE_CONNECTING);
        source++;
    }
}

static bool is_over(const struct agent *agent)
{
    return agent->ending && !agent->sessions && !agent->programs;
}

static omprma_status_t agent_loop(struct agent *agent)
{
    while (!is_over(agent)) {
        size_t count;
        struct pollfd *sources = agent_make_sources(agent, &count);
        const struct pollfd *lines;

        if (!sources)
            return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for %zu connections", count);
        poll(sources, count, wait_ms(agent)); /* a failure is like nothing */
        lines = agent_take_programs(agent, sources);
        agent_take_lines(agent, lines, sources + count);
        if (sources[AT_SIGNALS].revents)
            agent_take_signal(agent);
        if (sources[AT_LISTENER].revents && agent->listener >= 0)
            agent_accept(agent);
        if (sources[AT_NETWORK].revents && agent->network >= 0)
            line_accept(agent);
        if (sources[AT_CONTROL].revents)
            agent_take_control(agent);
        free(sources);
        agent_forget_programs(agent);
        lines_forget(agent);
    }
    return OMPRMA_OK;
}

/* ---- start and end -------------------------------------------------------------------------- */

static bool read_number(const char *text, int low, int *value)
{
    char *end;
    long number = strtol(text, &end, 10);

    *value = (int)number;
    return *text && !*end && number >= low && number <= INT_MAX;
}

/* It may be asked for many connections; sessions are not to notice. */
static void agent_raise_files(struct agent *agent)
{
    struct rlimit most;

    getrlimit(RLIMIT_NOFILE, &agent->files);
    most = agent->files;
    most.rlim_cur = most.rlim_max;
    setrlimit(RLIMIT_NOFILE, &most);
}

static omprma_status_t agent_begin(struct agent *agent)
{
    omprma_status_t status = config_load(&agent->config);
    sigset_t all;

    if (status != OMPRMA_OK)
        return status;
    log_open("", (int)agent->config.verbose);
    prctl(PR_SET_NAME, "omprma-agent");
    signal(SIGCHLD, SIG_DFL); /* else sessions would vanish without a sign */
    /* What sessions leave behind is ended here. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    agent_raise_files(agent);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    agent->signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
    agent_spare_keep(agent);
    agent->since = time(NULL);
    fcntl(agent->listener, F_SETFD, FD_CLOEXEC);
    if (agent->control >= 0)
        fcntl(agent->control, F_SETFD, FD_CLOEXEC);
    if (agent->network >= 0)
        fcntl(agent->network, F_SETFD, FD_CLOEXEC);
    if (agent->signals < 0)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no signalfd: %s", strerror(errno));
    return quota_create(free_memory_bytes(""), &agent->quota);
}

static int agent_serve(struct agent *agent)
{
    omprma_status_t status = agent_loop(agent);

    if (status != OMPRMA_OK)
        log_write(LOG_ERROR, "%s", error_text());
    if (agent->orphaned)
        stragglers_end(agent->join);
    descendants_kill();
    leftovers_remove(0, agent->since);
    return status == OMPRMA_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* It is not to be seen by whoever looks at a session. */
static bool agent_take_secret(struct agent *agent)
{
    const char *text = getenv(FAR_SECRET_VARIABLE);

    return text && prove_read_secret(text, agent->secret);
}

/* Where omprma-run has the agents of other hosts call. */
static bool agent_open_network(struct agent *agent)
{
    struct sockaddr_in at = {0};
    socklen_t bytes = sizeof(at);

    if (getsockname(agent->network, (struct sockaddr *)&at, &bytes) || !agent_take_secret(agent))
        return false;
    agent->address = at.sin_addr.s_addr;
    agent->port = at.sin_port;
    return true;
}

/* Digits of the name under which `listener` listens. */
static void agent_read_name(struct agent *agent)
{
    struct sockaddr_un at = {0};
    socklen_t bytes = sizeof(at);

    if (getsockname(agent->listener, (struct sockaddr *)&at, &bytes) == 0)
        snprintf(agent->join, sizeof(agent->join), "%.*s", DIRECT_DIGITS,
                 at.sun_path + sizeof(DIRECT_NAME));
}

int agent_run(const char *listener, const char *control, const char *slots, const char *network,
              const char *more)
{
    struct agent agent = {.signals = -1, .spare = -1, .network = -1, .more = -1};

    if (!read_number(listener, 0, &agent.listener) || !read_number(control, 0, &agent.control) ||
        !read_number(slots, network ? 0 : 1, &agent.slots))
        return 2;
    if (network && (!read_number(network, 0, &agent.network) ||
                    !read_number(more, 1, &agent.more) || !agent_open_network(&agent)))
        return 2;
    agent_read_name(&agent);
    if (agent_begin(&agent) != OMPRMA_OK) {
        log_write(LOG_ERROR, "%s", error_text());
        return EXIT_FAILURE;
    }
    return agent_serve(&agent);
}

/* ---- on other hosts ------------------------------------------------------------------------- */

/* error_text() says why. omprma-run, where this comes as a line, ends the run. */
static int agent_fail_far(void)
{
    char host[HOST_TEXT_BYTES];

    host_name(host);
    log_write(LOG_ERROR, "the agent of host %s cannot start: %s", host, error_text());
    return EXIT_FAILURE;
}

/* Another process of this host is the agent: it has one slot more. */
static int agent_be_a_slot(const char *name)
{
    const struct direct_slot slot = {.magic = DIRECT_SLOT_MAGIC, .version = DIRECT_VERSION};
    char byte;
    int fd = packet_connect(name);
    bool done = fd >= 0 && packet_send(fd, &slot, sizeof(slot)) > 0;

    if (done)
        packet_receive(fd, &byte, sizeof(byte)); /* its end: it was taken note of */
    if (fd >= 0)
        close(fd);
    if (done)
        return EXIT_SUCCESS;
    error_set(OMPRMA_ERR_CLOSED, "another process was to be it, and does not answer: %s",
              strerror(errno));
    return agent_fail_far();
}

/* ADDRESS:PORT */
static bool read_home(const char *text, uint32_t *address, uint32_t *port)
{
    const char *colon = text ? strchr(text, ':') : NULL;
    char host[INET_ADDRSTRLEN];
    struct in_addr at;
    int number;

    if (!colon || colon - text >= (int)sizeof(host) || !read_number(colon + 1, 1, &number))
        return false;
    snprintf(host, sizeof(host), "%.*s", (int)(colon - text), text);
    if (inet_pton(AF_INET, host, &at) != 1)
        return false;
    *address = at.s_addr;
    *port = htons((uint16_t)number);
    return true;
}

static omprma_status_t agent_call_home(struct agent *agent)
{
    int rank = rank_find();
    struct far_wish wish = {.kind = FAR_HOST, .slots = agent->slots, .rank = rank < 0 ? 0 : rank};
    const char *home = getenv(FAR_HOME_VARIABLE);
    uint32_t address, port;

    host_name(wish.name);
    if (!read_home(home, &address, &port))
        return error_set(OMPRMA_ERR_CONFIG, "%s is no address: %s", FAR_HOME_VARIABLE,
                         home ? home : "it is not set");
    agent->home = line_call(agent, address, port, &wish);
    return agent->home
               ? OMPRMA_OK
               : error_set(OMPRMA_ERR_HOST_MEMORY, "cannot call %s: %s", home, strerror(errno));
}

int agent_run_far(void)
{
    struct agent agent = {
        .control = -1, .signals = -1, .spare = -1, .network = -1, .more = -1, .slots = 1};
    const char *join = getenv(FAR_JOIN_VARIABLE);
    char name[PACKET_NAME_BYTES];

    syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0); /* hydra leaves sockets of its own open */
    if (!join || strlen(join) != DIRECT_DIGITS || !agent_take_secret(&agent)) {
        error_set(OMPRMA_ERR_CONFIG,
                  "%s or %s is not as omprma-run sets it; does the remote shell keep variables?",
                  FAR_JOIN_VARIABLE, FAR_SECRET_VARIABLE);
        return agent_fail_far();
    }
    snprintf(name, sizeof(name), "%s%s", DIRECT_NAME, join);
    memcpy(agent.join, join, sizeof(agent.join));
    if (packet_listen_at(name, &agent.listener) != OMPRMA_OK)
        return agent_be_a_slot(name);
    if (agent_begin(&agent) != OMPRMA_OK || agent_call_home(&agent) != OMPRMA_OK)
        return agent_fail_far();
    return agent_serve(&agent);
}
