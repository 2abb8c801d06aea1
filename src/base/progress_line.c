/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * progress_line.c: The line is written at the cursor and the cursor is put back, so that whatever
 * is written next overwrites it. One flag says that a line is shown; wiping it is one exchange of
 * that flag. Nothing is shown before half a second has passed.
 */
#include "base/progress_line.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

enum { DELAY_MS = 500, TEXT_BYTES = 256 };

/* Save the cursor, no wrapping; and back, so that the cursor stands where it stood. */
#define BEFORE "\0337\033[?7l"
#define AFTER "\033[K\033[?7h\0338"
#define WIPE "\033[K"

/* Process-wide by nature, as the terminal is. */
static struct {
    _Atomic bool shown;
    _Atomic bool forbidden;
    _Atomic int64_t due_ns;
} state;

static void write_whole(const char *text, size_t bytes)
{
    if (write(STDERR_FILENO, text, bytes) < 0)
        return; /* a terminal that is gone needs no line */
}

bool progress_line_terminal(int fd)
{
    const char *kind = getenv("TERM");
    return kind && *kind && strcmp(kind, "dumb") != 0 && isatty(fd);
}

void progress_line_allow(bool allowed)
{
    atomic_store(&state.forbidden, !allowed);
}

bool progress_line_possible(void)
{
    return !atomic_load(&state.forbidden) && progress_line_terminal(STDERR_FILENO);
}

void progress_line_inherit(void)
{
    if (progress_line_possible())
        atomic_store(&state.shown, true);
}

void progress_line_begin(void)
{
    const char *delay = getenv("OMPRMA_INTERNAL_PROGRESS_MS"); /* tests have no half second */
    int64_t ms = delay ? atoi(delay) : DELAY_MS;
    atomic_store(&state.due_ns, clock_ns() + ms * 1000000);
}

int progress_line_wait_ms(void)
{
    int64_t left = atomic_load(&state.due_ns) - clock_ns();
    return left > 0 && progress_line_possible() ? (int)(left / 1000000 + 1) : -1;
}

void progress_line_show(const char *format, ...)
{
    char text[TEXT_BYTES], line[TEXT_BYTES + sizeof(BEFORE) + sizeof(AFTER)];
    va_list arguments;
    int saved_errno = errno;
    if (atomic_load(&state.forbidden) || clock_ns() < atomic_load(&state.due_ns) ||
        !progress_line_terminal(STDERR_FILENO))
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    int length = snprintf(line, sizeof(line), BEFORE "%s" AFTER, text);
    atomic_store(&state.shown, true);
    write_whole(line, (size_t)length);
    errno = saved_errno;
}

void progress_line_clear(void)
{
    int saved_errno = errno;
    if (atomic_exchange(&state.shown, false))
        write_whole(WIPE, strlen(WIPE));
    errno = saved_errno;
}
