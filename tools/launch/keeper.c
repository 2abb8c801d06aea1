/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* keeper.c: ends everything of a job. Of the program it knows when that ends. */
#include "tools/launch/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descendants.h"
#include "base/error.h"
#include "control/shm/leftovers.h"
#include "tools/launch/inherited.h"
#include "tools/launch/launcher.h"
#include "tools/launch/loop.h"
#include "control/direct/packet.h"
#include "tools/launch/paths.h"

enum {
    PATIENCE_S = 4,   /* for mpirun after SIGTERM: it has to end workers on other hosts */
    PROGRAM_MS = 1000 /* for the program, which is killed as omprma-run is, to be gone */
};

struct keeper {
    struct loop loop;
    struct loop_child mpirun;
    int control;
    struct loop_source packets; /* of `control`; not heard any more after the stop, when only the
                                 * end of mpirun matters, and the socket may report an end */
    bool deserted;              /* the process that started us is gone */
    int program;                /* what tells of its end; -1: not started, or not known */
    uint32_t job_id;            /* 0: not known */
};

static void mpirun_exec(const struct keeper_job *job)
{
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* even without us it shall end its workers properly */
    if (getppid() == 1)
        _exit(1);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(null, STDIN_FILENO);
    dup2(job->out, STDOUT_FILENO);
    dup2(job->err, STDERR_FILENO);
    inherited_clear_signals();
    /* hydra hands on to workers what else is open here: the user's files, and ours. */
    close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
    setenv("TMPDIR", job->folder, 1); /* its session files; it may not live to remove them */
    job->launcher->prepare(&quick_own, job->alone);
    execv(job->command->items[0], job->command->items);
    dprintf(STDERR_FILENO, "omprma: cannot run %s: %s\n", job->command->items[0], strerror(errno));
    _exit(127);
}

static void keeper_tell(const struct keeper *keeper, int what, uint32_t value)
{
    struct keeper_packet packet = {.what = what, .value = value};
    packet_send(keeper->control, &packet, sizeof(packet)); /* fails when nobody is left to know */
}

static void keeper_on_end(void *owner)
{
    const struct keeper *keeper = owner;
    keeper_tell(keeper, KEEPER_ENDED, (uint32_t)keeper->mpirun.status);
}

static void keeper_stop(struct keeper *keeper)
{
    if (keeper->packets.fd < 0)
        return;
    keeper->packets.fd = -1;
    loop_kill(&keeper->mpirun, SIGTERM);
    loop_set_deadline(&keeper->loop, PATIENCE_S);
}

/* mpirun does not end by itself. */
static void keeper_on_deadline(void *owner)
{
    const struct keeper *keeper = owner;
    loop_kill(&keeper->mpirun, SIGKILL);
}

/* A packet, or the end of the process that started us. */
static void keeper_on_packet(struct loop_source *source)
{
    struct keeper *keeper = source->owner;
    struct keeper_packet packet;
    ssize_t bytes = packet_receive(source->fd, &packet, sizeof(packet));
    keeper->deserted = bytes != (ssize_t)sizeof(packet);
    if (keeper->deserted || packet.what == KEEPER_STOP)
        keeper_stop(keeper);
    else if (packet.what == KEEPER_JOB)
        keeper->job_id = packet.value;
    else if (packet.what == KEEPER_PROGRAM)
        keeper->program = (int)syscall(SYS_pidfd_open, packet.value, 0);
}

static void keeper_on_signal(void *owner, const struct signalfd_siginfo *info)
{
    if (info->ssi_signo == SIGTERM)
        keeper_stop(owner);
}

static void keeper_main(const struct keeper_job *job, int control) __attribute__((noreturn));
static void keeper_main(const struct keeper_job *job, int control)
{
    struct keeper keeper = {.loop = {.owner = &keeper,
                                     .on_signal = keeper_on_signal,
                                     .on_deadline = keeper_on_deadline,
                                     .sources = {&keeper.packets},
                                     .children = {&keeper.mpirun}},
                            .mpirun = {.on_end = keeper_on_end},
                            .control = control,
                            .packets = {control, keeper_on_packet, &keeper},
                            .program = -1};
    time_t since = time(NULL);
    prctl(PR_SET_NAME, "omprma-keeper");
    /* Out of the terminal's foreground group: its signals are meant for the program. */
    setpgid(0, 0);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    close(job->listener);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    keeper.loop.signals = signalfd(-1, &all, SFD_CLOEXEC);
    keeper.mpirun.pid = fork();
    if (keeper.mpirun.pid == 0)
        mpirun_exec(job);
    close(job->out);
    close(job->err);
    keeper_tell(&keeper, KEEPER_STARTED, (uint32_t)keeper.mpirun.pid);
    while (keeper.loop.signals >= 0 && loop_runs(&keeper.mpirun) && loop_wait(&keeper.loop, -1))
        loop_call(&keeper.loop);
    descendants_kill();
    /* What the program leaves can go when it is dead. While omprma-run lives that is its work. */
    struct pollfd program = {.fd = keeper.program, .events = POLLIN};
    if (keeper.deserted && keeper.program >= 0)
        poll(&program, 1, PROGRAM_MS);
    leftovers_remove(keeper.job_id, since);
    path_remove_tree(job->folder);
    keeper_tell(&keeper, KEEPER_CLEAN, 0);
    _exit(0);
}

bool keeper_hear(int control, struct keeper_packet *packet)
{
    ssize_t bytes = packet_receive(control, packet, sizeof(*packet));
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (bytes != (ssize_t)sizeof(*packet))
        packet->what = KEEPER_GONE;
    return true;
}

void keeper_replace(pid_t mpirun, uint32_t job_id, time_t since, const char *folder)
{
    int64_t end = clock_ns() + PATIENCE_S * INT64_C(1000000000);
    while (mpirun > 0 && waitpid(mpirun, NULL, WNOHANG) == 0) {
        if (clock_ns() > end)
            kill(mpirun, SIGKILL);
        poll(NULL, 0, 20);
    }
    leftovers_remove(job_id, since);
    path_remove_tree(folder);
}

omprma_status_t keeper_start(const struct keeper_job *job, pid_t *pid, int *control)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return error_set(OMPRMA_ERR_HOST_MEMORY, "cannot make a socket: %s", strerror(errno));
    pid_t made = fork();
    if (made == 0) {
        close(ends[0]);
        keeper_main(job, ends[1]);
    }
    close(ends[1]);
    if (made < 0) {
        close(ends[0]);
        return error_set(OMPRMA_ERR_HOST_MEMORY, "cannot start a process: %s", strerror(errno));
    }
    *pid = made;
    *control = ends[0];
    return OMPRMA_OK;
}
