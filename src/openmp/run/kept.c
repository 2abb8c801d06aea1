/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* kept.c: see kept.h. A list of addresses, each with as many dimensions as there may be. */
#include "openmp/run/kept.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "openmp/site/report.h"

enum { DIMENSIONS = 16 }; /* of one part, at most */

struct kept {
    struct kept *next;
    const struct dimension *at;
    int count;
    struct dimension dimensions[];
};

static _Thread_local const struct kept *used;

/* Behind the last byte of the calling thread's stack; NULL: not known. */
static const char *stack_end(void)
{
    static _Thread_local const char *end;
    static _Thread_local bool asked;
    pthread_attr_t attributes;
    void *begin;
    size_t bytes;
    if (asked)
        return end;
    asked = true;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0)
        return NULL;
    if (pthread_attr_getstack(&attributes, &begin, &bytes) == 0)
        end = (const char *)begin + bytes;
    pthread_attr_destroy(&attributes);
    return end;
}

/* What is no dimension for sure, such as an address or most numbers with a point, is left out. */
static bool may_be_dimension(const volatile struct dimension *at)
{
    return (at->offset | at->count | at->stride) >> 40 == 0;
}

/* The program's stack may be one that its sanitizer watches, so its memory is read word by word. */
static struct kept *keep(const struct dimension *at, const char *end)
{
    const volatile struct dimension *from = at;
    size_t most = (size_t)(end - (const char *)at) / sizeof(*at), count = 0;
    while (count < most && count < DIMENSIONS && may_be_dimension(&from[count]))
        count++;
    if (count == 0)
        return NULL;
    struct kept *kept = malloc(sizeof(*kept) + count * sizeof(*at));
    if (!kept) {
        report(NULL, NULL, "no host memory for the dimensions of a target construct");
        report_fatal(NULL);
    }
    *kept = (struct kept){.at = at, .count = (int)count};
    for (size_t i = 0; i < count; i++)
        kept->dimensions[i] = (struct dimension){from[i].offset, from[i].count, from[i].stride};
    return kept;
}

struct kept *kept_make(const struct task *task, size_t shared_bytes)
{
    void *const *words = (void *const *)task;
    size_t bytes = (size_t)((const char *)task->shareds + shared_bytes - (const char *)task);
    size_t count = bytes / sizeof(void *);
    const char *begin = __builtin_frame_address(0), *end = stack_end();
    struct kept *all = NULL;
    for (size_t i = 0; i < count; i++) {
        const char *word = words[i];
        bool inside = word > begin && word < end && (uintptr_t)word % sizeof(void *) == 0;
        struct kept *kept = inside ? keep((const void *)word, end) : NULL;
        if (kept) {
            kept->next = all;
            all = kept;
        }
    }
    return all;
}

void kept_free(struct kept *kept)
{
    while (kept) {
        struct kept *next = kept->next;
        free(kept);
        kept = next;
    }
}

const struct kept *kept_use(const struct kept *kept)
{
    const struct kept *before = used;
    used = kept;
    return before;
}

const struct dimension *kept_dimensions(const struct dimension *at, int count)
{
    for (const struct kept *each = used; each; each = each->next)
        if (each->at == at && count <= each->count)
            return each->dimensions;
    return at;
}
