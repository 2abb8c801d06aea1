/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* mark.c: the mark goes in front of the endings that a file's name may have. */
#include "host/report/mark.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "control/direct/local_rank.h"

void mark_make(char *text, size_t bytes)
{
    int rank = rank_find();

    snprintf(text, bytes, "%d", rank >= 0 ? rank : (int)getpid());
}

static size_t without(const char *path, size_t length, const char *ending)
{
    size_t bytes = strlen(ending);

    return length > bytes && strncmp(path + length - bytes, ending, bytes) == 0 ? length - bytes
                                                                                : length;
}

static void mark_file(char *path, const char *mark)
{
    char marked[CONFIG_TEXT_BYTES];
    size_t length = strlen(path), front = without(path, length, ".gz");

    front = without(path, front, ".json");
    if (length && (size_t)snprintf(marked, sizeof(marked), "%.*s.%s%s", (int)front, path, mark,
                                   path + front) < sizeof(marked))
        memcpy(path, marked, sizeof(marked));
}

void mark_files(struct config *config)
{
    char mark[24];

    mark_make(mark, sizeof(mark));
    mark_file(config->stats_file, mark);
    mark_file(config->trace, mark);
}
