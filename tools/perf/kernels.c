/* kernels.c: holds the shared object that the build made of kernels/empty.c. */
#include "tools/perf/kernels.h"

__asm__(".pushsection .rodata\n"
        ".balign 16\n"
        ".globl kernels_begin\n"
        ".hidden kernels_begin\n"
        "kernels_begin:\n"
        ".incbin \"" PERF_KERNELS "\"\n"
        ".globl kernels_end\n"
        ".hidden kernels_end\n"
        "kernels_end:\n"
        ".byte 0\n"
        ".popsection\n");
