/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* words.c: takes words out of messages, by what stands before them. */
#include "tools/launch/words.h"

#include <stdio.h>
#include <string.h>

bool words_after(const char *text, const char *label, const char *ends, char *word, size_t room)
{
    const char *at = strstr(text, label);
    if (!at)
        return false;
    at += strlen(label);
    at += strspn(at, " \t");
    size_t length = strcspn(at, ends);
    snprintf(word, room, "%.*s", (int)(length < room ? length : room - 1), at);
    return length > 0;
}

bool words_number(const char *text, const char *label, int *number)
{
    const char *at = strstr(text, label);
    return at && sscanf(at + strlen(label), "%d", number) == 1;
}

void words_flatten(const char *message, char *line, size_t room)
{
    size_t used = 0;
    bool space = false;
    for (; *message && used + 2 < room; message++) {
        if (strchr(" \t\n", *message)) {
            space = used > 0;
            continue;
        }
        if (space)
            line[used++] = ' ';
        space = false;
        line[used++] = *message;
    }
    line[used] = 0;
}

bool words_agree(const char *begin, size_t bytes, const char *whole)
{
    size_t length = strlen(whole);
    return strncmp(begin, whole, bytes < length ? bytes : length) == 0;
}
