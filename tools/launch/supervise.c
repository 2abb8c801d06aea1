/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* supervise.c: watches a run. One loop, one process, no threads. Knows nothing of LLVM. */
#include "tools/launch/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/config.h"
#include "base/error.h"
#include "base/exit_status.h"
#include "base/log.h"
#include "base/progress_line.h"
#include "base/coming.h"
#include "control/shm/leftovers.h"
#include "host/start/supervisor.h"
#include "control/direct/packet.h"
#include "tools/launch/keeper.h"
#include "tools/launch/launcher.h"
#include "tools/launch/loop.h"
#include "tools/launch/outcome.h"
#include "tools/launch/rank.h"
#include "tools/launch/recorded.h"
#include "tools/launch/signals.h"
#include "tools/launch/verdict.h"

/* How long the one side may take after the other has ended. */
enum {
    FINISH_S = 5, /* mpirun, after a program that offloaded ended: workers finalize */
    UNUSED_S = 1, /* mpirun, after a program that perhaps did not offload ended */
    ABORT_S = 1   /* the program, after the workers are gone: it may say where it was */
};

/* run_child_may_end() looks so often whether the program has ended, too. */
enum { CHILD_STEPS = 20, CHILD_STEP_MS = 5 };

/* In the order in which they are heard; the last three are pipes with lines. */
enum source { AT_CONTROL, AT_LISTENER, AT_RANK, AT_REPORT, AT_WORDS, AT_OUT, AT_ERR, SOURCES };

struct run {
    const struct program *program;
    const char *mpirun_path;
    struct loop loop;
    struct loop_source at[SOURCES];
    struct loop_child child, keeper;
    pid_t mpirun;    /* 0: not there, or not known */
    uint32_t job_id; /* likewise */
    time_t since;
    bool child_killed;
    bool mpirun_ended, stopped, clean, keeper_lost;
    bool mpirun_killed; /* by a signal that is not ours */
    int mpirun_status;
    int asked, reached;    /* other hosts whose remote shell was called; that has succeeded */
    size_t place_bytes;    /* of `place`; 0: rank 0's stand-in has not come */
    bool connected;        /* the program called MPI_Init */
    bool lost;             /* it goes on without a worker, which may never end */
    bool died;             /* it was aborted when a worker's process had died */
    bool failed;           /* workers were lost, or never came up, before the program ended */
    bool reported;         /* the failure was put into words */
    int own_status;        /* EXIT_NOT_FOUND and the like, where the program did not start */
    int interrupted;       /* signal that ended us before the program was started */
    int64_t term_ns;       /* first SIGTERM that was passed on */
    int64_t patience_s;    /* for mpirun to start the workers */
    struct coming *coming; /* NULL: there was no memory to share */
    struct verdict verdict;
    struct sieve shown;            /* mpirun's and the workers' stdout */
    struct stream output;          /* their stdout, where messages come there: read only */
    struct stream errors;          /* mpirun's and the workers' stderr */
    struct stream words;           /* what MPI says in the program */
    char place[PACKET_BYTES_MOST]; /* MPI's variables of rank 0, each with its zero */
};

/* Tells the keeper to end mpirun and whatever belongs to it. */
static void run_stop(struct run *run)
{
    struct keeper_packet packet = {.what = KEEPER_STOP};
    if (!run->stopped && run->at[AT_CONTROL].fd >= 0) {
        packet_send(run->at[AT_CONTROL].fd, &packet, sizeof(packet));
        loop_kill(&run->keeper, SIGCONT); /* somebody may have stopped it */
    }
    run->stopped = true;
    loop_close(&run->at[AT_RANK]);
}

/* Something other than the program ended the run. mpirun may be ending its ranks already, and is
 * left alone for a moment: it crashes at times when it is told to end then, instead of saying which
 * rank was lost. The words follow when it has ended. */
static void run_fail(struct run *run)
{
    if (run->failed || run->child.ended)
        return;
    run->failed = true;
    loop_set_deadline(&run->loop, ABORT_S);
}

static void run_fail_saying(struct run *run, const char *line)
{
    if (!run->failed && !run->child.ended) {
        log_write(LOG_ERROR, "%s", line);
        run->reported = true;
    }
    run_fail(run);
    run_stop(run);
}

/* ---- packets from rank 0 and from the remote shell ------------------------------------------ */

static void run_take_place(struct run *run, int fd, const char *variables, size_t bytes)
{
    run->at[AT_RANK].fd = fd;
    memcpy(run->place, variables, bytes);
    run->place_bytes = bytes;
    for (size_t at = 0; at < bytes; at += strlen(variables + at) + 1) {
        struct keeper_packet packet = {.what = KEEPER_JOB, .value = leftovers_job(variables + at)};
        if (!packet.value)
            continue;
        run->job_id = packet.value;
        packet_send(run->at[AT_CONTROL].fd, &packet, sizeof(packet));
    }
}

static void run_start_program(struct run *run)
{
    omprma_status_t status =
        program_start(run->program, run->place, run->place_bytes, &run->child.pid,
                      &run->at[AT_REPORT].fd, &run->at[AT_WORDS].fd);
    if (status != OMPRMA_OK) {
        run->own_status = error_code();
        run_fail_saying(run, error_text());
        return;
    }
    struct keeper_packet packet = {.what = KEEPER_PROGRAM, .value = (uint32_t)run->child.pid};
    packet_send(run->at[AT_CONTROL].fd, &packet, sizeof(packet));
    run->loop.deadline_ns = 0;
    log_write(LOG_DETAIL, "mpirun is up, %s started as process %d", run->program->path,
              (int)run->child.pid);
}

/* A launcher may start rank 0 before all hosts are reached. The program waits for them, because its
 * MPI would have its own words for a host that is not. */
static bool run_may_start_program(const struct run *run)
{
    bool reached = !run->program->launcher->starts_early || run->reached >= run->asked;
    return run->place_bytes && run->at[AT_RANK].fd >= 0 && !run->child.pid && !run->failed &&
           !run->stopped && !run->mpirun_ended && reached;
}

/* One connection; false when there is none. */
static bool run_accept_one(struct run *run)
{
    static char packet[PACKET_BYTES_MOST];
    size_t bytes;
    int fd = rank_accept(run->at[AT_LISTENER].fd, packet, sizeof(packet), &bytes);
    if (fd < 0)
        return false;
    if (bytes > 0) {
        bool starting = !run->child.pid && !run->failed && !run->stopped && run->at[AT_RANK].fd < 0;
        if (packet[0] == RANK_ENVIRONMENT && starting) {
            run_take_place(run, fd, packet + 1, bytes - 1);
            return true;
        }
        if (packet[0] == RANK_HOST && !run->connected) { /* later it follows from the job's end */
            verdict_host(&run->verdict, packet + 1);
            run_fail(run);
        }
        run->asked += packet[0] == RANK_ASKED;
        run->reached += packet[0] == RANK_REACHED;
    }
    close(fd);
    return true;
}

static void run_on_connection(struct loop_source *listener)
{
    struct run *run = listener->owner;
    while (run_accept_one(run))
        ;
    if (run_may_start_program(run))
        run_start_program(run);
}

/* ---- ends ---------------------------------------------------------------------------------- */

/* What the program has become by exec may do all its work without a worker. */
static void run_say_replaced(const struct run *run)
{
    if (run->coming && coming_was_left(run->coming, run->program->coming))
        log_write(LOG_ERROR,
                  "process %d of %s has become another program by exec after it had connected to "
                  "its workers, and does not use them any more: start that program by omprma-run "
                  "instead",
                  (int)atomic_load(&run->coming->served), run->program->path);
}

static void run_on_report(struct loop_source *report)
{
    struct run *run = report->owner;
    char byte;
    ssize_t bytes;
    if (report->fd < 0)
        return;
    while ((bytes = read(report->fd, &byte, 1)) == 1) {
        run->connected = run->verdict.connected = true;
        run->lost = run->lost || byte == SUPERVISOR_LOST;
        run->died = run->died || byte == SUPERVISOR_DIED;
    }
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    loop_close(report);
    run_say_replaced(run);
}

/* By its MPI library, because a process that it copies from or to is gone; or by itself. */
static bool run_may_be_aborted(const struct run *run)
{
    int number = run->program->launcher->lost_signal;
    return number && run->child.ended && run->connected && WIFSIGNALED(run->child.status) &&
           WTERMSIG(run->child.status) == number;
}

/* Because a worker has ended before, not by a fault of its own. */
static bool run_was_aborted(const struct run *run)
{
    const struct verdict verdict = verdict_settled(&run->verdict);
    return run_may_be_aborted(run) && run->died && run->mpirun_ended && !run->stopped &&
           (verdict.kind == VERDICT_NONE || verdict.rank != 0);
}

/* False when nobody reads our own output any more. */
static bool run_take_output(struct loop_source *source, const char *bytes, size_t count)
{
    struct run *run = source->owner;
    bool out = source == &run->at[AT_OUT];
    if (out && !sieve_feed(&run->shown, run->verdict.dialect, bytes, count))
        return false;
    if (out && !run->verdict.dialect->on_stdout)
        return true;
    struct stream *stream = out                          ? &run->output
                            : source == &run->at[AT_ERR] ? &run->errors
                                                         : &run->words;
    stream_feed(stream, bytes, count, &run->verdict);
    if (run->coming)
        atomic_store(&run->coming->up, run->verdict.up);
    return true;
}

static void run_on_output(struct loop_source *source)
{
    loop_read(source, run_take_output);
}

/* Not every launcher misses a worker that ends before it has started MPI. The others would wait for
 * it without end. True if one has said why it ends. */
static bool run_read_errors(struct run *run)
{
    run_on_output(&run->at[AT_ERR]);
    run_on_report(&run->at[AT_REPORT]);
    return run->verdict.told && !run->connected;
}

static void run_on_errors(struct loop_source *source)
{
    struct run *run = source->owner;
    if (run_read_errors(run))
        run_fail(run);
}

/* Its MPI library has ended the program where that was to come to its workers. Mostly it says why,
 * in words that come with the launcher's. */
static bool run_ended_in_start(const struct run *run)
{
    return run->child.ended && WIFEXITED(run->child.status) &&
           WEXITSTATUS(run->child.status) != 0 && !run->connected && run->coming &&
           atomic_load(&run->coming->served) == run->child.pid && !coming_has_said(run->coming);
}

static void run_on_child_end(void *owner)
{
    struct run *run = owner;
    bool told = run_read_errors(run); /* they may be why */
    run->failed = run->failed || told || run_ended_in_start(run);
    if (run->coming && run->coming->workers &&
        !run->connected) /* it may have been waiting for workers */
        progress_line_inherit();
    bool success = WIFEXITED(run->child.status) && WEXITSTATUS(run->child.status) == 0;
    int64_t grace_s = run->connected && !run->lost ? FINISH_S : UNUSED_S;
    /* A program that failed does not need its workers to end in good order. */
    if (!success && !(run->connected && WIFEXITED(run->child.status)) && !run_may_be_aborted(run))
        grace_s = 0;
    if (run->failed)
        grace_s = run->child_killed ? 0 : run_ended_in_start(run) ? FINISH_S : ABORT_S;
    loop_set_deadline(&run->loop, grace_s);
    loop_close(&run->at[AT_RANK]); /* lets rank 0's stand-in go */
}

/* Where the launcher hears ends before we can: the program's may be the reason for the launcher's.
 * One that has no connection yet ends by what has ended the launcher. */
static void run_child_may_end(struct run *run)
{
    bool comes = run->program->launcher->hears_ends && run->connected;
    loop_reap(&run->loop);
    for (int i = 0; i < CHILD_STEPS && comes && !run->child.ended; i++) {
        poll(NULL, 0, CHILD_STEP_MS);
        loop_reap(&run->loop);
    }
}

/* mpirun is gone: everything that it had to say is in the pipes, and what the program's MPI has
 * said about it. */
static void run_mpirun_ended(struct run *run, int status)
{
    run->mpirun_ended = true;
    run->mpirun_status = status;
    run->mpirun_killed = WIFSIGNALED(status) && !run->stopped;
    run_on_report(&run->at[AT_REPORT]);
    run_child_may_end(run);                   /* if both ended, the program's end counts */
    run_on_connection(&run->at[AT_LISTENER]); /* a report of a host, sent before mpirun gave up */
    for (enum source at = AT_WORDS; at < SOURCES; at++)
        run_on_output(&run->at[at]);
    if (!run->interrupted)
        run_fail(run);
    char line[1024];
    if (!run->child.pid && !run->asked && run->program->alone)
        run->verdict.strange = run->mpirun_path;
    verdict_word(&run->verdict, status, line, sizeof(line));
    if (run->verdict.kind == VERDICT_NONE && run_ended_in_start(run))
        snprintf(line, sizeof(line),
                 "the MPI library has ended the program with status %d in MPI_Init; see the lines "
                 "above, or run with -v",
                 WEXITSTATUS(run->child.status));
    /* A program that gave up waiting for its workers does not know which hosts it was. */
    bool explains = run->verdict.kind == VERDICT_NETWORK && run->child.ended && !run->lost &&
                    WIFEXITED(run->child.status) && WEXITSTATUS(run->child.status) != 0;
    explains = explains || run_was_aborted(run);
    /* Whoever has ended the run has said why. */
    bool needless = run->verdict.kind == VERDICT_GIVEN_UP &&
                    (run->verdict.told || coming_has_said(run->coming));
    if (((run->failed && !run->reported && !run->interrupted) || explains) && !needless)
        log_write(LOG_ERROR, "%s", line);
    else if (run->verdict.kind != VERDICT_NONE)
        log_write(LOG_DETAIL, "while ending: %s", line);
    run->reported = true;
}

static void run_on_keeper(struct loop_source *control)
{
    struct run *run = control->owner;
    struct keeper_packet packet;
    if (!keeper_hear(control->fd, &packet))
        return;
    if (packet.what == KEEPER_ENDED) {
        run_mpirun_ended(run, (int)packet.value);
        return;
    }
    if (packet.what == KEEPER_STARTED) {
        run->mpirun = (pid_t)packet.value;
        return;
    }
    run->keeper_lost = packet.what != KEEPER_CLEAN;
    if (run->keeper_lost)
        run_fail_saying(run, "the process that watches mpirun was killed; ending the program");
    loop_close(control);
    run->clean = true;
}

/* Rank 0's stand-in was ended: mpirun gives up. */
static void run_on_rank_end(struct loop_source *rank)
{
    struct run *run = rank->owner;
    loop_close(rank);
    run_child_may_end(run);
    run_fail(run);
}

/* ---- signals and the deadline --------------------------------------------------------------- */

static void run_on_signal(void *owner, const struct signalfd_siginfo *info)
{
    struct run *run = owner;
    if (loop_runs(&run->child)) {
        loop_kill(&run->child, signals_pass(info, &run->term_ns));
        return;
    }
    if (!signals_deadly((int)info->ssi_signo))
        return;
    if (!run->child.pid) {
        run->interrupted = (int)info->ssi_signo;
        run->loop.deadline_ns = 0;
    }
    run_stop(run);
}

static void run_on_deadline(void *owner)
{
    struct run *run = owner;
    if (loop_runs(&run->child)) { /* its workers are gone */
        run->child_killed = true;
        loop_kill(&run->child, SIGKILL);
    } else if (run->child.ended || run->failed) { /* mpirun does not end by itself */
        run_stop(run);
    } else {
        char line[128];
        snprintf(line, sizeof(line),
                 "mpirun did not start within %d s; see omprma-run -vv, or raise OMPRMA_TIMEOUT",
                 (int)run->patience_s);
        run_fail_saying(run, line);
    }
}

/* ---- the loop ------------------------------------------------------------------------------ */

static bool run_over(const struct run *run)
{
    return run->clean && !loop_runs(&run->child);
}

/* Only until the program starts, for then the terminal is the program's. */
static bool run_is_starting(const struct run *run)
{
    return !run->child.pid && !run->failed && !run->interrupted && !run->mpirun_ended;
}

static void run_show(const struct run *run)
{
    int workers = run->program->workers, up = run->verdict.up;
    const char *are = workers == 1 ? " is" : "s are";
    if (run->asked > 0)
        progress_line_show("omprma: %d of %d worker%s up, hosts reached: %d of %d", up, workers,
                           are, run->reached, run->asked);
    else
        progress_line_show("omprma: %d of %d worker%s up", up, workers, are);
}

static void run_loop(struct run *run, const char *folder)
{
    progress_line_begin();
    while (!run_over(run)) {
        bool starts = run_is_starting(run);
        if (starts)
            run_show(run);
        if (!loop_wait(&run->loop, starts ? progress_line_wait_ms() : -1)) {
            char line[128];
            snprintf(line, sizeof(line), "cannot wait for the run: %s", strerror(errno));
            run_fail_saying(run, line);
            break;
        }
        progress_line_clear();
        loop_call(&run->loop);
    }
    if (run->keeper_lost)
        keeper_replace(run->mpirun, run->job_id, run->since, folder);
    else /* the program may have ended after the keeper has looked */
        leftovers_remove(run->job_id, run->since);
    run_on_output(&run->at[AT_WORDS]);
    stream_end(&run->words);
    sieve_end(&run->shown);
    stream_end(&run->output);
    stream_end(&run->errors);
}

/* ---- start and result ---------------------------------------------------------------------- */

static omprma_status_t run_begin(struct run *run, const struct list *command, const char *folder)
{
    int out[2], err[2];
    if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC))
        return error_set(OMPRMA_ERR_HOST_MEMORY, "cannot make a pipe: %s", strerror(errno));
    struct keeper_job job = {.launcher = run->program->launcher,
                             .command = command,
                             .folder = folder,
                             .out = out[1],
                             .err = err[1],
                             .listener = run->at[AT_LISTENER].fd,
                             .alone = run->program->alone};
    run->at[AT_OUT].fd = out[0];
    run->at[AT_ERR].fd = err[0];
    run->loop.signals = signals_open();
    prctl(PR_SET_CHILD_SUBREAPER, 1); /* should the keeper die, mpirun is ours */
    omprma_status_t status = keeper_start(&job, &run->keeper.pid, &run->at[AT_CONTROL].fd);
    close(out[1]);
    close(err[1]);
    if (status == OMPRMA_OK && run->loop.signals < 0)
        status = error_set(OMPRMA_ERR_HOST_MEMORY, "no signalfd: %s", strerror(errno));
    /* After the fork: the flag belongs to the pipe's reading end, which only we use. */
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    fcntl(err[0], F_SETFL, O_NONBLOCK);
    return status;
}

/* Somebody killed mpirun, or it has ended because a worker was lost, before the program had seen to
 * its own end: MPI has ended the program with a number of its own, or crashed at its start. */
static bool run_lost_mpirun(const struct run *run)
{
    const struct launcher *launcher = run->program->launcher;
    const int *lost = launcher->lost_status;
    if (!run->child.ended)
        return false;
    if (WIFSIGNALED(run->child.status))
        return run->failed && !run->connected && launcher->hears_ends;
    int own = WEXITSTATUS(run->child.status);
    bool unreached = !run->connected && run->verdict.kind == VERDICT_NETWORK;
    /* MPI_Init itself has ended it, in words of the library, which may be lost on their way. */
    bool in_words = run->verdict.kind == VERDICT_OTHER || run->verdict.kind == VERDICT_NONE;
    bool refused = run->failed && !run->connected && in_words && own == EXIT_FAILURE;
    bool early = run->failed && !run->connected && run->verdict.told;
    return own != 0 && (run->mpirun_killed || early || refused ||
                        ((run->failed || unreached) && (own == lost[0] || own == lost[1])));
}

static int run_result(const struct run *run)
{
    const char *path = run->program->path;
    bool said = coming_has_said(run->coming);
    if (run->interrupted)
        return 128 + run->interrupted;
    if (run_lost_mpirun(run) || run_was_aborted(run))
        return EXIT_OWN;
    if (run->failed) {
        int own = run->child_killed ? 0 : outcome_status(path, run->child.status, said);
        return own ? own : run->own_status ? run->own_status : EXIT_OWN;
    }
    /* Workers whose rank 0 never came wait for ever; that mpirun ended by itself shows that it
     * came, even if nobody wrote the byte (a wrapper may have closed the descriptor). */
    bool offloaded = run->connected || (!run->stopped && run->mpirun_status == 0);
    return outcome_result(path, run->child.status, said, offloaded, true);
}

int supervise(const struct program *program, const struct list *command, const char *worker,
              const char *folder, int listener)
{
    signal(SIGPIPE, SIG_IGN);
    struct program started = *program;
    struct run run = {
        .program = &started,
        .mpirun_path = command->items[0],
        .loop = {.owner = &run,
                 .signals = -1,
                 .on_signal = run_on_signal,
                 .on_deadline = run_on_deadline,
                 .children = {&run.child, &run.keeper}},
        .at = {[AT_CONTROL] = {-1, run_on_keeper, &run},
               [AT_LISTENER] = {listener, run_on_connection, &run},
               [AT_RANK] = {-1, run_on_rank_end, &run},
               [AT_REPORT] = {-1, run_on_report, &run},
               [AT_WORDS] = {-1, run_on_output, &run},
               [AT_OUT] = {-1, run_on_output, &run},
               [AT_ERR] = {-1, run_on_errors, &run}},
        .child = {.on_end = run_on_child_end},
        .since = time(NULL),
        .patience_s = CONFIG_START_LEAST_S,
        .verdict = {.dialect = program->launcher->dialect, .worker = worker},
        .shown = {.out = STDOUT_FILENO},
        .output = {.out = -1, .from_mpirun = true}, /* it is kernels' as well, and has been shown */
        .errors = {.out = STDERR_FILENO, .from_mpirun = true, .verbose = log_level() >= LOG_DETAIL},
        .words = {.out = STDERR_FILENO, .verbose = log_level() >= LOG_DETAIL}};
    for (int i = 0; i < SOURCES; i++)
        run.loop.sources[i] = &run.at[i];
    struct config config = {0};
    if (config_load(&config) == OMPRMA_OK)
        run.patience_s = config_start_limit_s(&config);
    size_t mapped = 0;
    run.coming = coming_share(progress_line_possible() ? program->workers : 0,
                              recorded_bytes(&config, program->workers), &started.coming, &mapped);
    void *recording = coming_room(run.coming);
    recorded_begin(recording, &config, program->workers);
    if (run.patience_s)
        loop_set_deadline(&run.loop, run.patience_s);
    omprma_status_t status = run_begin(&run, command, folder);
    int result = EXIT_OWN;
    if (status == OMPRMA_OK) {
        run_loop(&run, folder);
        result = run_result(&run);
        result = recorded_end(recording, &config, program->workers, result);
    } else {
        log_write(LOG_ERROR, "%s", error_text());
    }
    for (int i = 0; i < SOURCES; i++)
        loop_close(&run.at[i]);
    if (run.loop.signals >= 0)
        close(run.loop.signals);
    if (run.keeper.pid > 0)
        waitpid(run.keeper.pid, NULL, 0);
    coming_close(run.coming, mapped);
    if (started.coming >= 0)
        close(started.coming);
    if (!run.failed && !run.interrupted && run.child.ended)
        outcome_end_alike(run.child.status);
    return result;
}
