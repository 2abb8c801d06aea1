/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * choice.c: Lists of names are matched against tables; sizes are words like 8, 4K or 8:4M:8, a
 * range with a factor. A wrong word ends the tool with a line.
 */
#include "tools/perf/choice.h"

#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "tools/launch/options.h"

#define BIT(number) (1u << (number))

const char *const perf_op_names[OP_COUNT] = {
    "idle",  "submit", "retrieve", "exchange", "broadcast", "launch", "region",
    "alloc", "settle", "ways",     "maps",     "head",      "turns"};
const char *const perf_path_names[WAY_COUNT] = {
    "raw", "raw-two-sided", "direct", "rma", "two-sided", "auto", "via-application"};

/* MPI counts are int. */
static const int64_t SIZE_MOST = INT64_C(1) << 30;

static unsigned read_names(const char *option, const char *text, const char *const *names,
                           int count)
{
    unsigned set = 0;
    char *copy = strdup(text), *rest = copy;
    for (const char *word; (word = strsep(&rest, ",")) != NULL;) {
        int found = 0;
        if (names == perf_path_names && strcmp(word, "one-sided") == 0)
            word = perf_path_names[WAY_RMA];
        while (found < count && strcmp(names[found], word) != 0)
            found++;
        if (found == count) {
            char known[256] = "";
            for (int i = 0; i < count; i++) {
                strcat(known, i ? ", " : "");
                strcat(known, names[i]);
            }
            option_fail("%s: \"%s\" is none of %s", option, word, known);
        }
        set |= BIT(found);
    }
    free(copy);
    return set;
}

void choice_ops(struct choice *choice, const char *text)
{
    choice->ops = read_names("--ops", text, perf_op_names, OP_COUNT);
}

void choice_paths(struct choice *choice, const char *text)
{
    choice->paths = read_names("--paths", text, perf_path_names, WAY_COUNT);
}

static void add_size(struct choice *choice, int64_t bytes)
{
    if (choice->size_count == SIZES_MOST)
        option_fail("--sizes: more than %d sizes", SIZES_MOST);
    choice->sizes[choice->size_count++] = (uint64_t)bytes;
}

static int64_t read_size(const char *option, const char *text)
{
    int64_t bytes;
    if (config_parse_bytes(text, &bytes) != OMPRMA_OK || bytes < 1 || bytes > SIZE_MOST)
        option_fail("%s: \"%s\" is not a size from 1 to 1G", option, text);
    return bytes;
}

void choice_spread(struct choice *choice, const char *text)
{
    choice->spread = (uint64_t)read_size("--spread", text);
}

void choice_sizes(struct choice *choice, const char *text)
{
    char *copy = strdup(text), *rest = copy;
    choice->size_count = 0;
    for (char *word; (word = strsep(&rest, ",")) != NULL;) {
        char *from = strsep(&word, ":"), *to = strsep(&word, ":"), *step = word;
        int64_t low = read_size("--sizes", from), high = to ? read_size("--sizes", to) : low;
        int factor = step ? option_number("--sizes: step", step, 1024) : 2;
        if (high < low || factor < 2)
            option_fail("--sizes %s: write FROM:TO or FROM:TO:FACTOR, with a FACTOR of 2 or more",
                        text);
        for (int64_t bytes = low; bytes <= high; bytes *= factor)
            add_size(choice, bytes);
    }
    free(copy);
}

void choice_backend(struct choice *choice, const char *text)
{
    if (strchr(text, ','))
        option_fail("--backend %s: give one kind", text);
    if (strcmp(text, "hsa") == 0)
        option_fail("--backend hsa: omprma-perf has no code for AMD GPUs; perf/gpu of omprma's "
                    "sources measures them");
    choice->backend = text;
    option_set("--backend", "BACKENDS", text);
}

bool perf_op_moves(enum perf_op op)
{
    return op == OP_SUBMIT || op == OP_RETRIEVE || op == OP_EXCHANGE || op == OP_BROADCAST ||
           op == OP_WAYS;
}

bool perf_op_sized(enum perf_op op)
{
    return op == OP_ALLOC || perf_op_moves(op);
}

void choice_begin(struct choice *choice)
{
    *choice = (struct choice){
        .ops = BIT(OP_SUBMIT) | BIT(OP_RETRIEVE) | BIT(OP_EXCHANGE) | BIT(OP_LAUNCH) |
               BIT(OP_REGION) | BIT(OP_ALLOC),
        .paths = BIT(WAY_COUNT) - 1,
        .backend = "native",
    };
    choice_sizes(choice, "8:256M");
}
