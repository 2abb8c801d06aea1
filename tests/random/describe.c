/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* describe.c: random programs in words, and which of their operations are left. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/random/random.h"

static const char *const names[RANDOM_KINDS] = {
    [RANDOM_QUEUE_CREATE] = "queue create",
    [RANDOM_QUEUE_DESTROY] = "queue destroy",
    [RANDOM_FLUSH] = "flush",
    [RANDOM_QUERY] = "query once",
    [RANDOM_QUERY_DONE] = "query until done",
    [RANDOM_SYNCHRONIZE] = "synchronize",
    [RANDOM_NOTIFY] = "notify",
    [RANDOM_NOTIFIED] = "wait for the last notify",
    [RANDOM_RENEW] = "event destroy and create",
    [RANDOM_RECORD] = "record",
    [RANDOM_WAIT] = "wait",
    [RANDOM_EVENT_QUERY] = "event query once",
    [RANDOM_EVENT_DONE] = "event query until done",
    [RANDOM_EVENT_SYNCHRONIZE] = "event synchronize",
    [RANDOM_ALLOC] = "alloc",
    [RANDOM_FREE] = "free",
    [RANDOM_WRITE] = "write",
    [RANDOM_LOOK] = "look",
    [RANDOM_SUBMIT] = "submit",
    [RANDOM_RETRIEVE] = "retrieve",
    [RANDOM_EXCHANGE] = "exchange",
    [RANDOM_BROADCAST] = "broadcast",
    [RANDOM_PATTERN] = "fill",
    [RANDOM_FILL] = "launch fill",
    [RANDOM_ADD] = "launch add",
    [RANDOM_COPY] = "launch copy",
    [RANDOM_SUM] = "launch sum",
    [RANDOM_NAP] = "launch nap",
    [RANDOM_PAUSE] = "pause",
    [RANDOM_BAD_SUBMIT] = "submit to unmapped memory",
    [RANDOM_BAD_RETRIEVE] = "retrieve from unmapped memory",
    [RANDOM_BAD_EXCHANGE] = "exchange to unmapped memory",
    [RANDOM_OVERRUN] = "submit past the end of a block",
    [RANDOM_NO_KERNEL] = "launch of no kernel",
    [RANDOM_TOO_MUCH] = "alloc of too much",
    [RANDOM_HANDOFF] = "after thread",
};

static int describe_place(char *text, size_t size, const char *word,
                          const struct random_place *place)
{
    if (place->block == RANDOM_HOST)
        return snprintf(text, size, " %s host+%llu", word, (unsigned long long)place->at);
    if (place->block < RANDOM_ALLOCATED)
        return snprintf(text, size, " %s global of %d+%llu", word, place->block - RANDOM_GLOBAL,
                        (unsigned long long)place->at);
    return snprintf(text, size, " %s block %d+%llu", word, place->block - RANDOM_ALLOCATED,
                    (unsigned long long)place->at);
}

static bool has_from(enum random_kind kind)
{
    return kind == RANDOM_LOOK || kind == RANDOM_SUBMIT || kind == RANDOM_RETRIEVE ||
           kind == RANDOM_EXCHANGE || kind == RANDOM_BROADCAST || kind == RANDOM_COPY ||
           kind == RANDOM_SUM || kind == RANDOM_BAD_EXCHANGE;
}

static bool has_to(enum random_kind kind)
{
    return kind == RANDOM_WRITE || (kind >= RANDOM_SUBMIT && kind <= RANDOM_EXCHANGE) ||
           (kind >= RANDOM_PATTERN && kind <= RANDOM_SUM) || kind == RANDOM_OVERRUN ||
           kind == RANDOM_ALLOC || kind == RANDOM_FREE;
}

static bool has_queue(enum random_kind kind)
{
    return kind <= RANDOM_NOTIFIED || kind == RANDOM_RECORD || kind == RANDOM_WAIT ||
           (kind >= RANDOM_SUBMIT && kind <= RANDOM_NAP && kind != RANDOM_BROADCAST) ||
           (kind >= RANDOM_BAD_SUBMIT && kind <= RANDOM_NO_KERNEL);
}

void random_describe(const struct random_operation *o, char *text, size_t size)
{
    size_t at = (size_t)snprintf(text, size, "thread %d: %s", o->thread, names[o->kind]);

    if (has_queue(o->kind))
        at += (size_t)snprintf(text + at, size - at, ", queue %d", o->queue);
    if (o->kind >= RANDOM_RENEW && o->kind <= RANDOM_EVENT_SYNCHRONIZE)
        at += (size_t)snprintf(text + at, size - at, ", event %d", o->event);
    if (o->kind == RANDOM_QUEUE_CREATE || o->kind == RANDOM_ALLOC || o->kind == RANDOM_BAD_EXCHANGE)
        at += (size_t)snprintf(text + at, size - at, ", device %d", o->peer);
    if (o->kind == RANDOM_HANDOFF)
        at += (size_t)snprintf(text + at, size - at, " %d", o->peer);
    if (has_from(o->kind) || has_to(o->kind) || o->kind == RANDOM_BAD_SUBMIT ||
        o->kind == RANDOM_BAD_RETRIEVE)
        at += (size_t)snprintf(text + at, size - at, ", %llu bytes", (unsigned long long)o->bytes);
    if (o->kind == RANDOM_PATTERN)
        at += (size_t)snprintf(text + at, size - at, " by %llu of 0x%llx",
                               (unsigned long long)random_pattern_bytes(o),
                               (unsigned long long)o->value);
    if (o->kind == RANDOM_FILL || o->kind == RANDOM_ADD)
        at += (size_t)snprintf(text + at, size - at, " by %d", (int)(unsigned char)o->value);
    if (o->kind == RANDOM_NAP || o->kind == RANDOM_PAUSE)
        at += (size_t)snprintf(text + at, size - at, " of %d us", (int)o->value);
    if (has_from(o->kind))
        at += (size_t)describe_place(text + at, size - at, "from", &o->from);
    if (has_to(o->kind))
        at += (size_t)describe_place(text + at, size - at, "to", &o->to);
    for (int i = 0; o->kind == RANDOM_BROADCAST && i < o->targets; i++) {
        at += (size_t)describe_place(text + at, size - at, "to", &o->target[i].to);
        at += (size_t)snprintf(text + at, size - at, " (queue %d)", o->target[i].queue);
    }
}

void random_print(const struct random_program *program)
{
    char text[8 * RANDOM_OPERATIONS_MOST];

    random_list_kept(program, text, sizeof(text));
    fprintf(stderr, "the program: seed %llu, operations %s\n", (unsigned long long)program->seed,
            text);
    for (int i = 0; i < program->count; i++) {
        random_describe(&program->operation[i], text, sizeof(text));
        fprintf(stderr, "%4d  %s\n", program->operation[i].number, text);
    }
}

void random_list_kept(const struct random_program *program, char *text, size_t size)
{
    size_t at = 0;

    text[0] = 0;
    for (int i = 0; i < program->count && at < size;) {
        int first = program->operation[i].number, last = first;

        while (++i < program->count && program->operation[i].number == last + 1)
            last++;
        at += (size_t)snprintf(text + at, size - at, "%d", first);
        if (last > first && at < size)
            at += (size_t)snprintf(text + at, size - at, "-%d", last);
        if (i < program->count && at < size)
            at += (size_t)snprintf(text + at, size - at, ",");
    }
}

bool random_keep(struct random_program *program, const char *kept)
{
    int count = 0;

    for (int i = 0; *kept;) {
        char *end;
        long first = strtol(kept, &end, 10), last = first;

        if (end != kept && *end == '-')
            last = strtol(kept = end + 1, &end, 10);
        if (end == kept || (*end && *end != ',') || last < first)
            return false;
        for (; i < program->count && program->operation[i].number <= last; i++)
            if (program->operation[i].number >= first)
                program->operation[count++] = program->operation[i];
        kept = *end ? end + 1 : end;
    }
    program->count = count;
    return true;
}
