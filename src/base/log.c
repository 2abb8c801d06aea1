/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * log.c: A line is formatted on the stack and leaves by one writev(), so that lines of several
 * threads and processes do not mix. The progress line is wiped first. The colour is put around the
 * word of a finished line, so that lines of other processes get it in the same way. Knows nothing
 * of what lines say.
 */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/progress_line.h"

enum { WHO_BYTES = 160, LINE_BYTES = 2048 };

static const char begin[] = "omprma: ";
enum { BEGIN_LENGTH = sizeof(begin) - 1 };

static const struct word {
    const char *text, *colour;
} words[] = {{"error: ", "\033[1;31m"}, {"warning: ", "\033[1;33m"}, {"note: ", "\033[1;36m"}};
enum { ERROR_WORD, WARNING_WORD, NOTE_WORD, WORDS };
static const char plain[] = "\033[0m";

/* Process-wide by nature: every part of the program writes to the same stderr. */
static struct {
    char who[WHO_BYTES]; /* with ": ", or "" */
    int level;
    int fd;
    bool repeats;
} log_state = {.level = LOG_NOTE, .fd = STDERR_FILENO};

void log_open(const char *who, int level)
{
    snprintf(log_state.who, sizeof(log_state.who), "%s%s", who, *who ? ": " : "");
    log_set_level(level);
}

void log_set_level(int level)
{
    log_state.level = level;
    progress_line_allow(level <= LOG_NOTE);
}

void log_to(int fd)
{
    log_state.fd = fd;
}

void log_repeats(bool repeats)
{
    log_state.repeats = repeats;
}

int log_level(void)
{
    return log_state.level;
}

/* Interrupted and partial writes go on; a closed stderr is nobody's error. */
static void write_all(int fd, struct iovec *parts, int count)
{
    while (count > 0) {
        ssize_t written = writev(fd, parts, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return;
        for (; count > 0 && (size_t)written >= parts->iov_len; count--)
            written -= (ssize_t)(parts++)->iov_len;
        if (count > 0) {
            parts->iov_base = (char *)parts->iov_base + written;
            parts->iov_len -= (size_t)written;
        }
    }
}

static bool wants_colour(int fd)
{
    const char *none = getenv("NO_COLOR"), *some = getenv("CLICOLOR");
    return progress_line_terminal(fd) && !(none && *none) && !(some && strcmp(some, "0") == 0);
}

/* The word that a line of omprma's begins with; NULL: it is none. */
static const struct word *word_of(const char *line, size_t bytes)
{
    if (bytes < BEGIN_LENGTH || memcmp(line, begin, BEGIN_LENGTH) != 0)
        return NULL;
    for (int i = 0; i < WORDS; i++) {
        size_t length = strlen(words[i].text);
        if (bytes - BEGIN_LENGTH >= length &&
            memcmp(line + BEGIN_LENGTH, words[i].text, length) == 0)
            return &words[i];
    }
    return NULL;
}

static struct iovec part(const char *text, size_t bytes)
{
    return (struct iovec){.iov_base = (char *)(uintptr_t)text, .iov_len = bytes};
}

void log_pass(int fd, const char *line, size_t bytes)
{
    const struct word *word = word_of(line, bytes);
    if (!word || !wants_colour(fd)) {
        struct iovec whole = part(line, bytes);
        write_all(fd, &whole, 1);
        return;
    }
    size_t length = strlen(word->text), after = BEGIN_LENGTH + length;
    struct iovec parts[] = {part(line, BEGIN_LENGTH), part(word->colour, strlen(word->colour)),
                            part(word->text, length), part(plain, sizeof(plain) - 1),
                            part(line + after, bytes - after)};
    write_all(fd, parts, sizeof(parts) / sizeof(parts[0]));
}

static const char *word_for(enum log_level level)
{
    if (level >= LOG_NOTE)
        return words[NOTE_WORD].text;
    return words[level == LOG_WARNING ? WARNING_WORD : ERROR_WORD].text;
}

void log_write(enum log_level level, const char *format, ...)
{
    bool must = level <= LOG_NOTE && !(log_state.repeats && level > LOG_ERROR);
    if (!must && log_state.level < (level > LOG_CHOICE ? (int)level : LOG_CHOICE))
        return;
    int saved_errno = errno;
    char line[LINE_BYTES];
    size_t room = sizeof(line) - 1; /* the last byte is for the newline */
    size_t used = (size_t)snprintf(line, room, "%s%s%s", begin, word_for(level), log_state.who);
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
    log_pass(log_state.fd, line, used);
    errno = saved_errno;
}
