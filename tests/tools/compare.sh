#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# omprma-perf --compare: made-up results against what they must give; files that are none.
# shellcheck disable=SC2015,SC2094,SC2207 # text for other programs; A && B || C reports
set -u
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
PERF=$BUILD_DIR/bin/omprma-perf
cd "$folder" || exit 1

# row OP PATH BYTES WORKERS MEDIAN
row() { printf '{"op":"%s","path":"%s","bytes":%s,"workers":%s,"us_median":%s}' "$@"; }
file() { # NAME CPU ROW...
    local IFS=,
    printf '{"machine":{"cpu":"%s"},"results":[%s]}\n' "$2" "${*:3}" >"$1"
}
# Random medians: the new one is equal, twice or half of the old one.
RANDOM=${OMPRMA_TEST_SEED:-1}
old=() new=() counts=(0 0 0)
for size in $(seq 8 3 98); do
    base=$((RANDOM % 900 + 100))
    kind=$((RANDOM % 3))
    case $kind in 0) other=$base ;; 1) other=$((base * 2)) ;; *) other=$((base / 2)) ;; esac
    counts[kind]=$((counts[kind] + 1))
    old+=("$(row submit rma "$size" 1 "$base")")
    new=("$(row submit rma "$size" 1 "$other")" "${new[@]}") # in another order
done
file a.json one "${old[@]}" "$(row launch raw 0 1 5)" "$(row submit rma 8 2 9)"
file b.json one "${new[@]}" "$(row launch auto 0 1 5)" "$(row submit rma 8 3 9)"
"$PERF" --compare a.json b.json >out 2>&1 || check 'status' "$? $(cat out)" 0
check 'the end' "$(tail -n 1 out)" \
    "${#old[@]} compared: ${counts[2]} faster and ${counts[1]} slower by more than 10 %"
check 'the words' "$(grep -c 'slower$' out) $(grep -c 'faster$' out)" "${counts[1]} ${counts[2]}"
file c.json two "${new[@]}"
grep -qx 'They are of different processors: one, two' <("$PERF" --compare a.json c.json) || check 'processors' '' 'different'

fails() { # PATTERN WORD...
    local out status
    out=$("$PERF" "${@:2}" 2>&1)
    status=$?
    check "status of ${*:2}" "$status" 125
    grep -q -- "$1" <<<"$out" || check "${*:2}" "$out" "$1"
}
echo '{"results":7}' >none.json
file far.json one "$(row launch rma 0 9 1)"
fails 'needs two files' --compare a.json
fails 'cannot read nosuch.json: No such file' --compare nosuch.json a.json
fails 'none.json is no file that omprma-perf --json has made' --compare a.json none.json
fails 'have no operation in common' --compare a.json far.json
finish
