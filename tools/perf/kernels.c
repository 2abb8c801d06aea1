/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* kernels.c: holds the shared object that the build made of kernels/empty.c, and finds those for
 * GPUs. */
#include "tools/perf/kernels.h"

#include <stdint.h>
#include <string.h>

__asm__(".pushsection .rodata\n"
        ".balign 16\n"
        ".globl perf_image, perf_image_end\n"
        ".hidden perf_image, perf_image_end\n"
        "perf_image:\n"
        ".incbin \"" PERF_KERNELS "\"\n"
        "perf_image_end:\n"
        ".popsection\n");

extern const char perf_image[], perf_image_end[];

bool kernels_find(const char *backend, struct kernels *kernels)
{
    *kernels = strcmp(backend, "native") == 0
                   ? (struct kernels){perf_image, (uintptr_t)perf_image_end - (uintptr_t)perf_image}
                   : cuda_kernels(backend);
    return kernels->image != NULL;
}
