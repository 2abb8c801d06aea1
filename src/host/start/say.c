/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* say.c: lines of the faces are lines of the log. The last error is kept, to tell it from the next
 * one. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <omprma_private/say.h>

#include "base/log.h"
#include "host/start/supervisor.h"

enum { LINE_BYTES = 2048 };

/* Keeps the error. False: it is the same as the last one. */
static bool error_is_new(const char *text)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char last[LINE_BYTES];
    bool is_new;

    pthread_mutex_lock(&lock);
    is_new = strncmp(text, last, sizeof(last) - 1) != 0;
    snprintf(last, sizeof(last), "%s", text);
    pthread_mutex_unlock(&lock);
    return is_new;
}

void omprma_say(int severity, const char *text)
{
    if (severity == OMPRMA_SAY_NOTE)
        log_write(LOG_NOTE, "%s", text);
    else if (severity == OMPRMA_SAY_WARNING)
        log_write(LOG_WARNING, "%s", text);
    else if (severity == OMPRMA_SAY_END)
        supervisor_tell_said();
    else if (error_is_new(text))
        log_write(LOG_ERROR, "%s", text);
}
