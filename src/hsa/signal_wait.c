/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * signal_wait.c: waiting for signals. Times are in the unit of the system's time stamps,
 * nanoseconds. Values are looked at in memory, so it does not matter who changes them, or how.
 */
#include "base/clock.h"
#include "hsa/condition.h"
#include "hsa/exports.h"
#include "hsa/operations.h"
#include "hsa/signal.h"
#include "hsa/sleeper.h"

/* The number of the first one whose condition is met, or -1. */
static int look(uint32_t count, const hsa_signal_t *signals,
                const hsa_signal_condition_t *conditions, const hsa_signal_value_t *values,
                hsa_signal_value_t *value)
{
    for (uint32_t i = 0; i < count; i++) {
        *value = __atomic_load_n(&signal_of(signals[i])->amd.value, __ATOMIC_SEQ_CST);
        if (condition_met(conditions[i], *value, values[i]))
            return (int)i;
    }
    return -1;
}

/* -1: the time is over. */
static int wait_any(uint32_t count, const hsa_signal_t *signals,
                    const hsa_signal_condition_t *conditions, const hsa_signal_value_t *values,
                    uint64_t timeout, hsa_signal_value_t *value)
{
    struct sleeper sleeper;
    int found = look(count, signals, conditions, values, value);

    if (found >= 0)
        return found;
    sleeper_begin(&sleeper);
    for (;;) {
        sleeper_look(&sleeper);
        found = look(count, signals, conditions, values, value);
        if (found >= 0)
            return found;
        uint64_t waited = (uint64_t)(clock_ns() - sleeper.begun_ns);
        if (waited >= timeout)
            return -1;
        uint64_t left = timeout - waited;
        sleeper_rest(&sleeper, left < INT64_MAX ? (int64_t)left : INT64_MAX);
    }
}

hsa_signal_value_t signal_wait(hsa_signal_t signal, hsa_signal_condition_t condition,
                               hsa_signal_value_t compare, uint64_t timeout, hsa_wait_state_t state)
{
    hsa_signal_value_t value = 0;

    (void)state; /* whoever waits long gives its processor away in either */
    wait_any(1, &signal, &condition, &compare, timeout, &value);
    return value;
}

uint32_t hsa_amd_signal_wait_any(uint32_t count, hsa_signal_t *signals,
                                 hsa_signal_condition_t *conditions, hsa_signal_value_t *values,
                                 uint64_t timeout, hsa_wait_state_t state,
                                 hsa_signal_value_t *satisfying)
{
    hsa_signal_value_t value = 0;
    int found;

    (void)state;
    if (!signals || !conditions || !values)
        return UINT32_MAX;
    found = wait_any(count, signals, conditions, values, timeout, &value);
    if (satisfying)
        *satisfying = value;
    return found < 0 ? UINT32_MAX : (uint32_t)found;
}
