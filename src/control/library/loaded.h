/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * loaded.h: which MPI libraries this process has. Two cannot work in one: a call goes to whichever
 * the loader finds first, with the handles of the other.
 */
#ifndef OMPRMA_CONTROL_LIBRARY_LOADED_H
#define OMPRMA_CONTROL_LIBRARY_LOADED_H

#include <stdbool.h>

#include <omprma/omprma.h>

/* Is that the file of an MPI library, by its name? */
bool loaded_is_mpi(const char *path);

/* `function` is one of MPI, as our calls find it. Errors: CONFIG (there is another library than
 * that function's; the text names both and says what to do). */
omprma_status_t loaded_check(const void *function);

#endif
