/*
 * flight.h: nowait constructs that are under way and that no thread waits for. libomp, from 16 on,
 * offers a place for a handle to the task that it runs; a task that has left one there is put back
 * when it returns, and libomp asks about the handle, again and again, until the place is empty.
 *
 * Thread: any function from any thread. Errors: a construct that fails ends the process.
 */
#ifndef OMPRMA_OPENMP_FLIGHT_H
#define OMPRMA_OPENMP_FLIGHT_H

#include <stdbool.h>

#include "openmp/work.h"

/* The place of the calling thread's task; NULL: the construct has to be waited for. Blocks: no. */
void **flight_place(void);

/* Leaves the work, which has departed, in the place. Blocks: no. */
void flight_begin(struct work *work, void **place);

/* Waits for the calling thread's tasks, begun or not, and for constructs of all threads that are in
 * flight: libomp ends without looking at those, and then waits for them for ever. When that takes
 * long, a line says so once. Before images are taken back. Blocks: yes. */
void flight_end(void);

/* Empties the place if its work is over. Blocks: for some microseconds, when it is the oldest one
 * in flight. */
void flight_query(void **place);

#endif
