/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* watch.h: what the library's own threads (attendant.h) are to do, perhaps when a signal has a
 * value.
 */
#ifndef OMPRMA_HSA_WATCH_H
#define OMPRMA_HSA_WATCH_H

#include <stdbool.h>
#include <sys/queue.h>

#include "base/hsa_abi.h"

struct signal;

/* Something that a thread of the library does when a condition is met, or at once. */
struct watch {
    TAILQ_ENTRY(watch) link; /* in its signal's list, or in its thread's */
    struct signal *signal;   /* NULL: none, or it has been destroyed */
    hsa_signal_condition_t condition;
    hsa_signal_value_t compare, mask; /* bits of the value that are compared */
    hsa_signal_value_t seen;          /* the value that met it */
    bool dropped;                     /* it never was: the signal has been destroyed */
    bool calls_program;               /* it is for the caller */
    /* Called on that thread, inside of the gate; the watch is its own then. */
    void (*run)(struct watch *watch);
};

#endif
