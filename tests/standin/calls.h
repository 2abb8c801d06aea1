/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * calls.h: what the stand-ins for drivers of GPUs share beside code.h: their settings are numbers
 * in the environment, and one call can be made to fail:
 * - STANDIN_FAIL: NUMBER or FUNCTION:NUMBER, and :CODE: that call returns CODE
 */
#ifndef OMPRMA_TESTS_STANDIN_CALLS_H
#define OMPRMA_TESTS_STANDIN_CALLS_H

#include <stdbool.h>
#include <stddef.h>

/* What the environment says under this name, or `otherwise`. */
long calls_setting(const char *name, long otherwise);

/* Reads STANDIN_FAIL, and counts from 0 again; `code` is what a call fails with if nothing else is
 * said. */
void calls_read(int code);

/* Counts a call of an exported function; returns what it shall fail with, or 0. Any thread. */
int call_begin(const char *function);

/* Has the n-th call from now on fail, of one function or, NULL, of all; 0: none. Any thread. */
void calls_fail(const char *function, int number, int code);

/* Where somebody measures, large copies take their time and move nothing, but for the first 32 MiB:
 * who starts looks whether data arrives. Counts these bytes; true: they are moved. Any thread. */
bool calls_copy_moves(size_t bytes);

/* How many there were, and the name of the one that was made to fail since calls_fail(), or NULL.
 * Any thread. */
int calls_made(void);
const char *calls_failed(void);

#endif
