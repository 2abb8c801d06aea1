/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* settings.c: the environment is read once; a call that is to fail is counted down to. */
#include "standin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct settings settings;
struct standin_counts counts;
pthread_mutex_t counts_lock = PTHREAD_MUTEX_INITIALIZER;

/* The call that fails; number 0: none does. */
static struct {
    char function[64]; /* empty: any */
    int number, code, seen;
} failing;

static long number_of(const char *name, long otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtol(text, NULL, 10) : otherwise;
}

static void read_failing(void)
{
    const char *text = getenv("STANDIN_FAIL");
    const char *colon = text ? strchr(text, ':') : NULL;

    memset(&failing, 0, sizeof(failing));
    failing.code = UNKNOWN;
    if (!text)
        return;
    if (*text < '0' || *text > '9') {
        if (!colon)
            return;
        snprintf(failing.function, sizeof(failing.function), "%.*s", (int)(colon - text), text);
        text = colon + 1;
        colon = strchr(text, ':');
    }
    failing.number = atoi(text);
    if (colon)
        failing.code = atoi(colon + 1);
}

void settings_read(void)
{
    const char *code = getenv("STANDIN_CODE");

    settings.devices = (int)number_of("STANDIN_DEVICES", 1);
    settings.version = (int)number_of("STANDIN_VERSION", 12040);
    settings.capability = (int)number_of("STANDIN_CAPABILITY", 90);
    settings.memory_bytes = (size_t)number_of("STANDIN_MEMORY", 1024) << 20;
    settings.gbps = (int)number_of("STANDIN_SPEED", 0);
    settings.takes_us = (int)number_of("STANDIN_TAKES", 0);
    settings.delay_us = (unsigned)number_of("STANDIN_DELAY", 200);
    settings.code = code ? code : "";
    if (settings.devices > DEVICES_MOST)
        settings.devices = DEVICES_MOST;
    pthread_mutex_lock(&counts_lock);
    read_failing();
    counts.calls = counts.deepest = 0;
    pthread_mutex_unlock(&counts_lock);
}

int call_begin(const char *function)
{
    bool fails = false;

    pthread_mutex_lock(&counts_lock);
    counts.calls++;
    if (failing.number && (!failing.function[0] || strcmp(failing.function, function) == 0))
        fails = ++failing.seen == failing.number;
    if (fails)
        counts.failed = function;
    pthread_mutex_unlock(&counts_lock);
    return fails ? failing.code : SUCCESS;
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
}

void standin_fail(int number, int code)
{
    pthread_mutex_lock(&counts_lock);
    memset(&failing, 0, sizeof(failing));
    failing.number = number;
    failing.code = code;
    pthread_mutex_unlock(&counts_lock);
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
    fprintf(file, "calls: %d\n", counts.calls);
    report(file, "blocks of memory", counts.blocks);
    report(file, "modules", counts.modules);
    report(file, "streams", counts.streams);
    report(file, "events", counts.events);
    report(file, "contexts", counts.contexts);
    report(file, "registrations of host memory", counts.registrations);
    fclose(file);
}
