/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* kernels.h: the device images with the kernels that are measured: of kernels/empty.c, as bytes,
 * and the same for NVIDIA GPUs, as PTX. */
#ifndef OMPRMA_PERF_KERNELS_H
#define OMPRMA_PERF_KERNELS_H

#include <stdint.h>

extern const char kernels_image[];
extern const uint64_t kernels_bytes;
extern const char kernels_ptx[];
extern const uint64_t kernels_ptx_bytes;

#endif
