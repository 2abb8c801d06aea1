/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * variants.c: operations on signals and queue indices once for each memory order of the interface.
 * All are one function (operations.h), which keeps the strongest order: what is written after them
 * goes over a network, where an order costs nothing beside the rest.
 */
#include "hsa/exports.h"
#include "hsa/operations.h"

#define HSA_FUNCTION(result, name, parameters, words)

#define HSA_SIGNAL_LOAD(order)                                                                     \
    hsa_signal_value_t hsa_signal_load_##order(hsa_signal_t signal)                                \
    {                                                                                              \
        return signal_load(signal);                                                                \
    }
#define HSA_SIGNAL_WRITE(operation, order)                                                         \
    void hsa_signal_##operation##_##order(hsa_signal_t signal, hsa_signal_value_t value)           \
    {                                                                                              \
        signal_##operation(signal, value);                                                         \
    }
#define HSA_SIGNAL_EXCHANGE(order)                                                                 \
    hsa_signal_value_t hsa_signal_exchange_##order(hsa_signal_t signal, hsa_signal_value_t value)  \
    {                                                                                              \
        return signal_exchange(signal, value);                                                     \
    }
#define HSA_SIGNAL_CAS(order)                                                                      \
    hsa_signal_value_t hsa_signal_cas_##order(hsa_signal_t signal, hsa_signal_value_t expected,    \
                                              hsa_signal_value_t value)                            \
    {                                                                                              \
        return signal_cas(signal, expected, value);                                                \
    }
#define HSA_SIGNAL_WAIT(order)                                                                     \
    hsa_signal_value_t hsa_signal_wait_##order(                                                    \
        hsa_signal_t signal, hsa_signal_condition_t condition, hsa_signal_value_t compare,         \
        uint64_t timeout, hsa_wait_state_t state)                                                  \
    {                                                                                              \
        return signal_wait(signal, condition, compare, timeout, state);                            \
    }
#define HSA_QUEUE_LOAD(index, order)                                                               \
    uint64_t hsa_queue_load_##index##_index_##order(const hsa_queue_t *queue)                      \
    {                                                                                              \
        return queue_load_##index##_index(queue);                                                  \
    }
#define HSA_QUEUE_STORE(index, order)                                                              \
    void hsa_queue_store_##index##_index_##order(const hsa_queue_t *queue, uint64_t value)         \
    {                                                                                              \
        queue_store_##index##_index(queue, value);                                                 \
    }
#define HSA_QUEUE_ADD(order)                                                                       \
    uint64_t hsa_queue_add_write_index_##order(const hsa_queue_t *queue, uint64_t value)           \
    {                                                                                              \
        return queue_add_write_index(queue, value);                                                \
    }
#define HSA_QUEUE_CAS(order)                                                                       \
    uint64_t hsa_queue_cas_write_index_##order(const hsa_queue_t *queue, uint64_t expected,        \
                                               uint64_t value)                                     \
    {                                                                                              \
        return queue_cas_write_index(queue, expected, value);                                      \
    }
#define HSA_REFUSED(name, status, printed, why)
#include "hsa/hsa.def"
