/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_variants.c: every exported form of an operation on signals and queues is that operation,
 * with its arguments in their places. The operations are stand-ins that note the call.
 * Covers: variants.c
 */
#include "tests/unit/test.h"
#include "hsa/exports.h"
#include "hsa/operations.h"

static const char *called;
static uint64_t first, second; /* numbers that it was given */

enum { SIGNAL = 11, RETURNED = 77 };

static int64_t note(const char *operation, uint64_t one, uint64_t other)
{
    called = operation;
    first = one;
    second = other;
    return RETURNED;
}

#define SIGNAL_WRITE(operation)                                                                    \
    void signal_##operation(hsa_signal_t signal, hsa_signal_value_t value)                         \
    {                                                                                              \
        note(#operation, signal.handle, (uint64_t)value);                                          \
    }
SIGNAL_WRITE(store)
SIGNAL_WRITE(silent_store)
SIGNAL_WRITE(add)
SIGNAL_WRITE(subtract)
SIGNAL_WRITE(and)
SIGNAL_WRITE(or)
SIGNAL_WRITE(xor)

hsa_signal_value_t signal_load(hsa_signal_t signal)
{
    return note("load", signal.handle, 0);
}
hsa_signal_value_t signal_exchange(hsa_signal_t signal, hsa_signal_value_t value)
{
    return note("exchange", signal.handle, (uint64_t)value);
}
hsa_signal_value_t signal_cas(hsa_signal_t signal, hsa_signal_value_t expected,
                              hsa_signal_value_t value)
{
    assert_int_equal(signal.handle, SIGNAL);
    return note("cas", (uint64_t)expected, (uint64_t)value);
}
hsa_signal_value_t signal_wait(hsa_signal_t signal, hsa_signal_condition_t condition,
                               hsa_signal_value_t compare, uint64_t timeout, hsa_wait_state_t state)
{
    assert_int_equal(signal.handle, SIGNAL);
    assert_int_equal(condition, HSA_SIGNAL_CONDITION_LT);
    assert_int_equal(state, HSA_WAIT_STATE_ACTIVE);
    return note("wait", (uint64_t)compare, timeout);
}

static const hsa_queue_t queue;

static uint64_t note_queue(const char *operation, const hsa_queue_t *of, uint64_t one,
                           uint64_t other)
{
    assert_ptr_equal(of, &queue);
    return (uint64_t)note(operation, one, other);
}

uint64_t queue_load_read_index(const hsa_queue_t *of)
{
    return note_queue("load read", of, 0, 0);
}
uint64_t queue_load_write_index(const hsa_queue_t *of)
{
    return note_queue("load write", of, 0, 0);
}
void queue_store_read_index(const hsa_queue_t *of, uint64_t value)
{
    note_queue("store read", of, 0, value);
}
void queue_store_write_index(const hsa_queue_t *of, uint64_t value)
{
    note_queue("store write", of, 0, value);
}
uint64_t queue_add_write_index(const hsa_queue_t *of, uint64_t value)
{
    return note_queue("add", of, 0, value);
}
uint64_t queue_cas_write_index(const hsa_queue_t *of, uint64_t expected, uint64_t value)
{
    return note_queue("cas", of, expected, value);
}

static void check(const char *operation, uint64_t one, uint64_t other)
{
    assert_string_equal(called, operation);
    assert_int_equal(first, one);
    assert_int_equal(second, other);
    called = "none";
}

TEST(each_form_is_its_operation)
{
    const hsa_signal_t signal = {SIGNAL};

#define HSA_FUNCTION(result, name, parameters, words)
#define HSA_REFUSED(name, status, printed, why)
#define HSA_SIGNAL_LOAD(order)                                                                     \
    assert_int_equal(hsa_signal_load_##order(signal), RETURNED);                                   \
    check("load", SIGNAL, 0);
#define HSA_SIGNAL_WRITE(operation, order)                                                         \
    hsa_signal_##operation##_##order(signal, 5);                                                   \
    check(#operation, SIGNAL, 5);
#define HSA_SIGNAL_EXCHANGE(order)                                                                 \
    assert_int_equal(hsa_signal_exchange_##order(signal, 6), RETURNED);                            \
    check("exchange", SIGNAL, 6);
#define HSA_SIGNAL_CAS(order)                                                                      \
    assert_int_equal(hsa_signal_cas_##order(signal, 3, 4), RETURNED);                              \
    check("cas", 3, 4);
#define HSA_SIGNAL_WAIT(order)                                                                     \
    assert_int_equal(                                                                              \
        hsa_signal_wait_##order(signal, HSA_SIGNAL_CONDITION_LT, 1, 2000, HSA_WAIT_STATE_ACTIVE),  \
        RETURNED);                                                                                 \
    check("wait", 1, 2000);
#define HSA_QUEUE_LOAD(index, order)                                                               \
    assert_int_equal(hsa_queue_load_##index##_index_##order(&queue), RETURNED);                    \
    check("load " #index, 0, 0);
#define HSA_QUEUE_STORE(index, order)                                                              \
    hsa_queue_store_##index##_index_##order(&queue, 9);                                            \
    check("store " #index, 0, 9);
#define HSA_QUEUE_ADD(order)                                                                       \
    assert_int_equal(hsa_queue_add_write_index_##order(&queue, 8), RETURNED);                      \
    check("add", 0, 8);
#define HSA_QUEUE_CAS(order)                                                                       \
    assert_int_equal(hsa_queue_cas_write_index_##order(&queue, 1, 2), RETURNED);                   \
    check("cas", 1, 2);
#include "hsa/hsa.def"
}
