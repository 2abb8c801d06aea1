#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# hosts.sh: ranks of an MPI program on two hosts (network namespaces), each with the workers of its own.
# What their remote shell starts gets no variables from here, as by ssh.
# shellcheck source=tests/mpi-programs/common.sh
. "$(dirname "$0")/common.sh"
[ -z "${SANITIZE:-}" ] || exit 77
find_llvm || exit 77
hosts_up 2 || { echo "network namespaces cannot be made here"; exit 77; }
out=$BUILD_DIR/tests/mpi-programs/$(basename "$llvm")
a=${HOSTS[0]} b=${HOSTS[1]}
sed -i "s|unshare --uts bash|env -i 'PATH=$PATH' 'HOME=$HOME' OMPI_ALLOW_RUN_AS_ROOT=1 \
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 &|" "$HOSTS_AGENT"
remote_shell "$HOSTS_AGENT"
export OMPRMA_MEMORY=320M OMPRMA_TIMEOUT=30

# ranks KIND WHAT OPTION...: four of them, by the launcher with these options.
ranks() {
    local got what="$1, $2"
    timeout -k 5 "${OMPRMA_TEST_SECONDS:-120}" "$RUN" -n 2 --hosts "$a,$b" -- "${launch[@]}" "${@:3}" \
        "$out/$1/devices" own </dev/null >"$folder/out" 2>"$folder/err"
    got=$?
    check "$what: status" "$got" 0
    check "$what: ranks" "$(grep -c '^ok devices [0-3] of 4$' "$folder/out")" 4
    check "$what: devices" "$(grep -c '^devices [0-3] of 4: 1$' "$folder/out")" 4
    [ $got = 0 ] || tail -n 15 "$folder/out" "$folder/err"
}

tried=''
if find_mpi openmpi; then
    build openmpi devices
    # The settings of Debian's Open MPI 6 keep programs on one host, without omprma, too.
    [[ $("${launch[0]}" --version) != *"(Open MPI) 6."* ]] || export OMPI_MCA_btl_tcp_if_include=
    ranks openmpi 'a list of hosts' -n 4 -H "$a:2,$b:2"
    WORD=x ranks openmpi "the user's -x" -x WORD -n 4 -H "$a:2,$b:2"
    WORD=x OMPI_MCA_mca_base_env_list=WORD ranks openmpi "the user's list" -n 4 -H "$a:2,$b:2"
    WORD=x ranks openmpi "the user's list as argument" --mca mca_base_env_list WORD -n 4 -H "$a:2,$b:2"
    printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s own\n' "$llvm/lib" "$out/openmpi/devices" >"$folder/own_path"
    chmod +x "$folder/own_path"
    ranks openmpi 'a script that names the program, and sets its path' -n 4 -H "$a:2,$b:2" "$folder/own_path"
    # The launcher of Open MPI 5 loses its daemons then, without omprma, too.
    [[ $("${launch[0]}" --version) = *"(Open MPI) 5."* ]] ||
        ranks openmpi 'two programs' -n 2 -H "$a:2" "$out/openmpi/devices" own : -n 2 -H "$b:2"
    # A host that omprma-run was not told of.
    "$RUN" -n 1 --hosts "$a" -- "${launch[@]}" --map-by node -n 2 -H "$a,$b" "$out/openmpi/devices" >"$folder/out" 2>"$folder/err"
    check 'a host without an agent: status' $? 1
    check 'a host without an agent: line' "$(grep -c '^omprma: error: no workers on this host' "$folder/err")" 1
    tried=yes
fi
if find_mpi mpich; then
    build mpich devices
    ranks mpich 'a list of hosts' -n 4 -hosts "$a:2,$b:2" -localhost "$hosts_net.1" -launcher rsh \
        -launcher-exec "$HOSTS_AGENT"
    tried=yes
fi
[ -n "$tried" ] || exit 77
finish
