/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* settings.c: the environment is read once; what is there is counted. See standin.h. */
#include "standin.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct settings settings;
struct standin_counts counts;
static pthread_mutex_t counts_lock = PTHREAD_MUTEX_INITIALIZER;

static const char *text_of(const char *name, const char *otherwise)
{
    const char *text = getenv(name);

    return text && *text ? text : otherwise;
}

void settings_read(void)
{
    settings.devices = (int)calls_setting("STANDIN_DEVICES", 1);
    settings.memory_bytes = (size_t)calls_setting("STANDIN_MEMORY", 4096) << 20;
    settings.takes_us = (int)calls_setting("STANDIN_TAKES", 0);
    settings.gbps = (int)calls_setting("STANDIN_SPEED", 0);
    settings.delay_us = (unsigned)calls_setting("STANDIN_DELAY", 200);
    settings.isas = text_of("STANDIN_ISA", "gfx90a:sramecc+:xnack-");
    settings.refused = text_of("STANDIN_REFUSE", "");
    settings.code = text_of("STANDIN_CODE", "");
    if (settings.devices > DEVICES_MOST)
        settings.devices = DEVICES_MOST;
    calls_read(HSA_STATUS_ERROR);
}

bool is_refused(const char *what, unsigned attribute)
{
    size_t length = strlen(what);

    for (const char *at = settings.refused; *at; at += strcspn(at, ","), at += *at == ',')
        if (strncmp(at, what, length) == 0 && at[length] == ':' &&
            strtoul(at + length + 1, NULL, 16) == attribute)
            return true;
    return false;
}

void be_late(unsigned *seed)
{
    unsigned delay_us = settings.delay_us;

    delay_us = (delay_us ? (unsigned)rand_r(seed) % delay_us : 0) + (unsigned)settings.takes_us;
    if (delay_us)
        usleep(delay_us);
}

void counts_add(int *count, int more)
{
    pthread_mutex_lock(&counts_lock);
    *count += more;
    pthread_mutex_unlock(&counts_lock);
}

void standin_counts(struct standin_counts *now)
{
    pthread_mutex_lock(&counts_lock);
    *now = counts;
    pthread_mutex_unlock(&counts_lock);
    now->calls = calls_made();
    now->failed = calls_failed();
}

void standin_fail(const char *function, int number, int code)
{
    calls_fail(function, number, code);
}

static void report(FILE *file, const char *what, int count)
{
    if (count)
        fprintf(file, "not given back: %d %s\n", count, what);
}

__attribute__((destructor)) static void report_all(void)
{
    const char *name = getenv("STANDIN_REPORT");
    FILE *file = name && *name ? fopen(name, "ae") : NULL;

    if (!file)
        return;
    fprintf(file, "calls: %d\nwaits: %d\nkernels: %d\ncopies: %d\n", calls_made(), counts.waits,
            counts.kernels, counts.copies);
    report(file, "blocks of memory", counts.blocks);
    report(file, "executables", counts.executables);
    report(file, "readers", counts.readers);
    report(file, "queues", counts.queues);
    report(file, "signals", counts.signals);
    report(file, "locks of host memory", counts.locks);
    report(file, "handlers", counts.handlers);
    report(file, "starts", counts.starts);
    fclose(file);
}
