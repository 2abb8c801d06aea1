/* kernels.h: the device image with the kernels that are measured (kernels/empty.c), as bytes. */
#ifndef OMPRMA_PERF_KERNELS_H
#define OMPRMA_PERF_KERNELS_H

extern const char kernels_begin[], kernels_end[];

#endif
