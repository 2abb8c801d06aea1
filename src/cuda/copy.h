/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * copy.h: copies of all directions as operations of a stream.
 *
 * Thread: any. Blocks: when the stream's queue is full; from large pageable memory until the source
 * has been read.
 */
#ifndef OMPRMA_CUDA_COPY_H
#define OMPRMA_CUDA_COPY_H

#include "cuda/stream.h"

/* The source may be reused when the call returns, unless it is pinned (or whoever started the
 * program has said that sources are kept, see copy.c). */
CUresult copy_to_device(struct stream *stream, CUdeviceptr to, const void *from, size_t bytes);

/* `to` holds the data when the stream has been waited for, be it pinned or not. */
CUresult copy_from_device(struct stream *stream, void *to, CUdeviceptr from, size_t bytes);

/* Between any two GPUs. */
CUresult copy_between(struct stream *stream, struct gpu *to_gpu, CUdeviceptr to,
                      struct gpu *from_gpu, CUdeviceptr from, size_t bytes);

#endif
