/*
 * team.c: see team.h. A parallel region takes the calling thread's number, a teams region the one
 * that libomp once read from the environment: both are set. A new start of libomp
 * (omp_pause_resource_all()) would do all of this, but LLVM 16's crashes.
 */
#define _GNU_SOURCE
#include "worker/native/team.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker/device.h"
#include "worker/native/image.h"
#include "worker/native/native.h"

static bool find(const void *owner, const char *name, void *function, size_t bytes)
{
    void *symbol = image_library_symbol(owner, name);

    memcpy(function, &symbol, bytes);
    return symbol;
}

static void nothing(void *data)
{
    (void)data;
}

void team_resize(const void *owner, int threads)
{
    void (*set_defaults)(const char *settings), (*set_threads)(int threads);
    void (*parallel)(void (*body)(void *), void *data, unsigned threads, unsigned flags);
    char text[40];

    if (!find(owner, "kmp_set_defaults", &set_defaults, sizeof(set_defaults)) ||
        !find(owner, "omp_set_num_threads", &set_threads, sizeof(set_threads)) ||
        !find(owner, "GOMP_parallel", &parallel, sizeof(parallel)))
        return;
    snprintf(text, sizeof(text), "OMP_NUM_THREADS=%d", threads);
    set_defaults(text);
    set_threads(threads);
    parallel(nothing, NULL, (unsigned)threads, 0);
}

void team_inherit_cores(void)
{
    static const char *const users[] = {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY"};

    for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++)
        if (getenv(users[i]))
            return;
    setenv("KMP_AFFINITY", "disabled", 0);
}

/* ---- in place of libomp's; omprma-worker exports these, and images find them first ---- */

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int omp_get_num_procs(void);
EXPORTED int omp_get_device_num(void);
EXPORTED int omp_get_device_num_(void);

/* libomp's counts once, when it starts. */
int omp_get_num_procs(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

/* Each device has images of its own, so whose code asks tells the device. */
static int number_of(const void *code)
{
    enum { NONE = -2 }; /* omp_invalid_device */
    const struct native *native = image_owner((uint64_t)(uintptr_t)code);

    return native ? native->device->number : NONE;
}

int omp_get_device_num(void)
{
    return number_of(__builtin_return_address(0));
}

/* The same for Fortran. */
int omp_get_device_num_(void)
{
    return number_of(__builtin_return_address(0));
}
