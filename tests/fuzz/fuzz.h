/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fuzz.h: what the fuzz targets of this folder share. Each is one C file with
 * LLVMFuzzerTestOneInput(), linked with libFuzzer and the address and undefined behaviour
 * sanitizers of clang 14. Inputs to start from, and those that showed a defect, are in corpus. */
#ifndef OMPRMA_TESTS_FUZZ_FUZZ_H
#define OMPRMA_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What must hold for any input; abort() is what libFuzzer notices. */
#define hold(condition)                                                                            \
    do {                                                                                           \
        if (!(condition))                                                                          \
            abort();                                                                               \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* The input in memory of its own size, so that the sanitizer sees a step beyond it; the caller
 * frees it. `extra` zero bytes follow. */
static inline void *fuzz_copy(const uint8_t *data, size_t bytes, size_t extra)
{
    uint8_t *copy = malloc(bytes + extra ? bytes + extra : 1);

    hold(copy != NULL);
    if (bytes)
        memcpy(copy, data, bytes);
    memset(copy + bytes, 0, extra);
    return copy;
}

#endif
