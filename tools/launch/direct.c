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

#include "base/clock.h"
#include "base/coming.h"
#include "base/config.h"
#include "base/descendants.h"
#include "base/error.h"
#include "base/log.h"
#include "control/direct/join.h"
#include "control/direct/local_rank.h"
#include "control/direct/packet.h"
#include "control/shm/leftovers.h"
#include "host/report/mark.h"
#include "tools/launch/command.h"
#include "tools/launch/exit_status.h"
#include "tools/launch/inherited.h"
#include "tools/launch/launcher.h"
#include "tools/launch/outcome.h"
#include "tools/launch/paths.h"
#include "tools/launch/recorded.h"
#include "tools/launch/signals.h"
#include "tools/launch/verdict.h"

#define SECOND_NS INT64_C(1000000000)
#define NEVER INT64_MAX

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
    bool one, offloads;   /* as in struct direct */
    int control, signals; /* -1: closed */
    pid_t child, agent;   /* 0: reaped, or never there */
    bool child_told;      /* to end, because the agent is lost */
    int child_status, agent_status;
    int joined;      /* programs that had workers */
    bool lost;       /* a worker that was needed */
    bool failed;     /* the agent is lost */
    int own_status;  /* EXIT_NOT_FOUND and the like, where the command did not start */
    int interrupted; /* signal that has come before the command was started */
    struct coming *coming;
    bool waits;           /* the agents of other hosts are to come before the program is started */
    struct program start; /* what is started then */
    char *join;
    int64_t term_ns, deadline_ns;
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
    run->control = ends[0];
    if (made < 0)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "cannot start a process: %s", strerror(errno));
    run->agent = made;
    return OMPRMA_OK;
}

/* It ends its sessions, and itself. */
static void agent_release(struct run *run)
{
    run->waits = false;
    far_stop(&run->far);
    if (run->control >= 0) {
        packet_send(run->control, &(char){DIRECT_IN_ORDER}, 1);
        shutdown(run->control, SHUT_RDWR); /* the keeper has it, too */
        close(run->control);
    }
    run->control = -1;
    if (run->agent)
        kill(run->agent, SIGCONT); /* somebody may have stopped it */
    run->deadline_ns = clock_ns() + FINISH_S * SECOND_NS;
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
static void fail_run(struct run *run, const char *line)
{
    if (run->failed)
        return;
    run->failed = true;
    if (line)
        log_write(LOG_ERROR, "%s", line);
    if (run->child)
        run->deadline_ns = clock_ns() + ABORT_S * SECOND_NS;
    else
        agent_release(run);
}

/* All hosts are there. */
static void start_program(struct run *run)
{
    int report = -1, words = -1;
    run->waits = false;
    run->deadline_ns = NEVER;
    if (program_start(&run->start, "", 0, &run->child, &report, &words) != OMPRMA_OK) {
        run->own_status = error_code();
        fail_run(run, error_text());
    }
    if (report >= 0)
        close(report);
}

/* Its programs find that their workers are gone; others go on. Before all are there the launcher
 * says why. */
static void host_lost(struct run *run, const struct direct_event *event)
{
    run->lost = true;
    if (!run->failed && run->child)
        log_write(LOG_ERROR,
                  "host %s: the process that gives programs their workers there has ended, or is "
                  "not to be reached any more",
                  event->host);
}

static void agent_lost(struct run *run)
{
    close(run->control);
    run->control = -1;
    run->waits = false;
    run->failed = true;
    run->deadline_ns = clock_ns() + ABORT_S * SECOND_NS;
    log_write(LOG_ERROR, "the process that gives programs their workers was ended; ending %s",
              run->program->path);
}

static void take_event(struct run *run)
{
    struct direct_event event;
    ssize_t bytes = packet_receive(run->control, &event, sizeof(event));
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (bytes != (ssize_t)sizeof(event)) {
        agent_lost(run);
        return;
    }
    if (event.what == DIRECT_JOINED)
        run->joined++;
    if (event.what == DIRECT_READY && run->waits)
        start_program(run);
    if (event.what == DIRECT_HOST)
        host_lost(run, &event);
    if (event.what != DIRECT_LOST)
        return;
    run->lost = true;
    say_lost(run, &event);
}

/* What it has told before its end, or before that of the command. */
static void take_events(struct run *run)
{
    struct pollfd ready = {.fd = run->control, .events = POLLIN};
    while (run->control >= 0 && poll(&ready, 1, 0) == 1 && ready.revents & POLLIN) {
        take_event(run);
        ready.fd = run->control;
    }
}

/* ---- ends ----------------------------------------------------------------------------------- */

static void take_ends(struct run *run)
{
    if (run->agent && waitpid(run->agent, &run->agent_status, WNOHANG) == run->agent)
        run->agent = 0;
    if (!run->child || waitpid(run->child, &run->child_status, WNOHANG) != run->child)
        return;
    run->child = 0;
    take_events(run);
    agent_release(run);
}

static void take_signal(struct run *run)
{
    struct signalfd_siginfo info;
    if (read(run->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
        return;
    if (info.ssi_signo == SIGCHLD) {
        take_ends(run);
    } else if (run->child) {
        int passed = signals_pass(&info, &run->term_ns);
        if (passed)
            kill(run->child, passed);
    } else if (run->waits && signals_deadly((int)info.ssi_signo)) {
        run->interrupted = (int)info.ssi_signo;
        agent_release(run);
    } else if (signals_deadly((int)info.ssi_signo)) {
        run->deadline_ns = 0; /* enough waited */
    }
}

/* What only starts programs is asked first: it can end them. */
static void take_lateness(struct run *run)
{
    run->deadline_ns = NEVER;
    if (run->waits && !run->failed) {
        fail_run(run,
                 "the agents of some hosts did not start in time; OMPRMA_TIMEOUT sets the limit");
        return;
    }
    if (!run->child) {
        if (run->agent)
            kill(run->agent, SIGKILL); /* and with it go its sessions */
        return;
    }
    bool ask = !run->one && !run->child_told;
    kill(run->child, ask ? SIGTERM : SIGKILL);
    run->child_told = true;
    if (ask)
        run->deadline_ns = clock_ns() + KILLED_S * SECOND_NS;
}

/* That of other hosts' agents has ended: so have they, or they never came. It goes on when one of
 * several could not start, which has said why. */
static void take_launcher(struct run *run)
{
    char line[1024];
    if (run->waits && run->far.verdict.told) {
        run->far.given_up = true;
        fail_run(run, NULL);
    }
    if (!run->waits || !run->far.ended || run->failed)
        return;
    far_word(&run->far, line, sizeof(line));
    fail_run(run, line);
}

static void loop(struct run *run)
{
    while (run->waits || run->child || run->agent) {
        int64_t left = run->deadline_ns == NEVER ? -1 : run->deadline_ns - clock_ns();
        int wait = run->deadline_ns == NEVER ? -1 : left <= 0 ? 0 : (int)(left / 1000000 + 1);
        struct pollfd sources[2 + FAR_SOURCES] = {{.fd = run->control, .events = POLLIN},
                                                  {.fd = run->signals, .events = POLLIN}};
        far_sources(&run->far, sources + 2);
        if (poll(sources, 2 + FAR_SOURCES, wait) < 0 && errno != EINTR)
            break;
        far_take(&run->far, sources + 2);
        take_launcher(run);
        if (sources[0].revents)
            take_event(run);
        if (sources[1].revents)
            take_signal(run);
        if (run->deadline_ns != NEVER && clock_ns() >= run->deadline_ns)
            take_lateness(run);
    }
}

/* ---- start and result ----------------------------------------------------------------------- */

/* One that the terminal has sent to the whole group, and the command was not in it yet. */
static int signal_so_far(const struct run *run)
{
    struct signalfd_siginfo info;
    while (read(run->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
        if (signals_deadly((int)info.ssi_signo))
            return (int)info.ssi_signo;
    return 0;
}

/* The agents of all hosts; what they are told is not for programs. */
static omprma_status_t start_agents(const struct direct *direct, struct run *run,
                                    const char *digits, int listener)
{
    omprma_status_t status = far_open(&run->far, direct->far, digits);
    if (status == OMPRMA_OK)
        status = agent_start(direct, run, listener);
    if (status == OMPRMA_OK)
        status = far_start(&run->far);
    far_forget();
    return status;
}

static int64_t limit_of_start(const struct config *config)
{
    int64_t seconds = config_start_limit_s(config);
    return seconds ? clock_ns() + seconds * SECOND_NS : NEVER;
}

static omprma_status_t begin(const struct direct *direct, const struct config *config,
                             struct run *run)
{
    char name[PACKET_NAME_BYTES];
    const char *digits = name + sizeof(DIRECT_NAME) - 1;
    int listener;
    omprma_status_t status = packet_listen(DIRECT_NAME, name, &listener);
    if (status != OMPRMA_OK)
        return status;
    run->join = text_make("%s%s", DIRECT_JOIN_FORM, digits);
    run->start = *run->program;
    run->start.join = run->join;
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* sessions, should the agent be killed */
    run->signals = signals_open();
    if (run->signals < 0)
        status = error_set(OMPRMA_ERR_HOST_MEMORY, "no signalfd: %s", strerror(errno));
    if (status == OMPRMA_OK)
        status = start_agents(direct, run, digits, listener);
    close(listener);
    run->interrupted = run->signals >= 0 ? signal_so_far(run) : 0;
    if (status != OMPRMA_OK || run->interrupted)
        return status;
    run->waits = true;
    run->deadline_ns = limit_of_start(config);
    if (!direct->far)
        start_program(run);
    return OMPRMA_OK;
}

static int result_of(const struct run *run)
{
    const char *path = run->program->path;
    bool said = coming_has_said(run->coming);
    if (run->interrupted)
        return 128 + run->interrupted;
    if (!run->failed && !(run->lost && !run->program->continues))
        return outcome_result(path, run->child_status, said, run->joined > 0, run->offloads);
    int own = run->child_told ? 0 : outcome_status(path, run->child_status, said);
    return own ? own : run->own_status ? run->own_status : EXIT_OWN;
}

int direct_run(const struct direct *direct)
{
    struct program started = *direct->program;
    struct run run = {.program = &started,
                      .one = direct->one,
                      .offloads = direct->offloads,
                      .control = -1,
                      .signals = -1,
                      .deadline_ns = NEVER};
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
    omprma_status_t status = begin(direct, &config, &run);
    if (status != OMPRMA_OK)
        log_write(LOG_ERROR, "%s", error_text());
    if (!run.child && !run.waits)
        agent_release(&run);
    loop(&run);
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
    if (run.signals >= 0)
        close(run.signals);
    if (status == OMPRMA_OK && !run.failed && !run.interrupted) {
        path_remove_tree(direct->folder);
        outcome_end_alike(run.child_status);
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
