#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# GPUs of real workers, with the stand-in for the HSA runtime: data on all ways, one and two workers,
# a fault, the list of omprma-info, what is said where there is no runtime, no GPU, or none left, and the real runtime
# where this host has it.
set -euo pipefail
bin=$BUILD_DIR/bin gpus=$BUILD_DIR/tests/integration/gpus
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -e "$BUILD_DIR/tests/hsa/libhsa-runtime64.so.1" ] || exit 77
before=${LD_LIBRARY_PATH:-}
export LD_LIBRARY_PATH=$BUILD_DIR/tests/hsa${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
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
        echo "the runtime was left untidy, or not used"
        exit 1
    fi
}

both='--backends=native,hsa'
expect 0 '^right$' "$bin/omprma-run" -n 1 "$both" "$gpus" data
nothing_left
expect 0 '^right$' "$bin/omprma-run" -n 2 "$both" --data two-sided "$gpus" data 2
nothing_left
expect 0 'device 1 .*Stand-in 0: kernel standin_fault: HSA_STATUS_ERROR_MEMORY_FAULT.*at address 0x1000' \
    "$bin/omprma-run" -n 1 "$both" "$gpus" fault
grep -q '^right$' "$work/out"

expect 0 '^2 .* 0\.2 +hsa .*Stand-in 1$' "$bin/omprma-info" "$both"
grep -q 'GPU: ISA gfx90a:sramecc+:xnack-, 104 compute units, HSA runtime 1.1 (stand-in), bus 0000:a1:00.0, 4.0 GiB' "$work/out"
expect 0 '^1 .* 0\.1 +hsa .*Stand-in 1$' "$bin/omprma-info" --backends hsa

# Where the driver would have memory next the program has something, and far around.
expect 0 '^right$' "$bin/omprma-run" -n 1 --backends hsa "$gpus" crowded

# All drivers begin at one address.
export STANDIN_PLACE=200000000000
expect 0 '^right$' "$bin/omprma-run" -n 2 --backends hsa "$gpus" places
nothing_left
STANDIN_DEVICES=4 expect 0 '^right$' "$bin/omprma-run" -n 2 --backends hsa --data two-sided "$gpus" places
STANDIN_MEMORY=100 expect 0 'device 1 .*: its driver has 40960 KiB only at addresses that something else in the program has' \
    "$bin/omprma-run" -n 2 --backends hsa "$gpus" scarce
grep -q '^right$' "$work/out"
unset STANDIN_PLACE

# One of two GPUs cannot be used: the other devices go on.
STANDIN_FAIL=hsa_amd_agent_iterate_memory_pools:2 expect 0 'GPU 0 \(Stand-in 0\) does not say what memory it has' \
    "$bin/omprma-info" -v "$both"
grep -qE '^1 .* 0\.1 +hsa .*Stand-in 1$' "$work/out"

export STANDIN_DEVICES=0
expect 0 'no HSA devices: no GPU can be used: HSA_STATUS_ERROR_OUT_OF_RESOURCES' \
    "$bin/omprma-run" -v -n 1 "$both" "$gpus" natives
expect 125 'no GPU can be used: HSA_STATUS_ERROR_OUT_OF_RESOURCES' \
    "$bin/omprma-run" -n 1 --backends hsa "$gpus" natives
export STANDIN_DEVICES=1
expect 125 '2 workers share 1 GPU of this host' "$bin/omprma-run" -n 2 --backends hsa "$gpus" data

# No library, and one that lacks functions.
mkdir "$work/empty"
: >"$work/empty/libhsa-runtime64.so.1"
: >"$work/empty/libhsa-runtime64.so"
LD_LIBRARY_PATH=$work/empty expect 0 'no HSA devices: no HSA runtime: .*libhsa-runtime64.so' \
    "$bin/omprma-run" -v -n 1 "$both" "$gpus" natives
echo 'int hsa_init(void) { return 0; }' | "${CC:-cc}" -shared -fPIC -x c - -o "$work/empty/libhsa-runtime64.so.1"
LD_LIBRARY_PATH=$work/empty expect 0 'no HSA devices: the HSA runtime lacks hsa_shut_down; it has to be of ROCm 5.2' \
    "$bin/omprma-run" -v -n 1 "$both" "$gpus" natives

# The real one, where this host has it, and no GPU: it says so, and the worker goes on.
if [ ! -e /dev/kfd ] && ldconfig -p | grep -q 'libhsa-runtime64\.so\.1'; then
    LD_LIBRARY_PATH=$before expect 0 'no HSA devices: no GPU can be used: HSA_STATUS_ERROR_OUT_OF_RESOURCES: .* \(0x1008\); there is no /dev/kfd' \
        "$bin/omprma-run" -v -n 1 "$both" "$gpus" natives
fi

# A program that needs HIP's library gets omprma's; HIP is told to copy without kernels, unless the user says something.
mkdir "$work/hip"
echo 'int hip;' | "${CC:-cc}" -shared -fPIC -x c - -Wl,-soname,libamdhip64.so.5 -o "$work/hip/libamdhip64.so.5"
"${CC:-cc}" -x c - -o "$work/hip/app" -x none "$work/hip/libamdhip64.so.5" -Wl,-rpath,"$work/hip" <<'EOF'
#include <stdio.h>
#include <stdlib.h>
extern int hip;
int main(void)
{
    const char *copies = getenv("GPU_FORCE_BLIT_COPY_SIZE");
    printf("%s, %s\n", copies ? copies : "not set", getenv("LD_LIBRARY_PATH"));
    return hip;
}
EOF
if [ -e "$BUILD_DIR/lib/omprma/hsa/libhsa-runtime64.so.1" ]; then
    expect 125 '^0, [^:]*/lib/omprma/hsa:' "$bin/omprma-run" -n 1 "$work/hip/app"
    GPU_FORCE_BLIT_COPY_SIZE=16 expect 125 '^16, [^:]*/lib/omprma/hsa:' "$bin/omprma-run" -n 1 "$work/hip/app"
else
    expect 125 "omprma's HSA runtime library is missing: no .*/lib/omprma/hsa/libhsa-runtime64.so.1" \
        "$bin/omprma-run" -n 1 "$work/hip/app"
fi
