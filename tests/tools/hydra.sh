#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What omprma-run takes for granted in hydra, MPICH's mpiexec, without anything of omprma's: the place of
# each process is a port of this host and a number, variables reach only those after whose count they
# stand, and these are the words when processes end (launcher_hydra.c).
set -u
command -v mpiexec.hydra >/dev/null || exit 77
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

complain() {
    echo "hydra: $*"
    sed 's/^/  | /' "$folder/out"
    failed=1
}

# As omprma-run does it: one that runs FIRST, and two that run OTHER.
start() { # FIRST OTHER
    timeout 60 mpiexec.hydra -pmi-port -print-all-exitcodes -bind-to none -rmk user -launcher fork -iface lo \
        -n 1 sh -c "$1" : -n 2 -env ONLY workers sh -c "$2" >"$folder/out" 2>&1
}

said() { # PATTERN WHAT
    grep -qE "$1" "$folder/out" || complain "$2"
}

# shellcheck disable=SC2016 # for the processes
show='echo "rank $PMI_ID at $PMI_PORT, $MPI_LOCALRANKID of $MPI_LOCALNRANKS, [${ONLY:-}]"'
start "$show" "$show" || complain "three processes do not end with status 0"
said '^rank 0 at 127\.0\.0\.1:[0-9]+, 0 of 3, \[\]$' 'rank 0 has no place, or a variable of the others'
said '^rank 2 at 127\.0\.0\.1:[0-9]+, 2 of 3, \[workers\]$' 'rank 2 has no place or no variable'
said '^\[mpiexec@[^]]+\] Exit codes: \[[^]]+\] 0,0,0$' 'all statuses are said in other words'

# shellcheck disable=SC2016
start 'sleep 20' '[ "$PMI_ID" = 1 ] || sleep 20; sleep 0.5; kill -9 $$'
status=$?
# It may fail so where a process ends at its start.
if [ $status != 255 ] || ! grep -q '^\[mpiexec@[^]]*\] .*: assert (!closed) failed$' "$folder/out"; then
    [ $status = 9 ] || complain 'the status of a job whose process is killed is not the number of the signal'
    said '^=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES$' 'the frame has another head'
    said '^=   PID [0-9]+ RUNNING AT [^ ]+$' 'the frame has no host'
    said '^=   EXIT CODE: 9$' 'the frame has no status'
    said '^YOUR APPLICATION TERMINATED WITH THE EXIT STRING: .*\(signal 9\)' 'the signal is said in other words'
fi

start 'exit 5' 'exit 0'
[ $? = 5 ] || complain 'the status of a job is not that of its process'
said '^\[mpiexec@[^]]+\] Exit codes: \[[^]]+\] 1280,0,0$' 'a status is not said as wait() has it'
exit $failed
