/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * agent_session.c: one process for each program and slot. It is this executable again, in the
 * program's folder and with the program's outputs, and does not outlive the agent.
 */
#define _GNU_SOURCE
#include "worker/agent_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "control/direct/packet.h"
#include "control/shm/leftovers.h"

extern char **environ;

/* ---- the environment ------------------------------------------------------------------------ */

/* What only concerns the process that has it. */
static bool is_private(const char *variable)
{
    static const char internal[] = "OMPRMA_INTERNAL_", join[] = DIRECT_JOIN_VARIABLE "=";

    return strncmp(variable, internal, sizeof(internal) - 1) == 0 ||
           strncmp(variable, join, sizeof(join) - 1) == 0;
}

static bool same_name(const char *left, const char *right)
{
    size_t length = strcspn(left, "=") + 1;

    return strncmp(left, right, length) == 0;
}

/* Where the variable after `variable` stands; NULL: it was the last. */
static const char *variable_after(const struct agent_program *program, const char *variable)
{
    const char *first = program->environment;
    const char *next = variable ? variable + strlen(variable) + 1 : first;

    return first && next < first + program->request.environment_bytes ? next : NULL;
}

static bool is_replaced(const struct agent_program *program, const char *variable)
{
    for (const char *own = variable_after(program, NULL); own; own = variable_after(program, own))
        if (same_name(own, variable))
            return true;
    return false;
}

/* The agent's environment with the program's in it, and `own_line`; the strings stay where they
 * are. */
static char **session_environment(const struct agent_program *program, char *own_line)
{
    size_t count = 0, most = 2;
    char **made;

    for (char **variable = environ; *variable; variable++)
        most++;
    for (const char *own = variable_after(program, NULL); own; own = variable_after(program, own))
        most++;
    made = calloc(most, sizeof(*made));
    if (!made)
        return NULL;
    for (char **variable = environ; *variable; variable++)
        if (!is_private(*variable) && !is_replaced(program, *variable))
            made[count++] = *variable;
    for (const char *own = variable_after(program, NULL); own; own = variable_after(program, own))
        if (!is_private(own) || same_name(own, DIRECT_LIBOMP_VARIABLE "="))
            made[count++] = (char *)(uintptr_t)own;
    made[count] = own_line;
    return made;
}

/* ---- the start ------------------------------------------------------------------------------ */

/* In the child: signals as a process has them by default. */
static void clear_signals(void)
{
    sigset_t none;

    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL); /* the two that cannot be changed are refused */
    signal(SIGTTOU, SIG_IGN);    /* it writes to the program's terminal from outside of its group */
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void session_become(const struct agent *agent, const struct agent_program *program,
                           const char *places, const int *ends, char **environment)
    __attribute__((noreturn));
static void session_become(const struct agent *agent, const struct agent_program *program,
                           const char *places, const int *ends, char **environment)
{
    char *arguments[] = {"omprma-worker", DIRECT_SESSION_OPTION, (char *)(uintptr_t)places, NULL};
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    dup2(null, STDIN_FILENO);
    dup2(program->outputs[0], STDOUT_FILENO);
    dup2(program->outputs[1], STDERR_FILENO);
    for (int i = 0; i < DIRECT_SESSION_DESCRIPTORS; i++)
        fcntl(ends[i], F_SETFD, 0);
    fcntl(quota_descriptor(agent->quota), F_SETFD, 0);
    setrlimit(RLIMIT_NOFILE, &agent->files);
    clear_signals();
    if (fchdir(program->folder) == 0)
        execve("/proc/self/exe", arguments, environment);
    dprintf(STDERR_FILENO, "omprma: cannot start a worker: %s\n", strerror(errno));
    _exit(127);
}

static pid_t session_fork(const struct agent *agent, struct agent_session *session, const int *ends)
{
    const struct agent_program *program = session->program;
    char places[DIRECT_SESSION_BYTES], quota[sizeof(QUOTA_VARIABLE) + 24], **environment;
    pid_t parent = getpid(), child;

    session->entry = quota_enter(agent->quota, session->slot);
    if (session->entry < 0) {
        errno = EAGAIN;
        return -1;
    }
    snprintf(quota, sizeof(quota), "%s=%d,%d", QUOTA_VARIABLE, quota_descriptor(agent->quota),
             session->entry);
    environment = session_environment(program, quota);
    child = environment ? fork() : -1;

    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        snprintf(places, sizeof(places), "%d,%d,%d,%d,%d,%d,%u,%u,%s", ends[0], ends[1],
                 session->slot, agent->slots, session->rank, session->size, agent->address,
                 agent->port, agent->join);
        session_become(agent, program, places, ends, environment);
    }
    free(environment);
    return child;
}

static void session_close_ends(int *ends)
{
    for (int i = 0; i < DIRECT_SESSION_DESCRIPTORS; i++) {
        if (ends[i] >= 0)
            close(ends[i]);
        ends[i] = -1;
    }
}

static omprma_status_t session_fail(void)
{
    return error_set(OMPRMA_ERR_HOST_MEMORY,
                     "cannot start a worker: %s; there may be too many processes, or too many "
                     "open files (ulimit -u, ulimit -n)",
                     strerror(errno));
}

/* Makes the connections, and the session at their other ends. */
static omprma_status_t session_connect(struct agent *agent, struct agent_session *session)
{
    int ends[DIRECT_SESSION_DESCRIPTORS];

    for (int i = 0; i < DIRECT_SESSION_DESCRIPTORS; i++)
        ends[i] = -1;
    for (int i = 0; i < DIRECT_SESSION_DESCRIPTORS; i++) {
        int pair[2];

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair)) {
            session_close_ends(ends);
            return session_fail();
        }
        session->ends[i] = pair[0];
        ends[i] = pair[1];
    }
    session->pid = session_fork(agent, session, ends);
    session_close_ends(ends);
    return session->pid < 0 ? session_fail() : OMPRMA_OK;
}

struct agent_session *agent_session_add(struct agent *agent, struct agent_program *program,
                                        int slot, int rank, int size)
{
    struct agent_session *session = calloc(1, sizeof(*session)), **last = &agent->sessions;

    if (!session)
        return NULL;
    session->program = program;
    session->slot = slot;
    session->rank = rank;
    session->size = size;
    session->entry = -1;
    for (int i = 0; i < DIRECT_SESSION_DESCRIPTORS; i++)
        session->ends[i] = -1;
    while (*last)
        last = &(*last)->next;
    *last = session;
    return session;
}

static void session_unlink(struct agent *agent, struct agent_session *session)
{
    struct agent_session **at = &agent->sessions;

    while (*at != session)
        at = &(*at)->next;
    *at = session->next;
    quota_leave(agent->quota, session->entry);
    session_close_ends(session->ends);
    free(session);
}

/* Connections for it are of no use. */
void agent_session_drop(struct agent *agent, struct agent_session *session)
{
    for (struct agent_line *line = agent->lines; line; line = line->next)
        if (line->session == session) {
            line->session = NULL;
            line->program = NULL;
            line_close(line);
        }
    session_unlink(agent, session);
}

omprma_status_t agent_session_start(struct agent *agent, struct agent_program *program, int slot,
                                    int rank, int size)
{
    struct agent_session *session = agent_session_add(agent, program, slot, rank, size);
    omprma_status_t status = session ? session_connect(agent, session) : session_fail();

    if (session && status != OMPRMA_OK)
        session_unlink(agent, session);
    return status;
}

omprma_status_t agent_session_run(struct agent *agent, struct agent_session *session)
{
    pid_t pid = session_fork(agent, session, session->ends);

    session_close_ends(session->ends);
    if (pid < 0)
        return session_fail();
    session->pid = pid;
    return OMPRMA_OK;
}

struct agent_session *agent_session_find(struct agent *agent, const struct agent_program *program,
                                         int rank)
{
    struct agent_session *session = agent->sessions;

    while (session && (session->program != program || session->rank != rank))
        session = session->next;
    return session;
}

struct agent_session *agent_session_unsent(struct agent *agent, const struct agent_program *program)
{
    struct agent_session *session = agent->sessions;

    while (session && (session->program != program || session->is_sent))
        session = session->next;
    return session;
}

bool agent_is_alone(const struct agent *agent, const struct agent_program *program)
{
    for (const struct agent_session *one = agent->sessions; one; one = one->next)
        if (!one->host && one->program != program)
            return false;
    return true;
}

/* ---- the end -------------------------------------------------------------------------------- */

/* Its end may not have been noted yet. */
static bool has_left(const struct agent_program *program)
{
    struct pollfd signs[] = {{.fd = program->fd, .events = POLLRDHUP},
                             {.fd = program->process, .events = POLLIN}};

    return poll(signs, 2, 0) > 0 && (signs[0].revents & (POLLRDHUP | POLLHUP) || signs[1].revents);
}

static bool is_loss(int status)
{
    return !WIFEXITED(status) ||
           (WEXITSTATUS(status) != EXIT_SUCCESS && WEXITSTATUS(status) != DIRECT_NO_PROGRAM);
}

/* The program, and omprma-run if it is a loss. */
static void session_tell_end(const struct agent *agent, const struct agent_session *session,
                             int status)
{
    const struct agent_program *program = session->program;
    const struct direct_ended ended = {
        .magic = DIRECT_MAGIC, .version = DIRECT_VERSION, .rank = session->rank, .status = status};
    struct direct_event event = {.what = DIRECT_LOST, .status = status, .slot = session->slot};

    if (!program || session->kill_ns || program->phase > AGENT_SERVED)
        return;
    if (program->line) {
        far_session_ended(session, status);
        return;
    }
    if (has_left(program))
        return;
    if (program->phase == AGENT_SERVED)
        packet_send(program->fd, &ended, sizeof(ended)); /* it need not read it */
    event.pid = program->pid;
    if (session->host)
        snprintf(event.host, sizeof(event.host), "%s", session->host->name);
    if (status != DIRECT_GONE && is_loss(status))
        agent_say_event(agent, &event);
}

/* Before its program is answered: that would be given workers that are not there. */
static void session_give_up(struct agent *agent, struct agent_program *program, int rank,
                            int status)
{
    if (program->phase == AGENT_WAITING && status >= 0 && WIFSIGNALED(status))
        agent_program_refuse(agent, program, "worker %d was ended by signal %d (%s) at its start",
                             rank - 1, WTERMSIG(status), strsignal(WTERMSIG(status)));
    else if (program->phase == AGENT_WAITING)
        agent_program_refuse(agent, program, "worker %d has ended at its start, with status %d",
                             rank - 1, status < 0 ? status : WEXITSTATUS(status));
    else if (program->phase == AGENT_SENDING)
        agent_program_leave(agent, program);
}

void agent_session_ended(struct agent *agent, struct agent_session *session, int status)
{
    struct agent_program *program = session->program;
    int rank = session->rank;
    bool is_sent = session->is_sent || session->kill_ns;

    session_tell_end(agent, session, status);
    agent_session_drop(agent, session);
    if (program && !program->line && !is_sent)
        session_give_up(agent, program, rank, status);
}

static void session_forget(struct agent *agent, pid_t pid, int status)
{
    struct agent_session *session = agent->sessions;

    while (session && (session->host || session->pid != pid))
        session = session->next;
    if (!session)
        return; /* one that a session has left behind */
    agent_session_ended(agent, session, status);
}

void agent_sessions_reap(struct agent *agent)
{
    bool killed = false;
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        killed |= WIFSIGNALED(status);
        session_forget(agent, pid, status);
    }
    if (killed)
        leftovers_remove(0, agent->since);
}

void agent_sessions_end(struct agent *agent, struct agent_program *program, int64_t grace_ns,
                        int signal)
{
    int64_t at = clock_ns() + grace_ns;
    struct agent_session *next;

    for (struct agent_session *session = agent->sessions; session; session = next) {
        next = session->next;
        if (session->program != program)
            continue;
        if (session->host || !session->pid) { /* the agent there sees to it */
            agent_session_drop(agent, session);
            continue;
        }
        session->program = NULL;
        session_close_ends(session->ends);
        if (!session->kill_ns || session->kill_ns > at)
            session->kill_ns = at;
        if (signal)
            kill(session->pid, signal);
    }
}

int64_t agent_sessions_late(struct agent *agent)
{
    int64_t now = clock_ns(), next = 0;

    for (struct agent_session *session = agent->sessions; session; session = session->next) {
        if (session->kill_ns && session->kill_ns <= now) {
            kill(session->pid, SIGKILL);
            session->kill_ns = INT64_MAX;
        }
        if (session->kill_ns && session->kill_ns != INT64_MAX && (!next || session->kill_ns < next))
            next = session->kill_ns;
    }
    return next;
}
