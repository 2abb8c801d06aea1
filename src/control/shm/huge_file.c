/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * huge_file.c: who mounts a file system of memory says by himself whether it has huge pages. Every
 * user may do that in a name space of his own. A child is there for that moment only: it has this
 * process's descriptors, so the mount is open here when it has ended, where nobody else sees it.
 * Each file is then made in it without another process, and also while kernels run.
 */
#define _GNU_SOURCE
#include "control/shm/huge_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of linux/mount.h, which does not go together with every sys/mount.h. */
enum { OPEN_CLOEXEC = 1, SET_STRING = 1, CREATE = 6, MOUNT_CLOEXEC = 1 };

enum { STACK_BYTES = 64 << 10 };

struct mounting {
    unsigned user, group;
    int mount; /* -1: */
    int code;  /* why */
};

static bool write_line(const char *path, const char *line)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool written = fd >= 0 && write(fd, line, strlen(line)) == (ssize_t)strlen(line);

    if (fd >= 0)
        close(fd);
    return written;
}

/* Files have to belong to somebody: the same as outside. */
static bool stay_oneself(const struct mounting *mounting)
{
    char user[64], group[64];

    snprintf(user, sizeof(user), "%u %u 1", mounting->user, mounting->user);
    snprintf(group, sizeof(group), "%u %u 1", mounting->group, mounting->group);
    return write_line("/proc/self/uid_map", user) && write_line("/proc/self/setgroups", "deny") &&
           write_line("/proc/self/gid_map", group);
}

/* Without a limit: memory has its own. -1: see errno. */
static int mount_memory(void)
{
    int context = (int)syscall(SYS_fsopen, "tmpfs", OPEN_CLOEXEC), mount = -1;

    if (context < 0)
        return -1;
    if (syscall(SYS_fsconfig, context, SET_STRING, "huge", "within_size", 0) == 0 &&
        syscall(SYS_fsconfig, context, SET_STRING, "size", "0", 0) == 0 &&
        syscall(SYS_fsconfig, context, CREATE, NULL, NULL, 0) == 0)
        mount = (int)syscall(SYS_fsmount, context, MOUNT_CLOEXEC, 0);
    close(context);
    return mount;
}

/* In the child. */
static int mount_there(void *data)
{
    struct mounting *mounting = data;

    mounting->mount = stay_oneself(mounting) ? mount_memory() : -1;
    mounting->code = errno;
    return 0;
}

/* Its end is told to nobody, and no handler runs in it. */
static void run_child(struct mounting *mounting, char *stack_end)
{
    const int flags = CLONE_FILES | CLONE_NEWUSER | CLONE_NEWNS;
    sigset_t all, before;
    pid_t child;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    child = clone(mount_there, stack_end, flags, mounting);
    if (child < 0)
        mounting->code = errno;
    while (child >= 0 && waitpid(child, NULL, __WALL) < 0 && errno == EINTR)
        ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* -1: see errno. */
static int mount_once(void)
{
    /* Both processes have it; the child's stack grows down from its end. */
    const size_t room = STACK_BYTES;
    struct mounting *mounting =
        mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int mount, code;

    if (mounting == MAP_FAILED)
        return -1;
    *mounting =
        (struct mounting){.user = geteuid(), .group = getegid(), .mount = -1, .code = ECHILD};
    run_child(mounting, (char *)mounting + room);
    mount = mounting->mount;
    code = mounting->code;
    munmap(mounting, room);
    errno = code;
    return mount;
}

/* What was refused once is not tried again. -1: see errno. */
static int mount_of_process(void)
{
    static int mount = -1, refused;

    if (mount < 0 && !refused) {
        mount = mount_once();
        refused = mount < 0 ? errno : 0;
    }
    errno = refused;
    return mount;
}

int huge_file_make(size_t bytes)
{
    int mount = mount_of_process(), file = -1, code;

    if (mount >= 0)
        file = openat(mount, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file >= 0 && ftruncate(file, (off_t)bytes) != 0) {
        code = errno;
        close(file);
        file = -1;
        errno = code;
    }
    return file;
}
