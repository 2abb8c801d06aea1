#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# common.sh: sourced by the tests of this folder, and by scripts of perf/ for its hosts.
#   check WHAT GOT WANTED   counts and shows a difference; finish ends the test
#   find_llvm               $llvm is a folder of build/toolchains, LLVM 14's or that of another version
#   descendants PID         all processes below one
#   hosts_up N [RATE]       makes N network namespaces that stand in for hosts, ${HOSTS[@]},
#                           and the remote shell $HOSTS_AGENT; 77 where it cannot. What each sends,
#                           and what this host sends them, goes at RATE, for example 100mbit
#   remote_shell [WORDS]    launchers reach other hosts by this, whichever launcher it is; without WORDS as ever
#   named HOST NAME         processes of that name on a host
#   await FILE WORD         until it is in there, 30 s at most
#   at_ready HOW COMMAND... does HOW to a command that has said ready, and waits for it
#   hosts_part HOW          the two reach this host, but no longer each other: connections are
#                           "refused", or packets are "lost" without a word
#   hosts_join              they do again, after "lost"
# Leaves nothing behind: $folder and the namespaces are removed at exit.

# shellcheck disable=SC2034 # the tests use it
RUN=$BUILD_DIR/bin/omprma-run
folder=$(mktemp -d)
failures=0
trap 'hosts_down; rm -rf "$folder"' EXIT

check() {
    [ "$2" = "$3" ] && return
    printf 'FAILED %s: got "%s", wanted "%s"\n' "$1" "$2" "$3"
    failures=$((failures + 1))
}

# What the process of the first mpirun in PATH is called.
launcher_name() {
    case $(mpirun --version) in
    *"(Open MPI) 4."*) echo mpirun ;;
    *"(Open MPI) "*) echo prterun ;;
    *) echo mpiexec.hydra ;;
    esac
}

# The kind of MPI library for which omprma was built; nothing where any with the standard interface will do.
mpi_built() {
    case $(readelf -d "$BUILD_DIR/lib/omprma/libomprma-mpi.so") in
    *libmpi_abi.*) ;;
    *libmpi.so.12* | *libmpich.*) echo MPICH ;;
    *) echo 'Open MPI' ;;
    esac
}

finish() {
    [ "$failures" = 0 ] || exit 1
    echo "all right"
}

find_llvm() {
    local version toolchains
    toolchains=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")/build/toolchains
    for version in 14 19 22 23; do
        llvm=$toolchains/llvm-$version
        [ ! -x "$llvm/bin/clang" ] || return 0
    done
    echo "no LLVM 14, 19, 22 or 23: run scripts/toolchains"
    return 1
}

# A program that is a rank of its own: it says that it is connected, then does what it is told. While
# it runs it has a file in shared memory, as libomp has one. It calls MPI as omprma does in a program,
# which is not what programs of users are that use MPI.
build_stand_ins() {
    export OMPRMA_TRANSPORT=mpi
    cat >"$folder/program.c" <<'C'
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **words)
{
    const char *fd = getenv("OMPRMA_INTERNAL_FD"), *what = count > 1 ? words[1] : "";
    int code = count > 2 ? atoi(words[2]) : 0, one = 1, sum;
    char libomp[80];
    if (strcmp(what, "early") == 0)
        return code;
    snprintf(libomp, sizeof(libomp), "/dev/shm/__KMP_REGISTERED_LIB_%d_%d", (int)getpid(),
             (int)getuid());
    close(open(libomp, O_CREAT | O_RDWR, 0600));
    MPI_Init(NULL, NULL);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (fd && write(atoi(fd), "c", 1) != 1)
        return 99;
    if (fd)
        printf("ready %d\n", sum), fflush(stdout);
    if (strcmp(what, "_exit") == 0)
        _exit(code);
    if (strcmp(what, "raise") == 0)
        raise(code);
    if (strcmp(what, "sleep") == 0)
        sleep(code);
    if (strcmp(what, "cat") == 0)
        for (int byte; (byte = getchar()) != EOF;)
            putchar(byte);
    if (strcmp(what, "words") == 0)
        for (int i = 2; i < count; i++)
            printf("[%s]", words[i]);
    MPI_Finalize();
    unlink(libomp);
    return code;
}
C
    "${MPICC:-mpicc}" "$folder/program.c" -o "$folder/rank" || exit 1
    # A script, because an ELF program without libomptarget is refused.
    printf '#!/bin/sh\nexec "%s" "$@"\n' "$folder/rank" >"$folder/program"
    chmod +x "$folder/program"
    export OMPRMA_INTERNAL_WORKER=$folder/rank
}

# Processes that belong to the test: all have its folder among their words. The keeper gives mpirun
# four seconds to end by itself.
processes_left() {
    for _ in $(seq 40); do
        pgrep -f "$folder/(rank|program)" >/dev/null || break
        sleep 0.2
    done
    pgrep -f "$folder/(rank|program)" | wc -l
}

# Everything below process $1.
descendants() {
    local children child
    read -rd '' -a children < <(cat "/proc/$1/task/"*/children 2>/dev/null) # by any of its threads
    for child in "${children[@]}"; do
        echo "$child"
        descendants "$child"
    done
}

HOSTS=()
HOSTS_AGENT=
hosts_bridge=
hosts_net=

hosts_down() {
    local host link
    set +e # what is gone already must not keep the rest
    for ((link = 2; link <= ${#HOSTS[@]} + 1; link++)); do
        [ -z "$hosts_bridge" ] || ip link del "om${hosts_bridge#ombr}.$link" 2>/dev/null
    done
    for host in "${HOSTS[@]}"; do
        ip netns pids "$host" 2>/dev/null | xargs -r kill -9
        ip netns del "$host" 2>/dev/null
        sed "/ $host\$/d" /etc/hosts >"$folder/hosts" && cat "$folder/hosts" >/etc/hosts
    done
    [ -z "$hosts_bridge" ] || ip link del "$hosts_bridge" 2>/dev/null
    HOSTS=()
}

# mpirun calls AGENT HOST COMMAND...; the command is text for the remote shell.
hosts_write_agent() {
    HOSTS_AGENT=$folder/agent
    cat >"$HOSTS_AGENT" <<'AGENT'
#!/bin/bash
host=$1
shift
ip netns pids "$host" >/dev/null 2>&1 || { echo "no such host: $host" >&2; exit 255; }
exec ip netns exec "$host" unshare --uts bash -c 'hostname "$1"; shift; eval "$*"' agent "$host" "$@"
AGENT
    chmod +x "$HOSTS_AGENT"
}

remote_shell() { # [WORDS]
    unset OMPI_MCA_plm_rsh_agent PRTE_MCA_plm_ssh_agent HYDRA_LAUNCHER_EXEC
    [ $# = 0 ] || export OMPI_MCA_plm_rsh_agent=$1 PRTE_MCA_plm_ssh_agent=$1 HYDRA_LAUNCHER_EXEC=$1
}

named() { # HOST NAME: processes there
    local pid
    for pid in $(ip netns pids "$1"); do
        [ "$(cat "/proc/$pid/comm")" != "$2" ] || echo "$pid"
    done
}

await() { # FILE WORD
    for _ in $(seq 600); do
        ! grep -q "$2" "$1" || break
        sleep 0.05
    done
}

# Starts COMMAND, waits until it says ready, does HOW, and lets it read a line; gives its status. What it says is in
# $folder/out and $folder/err.
at_ready() { # HOW COMMAND...
    local job
    rm -f "$folder/pipe"
    mkfifo "$folder/pipe"
    : >"$folder/out"
    "${@:2}" >"$folder/out" 2>"$folder/err" <"$folder/pipe" &
    job=$!
    exec 9>"$folder/pipe"
    await "$folder/out" ready
    $1 # words
    echo >&9
    exec 9>&-
    wait "$job"
}

hosts_slow() { # RATE tc [OPTION...] DEVICE
    "${@:2:$#-2}" qdisc add dev "${!#}" root tbf rate "$1" burst 64kb latency 4ms
}

hosts_up() {
    [ "$(id -u)" = 0 ] && command -v ip >/dev/null || return 77
    local count=$1 rate=${2:-} tag=$$ number host
    hosts_bridge=ombr$tag
    ip link add "$hosts_bridge" type bridge 2>/dev/null || { hosts_bridge=; return 77; }
    local net=10.$((200 + tag % 50)).$((tag / 50 % 250))
    hosts_net=$net
    ip addr add "$net.1/24" dev "$hosts_bridge" && ip link set "$hosts_bridge" up || return 77
    [ -z "$rate" ] || hosts_slow "$rate" tc "$hosts_bridge" || return 77
    for ((number = 2; number <= count + 1; number++)); do
        host=om$tag-h$number
        ip netns add "$host" 2>/dev/null || return 77
        HOSTS+=("$host")
        ip link add "om$tag.$number" type veth peer name eth0 netns "$host" || return 77
        ip link set "om$tag.$number" master "$hosts_bridge" up || return 77
        ip -n "$host" addr add "$net.$number/24" dev eth0 || return 77
        ip -n "$host" link set eth0 up && ip -n "$host" link set lo up || return 77
        [ -z "$rate" ] || hosts_slow "$rate" tc -n "$host" eth0 || return 77
        echo "$net.$number $host" >>/etc/hosts
    done
    if [ "$(launcher_name)" = mpiexec.hydra ]; then # MPI goes over UCX, which else does not take such a network
        export UCX_TCP_BRIDGE_ENABLE=y UCX_WARN_UNUSED_ENV_VARS=n
    fi
    hosts_write_agent
}

hosts_part() {
    local link
    for link in 2 3; do
        local host=${HOSTS[link - 2]} other=$hosts_net.$((5 - link))
        case $1 in
        refused) ip -n "$host" route add unreachable "$other" ;;
        lost) # addressed to nobody
            ip -n "$host" route del unreachable "$other" 2>/dev/null
            ip -n "$host" neigh replace "$other" lladdr 02:00:00:00:00:01 nud permanent dev eth0
            ;;
        esac || exit 1
    done
}

hosts_join() {
    local link
    for link in 2 3; do
        ip -n "${HOSTS[link - 2]}" neigh del "$hosts_net.$((5 - link))" dev eth0 2>/dev/null
    done
}
