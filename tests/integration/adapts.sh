#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A start that chose the contrary of what it measured, where the program does not copy by itself: data is right all
# the time, the other path is tried, and a choice is revised as often as lines and statistics say; with OMPRMA_ADAPT=0,
# and with a forced way, none is. Whether the other path wins depends on the machine: see tests/unit/host/choice.
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/../tools/common.sh"
[[ $(mpirun --version) != *HYDRA* ]] ||
    { echo "skipped: where an MPI library's one-sided transfers are not trusted, there is nothing to try" && exit 77; }
export OMPRMA_MEMORY=320M OMPRMA_TEST_WRONG_CHOICE=1 OMPRMA_MAP_ARENAS=0

run() { # OPTION...
    timeout -k 5 60 "$RUN" -n 2 --osc rdma -v --stats "$@" -- "$BUILD_DIR/tests/integration/adapts" \
        >"$folder/out" 2>"$folder/err" </dev/null
    check "status with $*" "$?" 0
    check "output with $*" "$(cat "$folder/out")" 'all right'
}

lines() { # PATTERN
    grep -cE "$1" "$folder/err"
}

run --data auto
check 'the other path is tried' "$([ "$(lines '; [1-9][0-9]* tried the other path')" -gt 0 ] && echo yes)" yes
revised=$(sed -nE 's/.*; at start-up (two-sided|rma).*, revised ([0-9]+)x.*/\2/p' "$folder/err" |
    awk '{ n += $1 } END { print n + 0 }')
check 'lines and statistics of them' "$(lines '^omprma: note: (submits|retrieves) (from|below) .* in place of ')" "$revised"

OMPRMA_ADAPT=0 run --data auto
check 'none when switched off' "$(lines ' in place of |revised')" 0
run --data two-sided
check 'none when forced' "$(lines ' in place of |revised')" 0

finish
