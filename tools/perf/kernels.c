/* kernels.c: holds the shared object that the build made of kernels/empty.c. */
#include "tools/perf/kernels.h"

__asm__(".pushsection .rodata\n"
        ".balign 16\n"
        ".globl kernels_image, kernels_bytes\n"
        ".hidden kernels_image, kernels_bytes\n"
        "kernels_image:\n"
        ".incbin \"" PERF_KERNELS "\"\n"
        "1:\n"
        ".balign 8\n"
        "kernels_bytes:\n"
        ".quad 1b - kernels_image\n"
        ".popsection\n");
