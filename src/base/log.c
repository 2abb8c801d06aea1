/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * log.c: A line is formatted on the stack and leaves by one write(), so that lines of several
 * threads and processes do not mix. The progress line is wiped first. Knows nothing of what lines
 * say.
 */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/progress_line.h"

enum { PREFIX_BYTES = 160, LINE_BYTES = 2048 };

/* Process-wide by nature: every part of the program writes to the same stderr. */
static struct {
    char prefix[PREFIX_BYTES];
    int level;
    int fd;
} log_state = {.prefix = "omprma", .level = LOG_ERROR, .fd = STDERR_FILENO};

void log_open(const char *prefix, int level)
{
    snprintf(log_state.prefix, sizeof(log_state.prefix), "%s", prefix);
    log_set_level(level);
}

void log_set_level(int level)
{
    log_state.level = level;
    progress_line_allow(level == LOG_ERROR);
}

void log_to(int fd)
{
    log_state.fd = fd;
}

int log_level(void)
{
    return log_state.level;
}

/* Interrupted and partial writes go on; a closed stderr is nobody's error. */
static void write_all(int fd, const char *text, size_t bytes)
{
    while (bytes > 0) {
        ssize_t written = write(fd, text, bytes);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return;
        text += written;
        bytes -= (size_t)written;
    }
}

void log_write(enum log_level level, const char *format, ...)
{
    if ((int)level > log_state.level && level != LOG_ERROR)
        return;
    int saved_errno = errno;
    char line[LINE_BYTES];
    size_t room = sizeof(line) - 1; /* the last byte is for the newline */
    size_t used = (size_t)snprintf(line, room, "%s: ", log_state.prefix);
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line + used, room - used, format, arguments);
    va_end(arguments);
    if (length < 0)
        length = 0;
    if ((size_t)length >= room - used) {
        memcpy(line + room - 4, "...", 3);
        used = room - 1;
    } else {
        used += (size_t)length;
    }
    line[used++] = '\n';
    progress_line_clear();
    write_all(log_state.fd, line, used);
    errno = saved_errno;
}
