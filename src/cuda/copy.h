/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * copy.h: copies of all directions as operations of a stream.
 *
 * Thread: any. Blocks: when the stream's queue is full; copy_finish() where it is to wait.
 */
#ifndef OMPRMA_CUDA_COPY_H
#define OMPRMA_CUDA_COPY_H

#include "cuda/stream.h"

/* *wait: the caller will wait for the stream anyway; out: it has to, because of the host's memory.
 * A source that is not pinned may be reused when that is done (see copy.c). */
CUresult copy_to_device(struct stream *stream, CUdeviceptr to, const void *from, size_t bytes,
                        bool *wait);
CUresult copy_from_device(struct stream *stream, void *to, CUdeviceptr from, size_t bytes,
                          bool *wait);

/* Ends what stream_begin() has begun, with or without waiting. Returns the first error. */
CUresult copy_finish(struct stream *stream, CUresult result, bool wait);

/* Between any two GPUs. */
CUresult copy_between(struct stream *stream, struct gpu *to_gpu, CUdeviceptr to,
                      struct gpu *from_gpu, CUdeviceptr from, size_t bytes);

#endif
