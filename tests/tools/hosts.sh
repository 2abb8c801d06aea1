#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Workers on other hosts (network namespaces): placement, status, hosts that cannot be reached.
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
hosts_up 2 || { echo "network namespaces cannot be made here"; exit 77; }
build_stand_ins
remote_shell "$HOSTS_AGENT"
a=${HOSTS[0]} b=${HOSTS[1]}

by() { # SHELL COMMAND...: with another remote shell
    (remote_shell "$1" && "${@:2}")
}

out=$(timeout 60 "$RUN" --hosts "$a:2,$b" "$folder/program" status 5)
check 'status from three remote workers' "$?" 5
check 'their number' "$out" 'ready 4'

# Within a host control messages take shared memory.
said() { # OPTION...
    OMPRMA_VERBOSE=1 timeout 60 env -u OMPRMA_INTERNAL_WORKER "$BUILD_DIR/bin/omprma-info" "$@" 2>&1 |
        sed -n 's/^omprma: note: control messages: //p'
}
check 'messages to other hosts' "$(said --hosts "$a,$b")" \
    'through shared memory to 0 workers, by MPI to 2'
check 'messages here and there' "$(said --hosts "localhost,$b")" \
    'through shared memory to 1 worker, by MPI to 1'
check 'messages here' "$(said -n 2)" 'through shared memory to 2 workers, by MPI to 0'
check 'messages here by MPI' "$(OMPRMA_CONTROL=mpi said -n 2)" \
    'through shared memory to 0 workers, by MPI to 2'

case $(mpirun --version) in
*'(Open MPI) 4.1'*)
    check 'no window over TCP' "$(timeout 60 env -u OMPRMA_INTERNAL_WORKER "$BUILD_DIR/bin/omprma-info" --hosts "$a" --transport mpi --osc rdma 2>/dev/null |
        grep -c '^data path: .*MPI offers no dynamic window between these hosts, like Open MPI 4.1 over TCP ([^)]*); --osc ucx has one')" 1
    ;;
esac

printf '# two hosts\n%s slots=1\n%s\n' "$a" "$b" >"$folder/hosts"
out=$(timeout 60 "$RUN" --hostfile "$folder/hosts" "$folder/program")
check 'host file' "$? $out" '0 ready 3'

out=$(timeout 60 "$RUN" --hosts "localhost,$b" "$folder/program" _exit 0)
check 'here and there, no finalize' "$? $out" '0 ready 3'

# A host that ends what a remote shell leaves when it closes, as logind and containers may.
cat >"$folder/ends" <<'AGENT'
#!/bin/bash
exec ip netns exec "$1" unshare --uts --ipc --pid --fork --mount-proc bash -c 'hostname "$1"; shift; eval "$*"' agent "$@"
AGENT
chmod +x "$folder/ends"
out=$(by "$folder/ends" timeout 60 "$RUN" --hosts "$a:2" "$folder/program" 2>&1)
check 'a host that ends what a shell leaves' "$? $out" '0 ready 3'

# Bridges for containers, with one address on each host: packets to it do not leave the host.
inner=omin$$
trap 'ip link del "$inner" 2>/dev/null; hosts_down; rm -rf "$folder"' EXIT
for host in "" "$a" "$b"; do
    ip ${host:+-n "$host"} link add $inner type bridge
    ip ${host:+-n "$host"} addr add 198.18.77.1/24 dev $inner
    ip ${host:+-n "$host"} link set $inner up
done
out=$(timeout 60 "$RUN" --hosts "$a,$b" "$folder/program")
check 'bridges of one address' "$? $out" '0 ready 3'
for host in "" "$a" "$b"; do ip ${host:+-n "$host"} link del $inner; done

# A name whose domain is needed, and names that Open MPI would mix up.
# shellcheck disable=SC2016 # the agent expands them
printf '#!/bin/bash\n[ "$1" = "%s" ] || exit 255\nexec "%s" "%s" "${@:2}"\n' "$b.cluster.example" \
    "$HOSTS_AGENT" "$b" >"$folder/full"
chmod +x "$folder/full"
here=() # hydra calls home at one address, and the name does not lead there
[ "$(launcher_name)" != mpiexec.hydra ] || here=(--mpi-arg -localhost --mpi-arg "$hosts_net.1")
out=$(by "$folder/full" timeout 60 "$RUN" "${here[@]}" --hosts "$b.cluster.example:2" \
    "$folder/program" 2>&1)
check 'a full name' "$? $out" '0 ready 3'
if [ "$(launcher_name)" != mpiexec.hydra ]; then
    out=$(timeout 60 "$RUN" --hosts "$b.cluster.example,$b.other.example" "$folder/program" 2>&1)
    check 'status for two hosts of one short name' "$?" 125
    check 'line for two hosts of one short name' "$(grep -c 'are one host to Open MPI' <<<"$out")" 1
    echo "$hosts_net.3 $(hostname -s).other.example $b" >>/etc/hosts # the end takes it away
    out=$(timeout 60 "$RUN" --hosts "$(hostname -s).other.example" "$folder/program" 2>&1)
    check 'status for a host with the name of this one' "$?" 125
    check 'line for a host with the name of this one' "$(grep -c 'is this host to Open MPI' <<<"$out")" 1
fi

# Two machines of one name, as after cloning: each has processors and memory of its own.
cat >"$folder/clones" <<'AGENT'
#!/bin/bash
tr 0-9 a-f </proc/sys/kernel/random/uuid >"$0.$1"
echo '127.0.1.1 clone' | cat /etc/hosts - >"$0.$1.hosts"
exec ip netns exec "$1" unshare --uts --mount bash -c 'hostname clone
    mount --bind "$1" /proc/sys/kernel/random/boot_id; mount --bind "$1.hosts" /etc/hosts; shift 2; eval "$*"' agent "$0.$1" "$@"
AGENT
chmod +x "$folder/clones"
placed() { # the table of workers, without names of hosts
    timeout 60 env -u OMPRMA_INTERNAL_WORKER "$BUILD_DIR/bin/omprma-info" --hosts "$a,$b" 2>&1 |
        sed -nE "/^worker +host +own cores/,\$ s/^([0-9]+) +($a|$b|clone) +/\1 clone /p"
}
one_name() {
    by "$folder/clones" "$@"
}
if [[ $(mpirun --version) = *"(Open MPI) "[5-9]* ]]; then # it takes them for one, and connects none
    one_name env -u OMPRMA_INTERNAL_WORKER OMPRMA_TIMEOUT=5 timeout 100 "$BUILD_DIR/bin/omprma-info" \
        --hosts "$a,$b" >"$folder/out" 2>&1
    check 'status for hosts of one name' "$?" 1
    check 'line for hosts of one name' "$(grep -c '^omprma: error: start-up did not get past' "$folder/out")" 1
else
    check 'places of workers on hosts of one name' "$(one_name placed)" "$(placed)"
fi
check 'workers in the table' "$(placed | wc -l)" 2
out=$(timeout 60 "$RUN" --hosts "$a,nosuchhost:2" "$folder/program" 2>&1)
check 'status for an unknown host' "$?" 125
check 'line for an unknown host' "$out" \
    'omprma: error: cannot start workers on host nosuchhost: no such host: nosuchhost'

check 'processes left on the hosts' "$(ip netns pids "$a")$(ip netns pids "$b")" ''
check 'processes left' "$(processes_left)" 0
finish
