#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The plugin exports what libomptarget of LLVM 13 to 18 looks for (symbols.txt) and nothing else, and
# asks libomprma for nothing but the functions of include.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=${BUILD_DIR:-$here/../../build}
plugin=${1:-$build/lib/omprma/libomprma-plugin.so}
failed=0

complain() {
    echo "symbols: $*" >&2
    failed=1
}

[ -e "$plugin" ] || { echo "symbols: no $plugin" >&2 && exit 1; }
# Sanitizers add symbols of their own.
exported=$(nm -D --defined-only "$plugin" | awk '{print $3}' | grep -v -e '^__asan' -e '^__ubsan' |
    sort)
listed=$(awk '!/^#/ {print "__tgt_rtl_" $3}' "$here/symbols.txt" | sort -u)

for version in 13 14 15 16 17 18; do
    wanted=$(awk -v version=$version '!/^#/ { split($1, range, "-")
        if (range[1] <= version && version <= range[2]) print "__tgt_rtl_" $3 }' \
        "$here/symbols.txt" | sort)
    missing=$(comm -23 <(echo "$wanted") <(echo "$exported"))
    [ -z "$missing" ] || complain "LLVM $version looks for these in vain: ${missing//$'\n'/ }"
    echo "LLVM $version: $(echo "$wanted" | wc -l) functions"
done

extra=$(comm -13 <(echo "$listed") <(echo "$exported"))
[ -z "$extra" ] || complain "exported, but in no list: ${extra//$'\n'/ }"

inner=$(nm -D --undefined-only "$plugin" | awk '{print $2}' | sed 's/@.*//' | grep -E '^omprma_' |
    while read -r name; do
        grep -qE "OMPRMA_API .*\b$name\(" "$here"/../../include/omprma*/*.h || echo "$name"
    done)
[ -z "$inner" ] || complain "used, but in no header of omprma: ${inner//$'\n'/ }"
mpi=$(nm -D --undefined-only "$plugin" | awk '{print $2}' | grep -E '^P?MPI_')
[ -z "$mpi" ] || complain "the plugin must not call MPI: ${mpi//$'\n'/ }"
exit $failed
