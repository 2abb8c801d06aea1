/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* traced.c: asks /proc, see traced.h. */
#include "base/traced.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool process_is_traced(pid_t pid)
{
    static const char mark[] = "\nTracerPid:";
    char path[48], text[2048];
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t bytes = read(fd, text, sizeof(text) - 1);
    close(fd);
    if (bytes <= 0)
        return false;
    text[bytes] = 0;
    const char *found = strstr(text, mark);
    return found && atoi(found + sizeof(mark) - 1) != 0;
}
