#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# OMPRMA_ON_LOSS=continue: a worker that is killed or stopped, or a kernel that crashes, takes only
# its own device; its regions are computed on the host; what only it had is named.
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source=tests/shared_memory.sh
. "$(dirname "$0")/../shared_memory.sh"
[ -z "${SANITIZE:-}" ] || exit 77 # its output is not the program's
root=$(realpath "$(dirname "$0")/../..")
export TMPDIR=$folder/tmp OMPRMA_TIMEOUT=3 OMP_NUM_THREADS=2 OMPRMA_ON_LOSS=continue
export OMPRMA_MEMORY=320M
mkdir "$TMPDIR"
workers=(-n 4)

# Processes, files and shared memory of the run, after a while.
left() {
    local found=''
    for _ in $(seq 60); do
        found=$(pgrep -af "$folder/" | grep -v pgrep)$(ls "$TMPDIR")$(comm -13 "$folder/memory" \
            <(shared_memory))
        [ -n "$found" ] || break
        sleep 0.1
    done
    check "$1: left behind" "$found" ''
    rm -rf "${TMPDIR:?}"/*
}

# one WHAT STATUS OUT ERROR WORD...: OUT is all of the output, ERROR a pattern of one error line.
one() {
    local what=$1 status=$2 wanted=$3 pattern=$4 out
    shared_memory >"$folder/memory"
    out=$(timeout 60 "$RUN" "${workers[@]}" "$program" "${@:5}" 2>"$folder/err")
    check "$what: status" "$?" "$status"
    check "$what: output" "$out" "$wanted"
    check "$what: lines with '$pattern'" "$(grep -c "^omprma: error: .*$pattern" "$folder/err")" 1
    [ "$failures" = 0 ] || cat "$folder/err"
    left "$what"
}

# Over UCX MPICH ends processes whose peer has died, so it is refused; hydra's processes without MPI go on.
if [ "$(launcher_name)" = mpiexec.hydra ]; then
    find_llvm || exit 77
    program=$folder/on_loss
    "$llvm/bin/clang" -O1 -g -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu -L"$llvm/lib" \
        "$(dirname "$0")/on_loss.c" -o "$program" || exit 1
    "$RUN" "$program" fresh 9 >"$folder/out" 2>"$folder/err"
    check 'refused over UCX' "$? $(grep -c 'on-loss continue: this MPI library goes over UCX' "$folder/err")" '1 1'
    finish
    exit
fi

works='device 2 (.*): it is lost; its regions are computed on the host'
for version in 14 16 22; do
    llvm=$root/build/toolchains/llvm-$version
    [ -x "$llvm/bin/clang" ] || continue
    program=$folder/on_loss-$version
    "$llvm/bin/clang" -O1 -g -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu -L"$llvm/lib" \
        "$(dirname "$0")/on_loss.c" -o "$program" || exit 1
    one "clang $version, killed" 5 'right, host helped' "$works" fresh 9
    one "clang $version, killed in a region" 5 'right, host helped' "$works" during 9
    one "clang $version, a crash" 5 'right, host helped' "$works" fresh 0
    one "clang $version, given anew" 5 'right, host helped' "$works" anew 9
    one "clang $version, kept" 134 '' 'lost with it: the values of "part\[:LARGE\]"' kept 9
done
[ -n "${program:-}" ] || { echo "no LLVM: run scripts/toolchains" && exit 77; }
# Where one-sided transfers wait inside MPI for their target, they cannot be called off.
waits=auto
[[ $(mpirun --version) = *"(Open MPI) 4."* ]] || waits=two-sided OMPRMA_TIMEOUT=10 # others start slowly
OMPRMA_DATA=$waits one 'stopped' 5 'right, host helped' "$works" fresh 19
OMPRMA_DATA=$waits one 'stopped in a region' 5 'right, host helped' "$works" during 19
[ "$waits" != auto ] ||
    OMPRMA_DATA=rma one 'copied to' 5 'right, host idle' 'device 2 (.*): its worker, process [0-9]*, has died' copied 9
one 'functions' 5 'right, host helped' "$works" functions 9
check 'functions: lines of what refuses the device' \
    "$(grep -c '^omprma: error: device 2 (.*): omp_target_memcpy: the device is lost' "$folder/err")" 1
check 'functions: that only once' "$(grep -c 'omp_target_[a-z]*:' "$folder/err")" 1
OMPRMA_DATA=two-sided one 'two-sided' 5 'right, host helped' "$works" fresh 9
OMPRMA_STATS=1 one 'counted' 5 'right, host helped' "$works" fresh 9
check 'what --stats says' "$(grep -c '^omprma: lost: 1 of 4 devices' "$folder/err")" 1
OMP_TARGET_OFFLOAD=mandatory one 'mandatory' 134 '' 'its worker, process [0-9]*, has died' fresh 9
check 'a line for mandatory' "$(grep -c '^omprma: warning: .*OMP_TARGET_OFFLOAD=mandatory' "$folder/err")" 1
OMPRMA_ON_LOSS=Continue one 'in capitals' 5 'right, host helped' "$works" fresh 9

"$RUN" --osc ucx "$program" 2>"$folder/err"
check 'refused with UCX' "$? $(grep -c 'on-loss continue: not with --osc ucx' "$folder/err")" '125 1'

if hosts_up 2; then
    remote_shell "$HOSTS_AGENT"
    workers=(--hosts "${HOSTS[0]}:2,${HOSTS[1]}:2")
    # From 5 on a connection that is closed ends every process of Open MPI.
    if [[ $(mpirun --version) != *"(Open MPI) "[5-9]* ]]; then
        one 'two hosts, killed' 5 'right, host helped' "$works" fresh 9
        OMPRMA_DATA=$waits one 'two hosts, stopped in a region' 5 'right, host helped' "$works" during 19
    fi
    one 'two hosts, a crash' 5 'right, host helped' "$works" fresh 0
fi
finish
