#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Another user of the same machine can neither disturb a run nor look into it; see docs/explanation/security.md.
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || exit 77
build_stand_ins
chmod 755 "$folder"
export TMPDIR=$folder/tmp
mkdir "$TMPDIR"
"${CC:-gcc}" "$(dirname "$0")/stranger.c" -o "$folder/stranger" || exit 1

umask 0 # a careless one: what we create must not depend on it
"$RUN" -n 2 "$folder/program" sleep 3 >"$folder/out" 2>"$folder/err" &
run=$!
for _ in $(seq 100); do
    grep -q ready "$folder/out" && break
    sleep 0.1
done
mapfile -t processes < <(pgrep -f "$folder/(rank|program)")
files=1 # of Open MPI
[ "$(launcher_name)" != mpiexec.hydra ] || files=0
got=$(setpriv --reuid 65534 --regid 65534 --clear-groups "$folder/stranger" "$TMPDIR" "${processes[@]}" |
    sed 's/tried [1-9][0-9]* sockets/tried sockets/') # other runs may have some
check 'what a stranger got' "$got" "tried sockets, $files files, 1 folders, 1 processes"
wait $run
check 'status of the run' $? 3
check 'what the run said' "$(cat "$folder/err")" ''
finish
