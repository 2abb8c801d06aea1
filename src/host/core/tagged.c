/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* tagged.c: mark and line lie behind each other, so that one call prints both. */
#include "host/core/tagged.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void print(struct tagged *line, FILE *stream)
{
    fwrite(line->text, 1, line->bytes, stream);
    line->bytes = 0;
}

/* False: no memory. */
static bool make_room(struct tagged *line, size_t bytes)
{
    char *longer;

    if (bytes <= line->room)
        return true;
    longer = realloc(line->text, 2 * bytes);
    if (!longer)
        return false;
    line->text = longer;
    line->room = 2 * bytes;
    return true;
}

static void append(struct tagged *line, FILE *stream, const char *text, size_t bytes)
{
    if (!make_room(line, line->bytes + bytes)) {
        print(line, stream);
        fwrite(text, 1, bytes, stream);
        return;
    }
    memcpy(line->text + line->bytes, text, bytes);
    line->bytes += bytes;
}

void tagged_print(struct tagged *line, const char *mark, FILE *stream, const char *text,
                  size_t bytes)
{
    while (bytes > 0) {
        const char *newline = memchr(text, '\n', bytes);
        size_t part = newline ? (size_t)(newline - text) + 1 : bytes;

        if (line->bytes == 0)
            append(line, stream, mark, strlen(mark));
        append(line, stream, text, part);
        if (newline)
            print(line, stream);
        text += part;
        bytes -= part;
    }
}

void tagged_end(struct tagged *line, FILE *stream)
{
    if (line->bytes > 0) {
        append(line, stream, "\n", 1);
        print(line, stream);
    }
    free(line->text);
    *line = (struct tagged){0};
}
