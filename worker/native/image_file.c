/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * image_file.c: see image_file.h. A kept file is written beside its place and renamed, because
 * several workers may write the same one, and is left alone where it is right already.
 */
#define _GNU_SOURCE
#include "worker/native/image_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config.h"
#include "base/error.h"

static const char *kept = "";

void image_file_keep(const char *folder)
{
    kept = folder;
}

/* 0, or a number as in errno. */
static int bytes_write(int fd, const char *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = write(fd, bytes + done, size - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n ? errno : ENOSPC;
        done += (size_t)n;
    }
    return 0;
}

/* ---- in memory ------------------------------------------------------------------------------ */

/* By the process's number, as a debugger would else look among its own files. Not where /proc is of
 * other processes than this one's. */
static char *memory_path(int fd)
{
    struct stat own, there;
    char *path = NULL;
    if (asprintf(&path, "/proc/%d/fd/%d", (int)getpid(), fd) < 0)
        return NULL;
    if (fstat(fd, &own) == 0 && stat(path, &there) == 0 && own.st_ino == there.st_ino &&
        own.st_dev == there.st_dev)
        return path;
    free(path);
    return asprintf(&path, "/proc/self/fd/%d", fd) < 0 ? NULL : path;
}

static omprma_status_t memory_make(struct image_file *file, const char *label, const void *bytes,
                                   size_t size)
{
    file->fd = memfd_create(label, MFD_CLOEXEC);
    if (file->fd < 0)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "%s: memfd_create: %s", label, strerror(errno));
    int code = bytes_write(file->fd, bytes, size);
    if (code)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "%s: no memory for its %zu bytes: %s", label, size,
                         strerror(code));
    file->path = memory_path(file->fd);
    return file->path ? OMPRMA_OK
                      : error_set(OMPRMA_ERR_HOST_MEMORY, "%s: no memory for its name", label);
}

/* ---- in a folder ---------------------------------------------------------------------------- */

static bool file_holds(const char *path, const void *bytes, size_t size)
{
    struct stat info;
    bool same = false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && (size_t)info.st_size == size) {
        void *there = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
        same = there != MAP_FAILED && memcmp(there, bytes, size) == 0;
        if (there != MAP_FAILED)
            munmap(there, size);
    }
    close(fd);
    return same;
}

/* 0, or a number as in errno. */
static int file_write(const char *path, const void *bytes, size_t size)
{
    char *beside = NULL;
    if (asprintf(&beside, "%s.%d", path, (int)getpid()) < 0)
        return ENOMEM;
    int fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
    int code = fd < 0 ? errno : bytes_write(fd, bytes, size);
    if (fd >= 0 && close(fd) && !code)
        code = errno;
    if (!code && rename(beside, path))
        code = errno;
    if (code && fd >= 0)
        unlink(beside);
    free(beside);
    return code;
}

static omprma_status_t folder_make(struct image_file *file, const char *name, const void *bytes,
                                   size_t size)
{
    char *folder = NULL;
    int code = mkdir(kept, 0777) && errno != EEXIST ? errno : 0;
    if (!code && !(folder = realpath(kept, NULL)))
        code = errno;
    if (!code && asprintf(&file->path, "%s/%s.so", folder, name) < 0) {
        file->path = NULL;
        code = ENOMEM;
    }
    if (!code && !file_holds(file->path, bytes, size))
        code = file_write(file->path, bytes, size);
    if (!code && (file->fd = open(file->path, O_RDONLY | O_CLOEXEC)) < 0)
        code = errno;
    free(folder);
    if (code)
        return error_set(OMPRMA_ERR_CONFIG,
                         "%s: images cannot be kept in %s: %s; name a folder "
                         "that this host's workers may write to",
                         config_known_as("OMPRMA_KEEP_IMAGES"), kept, strerror(code));
    return OMPRMA_OK;
}

omprma_status_t image_file_make(struct image_file *file, const char *label, const char *name,
                                const void *bytes, size_t size)
{
    *file = (struct image_file){.fd = -1};
    omprma_status_t status =
        *kept ? folder_make(file, name, bytes, size) : memory_make(file, label, bytes, size);
    if (status != OMPRMA_OK)
        image_file_drop(file);
    return status;
}

void image_file_drop(struct image_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    free(file->path);
    *file = (struct image_file){.fd = -1};
}
