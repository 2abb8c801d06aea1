/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * doorbell.c: A futex in shared memory (memory.h). The owner sets a word
 * before it sleeps, so that ringing one who is awake is one read. Behind the futex lies a robust
 * mutex that the owner holds as long as it lives: by it peers see that it has died. Memory for
 * FIFOs follows.
 */
#define _GNU_SOURCE
#include "control/shm/doorbell.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"

/* The shared memory. `asleep` is 1 from prepare to the end of the sleep, and is also the futex
 * word: whoever rings sets it to 0, so that a ring between prepare and sleep is not lost. `life` is
 * locked by the owner while it lives: of a robust mutex the kernel tells others when its owner has
 * died, and it does so before it takes the owner's memory away. */
struct shared {
    pthread_mutex_t life;
    _Atomic bool died; /* whoever finds it out tells the others: `life` says it only once */
    _Alignas(64) _Atomic uint32_t asleep;
    _Alignas(64) _Atomic int32_t cpu; /* plus 1; 0: not told */
    _Alignas(64) uint8_t rest[];
};

struct doorbell {
    struct shared *shared;
    struct shm_memory memory; /* where that is */
    bool stays;               /* `life` is locked by us */
};

/* Of memory that it takes over. NULL: there is no memory for it. */
static struct doorbell *make(struct shm_memory *memory)
{
    struct doorbell *bell = malloc(sizeof(*bell));

    if (bell)
        *bell = (struct doorbell){.shared = memory->at, .memory = *memory};
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

struct doorbell *doorbell_open(const struct shm_address *address, size_t shared_bytes)
{
    struct shm_memory memory;

    return shm_memory_open(&memory, address, sizeof(struct shared) + shared_bytes) ? make(&memory)
                                                                                   : NULL;
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
