#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# GPUs of real workers, with the stand-in for the CUDA driver: data on all ways, one and two workers,
# a fault, the list of omprma-info, and what is said where there is no driver, no GPU, or none left.
set -euo pipefail
bin=$BUILD_DIR/bin gpus=$BUILD_DIR/tests/integration/gpus
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$BUILD_DIR/tests/cuda${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export STANDIN_DEVICES=2 STANDIN_REPORT=$work/report

# expect STATUS PATTERN COMMAND...: ends with this status, and says something like that.
expect() {
    local wanted=$1 pattern=$2 status=0
    shift 2
    rm -f "$STANDIN_REPORT"
    timeout 100 "$@" >"$work/out" 2>&1 || status=$?
    if [ "$status" != "$wanted" ] || ! grep -qE "$pattern" "$work/out"; then
        echo "$*: status $status, not $wanted, or it does not say: $pattern"
        cat "$work/out"
        exit 1
    fi
}

# What workers gave back is all that they took.
nothing_left() {
    if ! grep -q '^calls: ' "$STANDIN_REPORT" || grep 'not given back' "$STANDIN_REPORT"; then
        echo "the driver was left untidy, or not used"
        exit 1
    fi
}

both='--backends=native,cuda'
expect 0 '^right$' "$bin/omprma-run" -n 1 "$both" "$gpus" data
nothing_left
expect 0 '^right$' "$bin/omprma-run" -n 2 "$both" --data two-sided "$gpus" data 2
nothing_left
expect 0 'device 1 .*Stand-in 0: kernel standin_fault: CUDA_ERROR_ILLEGAL_ADDRESS \(700\)' \
    "$bin/omprma-run" -n 1 "$both" "$gpus" fault
grep -q '^right$' "$work/out"

expect 0 '^2 .* 0\.2 +cuda .*Stand-in 1$' "$bin/omprma-info" "$both"
grep -q 'GPU: compute capability 9.0, driver 12.4, bus 0000:A1:00.0, 1.0 GiB' "$work/out"
expect 0 '^1 .* 0\.1 +cuda .*Stand-in 1$' "$bin/omprma-info" --backends cuda

# Where the driver would have memory next the program has something, and far around.
expect 0 '^right$' "$bin/omprma-run" -n 1 --backends cuda "$gpus" crowded

# All drivers begin at one address.
export STANDIN_PLACE=200000000000
expect 0 '^right$' "$bin/omprma-run" -n 2 --backends cuda "$gpus" places
nothing_left
STANDIN_DEVICES=4 expect 0 '^right$' "$bin/omprma-run" -n 2 --backends cuda --data two-sided "$gpus" places
STANDIN_MEMORY=100 expect 0 'device 1 .*: its driver has 40960 KiB only at addresses that something else in the program has' \
    "$bin/omprma-run" -n 2 --backends cuda "$gpus" scarce
grep -q '^right$' "$work/out"
unset STANDIN_PLACE

# One of two GPUs cannot be used: the other devices go on.
STANDIN_FAIL=cuDevicePrimaryCtxRetain:1:999 expect 0 'GPU 0 has no context: CUDA_ERROR_UNKNOWN' \
    "$bin/omprma-info" -v "$both"
grep -qE '^1 .* 0\.1 +cuda .*Stand-in 1$' "$work/out"

export STANDIN_DEVICES=0
expect 0 'no CUDA devices: no GPU can be used: CUDA_ERROR_NO_DEVICE' \
    "$bin/omprma-run" -v -n 1 "$both" "$gpus" natives
expect 125 'no GPU can be used: CUDA_ERROR_NO_DEVICE' \
    "$bin/omprma-run" -n 1 --backends cuda "$gpus" natives
export STANDIN_DEVICES=1
expect 125 '2 workers share 1 GPU of this host' "$bin/omprma-run" -n 2 --backends cuda "$gpus" data
expect 125 'backends native,opencl cannot be used; allowed: native.cuda.hsa, some of them' \
    "$bin/omprma-run" -n 1 --backends native,opencl "$gpus" data
