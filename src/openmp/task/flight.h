/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * flight.h: nowait constructs that are under way and that no thread waits for. Whoever has time,
 * because it waits for something else, looks whether one has landed; while nobody does, because
 * the program computes, a thread of ours looks now and then. Those of one queue land in their
 * order, so only the first of each is asked about. Knows nothing of libomp.
 *
 * Thread: any function from any thread. Errors: a construct that fails ends the process.
 */
#ifndef OMPRMA_OPENMP_TASK_FLIGHT_H
#define OMPRMA_OPENMP_TASK_FLIGHT_H

#include <stdbool.h>
#include <sys/queue.h>

#include "openmp/run/work.h"

struct flight;
STAILQ_HEAD(flight_list, flight);

/* Flights of one queue. */
struct flight_line {
    STAILQ_ENTRY(flight_line) next;
    struct flight_list flights;
    bool listed; /* it has flights, or somebody looks through it */
};

/* What is done by the thread that sees constructs land. `over` is called for each, once, and must
 * not block; its memory is free then. `then` is called when all that have landed together are over,
 * and may begin others, and block. */
struct flight_calls {
    void (*over)(struct flight *flight);
    void (*then)(void);
};

/* One construct in flight. Who begins it keeps the memory until it is over. */
struct flight {
    STAILQ_ENTRY(flight) next;
    struct flight_line alone; /* when its queue is its own */
    struct work *work;
    const struct flight_calls *calls; /* of whoever begins it */
};

/* Departs with a work that has departed. Blocks: no. */
void flight_begin(struct flight *flight, struct work *work);

/* Is something in flight? */
bool flight_any(void);

/* Makes some progress, and lets land what has arrived, unless another thread is looking. True:
 * something has landed. Blocks: as long as `then`. */
bool flight_look(void);

/* Is the calling thread ours, which looks while nobody else does? */
bool flight_is_watched_here(void);

/* Counts constructs that may begin or have begun, and are not over, for flight_end(). */
void flight_count(int difference);
bool flight_counted(void); /* any? */

/* Finishes a work that has arrived; one that has failed ends the process. Blocks: no. */
void flight_finish(struct work *work);

/* Says where a work is that has not arrived, once, when the end waits for some seconds already. */
void flight_say_end(const struct work *work);

/* The process is about to end: from now on a line says so once, when what is in flight keeps it
 * from that for some seconds. Blocks: no. */
void flight_end_begins(void);

/* Waits until no more than `most` of those are left, at most a minute from then on; other threads
 * see to that, too. Blocks: yes. */
void flight_end(int most);

#endif
