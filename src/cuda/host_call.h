/*
 * host_call.h: functions of the program that a stream calls when it comes to them. One thread of
 * ours calls them, one after another, as the driver's does. What is put into a stream after such a
 * function has to wait until it has returned; it is the call that puts it there that waits.
 *
 * Thread: any. Blocks: host_calls_wait() only.
 */
#ifndef OMPRMA_CUDA_HOST_CALL_H
#define OMPRMA_CUDA_HOST_CALL_H

#include <stdbool.h>

#include "cuda/abi.h"

struct stream;

/* Until all functions that the stream is to call have returned. Blocks: yes. */
void host_calls_wait(struct stream *stream);

/* Is the calling thread inside such a function? It must not call the driver. */
bool host_call_running(void);

/* At the end of the process: none is called from here on. */
void host_calls_end(void);

#endif
