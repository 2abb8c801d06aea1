/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* near.c: the distance of Levenshtein, row by row. */
#include "base/near.h"

#include <stdint.h>
#include <string.h>

size_t near_distance(const char *a, size_t length, const char *b)
{
    enum { LONGEST = 64 };
    size_t row[LONGEST + 1];
    size_t width = strlen(b);
    if (width > LONGEST)
        return SIZE_MAX;
    for (size_t j = 0; j <= width; j++)
        row[j] = j;
    for (size_t i = 1; i <= length; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            size_t change = diagonal + (a[i - 1] != b[j - 1]);
            size_t drop = row[j] + 1, add = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = change < drop ? change : drop;
            row[j] = row[j] < add ? row[j] : add;
        }
    }
    return row[width];
}
