/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* ranges.c: the first pair of brackets is resolved, and what comes of it again. */
#include "tools/launch/ranges.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_MOST = 9 };

/* "07" or "7-12": the numbers, and how many digits they have at least. */
static bool read_range(const char *text, long *first, long *last, int *digits)
{
    size_t length = strspn(text, "0123456789");
    const char *end = text + length;
    if (length == 0 || length > DIGITS_MOST)
        return false;
    *digits = (int)length;
    *first = *last = strtol(text, NULL, 10);
    if (!*end)
        return true;
    length = strspn(end + 1, "0123456789");
    if (*end != '-' || length == 0 || length > DIGITS_MOST || end[1 + length])
        return false;
    *last = strtol(end + 1, NULL, 10);
    return *first <= *last;
}

/* `inside` is what stands in the brackets, and is taken apart. */
static bool expand_each(const char *before, char *inside, const char *behind, struct list *names)
{
    char *part;
    while ((part = strsep(&inside, ",")) != NULL) {
        long first, last;
        int digits;
        if (!read_range(part, &first, &last, &digits))
            return false;
        for (long number = first; number <= last; number++) {
            char *word = text_make("%s%0*ld%s", before, digits, number, behind);
            bool good = ranges_expand(word, names);
            free(word);
            if (!good)
                return false;
        }
    }
    return true;
}

bool ranges_expand(const char *word, struct list *names)
{
    const char *open = strchr(word, '['), *close = open ? strchr(open, ']') : NULL;
    if (!open && !strchr(word, ']')) {
        if (names->count >= RANGES_MOST)
            return false;
        list_add(names, word);
        return true;
    }
    if (!close)
        return false;
    char *before = text_make("%.*s", (int)(open - word), word);
    char *inside = text_make("%.*s", (int)(close - open - 1), open + 1);
    bool good = expand_each(before, inside, close + 1, names);
    free(inside);
    free(before);
    return good;
}

char *ranges_next(char **rest)
{
    char *item = *rest, *end = item;
    bool inside = false;
    if (!item)
        return NULL;
    for (; *end && (inside || *end != ','); end++)
        inside = *end == '[' || (inside && *end != ']');
    *rest = *end ? end + 1 : NULL;
    *end = '\0';
    return item;
}
