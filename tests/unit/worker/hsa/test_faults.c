/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * test_faults.c: faults of AMD GPUs, with the stand-in for the HSA runtime; see gpu_faults.h.
 * Covers: worker/hsa/fault.c gpu/stream.c
 */
#include "tests/unit/test.h"
#include "tests/unit/worker/hsa/hsa_fixture.h"

#define FAULT_CODE HSA_STATUS_ERROR_MEMORY_FAULT
#include "tests/unit/worker/gpu/gpu_faults.h"
