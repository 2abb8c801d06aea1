/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* outcome.c: statuses and words. Knows nothing of how the run was made. */
#include "tools/launch/outcome.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>

#include "base/exit_status.h"
#include "base/log.h"
#include "control/shm/room.h"
#include "tools/launch/signals.h"

int outcome_status(const char *path, int wait_status, bool said)
{
    if (WIFEXITED(wait_status))
        return WEXITSTATUS(wait_status);
    int number = WTERMSIG(wait_status);
    bool asked = number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGPIPE ||
                 number == SIGKILL || number == SIGQUIT || number == SIGALRM ||
                 (said && number == SIGABRT);
    char why[128] = "";
    uint64_t left;
    if (number == SIGABRT && !said && !shm_room(&left))
        snprintf(why, sizeof(why), "; libomp needs /dev/shm, which cannot be used: %s",
                 strerror(errno));
    log_write(asked ? LOG_CHOICE : LOG_ERROR, "%s was ended by signal %d (%s)%s", path, number,
              strsignal(number), why);
    return 128 + number;
}

int outcome_result(const char *path, int wait_status, bool said, bool offloaded, bool itself)
{
    const char *wish = getenv("OMP_TARGET_OFFLOAD");
    bool disabled = wish && strcasecmp(wish, "disabled") == 0;
    int own = outcome_status(path, wait_status, said);
    if (offloaded || disabled || own != 0) {
        if (!offloaded)
            log_write(LOG_CHOICE, "%s ended without offloading anything", path);
        return own;
    }
    if (!itself) {
        log_write(LOG_WARNING, "no program that %s has started used a worker of this run", path);
        return own;
    }
    log_write(LOG_ERROR,
              "%s ended without offloading anything: is it compiled and linked with "
              "-fopenmp -fopenmp-targets=x86_64-pc-linux-gnu, and not from static archives alone?",
              path);
    return EXIT_OWN;
}

void outcome_end_alike(int wait_status)
{
    if (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGINT)
        signals_raise(SIGINT);
}
