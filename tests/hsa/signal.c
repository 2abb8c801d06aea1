/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * signal.c: signals as the real runtime lays them out, waits for them, and the thread that calls
 * handlers. Destroyed signals are kept until the end, so that a use of one is found. See standin.h.
 */
#include "standin.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What a signal is in memory, and the list of those that are destroyed. */
struct signal {
    amd_signal_t amd;
    struct signal *next;
};

/* Called when a condition holds, or at once where there is no signal. */
struct handler {
    struct handler *next;
    hsa_signal_t signal;
    hsa_signal_condition_t condition;
    hsa_signal_value_t value;
    hsa_amd_signal_handler function;
    void (*plain)(void *data);
    void *data;
};

pthread_mutex_t world_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed, handler_added = PTHREAD_COND_INITIALIZER;
static _Atomic int waiting;

static struct signal *destroyed;
static struct handler *handlers;
static pthread_t handling;
static bool stop;

uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* ---- the world ---- */

void world_changed(void)
{
    pthread_cond_broadcast(&changed);
}

void world_wait(unsigned most_us)
{
    uint64_t until_ns = now_ns() + most_us * UINT64_C(1000);
    struct timespec until = {(time_t)(until_ns / 1000000000), (long)(until_ns % 1000000000)};

    waiting++;
    pthread_cond_timedwait(&changed, &world_lock, &until);
    waiting--;
}

void world_advance(void)
{
    static _Atomic bool advancing;
    unsigned seed = 1;

    if (!settings_measure() || atomic_exchange(&advancing, true))
        return;
    pthread_mutex_lock(&world_lock);
    while (copies_step(&seed) || queues_step())
        ;
    pthread_mutex_unlock(&world_lock);
    advancing = false;
}

static void tell_world(void)
{
    world_advance();
    if (!waiting)
        return;
    pthread_mutex_lock(&world_lock);
    world_changed();
    pthread_mutex_unlock(&world_lock);
}

/* ---- signals ---- */

static amd_signal_t *signal_of(hsa_signal_t handle)
{
    amd_signal_t *signal = (amd_signal_t *)(uintptr_t)handle.handle;

    if (signal &&
        (signal->kind == AMD_SIGNAL_KIND_USER || signal->kind == AMD_SIGNAL_KIND_DOORBELL))
        return signal;
    fprintf(stderr, "stand-in: %#llx is no signal, or is destroyed\n",
            (unsigned long long)handle.handle);
    abort();
}

static hsa_status_t create(hsa_signal_value_t value, hsa_signal_t *handle)
{
    struct signal *signal = aligned_alloc(64, (sizeof(*signal) + 63) / 64 * 64);

    if (!signal)
        return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
    memset(signal, 0, sizeof(*signal));
    signal->amd.kind = AMD_SIGNAL_KIND_USER;
    signal->amd.value = value;
    handle->handle = (uint64_t)(uintptr_t)signal;
    counts_add(&counts.signals, 1);
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_signal_create(hsa_signal_value_t value, uint32_t count,
                               const hsa_agent_t *consumers, hsa_signal_t *signal)
{
    ENTER;
    if (!signal || (count && !consumers))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return create(value, signal);
}

hsa_status_t hsa_amd_signal_create(hsa_signal_value_t value, uint32_t count,
                                   const hsa_agent_t *consumers, uint64_t attributes,
                                   hsa_signal_t *signal)
{
    ENTER;
    if (!signal || (count && !consumers) || attributes & ~UINT64_C(3))
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    return create(value, signal);
}

hsa_status_t hsa_signal_destroy(hsa_signal_t handle)
{
    struct signal *signal;

    ENTER;
    if (!handle.handle)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    signal = (struct signal *)signal_of(handle);
    pthread_mutex_lock(&world_lock);
    signal->amd.kind = AMD_SIGNAL_KIND_INVALID;
    signal->next = destroyed;
    destroyed = signal;
    pthread_mutex_unlock(&world_lock);
    counts_add(&counts.signals, -1);
    return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_amd_signal_value_pointer(hsa_signal_t handle,
                                                 volatile hsa_signal_value_t **pointer)
{
    ENTER;
    *pointer = &signal_of(handle)->value;
    return HSA_STATUS_SUCCESS;
}

int64_t signal_load(hsa_signal_t handle)
{
    return __atomic_load_n(&signal_of(handle)->value, __ATOMIC_SEQ_CST);
}

void signal_subtract(hsa_signal_t handle, int64_t value)
{
    if (!handle.handle)
        return;
    __atomic_fetch_sub(&signal_of(handle)->value, value, __ATOMIC_SEQ_CST);
    tell_world();
}

void signal_times(hsa_signal_t handle, uint64_t start, uint64_t end)
{
    if (!handle.handle)
        return;
    signal_of(handle)->start_ts = start;
    signal_of(handle)->end_ts = end;
}

/* A doorbell that is rung for an earlier packet does not take a later one back. */
static void store(hsa_signal_t handle, hsa_signal_value_t value)
{
    amd_signal_t *signal = signal_of(handle);
    int64_t before = __atomic_load_n(&signal->value, __ATOMIC_SEQ_CST);

    while (!(signal->kind == AMD_SIGNAL_KIND_DOORBELL && before >= value) &&
           !__atomic_compare_exchange_n(&signal->value, &before, value, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
        ;
    if (signal->kind == AMD_SIGNAL_KIND_DOORBELL)
        queue_rung((struct queue *)signal->queue_ptr);
    tell_world();
}

#define STORE(name)                                                                                \
    void name(hsa_signal_t signal, hsa_signal_value_t value)                                       \
    {                                                                                              \
        store(signal, value);                                                                      \
    }
STORE(hsa_signal_store_relaxed)
STORE(hsa_signal_store_screlease)
STORE(hsa_signal_store_release)
STORE(hsa_signal_silent_store_relaxed)
STORE(hsa_signal_silent_store_screlease)

#define LOAD(name)                                                                                 \
    hsa_signal_value_t name(hsa_signal_t signal)                                                   \
    {                                                                                              \
        world_advance();                                                                           \
        return signal_load(signal);                                                                \
    }
LOAD(hsa_signal_load_relaxed)
LOAD(hsa_signal_load_scacquire)
LOAD(hsa_signal_load_acquire)

#define CHANGE(name, operation)                                                                    \
    void name(hsa_signal_t signal, hsa_signal_value_t value)                                       \
    {                                                                                              \
        operation(&signal_of(signal)->value, value, __ATOMIC_SEQ_CST);                             \
        tell_world();                                                                              \
    }
#define CHANGES(name, operation)                                                                   \
    CHANGE(name##_relaxed, operation)                                                              \
    CHANGE(name##_scacquire, operation)                                                            \
    CHANGE(name##_acquire, operation)                                                              \
    CHANGE(name##_screlease, operation)                                                            \
    CHANGE(name##_release, operation)                                                              \
    CHANGE(name##_scacq_screl, operation)                                                          \
    CHANGE(name##_acq_rel, operation)
CHANGES(hsa_signal_add, __atomic_fetch_add)
CHANGES(hsa_signal_subtract, __atomic_fetch_sub)
CHANGES(hsa_signal_and, __atomic_fetch_and)
CHANGES(hsa_signal_or, __atomic_fetch_or)
CHANGES(hsa_signal_xor, __atomic_fetch_xor)

#define EXCHANGE(name)                                                                             \
    hsa_signal_value_t name(hsa_signal_t signal, hsa_signal_value_t value)                         \
    {                                                                                              \
        hsa_signal_value_t before =                                                                \
            __atomic_exchange_n(&signal_of(signal)->value, value, __ATOMIC_SEQ_CST);               \
        tell_world();                                                                              \
        return before;                                                                             \
    }
EXCHANGE(hsa_signal_exchange_relaxed)
EXCHANGE(hsa_signal_exchange_scacquire)
EXCHANGE(hsa_signal_exchange_screlease)
EXCHANGE(hsa_signal_exchange_scacq_screl)

#define CAS(name)                                                                                  \
    hsa_signal_value_t name(hsa_signal_t signal, hsa_signal_value_t expected,                      \
                            hsa_signal_value_t value)                                              \
    {                                                                                              \
        __atomic_compare_exchange_n(&signal_of(signal)->value, &expected, value, false,            \
                                    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                           \
        tell_world();                                                                              \
        return expected;                                                                           \
    }
CAS(hsa_signal_cas_relaxed)
CAS(hsa_signal_cas_scacquire)
CAS(hsa_signal_cas_screlease)
CAS(hsa_signal_cas_scacq_screl)

/* ---- waits ---- */

static bool holds(hsa_signal_condition_t condition, int64_t value, int64_t other)
{
    switch (condition) {
    case HSA_SIGNAL_CONDITION_EQ:
        return value == other;
    case HSA_SIGNAL_CONDITION_NE:
        return value != other;
    case HSA_SIGNAL_CONDITION_LT:
        return value < other;
    case HSA_SIGNAL_CONDITION_GTE:
        return value >= other;
    }
    return false;
}

/* Values change without us, too, through hsa_amd_signal_value_pointer(): so nobody sleeps long. */
static int wait_any(uint32_t count, const hsa_signal_t *signals,
                    const hsa_signal_condition_t *conditions, const hsa_signal_value_t *values,
                    uint64_t timeout_ns, hsa_signal_value_t *seen)
{
    uint64_t from_ns = now_ns();

    counts_add(&counts.waits, 1);
    world_advance();
    pthread_mutex_lock(&world_lock);
    for (;;) {
        for (uint32_t i = 0; i < count; i++) {
            *seen = signal_load(signals[i]);
            if (!holds(conditions[i], *seen, values[i]))
                continue;
            pthread_mutex_unlock(&world_lock);
            return (int)i;
        }
        if (now_ns() - from_ns >= timeout_ns)
            break;
        if (settings_measure()) {
            pthread_mutex_unlock(&world_lock);
            sched_yield();
            world_advance();
            pthread_mutex_lock(&world_lock);
        } else {
            world_wait(500);
        }
    }
    pthread_mutex_unlock(&world_lock);
    return -1;
}

#define WAIT(name)                                                                                 \
    hsa_signal_value_t name(hsa_signal_t signal, hsa_signal_condition_t condition,                 \
                            hsa_signal_value_t value, uint64_t timeout, hsa_wait_state_t state)    \
    {                                                                                              \
        hsa_signal_value_t seen;                                                                   \
        (void)state;                                                                               \
        wait_any(1, &signal, &condition, &value, timeout, &seen);                                  \
        return seen;                                                                               \
    }
WAIT(hsa_signal_wait_relaxed)
WAIT(hsa_signal_wait_scacquire)
WAIT(hsa_signal_wait_acquire)

uint32_t hsa_amd_signal_wait_any(uint32_t count, hsa_signal_t *signals,
                                 hsa_signal_condition_t *conditions, hsa_signal_value_t *values,
                                 uint64_t timeout, hsa_wait_state_t state,
                                 hsa_signal_value_t *satisfying)
{
    hsa_signal_value_t seen;
    int which;

    (void)state;
    which = wait_any(count, signals, conditions, values, timeout, &seen);
    if (which >= 0 && satisfying)
        *satisfying = seen;
    return (uint32_t)which;
}

/* ---- handlers ---- */

static void add_handler(struct handler handler)
{
    struct handler *copy = malloc(sizeof(*copy)), **link = &handlers;

    if (!copy)
        abort();
    *copy = handler;
    pthread_mutex_lock(&world_lock);
    while (*link)
        link = &(*link)->next;
    *link = copy;
    pthread_cond_broadcast(&handler_added);
    world_changed();
    pthread_mutex_unlock(&world_lock);
}

hsa_status_t hsa_amd_signal_async_handler(hsa_signal_t signal, hsa_signal_condition_t condition,
                                          hsa_signal_value_t value, hsa_amd_signal_handler function,
                                          void *data)
{
    ENTER;
    if (!signal.handle || !function)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    counts_add(&counts.handlers, 1);
    add_handler((struct handler){.signal = signal,
                                 .condition = condition,
                                 .value = value,
                                 .function = function,
                                 .data = data});
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_async_function(void (*function)(void *data), void *data)
{
    ENTER;
    handlers_call(function, data);
    return HSA_STATUS_SUCCESS;
}

void handlers_call(void (*function)(void *data), void *data)
{
    add_handler((struct handler){.plain = function, .data = data});
}

/* With the lock: takes one out that is due. */
static struct handler *take_due(int64_t *value)
{
    for (struct handler **link = &handlers; *link; link = &(*link)->next) {
        struct handler *handler = *link;

        *value = handler->plain ? 0 : signal_load(handler->signal);
        if (!handler->plain && !holds(handler->condition, *value, handler->value))
            continue;
        *link = handler->next;
        handler->next = NULL;
        return handler;
    }
    return NULL;
}

/* True: it is called again, as soon as its condition holds. */
static bool call_handler(const struct handler *handler, int64_t value)
{
    if (!handler->plain)
        return handler->function(value, handler->data);
    handler->plain(handler->data);
    return false;
}

static void *handle(void *unused)
{
    unsigned seed = 7;

    pthread_mutex_lock(&world_lock);
    while (!stop) {
        int64_t value;
        struct handler *handler = take_due(&value);

        if (!handler) {
            if (handlers)
                world_wait(500);
            else
                pthread_cond_wait(&handler_added, &world_lock);
            continue;
        }
        pthread_mutex_unlock(&world_lock);
        be_late(&seed);
        if (call_handler(handler, value)) {
            add_handler(*handler);
        } else if (!handler->plain) {
            counts_add(&counts.handlers, -1);
        }
        free(handler);
        pthread_mutex_lock(&world_lock);
    }
    pthread_mutex_unlock(&world_lock);
    return unused;
}

/* ---- times ---- */

hsa_status_t hsa_amd_profiling_get_dispatch_time(hsa_agent_t agent, hsa_signal_t signal,
                                                 hsa_amd_profiling_dispatch_time_t *time)
{
    ENTER;
    if (!agent_of(agent))
        return HSA_STATUS_ERROR_INVALID_AGENT;
    time->start = signal_of(signal)->start_ts;
    time->end = signal_of(signal)->end_ts;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_profiling_get_async_copy_time(hsa_signal_t signal,
                                                   hsa_amd_profiling_async_copy_time_t *time)
{
    ENTER;
    time->start = signal_of(signal)->start_ts;
    time->end = signal_of(signal)->end_ts;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_profiling_async_copy_enable(bool enable)
{
    ENTER;
    (void)enable;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t hsa_amd_profiling_convert_tick_to_system_domain(hsa_agent_t agent, uint64_t tick,
                                                             uint64_t *system_tick)
{
    ENTER;
    *system_tick = tick;
    return agent_of(agent) ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_INVALID_AGENT;
}

/* ---- start and end ---- */

void signals_begin(void)
{
    pthread_condattr_t clock;

    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &clock);
    pthread_condattr_destroy(&clock);
    stop = false;
    if (pthread_create(&handling, NULL, handle, NULL) != 0)
        abort();
}

void signals_end(void)
{
    pthread_mutex_lock(&world_lock);
    stop = true;
    pthread_cond_broadcast(&handler_added);
    world_changed();
    pthread_mutex_unlock(&world_lock);
    pthread_join(handling, NULL);
    while (handlers) {
        struct handler *handler = handlers;

        handlers = handler->next;
        free(handler);
    }
    while (destroyed) {
        struct signal *signal = destroyed;

        destroyed = signal->next;
        free(signal);
    }
}
