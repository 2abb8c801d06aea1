#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Other hosts by a real sshd and a key, and a host that refuses it.
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
command -v ssh ssh-keygen >/dev/null && [ -x /usr/sbin/sshd ] || exit 77
hosts_up 2 || exit 77
build_stand_ins
chmod 755 "$folder"
a=${HOSTS[0]} b=${HOSTS[1]}
trap 'hosts_down; rm -rf "$folder"' EXIT # the daemons end with their namespaces

mkdir -p /run/sshd
ssh-keygen -q -t ed25519 -N '' -f "$folder/key"
ssh-keygen -q -t ed25519 -N '' -f "$folder/host"
cp "$folder/key.pub" "$folder/allowed-$a"
cp "$folder/key.pub" "$folder/allowed-$b"
for host in "$a" "$b"; do
    echo "$host $(cat "$folder/host.pub")" >>"$folder/known"
    printf '%s\n' "HostKey $folder/host" "AuthorizedKeysFile $folder/allowed-$host" \
        "PidFile $folder/$host.pid" 'StrictModes no' 'UsePAM no' 'PermitRootLogin prohibit-password' \
        "SetEnv HOME=$folder" >"$folder/sshd-$host"
    # shellcheck disable=SC2016 # for the shell there
    ip netns exec "$host" unshare --uts sh -c 'hostname "$1" && exec /usr/sbin/sshd -f "$2"' \
        sshd "$host" "$folder/sshd-$host" || exit 1
done
printf '%s\n' "IdentityFile $folder/key" "UserKnownHostsFile $folder/known" \
    'IdentitiesOnly yes' >"$folder/client"
remote_shell "ssh -F $folder/client"

printf '%s slots=2\n' "$a" "$b" >"$folder/hostfile"
out=$(timeout 60 "$RUN" --hostfile "$folder/hostfile" "$folder/program" status 5)
check 'status over ssh' $? 5
check 'workers over ssh' "$out" 'ready 5'
check 'processes left' "$(processes_left)" 0

: >"$folder/allowed-$b"
out=$(timeout 60 "$RUN" --hosts "$a,$b" "$folder/program" 2>&1)
check 'status without a key' $? 125
check 'line without a key' "$(grep -c "^omprma: error: cannot start workers on host $b: .*Permission denied" \
    <<<"$out")" 1
check 'lines without a key' "$(wc -l <<<"$out")" 1
check 'processes left without a key' "$(processes_left)" 0
finish
