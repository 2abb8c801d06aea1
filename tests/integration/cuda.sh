#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# GPUs of real workers, with the stand-in for the CUDA driver: data on all ways, one and two workers,
# a fault, the list of omprma-info, and what is said where there is no driver, no GPU, or none left.
set -euo pipefail
kind=cuda
# shellcheck source=tests/integration/gpus.bash
. "$SOURCE_DIR/tests/integration/gpus.bash"
gpus_work 'CUDA_ERROR_ILLEGAL_ADDRESS \(700\)' 'compute capability 9.0, driver 12.4, bus 0000:A1:00.0, 1.0 GiB'
gpus_lack cuDevicePrimaryCtxRetain:1:999 'GPU 0 has no context: CUDA_ERROR_UNKNOWN' CUDA_ERROR_NO_DEVICE
expect 125 'backends native,opencl cannot be used; allowed: native.cuda.hsa, some of them' \
    "$bin/omprma-run" -n 1 --backends native,opencl "$gpus" data
