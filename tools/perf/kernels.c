/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* kernels.c: holds the shared object that the build made of kernels/empty.c, and the text for GPUs.
 */
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

const char kernels_ptx[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                           ".visible .entry perf_empty()\n{\n\tret;\n}\n"
                           ".visible .entry perf_add(.param .u64 at)\n{\n"
                           "\t.reg .u64 %rd<4>;\n"
                           "\tld.param.u64 %rd1, [at];\n"
                           "\tcvta.to.global.u64 %rd2, %rd1;\n"
                           "\tld.global.u64 %rd3, [%rd2];\n"
                           "\tadd.s64 %rd3, %rd3, 1;\n"
                           "\tst.global.u64 [%rd2], %rd3;\n"
                           "\tret;\n}\n";
const uint64_t kernels_ptx_bytes = sizeof(kernels_ptx);
