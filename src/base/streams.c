/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * streams.c: A closed standard descriptor is taken by /dev/null, opened the wrong way round so that
 * its use fails as that of a closed one. An exit handler flushes stdout and ends the process with
 * status 1 if that fails.
 */
#include "base/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

void streams_hold(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            open("/dev/null",
                 fd == STDIN_FILENO ? O_WRONLY : O_RDONLY); /* the lowest free number */
}

/* The error of an earlier write is not known any more. A write of nothing gives it again, where
 * what was wrong then still is. */
static void check_output(void)
{
    int code = fflush(stdout) ? errno : 0;
    if (!code && !ferror(stdout))
        return;
    if (!code)
        code = write(STDOUT_FILENO, "", 0) < 0 ? errno : EIO;
    log_write(LOG_ERROR, "cannot write to the standard output: %s", strerror(code));
    _exit(EXIT_FAILURE);
}

void streams_begin(void)
{
    streams_hold();
    atexit(check_output);
}
