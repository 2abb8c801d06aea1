/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* api_copy.c: omp_* functions that copy, and wait. No logic here: see copy.h. */
#include "openmp/abi/exports.h"
#include "openmp/copy/copy.h"

int omp_target_memcpy(void *to, const void *from, size_t bytes, size_t to_offset,
                      size_t from_offset, int to_device, int from_device)
{
    const struct copy copy = {.to = to ? (char *)to + to_offset : NULL,
                              .from = from ? (const char *)from + from_offset : NULL,
                              .to_device = to_device,
                              .from_device = from_device,
                              .bytes = bytes,
                              .code = __builtin_return_address(0)};
    return copy_run(&copy);
}

/* Without pointers the question is how many dimensions there may be. */
int omp_target_memcpy_rect(void *to, const void *from, size_t element_bytes, int dimensions,
                           const size_t *volume, const size_t *to_offsets,
                           const size_t *from_offsets, const size_t *to_dimensions,
                           const size_t *from_dimensions, int to_device, int from_device)
{
    const struct copy copy = {to,
                              from,
                              to_device,
                              from_device,
                              element_bytes,
                              dimensions ? dimensions : -1,
                              volume,
                              to_offsets,
                              from_offsets,
                              to_dimensions,
                              from_dimensions,
                              __builtin_return_address(0),
                              false};
    if (!to && !from)
        return RECTANGLE_DIMENSIONS;
    return copy_run(&copy);
}

void *omp_target_memset(void *address, int value, size_t bytes, int device)
{
    const struct copy filled = {
        .to = address, .to_device = device, .bytes = bytes, .code = __builtin_return_address(0)};
    fill_run(&filled, value);
    return address;
}
