/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * operations.h: what can be done with values of signals and indices of queues. The interface has
 * each once for every memory order (variants.c); here each is one function, with the strongest.
 *
 * A signal's or queue's handle must be one that the program has got. Thread: any. Blocks:
 * signal_wait() until the condition is met or the time is over, signal_store() and the other ones
 * that write until what the doorbell of a queue stands for is issued; the others do not.
 */
#ifndef OMPRMA_HSA_OPERATIONS_H
#define OMPRMA_HSA_OPERATIONS_H

#include "base/hsa_abi.h"

/* ---- signals (signal.c, signal_wait.c) ------------------------------------------------------- */

hsa_signal_value_t signal_load(hsa_signal_t signal);
void signal_store(hsa_signal_t signal, hsa_signal_value_t value);
/* Does not wake those that wait. */
void signal_silent_store(hsa_signal_t signal, hsa_signal_value_t value);
void signal_add(hsa_signal_t signal, hsa_signal_value_t value);
void signal_subtract(hsa_signal_t signal, hsa_signal_value_t value);
void signal_and(hsa_signal_t signal, hsa_signal_value_t value);
void signal_or(hsa_signal_t signal, hsa_signal_value_t value);
void signal_xor(hsa_signal_t signal, hsa_signal_value_t value);
/* Return the value before. */
hsa_signal_value_t signal_exchange(hsa_signal_t signal, hsa_signal_value_t value);
hsa_signal_value_t signal_cas(hsa_signal_t signal, hsa_signal_value_t expected,
                              hsa_signal_value_t value);
/* Returns the last value seen, also when the time is over. `timeout` is in nanoseconds. */
hsa_signal_value_t signal_wait(hsa_signal_t signal, hsa_signal_condition_t condition,
                               hsa_signal_value_t compare, uint64_t timeout,
                               hsa_wait_state_t state);

/* ---- queues (queue.c) ----------------------------------------------------------------------- */

uint64_t queue_load_read_index(const hsa_queue_t *queue);
uint64_t queue_load_write_index(const hsa_queue_t *queue);
void queue_store_read_index(const hsa_queue_t *queue, uint64_t value);
void queue_store_write_index(const hsa_queue_t *queue, uint64_t value);
/* Return the index before. */
uint64_t queue_add_write_index(const hsa_queue_t *queue, uint64_t value);
uint64_t queue_cas_write_index(const hsa_queue_t *queue, uint64_t expected, uint64_t value);

#endif
