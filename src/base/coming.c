/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * coming.c: Workers write one fixed line on stderr, which omprma-run counts. Program and omprma-run
 * share a memory file with the count and with the process that is served. A process that has called
 * exec has no such mapping any more, while its descriptor may still be open; that tells another
 * program.
 */
#define _GNU_SOURCE
#include "base/coming.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_limit.h"

static const uint64_t magic = 0x6f6d70726d612b31;
static const char name[] = "omprma-coming";
static const char line_of_worker[] = "omprma-worker is up\n";

void coming_say(void)
{
    if (getenv(COMING_VARIABLE) && write(STDERR_FILENO, line_of_worker, strlen(line_of_worker)) < 0)
        return; /* nobody counts */
    unsetenv(COMING_VARIABLE);
}

bool coming_is(const char *line)
{
    return strstr(line, line_of_worker) != NULL;
}

enum { ROOM_AT = 4096 };

static struct coming *map(int fd, size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

struct coming *coming_make(int workers, size_t room, int *fd, size_t *mapped)
{
    struct coming *made = NULL;
    size_t bytes = room > 0 && file_may_have(ROOM_AT + room) ? ROOM_AT + room : sizeof(*made);

    *fd = memfd_create(name, MFD_CLOEXEC);
    if (*fd >= 0 && ftruncate(*fd, (off_t)bytes) == 0)
        made = map(*fd, bytes);
    if (made) {
        made->magic = magic;
        made->bytes = bytes;
        made->workers = workers;
        *mapped = bytes;
        return made;
    }
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    return NULL;
}

/* The descriptor lies above those that scripts use. */
struct coming *coming_share(int workers, size_t room, int *fd, size_t *mapped)
{
    enum { HIGH = 310 };
    struct coming *coming = coming_make(workers, room, fd, mapped);
    int high = coming ? fcntl(*fd, F_DUPFD_CLOEXEC, HIGH) : -1;
    if (high < 0)
        return coming;
    close(*fd);
    *fd = high;
    return coming;
}

struct coming *coming_open(int fd)
{
    struct stat status;

    bool fits = fstat(fd, &status) == 0 && status.st_size >= (off_t)sizeof(struct coming);
    struct coming *coming = fits ? map(fd, (size_t)status.st_size) : NULL;

    if (!coming || (coming->magic == magic && coming->bytes == (uint64_t)status.st_size))
        return coming;
    munmap(coming, (size_t)status.st_size);
    return NULL;
}

void coming_close(struct coming *coming, size_t mapped)
{
    if (coming)
        munmap(coming, mapped);
}

void *coming_room(struct coming *coming)
{
    return coming && coming->bytes > ROOM_AT ? (char *)coming + ROOM_AT : NULL;
}

bool coming_has_said(const struct coming *coming)
{
    return coming && atomic_load(&coming->said);
}

/* Who has ended has no memory, and no descriptors. */
static bool runs_without_it(int pid)
{
    char path[32], line[512];
    bool runs = false, has_it = false;
    FILE *maps;

    snprintf(path, sizeof(path), "/proc/%d/maps", pid);
    maps = fopen(path, "re");
    while (maps && fgets(line, sizeof(line), maps)) {
        runs = true;
        has_it |= strstr(line, name) != NULL;
    }
    if (maps)
        fclose(maps);
    return runs && !has_it;
}

bool coming_was_left(const struct coming *coming, int fd)
{
    int pid = atomic_load(&coming->served);
    char path[48], text[64] = "";

    if (pid == 0 || !runs_without_it(pid))
        return false;
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
    return readlink(path, text, sizeof(text) - 1) > 0 && strstr(text, name);
}
