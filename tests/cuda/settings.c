/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* settings.c: the environment is read once; what is there is counted. */
#include "standin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct settings settings;
struct standin_counts counts;
pthread_mutex_t counts_lock = PTHREAD_MUTEX_INITIALIZER;

void settings_read(void)
{
    const char *code = getenv("STANDIN_CODE");

    settings.devices = (int)calls_setting("STANDIN_DEVICES", 1);
    settings.version = (int)calls_setting("STANDIN_VERSION", 12040);
    settings.capability = (int)calls_setting("STANDIN_CAPABILITY", 90);
    settings.memory_bytes = (size_t)calls_setting("STANDIN_MEMORY", 1024) << 20;
    settings.gbps = (int)calls_setting("STANDIN_SPEED", 0);
    settings.takes_us = (int)calls_setting("STANDIN_TAKES", 0);
    settings.delay_us = (unsigned)calls_setting("STANDIN_DELAY", 200);
    settings.code = code ? code : "";
    if (settings.devices > DEVICES_MOST)
        settings.devices = DEVICES_MOST;
    calls_read(UNKNOWN);
    pthread_mutex_lock(&counts_lock);
    counts.deepest = 0;
    pthread_mutex_unlock(&counts_lock);
}

void counts_add(int *count, int more)
{
    pthread_mutex_lock(&counts_lock);
    *count += more;
    pthread_mutex_unlock(&counts_lock);
}

void counts_most(int waiting)
{
    pthread_mutex_lock(&counts_lock);
    if (waiting > counts.deepest)
        counts.deepest = waiting;
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
    fprintf(file, "calls: %d\n", calls_made());
    report(file, "blocks of memory", counts.blocks);
    report(file, "modules", counts.modules);
    report(file, "streams", counts.streams);
    report(file, "events", counts.events);
    report(file, "contexts", counts.contexts);
    report(file, "registrations of host memory", counts.registrations);
    fclose(file);
}
