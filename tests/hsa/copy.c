/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * copy.c: copies that begin when the signals on which they depend are 0. Two threads do those that
 * may begin, in any order. See standin.h.
 */
#include "standin.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ENGINES = 2, TIMED_LEAST = 32 << 10 };

/* Rows of bytes, and slices of rows. */
struct copy {
    struct copy *next;
    char *to;
    const char *from;
    size_t bytes, rows, slices;
    size_t to_pitch, to_slice, from_pitch, from_slice;
    struct agent *agents[2]; /* of both sides: NULL, or the processor, or GPUs */
    hsa_signal_t done;
    uint64_t over_ns; /* of a timed one */
    uint32_t count;
    hsa_signal_t signals[]; /* on which it depends */
};

static struct copy *copies; /* with world_lock */
static struct copy *timed;  /* for who measures: they are over at a time */
static uint64_t free_ns[2]; /* when what a GPU copies in, and out, is over */
static pthread_t engines[ENGINES];
static pthread_cond_t added = PTHREAD_COND_INITIALIZER;
static bool stop;

/* ---- doing one ---- */

static size_t span(const struct copy *copy, size_t pitch, size_t slice)
{
    return copy->bytes + (copy->rows - 1) * pitch + (copy->slices - 1) * slice;
}

/* Where the stand-in reaches both ends if that agent may; it may not: `to` is NULL. */
static void reach(const struct copy *copy, const struct agent *agent, char **to, const char **from)
{
    bool host = agent->device < 0; /* the processor itself copies between its own */

    *to = memory_reach(copy->to, span(copy, copy->to_pitch, copy->to_slice), agent, host);
    *from = memory_reach(copy->from, span(copy, copy->from_pitch, copy->from_slice), agent, host);
    if (!*from)
        *to = NULL;
}

/* A GPU of either side does it, if one is named. */
static bool find_ends(const struct copy *copy, char **to, const char **from)
{
    bool any = copy->agents[0]->device >= 0 || copy->agents[1]->device >= 0;

    for (int i = 0; i < 2; i++) {
        if (any && copy->agents[i]->device < 0)
            continue;
        reach(copy, copy->agents[i], to, from);
        if (*to)
            return true;
    }
    return false;
}

static bool is_lost(const struct copy *copy)
{
    return copy->agents[0]->lost || copy->agents[1]->lost;
}

/* Held by who moves, and by who loses a GPU: nothing touches its copies' memory afterwards. */
static pthread_rwlock_t moving = PTHREAD_RWLOCK_INITIALIZER;

static bool move(const struct copy *copy, char *to, const char *from)
{
    bool moves;

    pthread_rwlock_rdlock(&moving);
    moves = !is_lost(copy);
    for (size_t slice = 0; moves && slice < copy->slices; slice++)
        for (size_t row = 0; row < copy->rows; row++)
            memmove(to + slice * copy->to_slice + row * copy->to_pitch,
                    from + slice * copy->from_slice + row * copy->from_pitch, copy->bytes);
    pthread_rwlock_unlock(&moving);
    return moves;
}

bool copies_lose(struct agent *agent)
{
    bool was_lost;

    pthread_rwlock_wrlock(&moving);
    was_lost = atomic_exchange(&agent->lost, true);
    pthread_rwlock_unlock(&moving);
    return was_lost;
}

static void do_copy(struct copy *copy)
{
    struct agent *agent = copy->agents[copy->agents[0]->device < 0];
    uint64_t start = now_ns();
    const char *from;
    char *to;

    if (is_lost(copy))
        return;
    if (!find_ends(copy, &to, &from)) {
        agent_fault(agent, (uint64_t)(uintptr_t)copy->to, "a copy of what it may not touch");
        return;
    }
    if (!move(copy, to, from))
        return;
    counts_add(&counts.copies, 1);
    signal_times(copy->done, start, now_ns());
    signal_subtract(copy->done, 1);
}

/* ---- engines ---- */

static bool is_ready(const struct copy *copy)
{
    for (uint32_t i = 0; i < copy->count; i++)
        if (signal_load(copy->signals[i]) != 0)
            return false;
    return true;
}

/* Any of those that may begin. */
static struct copy *take_ready(unsigned *seed)
{
    struct copy **chosen = NULL, *copy;
    int ready = 0;

    for (struct copy **link = &copies; *link; link = &(*link)->next)
        if (is_ready(*link) && rand_r(seed) % ++ready == 0)
            chosen = link;
    if (!chosen)
        return NULL;
    copy = *chosen;
    *chosen = copy->next;
    return copy;
}

/* Instead of a copy: its time. */
static void take_time(struct copy *copy)
{
    bool out = memory_reach(copy->to, 1, NULL, false) == NULL;
    uint64_t now = now_ns();

    if (free_ns[out] < now)
        free_ns[out] = now;
    free_ns[out] += copy->bytes * copy->rows * copy->slices / (unsigned)settings.gbps;
    copy->over_ns = free_ns[out];
    copy->next = timed;
    timed = copy;
}

static bool end_timed(void)
{
    for (struct copy **link = &timed; *link; link = &(*link)->next) {
        struct copy *copy = *link;

        if (copy->over_ns > now_ns())
            continue;
        *link = copy->next;
        __atomic_fetch_sub(&((amd_signal_t *)(uintptr_t)copy->done.handle)->value, 1,
                           __ATOMIC_SEQ_CST);
        free(copy);
        return true;
    }
    return false;
}

static bool is_timed(const struct copy *copy)
{
    size_t bytes = copy->bytes * copy->rows * copy->slices;

    return settings_measure() && bytes >= TIMED_LEAST && !calls_copy_moves(bytes);
}

bool copies_step(unsigned *seed)
{
    struct copy *copy;

    if (timed && end_timed())
        return true;
    copy = take_ready(seed);
    if (!copy)
        return false;
    if (is_timed(copy)) {
        take_time(copy);
        return true;
    }
    pthread_mutex_unlock(&world_lock);
    be_late(seed);
    do_copy(copy);
    free(copy);
    pthread_mutex_lock(&world_lock);
    return true;
}

static void *run(void *number)
{
    unsigned seed = (unsigned)(uintptr_t)number;

    pthread_mutex_lock(&world_lock);
    while (!stop) {
        if (!settings_measure() && copies_step(&seed))
            continue;
        if (settings_measure() || !copies)
            pthread_cond_wait(&added, &world_lock);
        else
            world_wait(500);
    }
    pthread_mutex_unlock(&world_lock);
    return NULL;
}

void copies_begin(void)
{
    stop = false;
    for (int i = 0; i < ENGINES; i++)
        if (pthread_create(&engines[i], NULL, run, (void *)(uintptr_t)(i + 1)) != 0)
            abort();
}

void copies_end(void)
{
    pthread_mutex_lock(&world_lock);
    stop = true;
    pthread_cond_broadcast(&added);
    world_changed();
    pthread_mutex_unlock(&world_lock);
    for (int i = 0; i < ENGINES; i++)
        pthread_join(engines[i], NULL);
    while (copies) {
        struct copy *copy = copies;

        copies = copy->next;
        free(copy);
    }
}

/* ---- what programs call ---- */

/* Without dependencies the real one does not take a list, either. */
static hsa_status_t add(struct copy copy, uint32_t count, const hsa_signal_t *signals)
{
    struct copy *one, **link = &copies;

    if (!copy.agents[0] || !copy.agents[1])
        return HSA_STATUS_ERROR_INVALID_AGENT;
    if (!copy.done.handle || (count > 0) != (signals != NULL))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    one = malloc(sizeof(*one) + count * sizeof(*signals));
    if (!one)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    *one = copy;
    one->count = count;
    for (uint32_t i = 0; i < count; i++)
        one->signals[i] = signals[i];
    pthread_mutex_lock(&world_lock);
    while (*link)
        link = &(*link)->next;
    *link = one;
    if (!settings_measure()) {
        pthread_cond_broadcast(&added);
        world_changed();
    }
    pthread_mutex_unlock(&world_lock);
    world_advance();
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_memory_async_copy(void *to, hsa_agent_t to_agent, const void *from,
                                       hsa_agent_t from_agent, size_t bytes, uint32_t count,
                                       const hsa_signal_t *signals, hsa_signal_t done)
{
    const struct copy copy = {.to = to,
                              .from = from,
                              .bytes = bytes,
                              .rows = 1,
                              .slices = 1,
                              .agents = {agent_of(to_agent), agent_of(from_agent)},
                              .done = done};

    ENTER;
    if (!to || !from)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return add(copy, count, signals);
}

static size_t start_of(const hsa_pitched_ptr_t *end, const hsa_dim3_t *offset)
{
    return offset->x + offset->y * end->pitch + offset->z * end->slice;
}

hsa_status_t hsa_amd_memory_async_copy_rect(const hsa_pitched_ptr_t *to,
                                            const hsa_dim3_t *to_offset,
                                            const hsa_pitched_ptr_t *from,
                                            const hsa_dim3_t *from_offset, const hsa_dim3_t *range,
                                            hsa_agent_t agent, hsa_amd_copy_direction_t direction,
                                            uint32_t count, const hsa_signal_t *signals,
                                            hsa_signal_t done)
{
    struct copy copy = {.done = done};

    ENTER;
    (void)direction;
    if (!to || !from || !range->x || !range->y || !range->z)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    copy.to = (char *)to->base + start_of(to, to_offset);
    copy.from = (const char *)from->base + start_of(from, from_offset);
    copy.bytes = range->x;
    copy.rows = range->y;
    copy.slices = range->z;
    copy.to_pitch = to->pitch;
    copy.to_slice = to->slice;
    copy.from_pitch = from->pitch;
    copy.from_slice = from->slice;
    copy.agents[0] = copy.agents[1] = agent_of(agent);
    return add(copy, count, signals);
}
