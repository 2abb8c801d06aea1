/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* die.h: regions that end their workers, for what lost_placed.sh runs. FOLDER is where files say
 * that it has happened. */
#include <fcntl.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* Ends the worker, unless another region with this number has: a region may be done again. */
#pragma omp begin declare target
static void die(int number)
{
    char path[sizeof(FOLDER) + 20];
    if (number < 0 || omp_is_initial_device())
        return;
    snprintf(path, sizeof(path), FOLDER "/death-%d", number);
    if (open(path, O_CREAT | O_EXCL | O_WRONLY, 0600) >= 0)
        kill(getpid(), SIGKILL);
}
#pragma omp end declare target
