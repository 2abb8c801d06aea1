# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# shellcheck shell=bash
# gpus.bash: what GPUs of real workers do whatever kind they are, with the stand-in for their driver. Sourced with the
# kind in $kind.
bin=$BUILD_DIR/bin gpus=$BUILD_DIR/tests/integration/gpus both="--backends=native,$kind"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LD_LIBRARY_PATH=$BUILD_DIR/tests/$kind${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
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
        echo "the stand-in was left untidy, or not used"
        exit 1
    fi
}

# gpus_work FAULT ABOUT: data on all ways, one and two workers, a fault with those words, and the list of omprma-info,
# which says so much about a GPU.
gpus_work() {
    expect 0 '^right$' "$bin/omprma-run" -n 1 "$both" "$gpus" data
    nothing_left
    # The program maps what it can: a native device's arena, and staging memory of GPUs.
    expect 0 '^right$' "$bin/omprma-run" -v -n 1 "$both" "$gpus" data
    if grep -q 'memory of [12] devices\? is shared' "$work/out"; then
        echo "the staging memory of GPUs is not mapped" && cat "$work/out" && exit 1
    fi
    expect 0 '^right$' "$bin/omprma-run" -n 2 "$both" --data two-sided "$gpus" data 2
    nothing_left
    expect 0 "device 1 .*Stand-in 0: kernel standin_fault: $1" \
        "$bin/omprma-run" -n 1 "$both" "$gpus" fault
    grep -q '^right$' "$work/out"

    expect 0 "^2 .* 0\.2 +$kind .*Stand-in 1\$" "$bin/omprma-info" "$both"
    grep -q "GPU: $2" "$work/out"
    expect 0 "^1 .* 0\.1 +$kind .*Stand-in 1\$" "$bin/omprma-info" --backends "$kind"

    # Where the driver would have memory next the program has something, and far around.
    expect 0 '^right$' "$bin/omprma-run" -n 1 --backends "$kind" "$gpus" crowded

    # All drivers begin at one address.
    export STANDIN_PLACE=200000000000
    expect 0 '^right$' "$bin/omprma-run" -n 2 --backends "$kind" "$gpus" places
    nothing_left
    STANDIN_DEVICES=4 expect 0 '^right$' "$bin/omprma-run" -n 2 --backends "$kind" --data two-sided "$gpus" places
    STANDIN_MEMORY=100 expect 0 'device 1 .*: its driver has 40960 KiB only at addresses that something else in the program has' \
        "$bin/omprma-run" -n 2 --backends "$kind" "$gpus" scarce
    grep -q '^right$' "$work/out"
    unset STANDIN_PLACE
}

# gpus_lack CALL WORDS NONE: a call fails, and one of two GPUs cannot be used; then there is no GPU, which those words
# say; then fewer than workers.
gpus_lack() {
    # One of two GPUs cannot be used: the other devices go on.
    STANDIN_FAIL=$1 expect 0 "$2" \
        "$bin/omprma-info" -v "$both"
    grep -qE "^1 .* 0\.1 +$kind .*Stand-in 1\$" "$work/out"

    export STANDIN_DEVICES=0
    expect 0 "no ${kind^^} devices: no GPU can be used: $3" \
        "$bin/omprma-run" -v -n 1 "$both" "$gpus" natives
    expect 125 "no GPU can be used: $3" \
        "$bin/omprma-run" -n 1 --backends "$kind" "$gpus" natives
    export STANDIN_DEVICES=1
    expect 125 '2 workers share 1 GPU of this host' "$bin/omprma-run" -n 2 --backends "$kind" "$gpus" data
}
