/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* number.c: see number.h. */
#include "openmp/number.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <omprma_private/say.h>

#include "openmp/libomp.h"
#include "openmp/report.h"

static struct wish {
    long default_device; /* of OMP_DEFAULT_DEVICE; -1: none, or no number */
    int workers;         /* of the whole run; 0: not known */
} wish;

static atomic_bool host_asked;

static void wish_read(void)
{
    const char *text = getenv("OMP_DEFAULT_DEVICE"), *workers = getenv("OMPRMA_WORKERS");
    char *end = NULL;
    long number = text ? strtol(text, &end, 10) : -1;
    wish.default_device = text && end != text && !*end ? number : -1;
    wish.workers = workers ? atoi(workers) : 0;
}

static const struct wish *wish_get(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, wish_read);
    return &wish;
}

static bool is_share(int count)
{
    return count > 0 && wish_get()->workers > count;
}

/* A rank that takes the device of its own number computes here without knowing it. */
static void host_say(int64_t number, int count)
{
    static atomic_bool said;
    char text[200];
    if (atomic_load_explicit(&host_asked, memory_order_relaxed) || !is_share(count) ||
        atomic_exchange(&said, true))
        return;
    snprintf(text, sizeof(text),
             "device %lld is the host here: this program's share is %d of the run's %d workers, "
             "devices from 0 "
             "on; --share all gives each program all of them",
             (long long)number, count, wish_get()->workers);
    omprma_say(OMPRMA_SAY_WARNING, text);
}

int64_t number_means(int64_t number, int count)
{
    bool by_default = number == -1;
    if (by_default)
        number = omp_get_default_device ? omp_get_default_device() : 0;
    if (number == -1 || number == NUMBER_HOST)
        return NUMBER_HOST;
    if (by_default && number >= count && number == wish_get()->default_device)
        return is_share(count) && number < wish_get()->workers ? number % count : number;
    if (number != count || count == 0)
        return number;
    host_say(number, count);
    return NUMBER_HOST;
}

void number_report(const struct location *where, int64_t number, int count)
{
    if (is_share(count))
        report(where, NULL,
               "there is no device %lld, only %d device%s, from 0 on: this program's share of the "
               "run's %d workers; "
               "--share all gives each program all of them",
               (long long)number, count, count == 1 ? "" : "s", wish_get()->workers);
    else
        report(where, NULL, "there is no device %lld, only %d device%s, from 0 on",
               (long long)number, count, count == 1 ? "" : "s");
}

void number_of_host_asked(void)
{
    atomic_store_explicit(&host_asked, true, memory_order_relaxed);
}
