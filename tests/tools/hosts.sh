#!/bin/bash
# hosts.sh: two network namespaces stand in for hosts, reached through a remote shell of our own.
#   . hosts.sh; hosts_up    makes ${HOSTS[0]} and ${HOSTS[1]} and the remote shell $HOSTS_AGENT
#   hosts_down              removes them; called at exit
# hosts_up returns 77 where namespaces cannot be made. Knows nothing of omprma.

HOSTS=()
HOSTS_AGENT=
hosts_folder=
hosts_bridge=

hosts_down() {
    local host link
    for link in 2 3; do
        [ -z "$hosts_bridge" ] || ip link del "om${hosts_bridge#ombr}.$link" 2>/dev/null
    done
    for host in "${HOSTS[@]}"; do
        ip netns pids "$host" 2>/dev/null | xargs -r kill -9
        ip netns del "$host" 2>/dev/null
        sed "/ $host\$/d" /etc/hosts >"$hosts_folder/hosts" && cat "$hosts_folder/hosts" >/etc/hosts
    done
    [ -z "$hosts_bridge" ] || ip link del "$hosts_bridge" 2>/dev/null
    [ -z "$hosts_folder" ] || rm -rf "$hosts_folder"
    HOSTS=()
}

# mpirun calls AGENT HOST COMMAND...; the command is text for the remote shell.
hosts_write_agent() {
    HOSTS_AGENT=$hosts_folder/agent
    cat >"$HOSTS_AGENT" <<'AGENT'
#!/bin/bash
host=$1
shift
ip netns pids "$host" >/dev/null 2>&1 || { echo "no such host: $host" >&2; exit 255; }
exec ip netns exec "$host" unshare --uts bash -c 'hostname "$1"; shift; eval "$*"' agent "$host" "$@"
AGENT
    chmod +x "$HOSTS_AGENT"
}

hosts_up() {
    [ "$(id -u)" = 0 ] && command -v ip >/dev/null || return 77
    hosts_folder=$(mktemp -d) || return 77
    local tag=$$ number host
    hosts_bridge=ombr$tag
    trap hosts_down EXIT
    ip link add "$hosts_bridge" type bridge 2>/dev/null || { hosts_bridge=; return 77; }
    local net=10.$((200 + tag % 50)).$((tag / 50 % 250))
    ip addr add "$net.1/24" dev "$hosts_bridge" && ip link set "$hosts_bridge" up || return 77
    for number in 2 3; do
        host=om$tag-h$number
        ip netns add "$host" 2>/dev/null || return 77
        HOSTS+=("$host")
        ip link add "om$tag.$number" type veth peer name eth0 netns "$host" || return 77
        ip link set "om$tag.$number" master "$hosts_bridge" up || return 77
        ip -n "$host" addr add "$net.$number/24" dev eth0 || return 77
        ip -n "$host" link set eth0 up && ip -n "$host" link set lo up || return 77
        echo "$net.$number $host" >>/etc/hosts
    done
    hosts_write_agent
}
