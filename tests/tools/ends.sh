#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Whoever dies first, nothing stays: processes, session folders, shared memory; and Ctrl-C works.
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source=tests/shared_memory.sh
. "$(dirname "$0")/../shared_memory.sh"
build_stand_ins
export TMPDIR=$folder/tmp
mkdir "$TMPDIR"

# Shared memory that was not left there before, after a while: other jobs of the machine come and go.
new_memory() {
    local new
    for _ in $(seq 150); do
        new=$(comm -13 "$folder/memory" <(shared_memory))
        [ -n "$new" ] || break
        sleep 0.1
    done
    echo "$new"
}

# The processes of these that have a file of libomp's.
libomp_of() { # PID...
    local pid
    for pid; do
        [ ! -e "/dev/shm/__KMP_REGISTERED_LIB_${pid}_$(id -u)" ] || echo "$pid"
    done
}

# Programs that were killed, of other tests, have left such files, and numbers of processes come again.
forget_libomp() {
    local file pid
    for file in /dev/shm/__KMP_REGISTERED_LIB_*_"$(id -u)"; do
        pid=${file#*LIB_} && pid=${pid%_*}
        [ -e "/proc/$pid" ] || rm -f "$file"
    done
}

# The first descendant of process $1 whose name is $2.
descendant() {
    local pid
    for pid in $(descendants "$1"); do
        [ "$(cat "/proc/$pid/comm")" != "$2" ] || { echo "$pid"; return; }
    done
}

# kill_one SIGNAL NAME STATUS PATTERN: starts a run, kills NAME ("self": omprma-run).
launcher=$(launcher_name)
[ "$launcher" != mpiexec.hydra ] || launcher=mpirun # a link, as it is called
kill_one() {
    local run target got all before
    forget_libomp
    shared_memory >"$folder/memory"
    "$RUN" -n 2 "$folder/program" sleep 60 >"$folder/out" 2>"$folder/err" &
    run=$!
    await "$folder/out" ready
    target=$run
    case $2 in
    self) ;;
    worker) target=$(descendants "$(descendant "$run" "$launcher")" | tail -n 1) ;;
    program) target=$(pgrep -P "$run" -x rank) ;;
    *) target=$(descendant "$run" "$2") ;;
    esac
    read -rd '' -a all < <(descendants "$run")
    check "processes with libomp before $1 to $2" "$(libomp_of "${all[@]}" | wc -l)" 3
    kill -"$1" "$target"
    { wait "$run"; } 2>/dev/null
    got=$?
    before=$failures
    check "status after $1 to $2" "$got" "$3"
    [ -z "$4" ] || check "line after $1 to $2" "$(grep -cE "^omprma: .*$4" "$folder/err")" 1
    [ "$failures" = "$before" ] || sed 's/^/    /' "$folder/err"
    check "processes left after $1 to $2" "$(processes_left)" 0
    check "shared memory left after $1 to $2" "$(new_memory)" ''
    for _ in $(seq 150); do
        [ -n "$(libomp_of "${all[@]}")" ] || break
        sleep 0.1
    done
    check "files of libomp left after $1 to $2" "$(libomp_of "${all[@]}")" ''
    # A killed omprma-run leaves the cleaning to another process.
    for _ in $(seq 150); do
        [ -n "$(ls "$TMPDIR")" ] || break
        sleep 0.1
    done
    check "files left after $1 to $2" "$(ls "$TMPDIR")" ''
    rm -rf "${TMPDIR:?}"/*
}
kill_one TERM self 143 ''
kill_one HUP self 129 ''
kill_one KILL self 137 ''
# hydra kills the others, and may not tell which one was the first; now and then it says of all that they
# ended with status 0.
if [ "$(launcher_name)" = mpiexec.hydra ]; then
    nothing='the workers are gone; mpirun ended with status 0 and said nothing'
    kill_one KILL worker 125 "(worker 1|a worker) on .* was killed by signal 9|$nothing"
    kill_one SEGV worker 125 "worker 1 on .* was killed by signal 11|a worker on .* was killed by signal 9|$nothing"
else
    kill_one KILL worker 125 'worker 1 on .* was killed by signal 9'
    kill_one SEGV worker 125 'worker 1 on .* was killed by signal 11'
fi
kill_one KILL "$launcher" 125 'mpirun was killed by signal 9'
kill_one KILL omprma-keeper 125 'watches mpirun was killed'
kill_one KILL program 137 ''

# At a terminal: the program has it, and Ctrl-C ends all.
if command -v script >/dev/null; then
    printf '#!/bin/sh\ntrap : INT\n"%s" "%s" sleep 60\necho status $?\n' "$RUN" "$folder/program" >"$folder/typed"
    chmod +x "$folder/typed"
    touch "$folder/terminal"
    # shellcheck disable=SC2094 # what is typed follows from what is shown
    (await "$folder/terminal" 'ready 2'; printf '\003'; await "$folder/terminal" status) |
        timeout 60 script -qfec "$folder/typed" /dev/null >"$folder/terminal"
    check 'Ctrl-C' "$(tr -d '\r' <"$folder/terminal" | grep -oE 'ready 2|status .*')" $'ready 2\nstatus 130'
    check 'processes left after Ctrl-C' "$(processes_left)" 0
fi
finish
