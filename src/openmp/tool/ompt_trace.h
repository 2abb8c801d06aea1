/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ompt_trace.h: what devices tell tools: records of constructs, transfers and kernels with the
 * times at which they took place, in buffers that the tool gives and gets back. The times of a
 * device are brought over to this process's clock before, so a tool sees them beside its own.
 *
 * What one construct has asked of a device is a block: its records, each of which gets the times of
 * the operation that carried it.
 *
 * Thread: any; a block is used by one thread at a time. Blocks: as the tool's functions do.
 */
#ifndef OMPRMA_OPENMP_TOOL_OMPT_TRACE_H
#define OMPRMA_OPENMP_TOOL_OMPT_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <omprma/omprma.h>

#include "openmp/abi/ompt_abi.h"

struct block_traced;

/* Around a function of the tool's, in which the thread may hold the lock of a device: +1, -1. It
 * must not use a device then, and what it does is not recorded. */
void tool_call(int difference);
bool tool_is_called(void);

/* For so many devices. False: no memory. Then the handle of one, and the functions that a tool asks
 * for by name. */
bool trace_open(int devices);
void *trace_handle(int device);
ompt_lookup_t trace_lookup;

/* All devices: what is there goes to the tool; and nothing more is noted. */
void trace_flush(void);
void trace_close(void);

/* Before omprma_init(): operations of blocks are timed. */
void trace_prepare(void);

/* Of the calling thread, until block_leave(). NULL: the device is not traced, or no memory. */
struct block_traced *block_begin(int device);
struct block_traced *block_leave(void);

/* Whose operations it gets. */
void block_queue(struct block_traced *block, const omprma_queue_t *queue);

/* An event, all but its times; from block_add() until block_added() what is appended carries it,
 * or else what is appended next. Returns its number. */
size_t block_add(struct block_traced *block, const struct ompt_record *record);
void block_added(struct block_traced *block, size_t number, const struct ompt_record *record);

/* An event without operation: now. */
void block_note(struct block_traced *block, const struct ompt_record *record);

/* What comes behind all others, at block_end(). */
void block_last(struct block_traced *block, const struct ompt_record *record);

/* All is complete: the records go to the tool's buffer, and the block is freed. */
void block_end(struct block_traced *block);

#endif
