/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_faults.c: faults of NVIDIA GPUs, with the stand-in for the driver; see gpu_faults.h.
 * Covers: worker/cuda/cuda.c gpu/stream.c
 */
#include "tests/unit/test.h"
#include "tests/unit/worker/cuda/cuda_fixture.h"

#define FAULT_CODE ILLEGAL_ADDRESS
#include "tests/unit/worker/gpu/gpu_faults.h"
