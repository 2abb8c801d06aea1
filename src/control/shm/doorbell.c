/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * doorbell.c: A futex in a memory file, which peers map through /proc/PID/fd. The owner sets a word
 * before it sleeps, so that ringing one who is awake is one read. Behind the futex lies a robust
 * mutex that the owner holds as long as it lives: by it peers see that it has died. Memory for
 * FIFOs follows.
 */
#define _GNU_SOURCE
#include "control/shm/doorbell.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

/* The shared memory. `asleep` is 1 from prepare to the end of the sleep, and is also the futex
 * word: whoever rings sets it to 0, so that a ring between prepare and sleep is not lost. `life` is
 * locked by the owner while it lives: of a robust mutex the kernel tells others when its owner has
 * died, and it does so before it takes the owner's memory away. */
struct shared {
    uint64_t cookie;
    pthread_mutex_t life;
    _Atomic bool died; /* whoever finds it out tells the others: `life` says it only once */
    _Alignas(64) _Atomic uint32_t asleep;
    _Alignas(64) _Atomic int32_t cpu; /* plus 1; 0: not told */
    _Alignas(64) uint8_t rest[];
};

struct doorbell {
    struct shared *shared;
    size_t bytes;
    int fd;     /* -1 for a peer's */
    bool stays; /* `life` is locked by us */
};

static struct doorbell *doorbell_map(int fd, size_t shared_bytes, bool own)
{
    struct doorbell *bell = malloc(sizeof(*bell));

    if (!bell)
        return NULL;
    bell->bytes = sizeof(struct shared) + shared_bytes;
    bell->shared = mmap(NULL, bell->bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | (own ? MAP_POPULATE : 0), fd, 0);
    if (bell->shared == MAP_FAILED) {
        free(bell);
        return NULL;
    }
    bell->fd = own ? fd : -1;
    bell->stays = false;
    return bell;
}

omprma_status_t doorbell_create(struct doorbell **bell, size_t shared_bytes,
                                struct doorbell_address *address)
{
    int fd = memfd_create("omprma-doorbell", MFD_CLOEXEC);
    struct doorbell *made = NULL;
    uint64_t cookie = 0;

    if (fd >= 0 && ftruncate(fd, (off_t)(sizeof(struct shared) + shared_bytes)) == 0)
        made = doorbell_map(fd, shared_bytes, true);
    if (!made) {
        if (fd >= 0)
            close(fd);
        return error_set(OMPRMA_ERR_HOST_MEMORY, "cannot create shared memory: %s",
                         strerror(errno));
    }
    if (getrandom(&cookie, sizeof(cookie), 0) != (ssize_t)sizeof(cookie))
        cookie = (uint64_t)getpid() << 32 | (uint32_t)fd;
    made->shared->cookie = cookie;
    address->pid = getpid();
    address->fd = fd;
    address->cookie = cookie;
    *bell = made;
    return OMPRMA_OK;
}

struct doorbell *doorbell_open(const struct doorbell_address *address, size_t shared_bytes)
{
    char path[64];
    struct doorbell *bell;
    int fd;

    snprintf(path, sizeof(path), "/proc/%d/fd/%d", address->pid, address->fd);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    /* On another host the same path may be anything: look at the size before reading it. */
    bell = lseek(fd, 0, SEEK_END) == (off_t)(sizeof(struct shared) + shared_bytes)
               ? doorbell_map(fd, shared_bytes, false)
               : NULL;
    close(fd);
    if (bell && bell->shared->cookie != address->cookie) {
        doorbell_close(bell);
        return NULL;
    }
    return bell;
}

void *doorbell_shared(struct doorbell *bell)
{
    return bell->shared->rest;
}

void doorbell_close(struct doorbell *bell)
{
    if (!bell)
        return;
    if (bell->stays)
        pthread_mutex_unlock(&bell->shared->life); /* refused, and rightly, on another thread */
    munmap(bell->shared, bell->bytes);
    if (bell->fd >= 0)
        close(bell->fd);
    free(bell);
}

bool doorbell_is_asleep(struct doorbell *bell)
{
    if (!bell)
        return false;
    /* The message is stored before the flag is read: pairs with doorbell_prepare(). */
    atomic_thread_fence(memory_order_seq_cst);
    return atomic_load_explicit(&bell->shared->asleep, memory_order_relaxed);
}

void doorbell_ring(struct doorbell *bell)
{
    if (!doorbell_is_asleep(bell))
        return;
    if (atomic_exchange(&bell->shared->asleep, 0))
        syscall(SYS_futex, &bell->shared->asleep, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void doorbell_prepare(struct doorbell *bell)
{
    atomic_store(&bell->shared->asleep, 1);
    atomic_thread_fence(memory_order_seq_cst);
}

void doorbell_sleep(struct doorbell *bell, int64_t ns)
{
    struct timespec limit = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

    syscall(SYS_futex, &bell->shared->asleep, FUTEX_WAIT, 1, &limit, NULL, 0);
    atomic_store(&bell->shared->asleep, 0);
}

void doorbell_cancel(struct doorbell *bell)
{
    atomic_store(&bell->shared->asleep, 0);
}

void doorbell_tell_cpu(struct doorbell *bell)
{
    if (bell)
        atomic_store_explicit(&bell->shared->cpu, sched_getcpu() + 1, memory_order_relaxed);
}

int doorbell_cpu(const struct doorbell *bell)
{
    return bell ? atomic_load_explicit(&bell->shared->cpu, memory_order_relaxed) - 1 : -1;
}

omprma_status_t doorbell_stay(struct doorbell *bell)
{
    pthread_mutexattr_t attributes;
    int code;

    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    code = pthread_mutex_init(&bell->shared->life, &attributes);
    pthread_mutexattr_destroy(&attributes);
    if (code == 0)
        code = pthread_mutex_lock(&bell->shared->life);
    if (code != 0)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "cannot lock shared memory: %s", strerror(code));
    bell->stays = true;
    return OMPRMA_OK;
}

bool doorbell_owner_died(struct doorbell *bell)
{
    int code;

    if (!bell || atomic_load_explicit(&bell->shared->died, memory_order_relaxed))
        return bell != NULL;
    code = pthread_mutex_trylock(&bell->shared->life);
    if (code == EOWNERDEAD || code == ENOTRECOVERABLE)
        atomic_store(&bell->shared->died, true);
    if (code == 0 || code == EOWNERDEAD)
        pthread_mutex_unlock(&bell->shared->life);
    return code == EOWNERDEAD || code == ENOTRECOVERABLE;
}
