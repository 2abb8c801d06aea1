/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * doorbell.c: A futex in shared memory (memory.h). The owner sets a word
 * before it sleeps, so that ringing one who is awake is one read. One who sleeps at descriptors has
 * a pipe among them, which peers open as they open the memory, and is rung by a byte. Behind the
 * futex lies a robust mutex that the owner holds as long as it lives: by it peers see that it has
 * died. Memory for FIFOs follows.
 */
#define _GNU_SOURCE
#include "control/shm/doorbell.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

enum { AWAKE, ASLEEP, ASLEEP_AT_DESCRIPTORS };

/* The shared memory. `asleep` says so from prepare to the end of the sleep, and is also the futex
 * word: whoever rings sets it to 0, so that a ring between prepare and sleep is not lost. `life` is
 * locked by the owner while it lives: of a robust mutex the kernel tells others when its owner has
 * died, and it does so before it takes the owner's memory away. */
struct shared {
    pthread_mutex_t life;
    _Atomic bool died; /* whoever finds it out tells the others: `life` says it only once */
    int32_t pipe;      /* the owner's descriptor of the pipe, plus 1; 0: there is none */
    _Alignas(64) _Atomic uint32_t asleep;
    _Alignas(64) _Atomic int32_t cpu; /* plus 1; 0: not told */
    _Atomic uint32_t looks;
    _Alignas(64) uint8_t rest[];
};

struct doorbell {
    struct shared *shared;
    struct shm_memory memory; /* where that is */
    bool stays;               /* `life` is locked by us */
    int hears; /* the owner's end of the pipe; -1: there is none, or it is a peer's */
    int rings; /* the other end; -1: there is none */
};

/* Of memory that it takes over. NULL: there is no memory for it. */
static struct doorbell *make(struct shm_memory *memory)
{
    struct doorbell *bell = malloc(sizeof(*bell));

    if (bell)
        *bell =
            (struct doorbell){.shared = memory->at, .memory = *memory, .hears = -1, .rings = -1};
    else
        shm_memory_close(memory);
    return bell;
}

omprma_status_t doorbell_create(struct doorbell **bell, size_t shared_bytes,
                                struct shm_address *address)
{
    struct shm_memory memory;
    omprma_status_t status = shm_memory_make(
        &memory, "omprma-doorbell", sizeof(struct shared) + shared_bytes, SHM_PAGES_NOW, address);
    struct doorbell *made;

    if (status != OMPRMA_OK)
        return status;
    made = make(&memory);
    if (!made)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "no memory for a doorbell");
    *bell = made;
    return OMPRMA_OK;
}

/* For reading as well: so a byte for an owner that has died is no signal for us. */
static bool open_pipe(struct doorbell *bell, int pid)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, bell->shared->pipe - 1);
    bell->rings = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    return bell->rings >= 0;
}

struct doorbell *doorbell_open(const struct shm_address *address, size_t shared_bytes)
{
    struct shm_memory memory;
    struct doorbell *bell = shm_memory_open(&memory, address, sizeof(struct shared) + shared_bytes)
                                ? make(&memory)
                                : NULL;

    if (!bell || !bell->shared->pipe || open_pipe(bell, address->pid))
        return bell;
    doorbell_close(bell);
    return NULL;
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
    shm_memory_close(&bell->memory);
    if (bell->hears >= 0)
        close(bell->hears);
    if (bell->rings >= 0)
        close(bell->rings);
    free(bell);
}

omprma_status_t doorbell_use_descriptors(struct doorbell *bell)
{
    int ends[2];

    if (pipe2(ends, O_NONBLOCK | O_CLOEXEC) != 0)
        return error_set(OMPRMA_ERR_HOST_MEMORY, "cannot make a pipe: %s", strerror(errno));
    bell->hears = ends[0];
    bell->rings = ends[1];
    bell->shared->pipe = ends[1] + 1;
    return OMPRMA_OK;
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
    uint32_t how;

    if (!doorbell_is_asleep(bell))
        return;
    how = atomic_exchange(&bell->shared->asleep, AWAKE);
    if (how == ASLEEP)
        syscall(SYS_futex, &bell->shared->asleep, FUTEX_WAKE, 1, NULL, NULL, 0);
    else if (how == ASLEEP_AT_DESCRIPTORS && write(bell->rings, "", 1) < 0)
        return; /* it is full: the owner wakes */
}

void doorbell_prepare(struct doorbell *bell)
{
    atomic_store(&bell->shared->asleep, bell->hears >= 0 ? ASLEEP_AT_DESCRIPTORS : ASLEEP);
    atomic_thread_fence(memory_order_seq_cst);
}

void doorbell_sleep(struct doorbell *bell, int64_t ns)
{
    struct timespec limit = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};

    syscall(SYS_futex, &bell->shared->asleep, FUTEX_WAIT, ASLEEP, &limit, NULL, 0);
    atomic_store(&bell->shared->asleep, AWAKE);
}

bool doorbell_sleep_at(struct doorbell *bell, const int descriptors[DOORBELL_DESCRIPTORS],
                       int64_t ns)
{
    struct timespec limit = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    struct pollfd news[DOORBELL_DESCRIPTORS + 1] = {{.fd = bell->hears, .events = POLLIN}};
    char rung[64];

    for (int i = 0; i < DOORBELL_DESCRIPTORS; i++)
        news[i + 1] = (struct pollfd){.fd = descriptors[i], .events = POLLIN};
    ppoll(news, DOORBELL_DESCRIPTORS + 1, &limit, NULL);
    atomic_store(&bell->shared->asleep, AWAKE);
    while (news[0].revents && read(bell->hears, rung, sizeof(rung)) == (ssize_t)sizeof(rung))
        ;
    return news[1].revents != 0;
}

void doorbell_cancel(struct doorbell *bell)
{
    atomic_store(&bell->shared->asleep, AWAKE);
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

void doorbell_tell_look(struct doorbell *bell)
{
    if (bell)
        atomic_store_explicit(&bell->shared->looks,
                              atomic_load_explicit(&bell->shared->looks, memory_order_relaxed) + 1,
                              memory_order_relaxed);
}

uint32_t doorbell_looks(const struct doorbell *bell)
{
    return bell ? atomic_load_explicit(&bell->shared->looks, memory_order_relaxed) : 0;
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
