/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* calls.c: a call that is to fail is counted down to. See calls.h. */
#include "calls.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

enum { MOVED_MOST = 32 << 20 };

static int made;
static const char *failed;

/* The call that fails; number 0: none does. */
static struct {
    char function[64]; /* empty: any */
    int number, code, seen;
} failing;

long calls_setting(const char *name, long otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtol(text, NULL, 10) : otherwise;
}

static void read_failing(int code)
{
    const char *text = getenv("STANDIN_FAIL");
    const char *colon = text ? strchr(text, ':') : NULL;

    memset(&failing, 0, sizeof(failing));
    failing.code = code;
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
        failing.code = (int)strtol(colon + 1, NULL, 0);
}

void calls_read(int code)
{
    pthread_mutex_lock(&lock);
    read_failing(code);
    made = 0;
    pthread_mutex_unlock(&lock);
}

int call_begin(const char *function)
{
    bool fails = false;

    pthread_mutex_lock(&lock);
    made++;
    if (failing.number && (!failing.function[0] || strcmp(failing.function, function) == 0))
        fails = ++failing.seen == failing.number;
    if (fails)
        failed = function;
    pthread_mutex_unlock(&lock);
    return fails ? failing.code : 0;
}

void calls_fail(const char *function, int number, int code)
{
    pthread_mutex_lock(&lock);
    memset(&failing, 0, sizeof(failing));
    if (function)
        snprintf(failing.function, sizeof(failing.function), "%s", function);
    failing.number = number;
    failing.code = code;
    failed = NULL;
    pthread_mutex_unlock(&lock);
}

int calls_made(void)
{
    int now;

    pthread_mutex_lock(&lock);
    now = made;
    pthread_mutex_unlock(&lock);
    return now;
}

const char *calls_failed(void)
{
    const char *now;

    pthread_mutex_lock(&lock);
    now = failed;
    pthread_mutex_unlock(&lock);
    return now;
}

bool calls_copy_moves(size_t bytes)
{
    static _Atomic size_t moved;

    return moved < MOVED_MOST && atomic_fetch_add(&moved, bytes) < MOVED_MOST;
}
