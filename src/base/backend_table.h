/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * backend_table.h: the kinds of GPU, and the library through which programs use each: the one table
 * of them. A row has a name for constants, one for users, who makes the GPUs, and members of struct
 * gpu_library (gpu_library.h). A further kind is a row here, a backend behind worker/gpu/kind.h,
 * and its library for programs beside src/cuda.
 */
#ifndef OMPRMA_BASE_BACKEND_TABLE_H
#define OMPRMA_BASE_BACKEND_TABLE_H

#define GPU_TABLE(ROW)                                                                             \
    ROW(CUDA, cuda, "NVIDIA", .interface = "CUDA", .title = "CUDA driver library",                 \
        .file = "libcuda", .soname = "libcuda.so.1", .machine = 190,                               \
        .triple = "nvptx64-nvidia-cuda", .gcc_text = "// BEGIN PREAMBLE\n",                        \
        .node = "/dev/nvidiactl", .llvm_plugin = "cuda")                                           \
    ROW(HSA, hsa, "AMD", .interface = "HSA", .title = "HSA runtime library",                       \
        .file = "libhsa-runtime64", .soname = "libhsa-runtime64.so.1", .above = "libamdhip64",     \
        .machine = 224, .triple = "amdgcn-amd-amdhsa", .node = "/dev/kfd",                         \
        .llvm_plugin = "amdgpu", .variable = "GPU_FORCE_BLIT_COPY_SIZE", .value = "0")

/* HIP from 6.4 on copies up to 16 KiB by a kernel that reads or writes memory of the host, which
 * GPUs of other hosts do not reach; with that 0 it does not. */

#endif
