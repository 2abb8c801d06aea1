#!/bin/bash
# Workers on other hosts (network namespaces): placement, status, hosts that cannot be reached.
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
hosts_up 2 || { echo "network namespaces cannot be made here"; exit 77; }
build_stand_ins
export OMPI_MCA_plm_rsh_agent=$HOSTS_AGENT
a=${HOSTS[0]} b=${HOSTS[1]}

out=$(timeout 60 "$RUN" --hosts "$a:2,$b" "$folder/program" status 5)
check 'status from three remote workers' "$?" 5
check 'their number' "$out" 'ready 4'

printf '# two hosts\n%s slots=1\n%s\n' "$a" "$b" >"$folder/hosts"
out=$(timeout 60 "$RUN" --hostfile "$folder/hosts" "$folder/program")
check 'host file' "$? $out" '0 ready 3'

out=$(timeout 60 "$RUN" --hosts "localhost,$b" "$folder/program" _exit 0)
check 'here and there, no finalize' "$? $out" '0 ready 3'

out=$(timeout 60 "$RUN" --hosts "$a,nosuchhost:2" "$folder/program" 2>&1)
check 'status for an unknown host' "$?" 1
check 'line for an unknown host' "$out" \
    'omprma: cannot start workers on host nosuchhost: no such host: nosuchhost'

check 'processes left on the hosts' "$(ip netns pids "$a")$(ip netns pids "$b")" ''
check 'processes left' "$(processes_left)" 0
finish
