/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * error.c: One text and one code per thread. A text is formatted aside before it replaces the last
 * one, because it may quote it. Knows nothing of who fails or why.
 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char last_error[ERROR_TEXT_BYTES];
static _Thread_local int last_code;

omprma_status_t error_set(omprma_status_t status, const char *format, ...)
{
    /* Formatted aside, because an argument may be the last error itself, to be put into context. */
    char text[ERROR_TEXT_BYTES];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (length < 0) {
        snprintf(text, sizeof(text), "%s (its text cannot be formatted)",
                 omprma_status_string(status));
    } else if (length >= (int)sizeof(text)) {
        memcpy(text + sizeof(text) - 4, "...", 4);
    }
    memcpy(last_error, text, strlen(text) + 1);
    last_code = 0;
    return status;
}

omprma_status_t error_note_code(omprma_status_t status, int code)
{
    last_code = code;
    return status;
}

int error_code(void)
{
    return last_code;
}

const char *error_text(void)
{
    return last_error;
}
