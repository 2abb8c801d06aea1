/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * owner.c: The handler is set when the first address is given, and not before: a library that sets
 * its own at the start, as MPI does, finds the signal as it was, and ours is before it. A fault at
 * an address of a device is told; then the handler that was there is put back, and the instruction
 * faults again, under that. All other faults are passed on, and ours stays: programs may live by
 * them.
 */
#include "openmp/device/owner.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <omprma_private/owner.h>
#include <omprma_private/say.h>

#include "openmp/device/device.h"
#include "openmp/device/devices.h"
#include "openmp/device/mapping.h"

/* ---- words ---------------------------------------------------------------------------------- */

static struct device *device_of_remote(int remote)
{
    for (int i = 0; i < devices_sites() && !devices_ended(); i++)
        if (device_of_site(i)->site.remote == remote)
            return device_of_site(i);
    return NULL;
}

/* Who faults may hold the lock: then there is less to say. */
static bool variable_words(struct device *device, uintptr_t address, char *words, size_t room)
{
    char range[RANGE_WORDS];
    if (pthread_mutex_trylock(&device->space->lock))
        return false;
    const struct mapped *mapped = mapping_of_device(&device->space->mapping, address);
    if (mapped)
        snprintf(words, room, ", inside %s", range_words(mapped, range));
    pthread_mutex_unlock(&device->space->lock);
    return mapped != NULL;
}

int owner_words(uintptr_t address, char words[OWNER_WORDS])
{
    omprma_addr_t block;
    uint64_t bytes;
    int remote = omprma_owner(address, &block, &bytes);
    struct device *device = remote >= 0 ? device_of_remote(remote) : NULL;
    if (!device)
        return -1;
    int used =
        snprintf(words, OWNER_WORDS, "memory of device %d (%s)", device->number, device->site.host);
    char *rest = words + used;
    size_t room = OWNER_WORDS - (size_t)used;
    if (!variable_words(device, address, rest, room) && block)
        snprintf(rest, room, ", byte %llu of a block of %llu",
                 (unsigned long long)(address - block), (unsigned long long)bytes);
    else if (!block)
        snprintf(rest, room, ", where nothing is allocated");
    return device->number;
}

/* ---- faults of the program ------------------------------------------------------------------ */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool watched;
static struct sigaction before;

static void take_course(int number, siginfo_t *info, void *context)
{
    struct sigaction handler = before;
    if (handler.sa_flags & SA_SIGINFO) {
        handler.sa_sigaction(number, info, context);
        return;
    }
    if (handler.sa_handler != SIG_DFL && handler.sa_handler != SIG_IGN) {
        handler.sa_handler(number);
        return;
    }
    sigaction(number, &before, NULL);
    if (info->si_code <= 0) /* somebody has sent it: it does not come again by itself */
        raise(number);
}

/* free() and its like look in front of what they are given. */
static bool is_in_front(uintptr_t address, char words[OWNER_WORDS])
{
    enum { FRONT_BYTES = 16 };
    return owner_words(address + FRONT_BYTES, words) >= 0;
}

static void handle(int number, siginfo_t *info, void *context)
{
    char words[OWNER_WORDS], line[OWNER_WORDS + 256];
    uintptr_t address = (uintptr_t)info->si_addr;
    bool inside = info->si_code > 0 && owner_words(address, words) >= 0;
    if (!inside && (info->si_code <= 0 || !is_in_front(address, words))) {
        take_course(number, info, context);
        return;
    }
    if (inside)
        snprintf(line, sizeof(line),
                 "the program, or a library that it called, used address %p itself: that is %s: "
                 "copy it (target update, omp_target_memcpy), or use the address on the host",
                 info->si_addr, words);
    else
        snprintf(line, sizeof(line),
                 "the program, or a library that it called, used address %p itself, right in front "
                 "of %.*s: is it freed by free()? omp_target_free() does that",
                 info->si_addr, (int)strcspn(words, ","), words);
    omprma_say(OMPRMA_SAY_ERROR, line);
    omprma_say(OMPRMA_SAY_END, "");
    sigaction(number, &before, NULL);
}

static void watch_once(void)
{
    struct sigaction ours = {.sa_sigaction = handle};
    if (sigaction(SIGSEGV, NULL, &before))
        return;
    ours.sa_mask = before.sa_mask;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | (before.sa_flags & (SA_NODEFER | SA_RESTART));
    sigaction(SIGSEGV, &ours, NULL);
}

void owner_watch(void)
{
    pthread_once(&once, watch_once);
    atomic_store_explicit(&watched, true, memory_order_relaxed);
}

bool owner_alone_words(uintptr_t address, char words[OWNER_WORDS])
{
    return atomic_load_explicit(&watched, memory_order_relaxed) &&
           owner_words(address, words) >= 0 && !omprma_may_read(address);
}
