/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* descendants.c: the kernel has the list of children. */
#include "base/descendants.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 50, ROUND_MS = 20 };

void descendants_kill(void)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    for (int round = 0; round < ROUNDS; round++) {
        FILE *children;
        int pid, found = 0;

        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        children = fopen(path, "re");
        while (children && fscanf(children, "%d", &pid) == 1) {
            kill(pid, SIGKILL);
            found++;
        }
        if (children)
            fclose(children);
        if (!found)
            break;
        poll(NULL, 0, ROUND_MS);
    }
}
