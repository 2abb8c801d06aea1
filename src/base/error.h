/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * error.h: the calling thread's last error. The function that decides an error words it here; its
 * callers only pass the status on. Knows nothing of MPI or devices.
 */
#ifndef OMPRMA_BASE_ERROR_H
#define OMPRMA_BASE_ERROR_H

#include <omprma/omprma.h>

enum { ERROR_TEXT_BYTES = 1024 };

/* Stores the formatted line as the calling thread's last error and returns `status`, so that
 * `return error_set(...)` reads naturally. Lines start in lower case and have no full stop. It is
 * cold, as all that reports: what leads there is laid out apart from what programs do all day. */
omprma_status_t error_set(omprma_status_t status, const char *format, ...)
    __attribute__((cold, format(printf, 2, 3)));

/* Says that the driver of a device has a code of its own for the error that was just set. Returns
 * `status`. */
omprma_status_t error_note_code(omprma_status_t status, int code);

/* The code of the calling thread's last error, 0: none. */
int error_code(void);

/* The calling thread's last error; empty, never NULL. */
const char *error_text(void);

#endif
