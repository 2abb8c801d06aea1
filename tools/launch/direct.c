/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * direct.c: one loop, one process, no threads. The agent notices the end of this process by that of
 * their socket, and lets no worker stay. The kernel signals the command when this process ends. The
 * agent signals what the command has started, unless this process told it before that the run has
 * ended in order.
 */
#include "tools/launch/direct.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/coming.h"
#include "base/config.h"
#include "base/descendants.h"
#include "base/error.h"
#include "base/exit_status.h"
#include "base/log.h"
#include "control/agent/join.h"
#include "control/direct/local_rank.h"
#include "control/direct/packet.h"
#include "control/shm/leftovers.h"
#include "host/report/mark.h"
#include "tools/launch/command.h"
#include "tools/launch/inherited.h"
#include "tools/launch/launcher.h"
#include "tools/launch/loop.h"
#include "tools/launch/outcome.h"
#include "tools/launch/paths.h"
#include "tools/launch/recorded.h"
#include "tools/launch/signals.h"
#include "tools/launch/verdict.h"

extern char **environ;

/* How long each may take. */
enum {
    FINISH_S = 5, /* the agent, after the command has ended */
    ABORT_S = 1,  /* the command, after the agent is lost: it may say where it was */
    KILLED_S = 2  /* likewise, after it was told to end */
};

struct run {
    const struct program *program;
    struct far far;
    bool one, offloads; /* as in struct direct */
    struct loop loop;
    struct loop_source control;
    struct loop_child child, agent;
    bool child_told; /* to end, because the agent is lost */
    int joined;      /* programs that had workers */
    bool lost;       /* a worker that was needed */
    bool failed;     /* the agent is lost */
    int own_status;  /* EXIT_NOT_FOUND and the like, where the command did not start */
    int interrupted; /* signal that has come before the command was started */
    struct coming *coming;
    bool waits;           /* the agents of other hosts are to come before the program is started */
    struct program start; /* what is started then */
    char *join;
    int64_t term_ns;
};

/* ---- the agent ------------------------------------------------------------------------------ */

/* Its environment is that of workers, who know nothing of a job around us. */
static void set_environment(const struct direct *direct)
{
    struct list environment = {0};
    char *path = command_library_path(direct->worker_path);
    for (char **variable = environ; *variable; variable++)
        list_add(&environment, *variable);
    launcher_forget(&environment);
    if (path)
        list_set(&environment, "LD_LIBRARY_PATH", path);
    free(path);
    environ = environment.items;
}

/* Out of the terminal's foreground group: its signals are meant for the command. Whoever reads our
 * output is not to wait for it. */
static void agent_exec(const struct direct *direct, int listener, int control, int network)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    char *fds[] = {text_make("%d", listener), text_make("%d", control)};
    char *slots = text_make("%d", direct->here), *more = text_make("%d", direct->there);
    char *other = network >= 0 ? text_make("%d", network) : NULL;
    setpgid(0, 0);
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    inherited_clear_signals();
    fcntl(listener, F_SETFD, 0);
    fcntl(control, F_SETFD, 0);
    if (network >= 0)
        fcntl(network, F_SETFD, 0);
    set_environment(direct);
    execl(direct->worker, "omprma-worker", DIRECT_AGENT_OPTION, fds[0], fds[1], slots, other, more,
          (char *)NULL);
    log_write(LOG_ERROR, "cannot run %s: %s", direct->worker, strerror(errno));
    _exit(127);
}

static omprma_status_t agent_start(const struct direct *direct, struct run *run, int listener)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return error_set(OMPRMA_ERR_HOST_MEMORY, "cannot make a socket: %s", strerror(errno));
    pid_t made = fork();
    if (made == 0)
        agent_exec(direct, listener, ends[1], run->far.network);
    close(ends[1]);
    run->control.fd = ends[0];
    if (made < 0)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "cannot start a process: %s", strerror(errno));
    run->agent.pid = made;
    return OMPRMA_OK;
}

/* It ends its sessions, and itself. */
static void agent_release(struct run *run)
{
    run->waits = false;
    far_stop(&run->far);
    if (run->control.fd >= 0) {
        packet_send(run->control.fd, &(char){DIRECT_IN_ORDER}, 1);
        shutdown(run->control.fd, SHUT_RDWR); /* the keeper has it, too */
    }
    loop_close(&run->control);
    loop_kill(&run->agent, SIGCONT); /* somebody may have stopped it */
    loop_set_deadline(&run->loop, FINISH_S);
}

/* ---- what it tells -------------------------------------------------------------------------- */

static void say_lost(const struct run *run, const struct direct_event *event)
{
    struct verdict verdict = {.rank = event->slot + 1};
    char line[1024];
    bool killed = WIFSIGNALED(event->status);
    verdict.kind = killed ? VERDICT_SIGNAL : VERDICT_STATUS;
    verdict.code = killed ? WTERMSIG(event->status) : WEXITSTATUS(event->status);
    snprintf(verdict.host, sizeof(verdict.host), "%s", event->host);
    verdict_word(&verdict, event->status, line, sizeof(line));
    if (run->one)
        log_write(LOG_ERROR, "%s", line);
    else
        log_write(LOG_ERROR, "process %d: %s", (int)event->pid, line);
}

/* No program can be started, or go on. `line` says why; NULL: it was said. */
static void direct_fail(struct run *run, const char *line)
{
    if (run->failed)
        return;
    run->failed = true;
    if (line)
        log_write(LOG_ERROR, "%s", line);
    if (loop_runs(&run->child))
        loop_set_deadline(&run->loop, ABORT_S);
    else
        agent_release(run);
}

/* All hosts are there. */
static void direct_start_program(struct run *run)
{
    int report = -1, words = -1;
    run->waits = false;
    run->loop.deadline_ns = 0;
    if (program_start(&run->start, "", 0, &run->child.pid, &report, &words) != OMPRMA_OK) {
        run->own_status = error_code();
        direct_fail(run, error_text());
    }
    if (report >= 0)
        close(report);
}

/* Its programs find that their workers are gone; others go on. Before all are there the launcher
 * says why. */
static void host_lost(struct run *run, const struct direct_event *event)
{
    run->lost = true;
    if (!run->failed && loop_runs(&run->child))
        log_write(LOG_ERROR,
                  "host %s: the process that gives programs their workers there has ended, or is "
                  "not to be reached any more",
                  event->host);
}

static void agent_lost(struct run *run)
{
    loop_close(&run->control);
    run->waits = false;
    run->failed = true;
    loop_set_deadline(&run->loop, ABORT_S);
    log_write(LOG_ERROR, "the process that gives programs their workers was ended; ending %s",
              run->program->path);
}

static void direct_on_event(struct loop_source *control)
{
    struct run *run = control->owner;
    struct direct_event event;
    ssize_t bytes = packet_receive(control->fd, &event, sizeof(event));
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (bytes != (ssize_t)sizeof(event)) {
        agent_lost(run);
        return;
    }
    if (event.what == DIRECT_JOINED)
        run->joined++;
    if (event.what == DIRECT_READY && run->waits)
        direct_start_program(run);
    if (event.what == DIRECT_HOST)
        host_lost(run, &event);
    if (event.what != DIRECT_LOST)
        return;
    run->lost = true;
    say_lost(run, &event);
}

/* What it has told before its end, or before that of the command. */
static void direct_take_events(struct run *run)
{
    struct pollfd ready = {.fd = run->control.fd, .events = POLLIN};
    while (run->control.fd >= 0 && poll(&ready, 1, 0) == 1 && ready.revents & POLLIN)
        direct_on_event(&run->control);
}

/* ---- ends ----------------------------------------------------------------------------------- */

static void direct_on_child_end(void *owner)
{
    direct_take_events(owner);
    agent_release(owner);
}

static void direct_on_signal(void *owner, const struct signalfd_siginfo *info)
{
    struct run *run = owner;
    if (loop_runs(&run->child)) {
        loop_kill(&run->child, signals_pass(info, &run->term_ns));
    } else if (run->waits && signals_deadly((int)info->ssi_signo)) {
        run->interrupted = (int)info->ssi_signo;
        agent_release(run);
    } else if (signals_deadly((int)info->ssi_signo)) {
        loop_set_deadline(&run->loop, 0); /* enough waited */
    }
}

/* What only starts programs is asked first: it can end them. */
static void direct_on_deadline(void *owner)
{
    struct run *run = owner;
    if (run->waits && !run->failed) {
        direct_fail(
            run, "the agents of some hosts did not start in time; OMPRMA_TIMEOUT sets the limit");
        return;
    }
    if (!loop_runs(&run->child)) {
        loop_kill(&run->agent, SIGKILL); /* and with it go its sessions */
        return;
    }
    bool ask = !run->one && !run->child_told;
    loop_kill(&run->child, ask ? SIGTERM : SIGKILL);
    run->child_told = true;
    if (ask)
        loop_set_deadline(&run->loop, KILLED_S);
}

/* When that of other hosts' agents has ended, so have they, or they never came. It goes on when one
 * of several could not start, which has said why. */
static void direct_on_launcher(void *owner)
{
    struct run *run = owner;
    char line[1024];
    if (run->waits && run->far.verdict.told) {
        run->far.given_up = true;
        direct_fail(run, NULL);
    }
    if (!run->waits || !run->far.ended || run->failed)
        return;
    far_word(&run->far, line, sizeof(line));
    direct_fail(run, line);
}

/* ---- start and result ----------------------------------------------------------------------- */

/* One that the terminal has sent to the whole group, and the command was not in it yet. */
static int signal_so_far(const struct run *run)
{
    struct signalfd_siginfo info;
    while (read(run->loop.signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
        if (signals_deadly((int)info.ssi_signo))
            return (int)info.ssi_signo;
    return 0;
}

/* The agents of all hosts; what they are told is not for programs. */
static omprma_status_t direct_start_agents(const struct direct *direct, struct run *run,
                                           const char *digits, int listener)
{
    omprma_status_t status = far_open(&run->far, direct->far, digits, direct_on_launcher, run);
    if (status == OMPRMA_OK)
        status = agent_start(direct, run, listener);
    if (status == OMPRMA_OK)
        status = far_start(&run->far);
    far_forget();
    return status;
}

static omprma_status_t direct_begin(const struct direct *direct, const struct config *config,
                                    struct run *run)
{
    char name[PACKET_NAME_BYTES];
    const char *digits = name + sizeof(DIRECT_NAME) - 1;
    int64_t limit_s = config_start_limit_s(config);
    int listener;
    omprma_status_t status = packet_listen(DIRECT_NAME, name, &listener);
    if (status != OMPRMA_OK)
        return status;
    run->join = text_make("%s%s", DIRECT_JOIN_FORM, digits);
    run->start = *run->program;
    run->start.join = run->join;
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* sessions, should the agent be killed */
    run->loop.signals = signals_open();
    if (run->loop.signals < 0)
        status = error_set(OMPRMA_ERR_HOST_MEMORY, "no signalfd: %s", strerror(errno));
    if (status == OMPRMA_OK)
        status = direct_start_agents(direct, run, digits, listener);
    close(listener);
    run->interrupted = run->loop.signals >= 0 ? signal_so_far(run) : 0;
    if (status != OMPRMA_OK || run->interrupted)
        return status;
    run->waits = true;
    if (limit_s)
        loop_set_deadline(&run->loop, limit_s);
    if (!direct->far)
        direct_start_program(run);
    return OMPRMA_OK;
}

static int result_of(const struct run *run)
{
    const char *path = run->program->path;
    bool said = coming_has_said(run->coming);
    if (run->interrupted)
        return 128 + run->interrupted;
    if (!run->failed && !(run->lost && !run->program->continues))
        return outcome_result(path, run->child.status, said, run->joined > 0, run->offloads);
    int own = run->child_told ? 0 : outcome_status(path, run->child.status, said);
    return own ? own : run->own_status ? run->own_status : EXIT_OWN;
}

int direct_run(const struct direct *direct)
{
    struct program started = *direct->program;
    struct run run = {.program = &started,
                      .one = direct->one,
                      .offloads = direct->offloads,
                      .loop = {.owner = &run,
                               .signals = -1,
                               .on_signal = direct_on_signal,
                               .on_deadline = direct_on_deadline,
                               /* Agents of other hosts say first why they end. */
                               .sources = {&run.far.listener, &run.far.words, &run.far.rank,
                                           &run.far.control, &run.control},
                               .children = {&run.agent, &run.child}},
                      .control = {-1, direct_on_event, &run},
                      .child = {.on_end = direct_on_child_end}};
    struct config config = {0};
    size_t mapped = 0;
    time_t since = time(NULL);
    int result = EXIT_OWN;
    signal(SIGPIPE, SIG_IGN);
    config_load(&config);           /* it was checked before */
    if (local_rank_find().variable) /* other ranks have an omprma-run of their own */
        mark_files(&config);
    run.coming =
        coming_share(0, recorded_bytes(&config, started.workers), &started.coming, &mapped);
    void *recording = coming_room(run.coming);
    recorded_begin(recording, &config, started.workers);
    omprma_status_t status = direct_begin(direct, &config, &run);
    if (status != OMPRMA_OK)
        log_write(LOG_ERROR, "%s", error_text());
    if (!loop_runs(&run.child) && !run.waits)
        agent_release(&run);
    while ((run.waits || loop_runs(&run.child) || loop_runs(&run.agent)) &&
           loop_wait(&run.loop, -1))
        loop_call(&run.loop);
    if (run.failed)
        descendants_kill();
    far_close(&run.far);
    free(run.join);
    leftovers_remove(0, since);
    if (status == OMPRMA_OK) {
        result = result_of(&run);
        result = recorded_end(recording, &config, started.workers, result);
    }
    coming_close(run.coming, mapped);
    if (started.coming >= 0)
        close(started.coming);
    if (run.loop.signals >= 0)
        close(run.loop.signals);
    if (status == OMPRMA_OK && !run.failed && !run.interrupted) {
        path_remove_tree(direct->folder);
        outcome_end_alike(run.child.status);
    }
    return result;
}

void direct_describe(const struct direct *direct, struct list *line)
{
    char *path = command_library_path(direct->worker_path);
    list_add(line, "env");
    if (path)
        list_addf(line, "LD_LIBRARY_PATH=%s", path);
    list_add(line, direct->worker);
    list_add(line, DIRECT_AGENT_OPTION);
    list_add(line, "LISTENER");
    list_add(line, "CONTROL");
    list_addf(line, "%d", direct->here);
    if (direct->far) {
        list_add(line, "NETWORK");
        list_addf(line, "%d", direct->there);
    }
    free(path);
}
