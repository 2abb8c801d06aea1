/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * paths.c: the words for paths in tables and JSON, and for what is carried. Everything else about a
 * device's paths is a decision by size, in line in paths.h.
 */
#include "host/core/paths.h"

#include <stdio.h>

const char *const paths_names[PATH_COUNT] = {"inline", "rma",    "two-sided", "application",
                                             "thread", "packed", "shared"};
const char *const data_names[DATA_KINDS] = {"submit", "retrieve", "exchange"};

const char *paths_size(uint64_t bytes, char *text, size_t room)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB"};
    size_t unit = 0;

    for (; bytes >= 1024 && unit + 1 < sizeof(units) / sizeof(units[0]); unit++)
        bytes /= 1024;
    snprintf(text, room, "%llu %s", (unsigned long long)bytes, units[unit]);
    return text;
}

const char *paths_words(uint64_t rma_from, char *text, size_t room)
{
    char size[32];

    if (rma_from == 0 || rma_from == COST_NEVER)
        snprintf(text, room, "%s", paths_names[rma_from == 0 ? PATH_RMA : PATH_TWO_SIDED]);
    else
        snprintf(text, room, "%s from %s on, %s below", paths_names[PATH_RMA],
                 paths_size(rma_from, size, sizeof(size)), paths_names[PATH_TWO_SIDED]);
    return text;
}
