/* kernels.h: the device image with the kernels that are measured (kernels/empty.c), as bytes. */
#ifndef OMPRMA_PERF_KERNELS_H
#define OMPRMA_PERF_KERNELS_H

#include <stdint.h>

extern const char kernels_image[];
extern const uint64_t kernels_bytes;

#endif
