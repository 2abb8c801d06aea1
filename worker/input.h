/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * input.h: the standard input of target regions, which is empty, and who is told when one has read
 * it, by whichever function: scanf, std::cin, read(2), READ of Fortran. Knows nothing of MPI.
 *
 * Thread: any, one at a time. Blocks: no.
 */
#ifndef OMPRMA_WORKER_INPUT_H
#define OMPRMA_WORKER_INPUT_H

/* Makes descriptor 0 an empty file, unless it is a terminal, as that of a debugger. Where the
 * system has none, it stays as it is. */
void input_begin(void);

/* Prints a line to stderr, the first time that it has been read. A system call; called when the
 * worker goes idle, before it exits and on a crash. */
void input_look(void);

#endif
