/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* peek.h: reads memory that may not be there. */
#ifndef OMPRMA_BASE_PEEK_H
#define OMPRMA_BASE_PEEK_H

#include <stddef.h>

/* Copies from [from, from + bytes) of this process as much as is there from the beginning on, and
 * returns how much. Any thread; async-signal-safe; does not block. */
size_t peek(const void *from, void *to, size_t bytes);

#endif
