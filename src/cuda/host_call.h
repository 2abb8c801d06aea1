/*
 * host_call.h: functions of the program that a stream calls when it comes to them. One thread of
 * ours calls them, one after another, as the driver's does; the stream is held until they return.
 *
 * Thread: any. Blocks: no.
 */
#ifndef OMPRMA_CUDA_HOST_CALL_H
#define OMPRMA_CUDA_HOST_CALL_H

#include <stdbool.h>

/* Is the calling thread inside such a function? It must not call the driver. */
bool host_call_running(void);

/* At the end of the process: none is called from here on. */
void host_calls_end(void);

#endif
