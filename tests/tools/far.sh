#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Programs without MPI and workers on other hosts (network namespaces): agents that find each other,
# ends of workers, agents and networks, strangers. Ranks of an MPI program on two hosts.
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
hosts_up 2 || { echo "network namespaces cannot be made here"; exit 77; }
remote_shell "$HOSTS_AGENT"
export OMPRMA_TRANSPORT=direct OMPRMA_MEMORY=320M
a=${HOSTS[0]} b=${HOSTS[1]}

# Says how many devices there are, reads a line, writes 4 MB to each and reads them back.
cat >"$folder/writes.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "there_and_back.h"
int main(int count, char **words)
{
    char *out = malloc(BYTES), *in = calloc(1, BYTES);
    if (omprma_init() != OMPRMA_OK) {
        fprintf(stderr, "init: %s\n", omprma_error());
        return 3;
    }
    printf("ready %d\n", omprma_device_count());
    fflush(stdout);
    if (count > 1)
        getchar();
    for (int device = 0; device < omprma_device_count(); device++) {
        memset(out, device + 1, BYTES);
        if (there_and_back(device, out, in) != OMPRMA_OK) {
            fprintf(stderr, "device %d: %s\n", device, omprma_error());
            return 4;
        }
        if (memcmp(out, in, BYTES) != 0)
            return 5;
    }
    omprma_finalize();
    return words[0] == NULL;
}
C
"$CC" -I"$SOURCE_DIR/include" -I"$SOURCE_DIR/tests/tools" "$folder/writes.c" -L"$BUILD_DIR/lib" -lomprma \
    -Wl,-rpath,"$BUILD_DIR/lib" -o "$folder/writes" || exit 1

count() { # PATTERN
    grep -cE "$1" "$folder/err"
}

check_nothing_left() { # WHAT
    local left
    for _ in $(seq 50); do
        left=$(pgrep -f "$folder/writes"
            for host in "$a" "$b"; do ip netns pids "$host"; done)
        [ -n "$left" ] || break
        sleep 0.1
    done
    check "$1: processes left" "$left" ''
}

out=$(timeout 60 "$RUN" --hosts "$a:2,$b" "$folder/writes")
check 'on other hosts' "$? $out" '0 ready 3'
out=$(timeout 60 "$RUN" --hosts "localhost,$b" "$folder/writes")
check 'here and there' "$? $out" '0 ready 2'
out=$(timeout 60 "$RUN" --hosts "$a,$b" sh -c "'$folder/writes' & '$folder/writes'; wait" | sort)
check 'two programs at once' "$out" $'ready 2\nready 2'
check_nothing_left 'in order'

# Starts it, waits until it is ready, does something to it, and lets it go on.
hurt() { # HOW: gives the status
    at_ready "$1" timeout -k 5 60 "$RUN" --hosts "$a,$b" -- "$folder/writes" wait
}

end_worker() {
    kill -9 "$(named "$b" omprma-worker)"
}
hurt end_worker
check 'a worker that was killed: status' "$?" 4
check 'a worker that was killed: line of the program' "$(count 'device 1: .*signal 9')" 1
check_nothing_left 'a worker that was killed'

end_agent() {
    kill -9 "$(named "$b" omprma-agent)"
}
hurt end_agent
check 'an agent that was killed: status' "$?" 4
check 'an agent that was killed: line' "$(count "^omprma: error: host $b: the process that gives")" 1
check_nothing_left 'an agent that was killed'

cut() { # the network of a host vanishes without a word
    ip -n "$b" link set eth0 down
}
export OMPRMA_TIMEOUT=4
hurt cut
check 'a network that is lost: status' "$?" 4
check 'a network that is lost: line' "$(count 'device 1: ')" 1
ip -n "$b" link set eth0 up
unset OMPRMA_TIMEOUT
check_nothing_left 'a network that is lost'

# Somebody else calls an agent: nothing, garbage, and what is right but for the secret.
stranger() {
    local address pid
    pid=$(named "$a" omprma-agent)
    address=$(ip netns exec "$a" ss -Htlnp | sed -nE "s/^.* ([0-9.]+:[0-9]+) .*pid=$pid,.*/\1/p")
    check 'one network only' "${address%:*}" "$hosts_net.2"
    python3 - "${address%:*}" "${address#*:}" <<'PYTHON'
import os, socket, struct, sys
to = sys.argv[1], int(sys.argv[2])
for sent in b"", os.urandom(4096), struct.pack("II", 0x6f6d7066, 1) + os.urandom(32 + 400):
    call = socket.create_connection(to)
    call.settimeout(10)
    call.sendall(sent)
    if not sent:
        continue
    try:
        while call.recv(4096):
            pass
    except ConnectionResetError:
        pass
PYTHON
    check 'strangers are turned away' "$?" 0
}
hurt stranger
check 'strangers: status' "$?" 0
check 'strangers: line' "$(count 'does not know the secret')" 1
check_nothing_left strangers

out=$(timeout 60 "$RUN" --hosts "$a,nosuchhost:2" "$folder/writes" 2>&1)
check 'an unknown host: status' "$?" 125
check 'an unknown host: line' "$out" \
    'omprma: error: cannot start workers on host nosuchhost: no such host: nosuchhost'
check_nothing_left 'an unknown host'

# What the launcher says on stdout, as Open MPI 6 does, is not the program's output.
mkdir "$folder/bin"
cat >"$folder/bin/mpirun" <<END
#!/bin/sh
[ "\$1" = --version ] || { printf '%070d\n' 0 | tr 0 - && echo 'In a frame.' && printf '%070d\n' 0 | tr 0 -; }
exec $(command -v mpirun) "\$@"
END
chmod +x "$folder/bin/mpirun"
out=$(PATH=$folder/bin:$PATH timeout 60 "$RUN" --hosts "$a,$b" "$folder/writes")
check "words of the launcher's on stdout" "$? $out" '0 ready 2'

# The agent of one of two other hosts cannot start there, while the launcher goes on with the other.
cp "$BUILD_DIR/bin/omprma-worker" "$folder/worker"
printf '#!/bin/sh\nunset OMPRMA_INTERNAL_HOME\nexec "%s" "$@"\n' "$folder/worker" >"$folder/limited"
cat >"$folder/hampered" <<SH
#!/bin/bash
host=\$1 && shift
[ "\$host" != "$b" ] || set -- "mount --bind '$folder/limited' '$BUILD_DIR/bin/omprma-worker';" "\$@"
exec ip netns exec "\$host" unshare --uts --mount bash -c 'hostname "\$1"; shift; eval "\$*"' agent "\$host" "\$@"
SH
chmod +x "$folder/limited" "$folder/hampered"
remote_shell "$folder/hampered"
timeout 40 "$RUN" --hosts "$a,$b" "$folder/writes" >"$folder/out" 2>"$folder/err"
check 'an agent that cannot start: status' "$?" 125
check 'an agent that cannot start: lines' "$(cat "$folder/err")" \
    "omprma: error: the agent of host $b cannot start: OMPRMA_INTERNAL_HOME is no address: it is not set"
check_nothing_left 'an agent that cannot start'
remote_shell "$HOSTS_AGENT"

# Ranks on two hosts, each with the workers of its own.
cat >"$folder/ranks" <<SH
#!/bin/sh
exec mpirun --allow-run-as-root -n 2 -H "$a:1,$b:1" -x OMPRMA_JOIN "$folder/writes"
SH
chmod +x "$folder/ranks"
if [ "$(launcher_name)" != mpiexec.hydra ]; then # its options are others, see tests/mpi-programs/hosts.sh
    out=$(timeout 60 "$RUN" --hosts "$a:2,$b:1" "$folder/ranks" | sort)
    check 'ranks on two hosts' "$out" $'ready 1\nready 2'
fi
check_nothing_left 'ranks on two hosts'
finish
