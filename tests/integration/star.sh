#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Two worker hosts (network namespaces) that the program's host reaches, but that do not reach each
# other: data goes through the application where that is asked for, otherwise the run ends with a
# line, be it that connections are refused or that packets vanish, from the start or later.
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/../tools/common.sh"
hosts_up 2 || { echo "network namespaces cannot be made here"; exit 77; }
remote_shell "$HOSTS_AGENT"
export OMPRMA_MEMORY=320M
advice='set OMPRMA_EXCHANGE=application'
export UCX_TLS=tcp,self # of MPICH: else it shares memory with what is on this machine, whatever the network says

# Two workers per host: with one, MPI's collectives may happen to connect no two of them.
run() { # OPTION...: all devices exchange data with each other; gives the status
    timeout -k 5 120 "$RUN" --hosts "${HOSTS[0]}:2,${HOSTS[1]}:2" "$@" -- \
        "$BUILD_DIR/tests/integration/peers" >"$folder/out" 2>"$folder/err" </dev/null
}

count() { # PATTERN
    grep -cE "$1" "$folder/err"
}

check_nothing_left() { # WHAT
    local left
    for _ in $(seq 50); do
        left=$(ip netns pids "${HOSTS[0]}")$(ip netns pids "${HOSTS[1]}")
        [ -n "$left" ] || break
        sleep 0.1
    done
    check "$1: processes left on the hosts" "$left" ''
}

check_application() { # WHAT
    OMPRMA_EXCHANGE=application run --stats
    check "$1, through the application" "$?" 0
    check "$1: devices with such exchanges" "$(count ' exchange +application +[1-9]')" 4
    check "$1: devices with others" "$(count ' exchange +(rma|two-sided)')" 0
    check_nothing_left "$1, through the application"
}

# If even this fails, the rest says nothing.
run
check 'hosts that reach each other' "$?" 0

# Where MPI has one-sided transfers over a network, a worker waits inside one, and is silent.
silent='no such line'
[[ $(mpirun --version) = *"(Open MPI) 4."* ]] || silent='device 0 .* has not answered for [0-9]* s and is given up'

# They part when all is connected: large data stalls at its sender, small data is only missed.
part_later() { # BYTES LINE
    local job pipe=$folder/pipe$1
    mkfifo "$pipe"
    OMPRMA_TIMEOUT=4 timeout -k 5 60 "$RUN" --hosts "${HOSTS[0]}:1,${HOSTS[1]}:1" -- \
        "$BUILD_DIR/tests/integration/ends" part "$1" >"$folder/out" 2>"$folder/err" <"$pipe" &
    job=$!
    exec 9>"$pipe"
    await "$folder/out" ready
    hosts_part lost
    echo >&9
    wait "$job"
    check "parted later, $1: status" "$?" 1
    exec 9>&-
    check "parted later, $1: line" "$(count "^part: device lost: exchange from device 0 to device 1: ($2: no data has moved.*$advice|$silent)")" 1
    # Which way data goes, and that the program has ended the run, is said as well; that by MPICH, too.
    check "parted later, $1: lines" "$(grep -vcE '^omprma: |^Abort\(.*called MPI_Abort' "$folder/err")" 1
    check_nothing_left "parted later, $1"
    hosts_join
}
part_later 4000000 'device 0 .* and device 1 .*'
part_later 8 'device 1 .* and device 0 .*'

hosts_part refused
if [ "$(launcher_name)" = mpiexec.hydra ]; then # all processes connect in MPI_Init: no way leads around that
    run
    check 'refused: status that is not 0' "$(($? != 0))" 1
    check 'refused: a line' "$(grep -q '^omprma: error: ' "$folder/err" && echo some)" some
    check_nothing_left refused
    finish
    exit
fi
check_application refused
run
check 'refused: status' "$?" 125
check 'refused: line' "$(count "^omprma: .* cannot reach .*(connect\(\) to .*No route to host|no network leads there).*$advice")" 1
# Of other libraries than Open MPI 4 a worker may say what MPI gave it as well.
more='^$'
[[ $(mpirun --version) == *"(Open MPI) 4."* ]] || more='^omprma: [a-z]+: worker '
check 'refused: lines' "$(grep -vcE "$more" "$folder/err")" 1
check_nothing_left refused

hosts_part lost
check_application lost
OMPRMA_TIMEOUT=5 run
check 'lost: status' "$?" 1
check 'lost: line' "$(count "^omprma: error: start-up did not get past .* within 5 s; .*$advice")" 1
check_nothing_left lost

finish
