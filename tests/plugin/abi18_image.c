/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* abi18_image.c: a device image as LLVM 18 makes it: kernels take a leading pointer. */
#include <stdint.h>

int table[4] = {10, 20, 30, 40};

void kernel_add(void *environment, int32_t *sum, uint64_t value);

void kernel_add(void *environment, int32_t *sum, uint64_t value)
{
    *sum = environment ? -1 : table[1] + (int32_t)value;
}
