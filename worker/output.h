/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * output.h: what target regions print. stdout and stderr of the worker are turned into streams that
 * write into memory, so that the text can ride on the launch's reply and appear on the program's
 * own streams in program order. Checking for text costs no system call. Text written with write(2)
 * to file descriptors 1 and 2 (or by children) goes to a pipe that is emptied by
 * output_drain_fds(). At most 64 MiB of text are kept: a writer beyond that waits until text is
 * taken, and after 10 s in which nothing was taken drops its text; a line in the text then tells
 * how many bytes were lost. So somebody has to take text, and to drain the pipes, while a long
 * kernel runs. Knows nothing of MPI.
 *
 * Thread: any; one internal lock.
 */
#ifndef OMPRMA_WORKER_OUTPUT_H
#define OMPRMA_WORKER_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <omprma/omprma.h>

enum output_stream { OUTPUT_STDOUT = 1, OUTPUT_STDERR = 2 };

/* Replaces stdout and stderr (stdio: fopencookie streams; stdout is buffered by `lines` or fully,
 * as the program's own is, so that both streams mix as they would in one process) and fds 1 and 2
 * (non-blocking read side pipe; a writer that fills the pipe waits until it is drained). Before any
 * image or libstdc++ is loaded. Gives back in *real_stderr a descriptor for the worker's own log
 * lines. Errors: HOST_MEMORY, ARGUMENT. */
omprma_status_t output_capture(bool lines, int *real_stderr);

/* True if there may be text to take: a few loads, no system call. Call after a kernel. */
bool output_pending(void);

/* Takes up to `capacity` bytes of text in the order in which it was written: the next run of text
 * of one stream. Flushes stdio first. *flushed: the writer flushed it by itself, so whoever prints
 * it must do so too. Returns the bytes stored, 0 when there is none. */
size_t output_take(enum output_stream *stream, char *text, size_t capacity, bool *flushed);

/* Reads what is in the pipes behind fds 1 and 2 into the captured text. A system call each: called
 * when the worker goes idle, before it exits, after long kernels and on a crash. */
void output_drain_fds(void);

/* A thread may be parked for ever inside stdio. */
void output_expect_stuck(void);

#endif
