/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * signal.h: signals, what is under way that will move them on, and what waits for them.
 *
 * A handle is the address of an amd_signal_t in host memory, which begins our own structure.
 * Operations that have a signal as their completion stand in its list until they are over and have
 * counted it down. So of a signal that is not yet 0 it is known whether operations alone will bring
 * it there (then others are ordered behind their events, and nobody waits), or whether the program
 * has to.
 *
 * Thread: any. Blocks: no, unless said. Nothing of omprma is called with the lock of signals held.
 */
#ifndef OMPRMA_HSA_SIGNAL_H
#define OMPRMA_HSA_SIGNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/queue.h>

#include <omprma/omprma.h>

#include "base/hsa_abi.h"
#include "hsa/watch.h"

struct lane;
struct lanes;

/* ---- places that operations end at ---------------------------------------------------------- */

/* An event of omprma that several look at. */
struct mark {
    atomic_int references;
    omprma_event_t *event;
    struct lane *lane;   /* where it was recorded; to compare only, it may be gone */
    struct lanes *lanes; /* whose that is */
};

/* Drops a reference; the last one frees it. NULL is allowed. */
void mark_drop(struct mark *mark);

/* ---- signals -------------------------------------------------------------------------------- */

/* An operation that counts a signal down when it is over. */
struct arrival {
    TAILQ_ENTRY(arrival) link;
    struct signal *signal; /* NULL: it has been destroyed */
    struct mark *mark;     /* a reference: when it is over; NULL: not known */
};

struct signal {
    amd_signal_t amd;            /* first: the handle is its address */
    void (*rings)(void *ringer); /* of a doorbell: called after each store; else NULL */
    void *ringer;
    TAILQ_HEAD(arrival_list, arrival) arrivals;
    TAILQ_HEAD(watch_list, watch) watches;
};

/* NULL: the handle is 0. */
struct signal *signal_of(hsa_signal_t handle);

hsa_signal_t signal_handle(struct signal *signal);

/* NULL: no memory. */
struct signal *signal_make(hsa_signal_value_t value);

/* Its watches are run as dropped ones, operations no longer count it down. NULL is allowed. */
void signal_free(struct signal *signal);

/* Lists what will count it down; `arrival` is the caller's until signal_arrived(). NULL signals are
 * allowed. */
void signal_expect(struct signal *signal, struct arrival *arrival, struct mark *mark);

/* It is over: counts down by one, or, if it has failed, sets a negative value. */
void signal_arrived(struct arrival *arrival, bool failed);

/* The same for something that was over at once. NULL is allowed. */
void signal_count_down(struct signal *signal, bool failed);

/* It begins now, for profiles. NULL is allowed. */
void signal_begins(struct signal *signal);

/* Has `watch` run once by its thread (attendant.h), when the value meets its condition, perhaps at
 * once. False: there is no thread. */
bool signal_watch(struct signal *signal, struct watch *watch);

/* ---- what others depend on ------------------------------------------------------------------ */

enum { NEEDS_MOST = 64 };

/* What has to be over before something may begin. */
struct needs {
    struct mark *marks[NEEDS_MOST]; /* references */
    int count;
};

/* Adds what the signal stands for: nothing if it is 0 (or negative, after a failure), else the ends
 * of the operations that bring it there. False: it is for the program to bring it there, and
 * nothing is added. NULL is 0. */
bool needs_add(struct needs *needs, struct signal *signal);

/* Is it 0 (or negative) by now? */
bool signal_is_met(struct signal *signal);

void needs_drop(struct needs *needs);

#endif
