#!/bin/bash
# Two worker hosts (network namespaces) that the program's host reaches, but that do not reach each
# other: data goes through the application where that is asked for, otherwise the run ends with a
# line, be it that connections are refused or that packets vanish.
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/../tools/common.sh"
hosts_up 2 || { echo "network namespaces cannot be made here"; exit 77; }
export OMPI_MCA_plm_rsh_agent=$HOSTS_AGENT OMPRMA_MEMORY=320M
advice='set OMPRMA_EXCHANGE=application'

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

hosts_part refused
check_application refused
run
check 'refused: status' "$?" 1
check 'refused: line' "$(count "^omprma: .* cannot reach .* connect\(\) to .*No route to host.*$advice")" 1
check 'refused: lines' "$(wc -l <"$folder/err")" 1
check_nothing_left refused

hosts_part lost
check_application lost
OMPRMA_TIMEOUT=5 run
check 'lost: status' "$?" 1
check 'lost: line' "$(count "^omprma: start-up did not get past .* within 5 s; .*$advice")" 1
check_nothing_left lost

finish
