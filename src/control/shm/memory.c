/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * memory.c: A memory file without a name in any folder, which others open through /proc/PID/fd. It
 * begins with a random number: on another host the same path may be anything.
 */
#define _GNU_SOURCE
#include "control/shm/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file_limit.h"

enum { HEAD_BYTES = 64 };

/* What the file begins with, HEAD_BYTES. */
static uint64_t *cookie_of(const struct shm_memory *memory)
{
    return (uint64_t *)(void *)((char *)memory->at - HEAD_BYTES);
}

static bool map(struct shm_memory *memory, int fd, size_t bytes, int flags)
{
    char *at = mmap(NULL, HEAD_BYTES + bytes, PROT_READ | PROT_WRITE, MAP_SHARED | flags, fd, 0);

    if (at == MAP_FAILED)
        return false;
    *memory = (struct shm_memory){.at = at + HEAD_BYTES, .bytes = bytes, .fd = -1};
    return true;
}

/* -1: see errno. */
static int make_file(const char *name, size_t bytes)
{
    if (file_may_have(bytes))
        return memfd_create(name, MFD_CLOEXEC);
    errno = EFBIG;
    return -1;
}

omprma_status_t shm_memory_make(struct shm_memory *memory, const char *name, size_t bytes,
                                enum shm_pages pages, struct shm_address *address)
{
    int fd = make_file(name, HEAD_BYTES + bytes);
    uint64_t *cookie;

    if (fd < 0 || ftruncate(fd, (off_t)(HEAD_BYTES + bytes)) != 0 ||
        !map(memory, fd, bytes, pages == SHM_PAGES_NOW ? MAP_POPULATE : 0)) {
        omprma_status_t status =
            error_set(OMPRMA_ERR_HOST_MEMORY, "cannot create shared memory: %s", strerror(errno));

        if (fd >= 0)
            close(fd);
        return status;
    }
    memory->fd = fd;
    cookie = cookie_of(memory);
    if (getrandom(cookie, sizeof(*cookie), 0) != (ssize_t)sizeof(*cookie))
        *cookie = (uint64_t)getpid() << 32 | (uint32_t)fd;
    *address = (struct shm_address){.pid = getpid(), .fd = fd, .cookie = *cookie};
    return OMPRMA_OK;
}

bool shm_memory_open(struct shm_memory *memory, const struct shm_address *address, size_t bytes)
{
    char path[64];
    bool opened;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/fd/%d", address->pid, address->fd);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return false;
    /* The size is looked at before the number is read. */
    opened = lseek(fd, 0, SEEK_END) == (off_t)(HEAD_BYTES + bytes) && map(memory, fd, bytes, 0);
    close(fd);
    if (opened && *cookie_of(memory) != address->cookie) {
        shm_memory_close(memory);
        return false;
    }
    return opened;
}

void shm_memory_close(struct shm_memory *memory)
{
    if (!memory->at)
        return;
    munmap(cookie_of(memory), HEAD_BYTES + memory->bytes);
    if (memory->fd >= 0)
        close(memory->fd);
    *memory = (struct shm_memory){.fd = -1};
}
