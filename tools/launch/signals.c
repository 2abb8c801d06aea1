/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* signals.c: signals from a file descriptor. See signals.h. */
#include "tools/launch/signals.h"

#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>

#include "base/clock.h"

/* A second SIGTERM after this time kills the program. */
static const int64_t INSIST_NS = 2000000000;

static void signals_set(sigset_t *set)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM};
    sigemptyset(set);
    sigaddset(set, SIGCHLD);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        struct sigaction now;
        /* Under nohup, or in the background of a script, they are ignored on purpose. */
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(set, numbers[i]);
    }
}

void signals_block(void)
{
    sigset_t set;
    signals_set(&set);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

int signals_open(void)
{
    sigset_t set;
    signals_set(&set);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

bool signals_deadly(int number)
{
    return number != SIGUSR1 && number != SIGUSR2 && number != SIGCHLD;
}

/* The terminal sends its signals to the whole group; an alarm that was set before us is ours alone.
 */
int signals_pass(const struct signalfd_siginfo *info, int64_t *term_ns)
{
    int number = (int)info->ssi_signo;
    int64_t now = clock_ns();
    if (info->ssi_code == SI_KERNEL && number != SIGALRM)
        return 0;
    bool insists = number == SIGTERM && *term_ns && now - *term_ns > INSIST_NS;
    if (number == SIGTERM && !*term_ns)
        *term_ns = now;
    return insists ? SIGKILL : number;
}

void signals_raise(int number)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    signal(number, SIG_DFL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}
