/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* streams.h: the three standard streams of a process. Knows nothing of what is written. */
#ifndef OMPRMA_BASE_STREAMS_H
#define OMPRMA_BASE_STREAMS_H

/* Some services start programs with standard streams closed. Whatever is opened next, a connection
 * of MPI's for example, would get such a number and whatever is printed. Puts /dev/null there, for
 * the wrong direction: whoever uses the stream gets EBADF, as before. */
void streams_hold(void);

/* The same for a tool, which also ends with a line and status 1 when its output cannot be written.
 * Once, before anything is opened. */
void streams_begin(void);

#endif
