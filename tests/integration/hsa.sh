#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# GPUs of real workers, with the stand-in for the HSA runtime: data on all ways, one and two workers,
# a fault, the list of omprma-info, what is said where there is no runtime, no GPU, or none left, and the real runtime
# where this host has it.
set -euo pipefail
[ -e "$BUILD_DIR/tests/hsa/libhsa-runtime64.so.1" ] || exit 77
before=${LD_LIBRARY_PATH:-} kind=hsa
# shellcheck source=tests/integration/gpus.bash
. "$SOURCE_DIR/tests/integration/gpus.bash"
gpus_work 'HSA_STATUS_ERROR_MEMORY_FAULT.*at address 0x1000' \
    'ISA gfx90a:sramecc+:xnack-, 104 compute units, HSA runtime 1.1 (stand-in), bus 0000:a1:00.0, 4.0 GiB'
gpus_lack hsa_amd_agent_iterate_memory_pools:2 'GPU 0 \(Stand-in 0\) does not say what memory it has' \
    HSA_STATUS_ERROR_OUT_OF_RESOURCES

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
