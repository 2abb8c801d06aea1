/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* stragglers.c: /proc shows what a process was started with, and of our own processes only. */
#include "worker/stragglers.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "control/agent/join.h"

enum { ROUND_MS = 100, TERM_ROUNDS = 20, ROUNDS = 60, PATH_BYTES = 300 };

static bool belongs(const char *pid, const char *digits)
{
    static const char begin[] = DIRECT_JOIN_VARIABLE "=" DIRECT_JOIN_FORM;
    char path[PATH_BYTES], *one = NULL;
    size_t room = 0, length = sizeof(begin) - 1;
    FILE *environment;
    bool found = false;

    snprintf(path, sizeof(path), "/proc/%s/environ", pid);
    environment = fopen(path, "re");
    while (environment && !found && getdelim(&one, &room, 0, environment) > 0)
        found = strncmp(one, begin, length) == 0 && strcmp(one + length, digits) == 0;
    if (environment)
        fclose(environment);
    free(one);
    return found;
}

/* Returns how many there are. */
static int signal_all(const char *digits, int number)
{
    DIR *folder = opendir("/proc");
    int count = 0;

    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        pid_t pid = (pid_t)atoi(entry->d_name);

        if (pid <= 0 || pid == getpid() || !belongs(entry->d_name, digits))
            continue;
        if (number)
            kill(pid, number);
        count++;
    }
    if (folder)
        closedir(folder);
    return count;
}

void stragglers_tell(const char *digits)
{
    signal_all(digits, SIGTERM);
}

void stragglers_end(const char *digits)
{
    for (int round = 0; round < ROUNDS; round++) {
        if (signal_all(digits, round >= TERM_ROUNDS ? SIGKILL : 0) == 0)
            break;
        poll(NULL, 0, ROUND_MS);
    }
}
