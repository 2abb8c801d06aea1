/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* programs_device.h: the devices of the fuzz target `programs`: this process, at once, with the
 * checks that omprma makes: addresses of devices lie in live blocks, host memory is there. */
#ifndef OMPRMA_TESTS_FUZZ_PROGRAMS_DEVICE_H
#define OMPRMA_TESTS_FUZZ_PROGRAMS_DEVICE_H

#include <stddef.h>
#include <stdint.h>

/* Where variables of the program lie; the target defines them. */
extern const char *const program_memory;
extern const size_t program_bytes;

/* Blocks that are allocated; one of them by its number. */
size_t device_blocks(void);
uint64_t device_block(size_t number);

#endif
