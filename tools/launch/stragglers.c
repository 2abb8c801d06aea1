/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stragglers.c: the kernel tells of the end of the process that started this one. */
#include "tools/launch/stragglers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control/direct/join.h"
#include "tools/launch/list.h"

enum { ROUND_MS = 100, TERM_ROUNDS = 20, ROUNDS = 60 };

/* Only what the process was started with is there, and of our own processes only. */
static bool belongs(const char *pid, const char *wanted)
{
    char *path = text_make("/proc/%s/environ", pid), *one = NULL;
    FILE *environment = fopen(path, "re");
    size_t room = 0;
    bool found = false;

    while (environment && !found && getdelim(&one, &room, 0, environment) > 0)
        found = strcmp(one, wanted) == 0;
    if (environment)
        fclose(environment);
    free(one);
    free(path);
    return found;
}

/* Returns how many there are. */
static int signal_all(const char *wanted, int number)
{
    DIR *folder = opendir("/proc");
    int count = 0;

    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        pid_t pid = (pid_t)atoi(entry->d_name);
        if (pid <= 0 || pid == getpid() || !belongs(entry->d_name, wanted))
            continue;
        if (number)
            kill(pid, number);
        count++;
    }
    if (folder)
        closedir(folder);
    return count;
}

/* A launcher that is told to end ends its processes on other hosts, too. */
static void end_all(const char *wanted)
{
    int number = SIGTERM;

    for (int round = 0; round < ROUNDS && signal_all(wanted, number) > 0; round++) {
        poll(NULL, 0, ROUND_MS);
        number = round >= TERM_ROUNDS ? SIGKILL : 0;
    }
}

/* Nobody who waits for the end of our output is to wait for this process. */
static void watch_main(const char *join, pid_t parent) __attribute__((noreturn));
static void watch_main(const char *join, pid_t parent)
{
    char *wanted = text_make("%s=%s", DIRECT_JOIN_VARIABLE, join);
    sigset_t all, told;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    setpgid(0, 0);
    close_range(0, ~0U, 0);
    prctl(PR_SET_NAME, "omprma-keeper");
    prctl(PR_SET_PDEATHSIG, SIGUSR1);
    sigemptyset(&told);
    sigaddset(&told, SIGUSR1);
    while (getppid() == parent)
        sigwaitinfo(&told, NULL);
    end_all(wanted);
    _exit(0);
}

pid_t stragglers_watch(const char *join)
{
    pid_t parent = getpid(), made = fork();

    if (made == 0)
        watch_main(join, parent);
    return made;
}

void stragglers_forget(pid_t watch)
{
    if (watch <= 0)
        return;
    kill(watch, SIGKILL);
    while (waitpid(watch, NULL, 0) < 0 && errno == EINTR)
        ;
}
