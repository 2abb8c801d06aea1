/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* report.c: Lines are made here, and written by omprma, so that all look alike. */
#include "face/driver/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <omprma_private/say.h>

enum { LINE_BYTES = 2048 };

static void say(int severity, const char *format, va_list arguments)
{
    char line[LINE_BYTES];

    vsnprintf(line, sizeof(line), format, arguments);
    omprma_say(severity, line);
}

void report_error(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(OMPRMA_SAY_ERROR, format, arguments);
    va_end(arguments);
}

void report_choice(const char *format, ...)
{
    const char *verbose = getenv("OMPRMA_VERBOSE");
    va_list arguments;

    if (!verbose || atoi(verbose) < 1)
        return;
    va_start(arguments, format);
    say(OMPRMA_SAY_NOTE, format, arguments);
    va_end(arguments);
}
