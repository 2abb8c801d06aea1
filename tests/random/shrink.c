/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* shrink.c: leaves out of failing random programs what they do not need to fail. */
#include <stdlib.h>

#include "tests/random/random.h"

static bool without(const struct random_program *program, int first, int count,
                    struct random_program *rest)
{
    rest->seed = program->seed;
    rest->count = 0;
    for (int i = 0; i < program->count; i++)
        if (i < first || i >= first + count)
            rest->operation[rest->count++] = program->operation[i];
    return rest->count < program->count;
}

void random_shrink(struct random_program *program,
                   bool (*fails)(const struct random_program *program, void *data), void *data)
{
    struct random_program *rest = malloc(sizeof(*rest));
    bool smaller = true;

    for (int part = program->count / 2; rest && part > 0; part = smaller ? part : part / 2) {
        smaller = false;
        for (int first = program->count - part; first > -part; first -= part) {
            int from = first > 0 ? first : 0;

            if (!without(program, from, part, rest) || !fails(rest, data))
                continue;
            *program = *rest;
            smaller = part == 1; /* the last size until nothing goes any more */
        }
    }
    free(rest);
}
