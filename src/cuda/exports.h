/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * exports.h: all functions that programs call by name; they are the only symbols that the library
 * exports. cuda.def lists them. What they do is said in the manual of the CUDA driver interface;
 * what they do not is in docs/how-to/gpus.md.
 */
#ifndef OMPRMA_CUDA_EXPORTS_H
#define OMPRMA_CUDA_EXPORTS_H

#include "cuda/abi.h"

#define CU_FUNCTION(name, suffix, since, parameters) CU_EXPORT CUresult name##suffix parameters;
#include "cuda/cuda.def"

#endif
