/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * signal.c: values are changed by atomic operations of whoever changes them. The lists of all
 * signals are under one lock; who changes a value takes it only where something watches the signal.
 * To watch one is: be counted, then look at the value; to change one: change it, then look whether
 * anybody is counted. So one of the two sees the other.
 */
#include "hsa/signal.h"

#include <stdlib.h>

#include "base/clock.h"
#include "hsa/attendant.h"
#include "hsa/condition.h"
#include "hsa/operations.h"
#include "hsa/sleeper.h"
#include "hsa/signal_times.h"

static pthread_mutex_t signals_lock = PTHREAD_MUTEX_INITIALIZER;

struct signal *signal_of(hsa_signal_t handle)
{
    return (struct signal *)(uintptr_t)handle.handle; // NOLINT(performance-no-int-to-ptr)
}

hsa_signal_t signal_handle(struct signal *signal)
{
    return (hsa_signal_t){(uint64_t)(uintptr_t)signal};
}

void mark_drop(struct mark *mark)
{
    if (mark && atomic_fetch_sub(&mark->references, 1) == 1) {
        omprma_event_destroy(mark->event);
        free(mark);
    }
}

/* ---- life ----------------------------------------------------------------------------------- */

struct signal *signal_make(hsa_signal_value_t value)
{
    size_t bytes = (sizeof(struct signal) + 63) / 64 * 64;
    struct signal *signal = aligned_alloc(64, bytes);

    if (!signal)
        return NULL;
    *signal = (struct signal){.amd = {.kind = AMD_SIGNAL_KIND_USER, .value = value}};
    TAILQ_INIT(&signal->arrivals);
    TAILQ_INIT(&signal->watches);
    return signal;
}

void signal_free(struct signal *signal)
{
    struct arrival *arrival;
    struct watch *watch;

    if (!signal)
        return;
    pthread_mutex_lock(&signals_lock);
    TAILQ_FOREACH(arrival, &signal->arrivals, link)
    {
        arrival->signal = NULL;
    }
    while ((watch = TAILQ_FIRST(&signal->watches))) {
        TAILQ_REMOVE(&signal->watches, watch, link);
        watch->dropped = true;
        attendant_give(watch);
    }
    attendant_forget(signal);
    pthread_mutex_unlock(&signals_lock);
    free(signal);
}

/* ---- values that change --------------------------------------------------------------------- */

/* Under the lock. */
static void watches_look(struct signal *signal)
{
    hsa_signal_value_t value = __atomic_load_n(&signal->amd.value, __ATOMIC_SEQ_CST);
    struct watch *next = NULL;

    for (struct watch *watch = TAILQ_FIRST(&signal->watches); watch; watch = next) {
        next = TAILQ_NEXT(watch, link);
        if (!condition_met(watch->condition, value & watch->mask, watch->compare))
            continue;
        TAILQ_REMOVE(&signal->watches, watch, link);
        watch->seen = value;
        attendant_give(watch);
    }
}

/* Before and after the program changes its value. Whoever sees the new one may destroy the signal,
 * which waits for the lock. A doorbell lives as long as its queue. */
static void change_begins(struct signal *signal)
{
    if (!signal->rings)
        pthread_mutex_lock(&signals_lock);
}

static void change_ends(struct signal *signal)
{
    if (signal->rings) {
        signal->rings(signal->ringer);
        return;
    }
    watches_look(signal);
    pthread_mutex_unlock(&signals_lock);
    sleepers_wake();
}

/* Under the lock. */
static void count_down(struct signal *signal, bool failed)
{
    if (times_are_kept())
        signal->amd.end_ts = (uint64_t)clock_ns();
    if (failed)
        __atomic_store_n(&signal->amd.value, -1, __ATOMIC_SEQ_CST);
    else
        __atomic_fetch_sub(&signal->amd.value, 1, __ATOMIC_SEQ_CST);
    watches_look(signal);
}

void signal_begins(struct signal *signal)
{
    if (signal && times_are_kept()) {
        signal->amd.start_ts = (uint64_t)clock_ns();
        signal->amd.end_ts = 0;
    }
}

void signal_expect(struct signal *signal, struct arrival *arrival, struct mark *mark)
{
    arrival->signal = signal;
    arrival->mark = mark;
    if (!signal)
        return;
    pthread_mutex_lock(&signals_lock);
    TAILQ_INSERT_TAIL(&signal->arrivals, arrival, link);
    pthread_mutex_unlock(&signals_lock);
}

void signal_arrived(struct arrival *arrival, bool failed)
{
    pthread_mutex_lock(&signals_lock);
    if (arrival->signal) {
        TAILQ_REMOVE(&arrival->signal->arrivals, arrival, link);
        count_down(arrival->signal, failed);
    }
    pthread_mutex_unlock(&signals_lock);
    mark_drop(arrival->mark);
    sleepers_wake();
}

void signal_count_down(struct signal *signal, bool failed)
{
    if (!signal)
        return;
    pthread_mutex_lock(&signals_lock);
    count_down(signal, failed);
    pthread_mutex_unlock(&signals_lock);
    sleepers_wake();
}

bool signal_watch(struct signal *signal, struct watch *watch)
{
    if (!attendant_start(watch->calls_program))
        return false;
    pthread_mutex_lock(&signals_lock);
    watch->signal = signal;
    TAILQ_INSERT_TAIL(&signal->watches, watch, link);
    watches_look(signal);
    pthread_mutex_unlock(&signals_lock);
    return true;
}

/* ---- what others depend on ------------------------------------------------------------------ */

bool signal_is_met(struct signal *signal)
{
    return !signal || __atomic_load_n(&signal->amd.value, __ATOMIC_SEQ_CST) <= 0;
}

/* Under the lock. */
static bool needs_add_arrivals(struct needs *needs, struct signal *signal)
{
    hsa_signal_value_t left = __atomic_load_n(&signal->amd.value, __ATOMIC_SEQ_CST);
    int count = needs->count;
    struct arrival *arrival = NULL;

    if (left <= 0)
        return true;
    TAILQ_FOREACH(arrival, &signal->arrivals, link)
    {
        if (arrival->mark && count < NEEDS_MOST)
            needs->marks[count++] = arrival->mark;
    }
    if (left > count - needs->count)
        return false;
    for (; needs->count < count; needs->count++)
        atomic_fetch_add(&needs->marks[needs->count]->references, 1);
    return true;
}

bool needs_add(struct needs *needs, struct signal *signal)
{
    bool known;

    if (signal_is_met(signal))
        return true;
    pthread_mutex_lock(&signals_lock);
    known = needs_add_arrivals(needs, signal);
    pthread_mutex_unlock(&signals_lock);
    return known;
}

void needs_drop(struct needs *needs)
{
    while (needs->count > 0)
        mark_drop(needs->marks[--needs->count]);
}

/* ---- operations.h --------------------------------------------------------------------------- */

hsa_signal_value_t signal_load(hsa_signal_t handle)
{
    struct signal *signal = signal_of(handle);
    hsa_signal_value_t value = __atomic_load_n(&signal->amd.value, __ATOMIC_SEQ_CST);

    if (value == 0 || signal->rings)
        return value;
    sleeper_progress(); /* who asks in a loop waits for it */
    return __atomic_load_n(&signal->amd.value, __ATOMIC_SEQ_CST);
}

void signal_store(hsa_signal_t handle, hsa_signal_value_t value)
{
    struct signal *signal = signal_of(handle);

    change_begins(signal);
    __atomic_store_n(&signal->amd.value, value, __ATOMIC_SEQ_CST);
    change_ends(signal);
}

void signal_silent_store(hsa_signal_t handle, hsa_signal_value_t value)
{
    __atomic_store_n(&signal_of(handle)->amd.value, value, __ATOMIC_SEQ_CST);
}

#define SIGNAL_CHANGE(name, operation)                                                             \
    void signal_##name(hsa_signal_t handle, hsa_signal_value_t value)                              \
    {                                                                                              \
        struct signal *signal = signal_of(handle);                                                 \
        change_begins(signal);                                                                     \
        __atomic_fetch_##operation(&signal->amd.value, value, __ATOMIC_SEQ_CST);                   \
        change_ends(signal);                                                                       \
    }
SIGNAL_CHANGE(add, add)
SIGNAL_CHANGE(subtract, sub)
SIGNAL_CHANGE(and, and)
SIGNAL_CHANGE(or, or)
SIGNAL_CHANGE(xor, xor)

hsa_signal_value_t signal_exchange(hsa_signal_t handle, hsa_signal_value_t value)
{
    struct signal *signal = signal_of(handle);
    hsa_signal_value_t before;

    change_begins(signal);
    before = __atomic_exchange_n(&signal->amd.value, value, __ATOMIC_SEQ_CST);
    change_ends(signal);
    return before;
}

hsa_signal_value_t signal_cas(hsa_signal_t handle, hsa_signal_value_t expected,
                              hsa_signal_value_t value)
{
    struct signal *signal = signal_of(handle);

    change_begins(signal);
    __atomic_compare_exchange_n(&signal->amd.value, &expected, value, false, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
    change_ends(signal);
    return expected;
}
