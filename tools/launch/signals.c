/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* signals.c: signals from a file descriptor. See signals.h. */
#include "tools/launch/signals.h"

#include <signal.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/signalfd.h>

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
