/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* number_list.c: all of a list is read, so that one that makes no sense is always refused. */
#include "base/number_list.h"

#include <ctype.h>
#include <stdlib.h>

#include "base/error.h"

/* Takes a range, and the comma behind it; NULL: it makes no sense. */
static const char *range_take(const char *at, long *first, long *last)
{
    char *end;
    if (!isdigit((unsigned char)*at))
        return NULL;
    *first = *last = strtol(at, &end, 10);
    if (*end == '-') {
        at = end + 1;
        if (!isdigit((unsigned char)*at))
            return NULL;
        *last = strtol(at, &end, 10);
    }
    if (*last < *first || (*end && (*end != ',' || !end[1])))
        return NULL;
    return *end ? end + 1 : end;
}

omprma_status_t number_list_has(const char *list, int number, bool *has)
{
    *has = !*list;
    for (const char *at = list; *at;) {
        long first, last;
        at = range_take(at, &first, &last);
        if (!at)
            return error_set(OMPRMA_ERR_CONFIG,
                             "%s cannot be used; allowed: numbers and ranges, as in 0,2-3", list);
        *has = *has || (number >= first && number <= last);
    }
    return OMPRMA_OK;
}
