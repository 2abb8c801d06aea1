/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * leftovers.c: Looks through /dev/shm. A segment of Open MPI's has the job's number in its name,
 * which version 4 has from mpirun, and version 5 makes of the name that it has from there; a
 * registration of libomp's has the process in its name, and goes when that process is dead or a
 * zombie.
 */
#define _GNU_SOURCE
#include "control/shm/leftovers.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

/* Also of one whose end nobody has asked for yet: a program's parent may have died before it, and
 * what stands in for that may be slow, or never ask. */
static bool is_dead(int pid)
{
    char path[32], words[512];
    if (kill(pid, 0) != 0)
        return errno == ESRCH;
    snprintf(path, sizeof(path), "/proc/%d/stat", pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t bytes = file < 0 ? 0 : read(file, words, sizeof(words) - 1);
    if (file >= 0)
        close(file);
    words[bytes > 0 ? bytes : 0] = '\0';
    const char *name_end = strrchr(words, ')'); /* the state comes behind the name */
    return name_end && strncmp(name_end, ") Z", 3) == 0;
}

/* True for what a libomp has left that registered itself after `since` in a process of this user
 * that is dead: its name ends in process and user. Workers and programs that crash or are killed
 * leave one. */
static bool is_dead_libomp(int folder, const char *name, time_t since)
{
    int pid, user, end = 0;
    struct stat status;

    if (sscanf(name, "__KMP_REGISTERED_LIB_%d_%d%n", &pid, &user, &end) != 2 || name[end] ||
        user != (int)getuid() || pid <= 0)
        return false;
    return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_uid == getuid() &&
           status.st_mtime >= since && is_dead(pid);
}

/* Of Open MPI 4, and of 5 and later. */
static bool is_segment(const char *name)
{
    return strncmp(name, "vader_segment.", 14) == 0 || strncmp(name, "sm_segment.", 11) == 0;
}

void leftovers_remove(uint32_t job_id, time_t since)
{
    char mark[64];
    snprintf(mark, sizeof(mark), ".%u.%" PRIx32 ".", (unsigned)getuid(), job_id);
    DIR *folder = opendir("/dev/shm");
    struct dirent *entry;
    while (folder && (entry = readdir(folder))) {
        const char *name = entry->d_name;
        bool segment = job_id && is_segment(name) && strstr(name, mark) != NULL;
        if (segment || is_dead_libomp(dirfd(folder), name, since))
            unlinkat(dirfd(folder), name, 0);
    }
    if (folder)
        closedir(folder);
}

/* As Open MPI 5 does it with "prterun-HOST-PID@NUMBER": one-at-a-time over what comes before @,
 * folded to 16 bits, then the number. */
static uint32_t job_of_name(const char *name)
{
    const char *at = strrchr(name, '@');
    uint32_t hash = 0;
    if (!at)
        return 0;
    for (; name < at; name++) {
        hash += (uint32_t)*name;
        hash += hash << 10;
        hash ^= hash >> 6;
    }
    hash += hash << 3;
    hash ^= hash >> 11;
    hash += hash << 15;
    return ((hash >> 16 ^ hash) << 16) | ((uint32_t)strtoul(at + 1, NULL, 10) & 0xffff);
}

uint32_t leftovers_job(const char *variable)
{
    static const char name[] = "PMIX_NAMESPACE=";
    const char *value = variable + sizeof(name) - 1;
    char *end;
    if (strncmp(variable, name, sizeof(name) - 1) != 0)
        return 0;
    uint32_t number = (uint32_t)strtoul(value, &end, 10);
    return *end ? job_of_name(value) : number;
}

uint32_t leftovers_own_job(void)
{
    uint32_t job = 0;
    for (char **variable = environ; *variable && !job; variable++)
        job = leftovers_job(*variable);
    return job;
}
