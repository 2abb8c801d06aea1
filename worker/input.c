/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * input.c: the file has a time of last access, which a read that finds nothing changes, too. It is
 * in memory, so no way of mounting keeps that from it.
 */
#include "worker/input.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const time_t long_ago_s = 1; /* else a read soon after might have the same time */
static bool watched;

/* Else the stream was closed (base/streams.h): reads fail there, and are to. */
static bool is_readable(void)
{
    int flags = fcntl(STDIN_FILENO, F_GETFL);

    return flags >= 0 && (flags & O_ACCMODE) != O_WRONLY;
}

void input_begin(void)
{
    char path[32];
    const struct timespec times[] = {{.tv_sec = long_ago_s}, {.tv_nsec = UTIME_NOW}};

    if (isatty(STDIN_FILENO) || !is_readable())
        return;
    int file = memfd_create("omprma-no-input", MFD_CLOEXEC);
    if (file < 0)
        return;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
    int empty = open(path, O_RDONLY | O_CLOEXEC); /* nobody writes to it */
    watched = empty >= 0 && futimens(file, times) == 0 && dup2(empty, STDIN_FILENO) == STDIN_FILENO;
    if (empty >= 0)
        close(empty);
    close(file);
}

void input_look(void)
{
    struct stat about;

    if (!watched || fstat(STDIN_FILENO, &about) || about.st_atim.tv_sec == long_ago_s)
        return;
    watched = false;
    fputs(
        "omprma: warning: a region has read standard input, which is empty there: read it outside "
        "of regions, and map what was read\n",
        stderr);
}
