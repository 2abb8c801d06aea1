/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * cuda_fixture.h: a core with two GPUs of the stand-in for the CUDA driver (tests/cuda) and a
 * native device on one worker. Included after cmocka.h.
 */
#ifndef OMPRMA_TESTS_CUDA_FIXTURE_H
#define OMPRMA_TESTS_CUDA_FIXTURE_H

#include "tests/cuda/standin.h"
#include "worker/cuda/cuda.h"

#define GPU_KIND cuda_kind
#define GPU_SONAME "libcuda.so.1"
#include "tests/unit/worker/gpu/gpu_fixture.h"

static const char kernels[] =
    "//\n.version 7.0\n.target sm_70, debug\n.address_size 64\n"
    ".extern .global .align 4 .u32 elsewhere;\n"
    ".visible .global .align 8 .u64 counter = 42;\n"
    ".global .align 4 .f32 table[3] = {0f3F800000, 0f40000000, 0f40400000};\n"
    ".visible .global .align 1 .b8 room[100];\n"
    ".visible .entry standin_add(\n\t.param .u64 standin_add_param_0,\n\t.param .u64 "
    "standin_add_param_1,\n\t.param .u64 standin_add_param_2\n)\n{\n\tst.global.u8 [%rd1], 1;\n\t{ "
    "ret; }\n}\n"
    ".visible .entry standin_geometry(.param .u64 .ptr .global .align 1 at)\n.maxntid 1024, 1, 1\n"
    "{ ret; }\n"
    ".visible .entry standin_mixed(.param .u8 a, .param .u16 b, .param .align 8 .b8 s[24], "
    ".param .u32 c, .param .u64 at) { ret; }\n"
    ".visible .entry standin_fault(.param .u32 code) { ret; }\n"
    ".visible .entry standin_nap(.param .u64 us) { ret; }\n"
    ".visible .entry standin_gate(.param .u64 at) { ret; }\n"
    ".visible .entry not_of_this_world() { ret; }\n";

static inline const void *gpu_image(size_t *bytes)
{
    *bytes = sizeof(kernels);
    return kernels;
}

static inline int count_left(void)
{
    struct standin_counts now = count_things();

    return now.blocks + now.modules + now.streams + now.events + now.contexts + now.registrations;
}

#endif
