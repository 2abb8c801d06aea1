#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# kills.sh [COUNT [SEED]]: three programs at once on shared workers, of Open MPI, of MPICH and of no MPI.
# One process is killed, told to end, or stopped for a second, at a random moment. Then the programs that
# it does not belong to are right, everything ends soon, and nothing is left. By default what ctest
# runs: 5 times, as OMPRMA_TEST_SEED says. For 100 others:
#   BUILD_DIR=build tests/mpi-programs/kills.sh 100 $RANDOM
# shellcheck source=tests/mpi-programs/common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source=tests/shared_memory.sh
. "$(dirname "$0")/../shared_memory.sh"
[ -z "${SANITIZE:-}" ] || exit 77 # its output and its time are not the program's
count=${1:-5} RANDOM=${2:-${OMPRMA_TEST_SEED:-1}}
bound=${OMPRMA_TEST_SECONDS:-60} # seconds: OMPRMA_TIMEOUT, the ends of two launchers, on a busy machine
find_llvm || exit 77
out=$BUILD_DIR/tests/mpi-programs/$(basename "$llvm")
export TMPDIR=$folder/tmp OMPRMA_TIMEOUT=10 OMP_TARGET_OFFLOAD=MANDATORY
mkdir "$TMPDIR"

# The programs; what each has to say is in NAME.out, how it ended in NAME.status.
build none plain
kinds=()
for kind in openmpi mpich; do
    find_mpi $kind || continue
    build $kind steady
    cp "$out/$kind/steady" "$folder/steady-$kind" # the folder in its path tells it from those of others
    kinds+=("$kind")
    printf '#!/bin/sh\nexec %s -n 2 %s 1500\n' "${launch[*]}" "$folder/steady-$kind" >"$folder/start-$kind"
done
[ ${#kinds[@]} -gt 0 ] || exit 77
cp "$out/none/plain" "$folder/plain"
cat >"$folder/start-none" <<END
#!/bin/sh
for i in 1 2 3 4 5; do "$folder/plain" \$i || exit 1; done
END
kinds+=(none)
cat >"$folder/scene" <<END
#!/bin/bash
echo "\$OMPRMA_JOIN" >"$folder/join"
for kind in ${kinds[*]}; do
    { "$folder/start-\$kind" >"$folder/\$kind.out" 2>"$folder/\$kind.err"; echo \$? >"$folder/\$kind.status"; } &
done
wait
END
chmod +x "$folder"/start-* "$folder/scene"

# Processes of the run: their environment says so.
ours() {
    grep -lsz "^KILLS_OF=$folder\$" /proc/[0-9]*/environ | cut -d/ -f3
}

# Those of them whose words match.
matching() { # PATTERN
    ours | xargs -r ps -o pid=,args= -p | sed -nE "s|^ *([0-9]+) $1.*|\\1|p"
}

# What it did; a program that does not belong to the victim must have. $1: KIND
right() {
    case $1 in
    none) [ "$(cat "$folder/none.out")" = "$(seq -f 'ok plain %.0f' 5)" ] ;;
    *) [ "$(grep -c '^ok steady' "$folder/$1.out")" = 2 ] ;;
    esac && [ "$(cat "$folder/$1.status" 2>/dev/null)" = 0 ]
}

# one NUMBER: starts a run, does something to it, and looks how it ends.
one() {
    local signals=(KILL TERM STOP) victims=(rank rank session session launcher agent omprma-run)
    local signal=${signals[RANDOM % 3]} victim=${victims[RANDOM % 7]} pick=$((RANDOM % 100))
    local delay=$((300 + RANDOM % 1700)) kind=${kinds[RANDOM % (${#kinds[@]} - 1)]}
    local what="run $1: $signal to $victim after $delay ms" run targets target begin got kinds_wrong=() alarm
    [[ $victim != rank && $victim != launcher ]] || what+=" ($kind)"

    rm -f "$folder"/*.{out,err,status} "$folder/join"
    shared_memory >"$folder/memory"
    KILLS_OF=$folder "$RUN" -n 2 --share all -- "$folder/scene" >"$folder/out" 2>"$folder/err" &
    run=$!
    (sleep "$bound" && ours | xargs -r ps -o pid,ppid,stat,wchan,args -p >"$folder/late" &&
        ours | xargs -r kill -KILL) 2>/dev/null &
    alarm=$!
    sleep "$((delay / 1000)).$(printf %03d $((delay % 1000)))"
    case $victim in
    rank) targets=$(matching "$folder/steady-$kind") ;;
    session) targets=$(matching 'omprma-worker --session') ;;
    launcher) targets=$(matching "mpiexec.*/steady-$kind") ;;
    agent) targets=$(matching 'omprma-worker --agent') ;;
    omprma-run) targets=$run ;;
    esac
    target=$(awk -v pick="$pick" '{ all[NR] = $1 } END { if (NR) print all[pick % NR + 1] }' <<<"$targets")
    [ -z "$target" ] || kill -"$signal" "$target" 2>/dev/null || target=''
    [ "$signal" != STOP ] || { sleep 1 && kill -CONT "$target" 2>/dev/null; }
    begin=$SECONDS
    { wait "$run"; } 2>/dev/null
    got=$?
    left "$what"
    pkill -P $alarm
    if [ -e "$folder/late" ]; then
        check "$what: end" "none after $bound s: $(cat "$folder/late")" 'an end'
        rm "$folder/late"
    fi
    for kind_now in "${kinds[@]}"; do
        right "$kind_now" || kinds_wrong+=("$kind_now")
    done
    check "$what: wrong results" "$(cat "$folder"/*.out | grep '^wrong' | grep -v 'there is no device$')" ''
    judge
    echo "$what: ${target:-nobody}, status $got after $((SECONDS - begin)) s, not right: ${kinds_wrong[*]:-nobody}"
    [ "$failures" = 0 ] || { tail -n 20 "$folder/err" "$folder"/*.{out,err,status} && exit 1; }
}

# Who may have been disturbed, and what there must be to read. The variables are those of one().
judge() {
    if [ -z "$target" ] || [ "$signal" = STOP ]; then
        check "$what: programs that are not right" "${kinds_wrong[*]}" ''
        check "$what: status" "$got" 0
        return
    fi
    case $victim in
    rank | launcher)
        check "$what: others that are not right" "${kinds_wrong[*]/#$kind/}" ''
        check "$what: status of the script" "$got" 0
        ;;
    session)
        check "$what: at most one is not right" "$((${#kinds_wrong[@]} <= 1))" 1
        check "$what: status" "$((got == 0 || got == 125))" 1 # 125 says that a worker was lost
        [ ${#kinds_wrong[@]} = 0 ] || check "$what: a line" \
            "$(grep -qs '^omprma: ' "$folder/err" "$folder/${kinds_wrong[0]}.err" && echo some)" some
        ;;
    agent)
        check "$what: status that is not 0" "$((got != 0))" 1
        check "$what: a line" "$(grep -q '^omprma: ' "$folder/err" && echo some)" some
        ;;
    omprma-run) check "$what: status that is not 0" "$((got != 0))" 1 ;;
    esac
}

# What an MPI leaves of killed ranks, or of its launcher, is its own.
files_left() {
    find "$TMPDIR" -mindepth 1 -maxdepth 1 ! -name 'ompi.*' ! -name 'pmix*'
    comm -13 "$folder/memory" <(shared_memory) |
        grep -vE '/(vader_segment|mpich_shar_tmp|sem\.|open_mpi)'
    grep -F "${join:-no name}" /proc/net/unix
}

# left WHAT: what is still there some time after the run.
left() {
    local processes='' files='' join
    join=$(cut -d: -f2 "$folder/join" 2>/dev/null)
    for _ in $(seq 100); do
        processes=$(ours) files=$(files_left)
        [ -n "$processes$files" ] || break
        sleep 0.2
    done
    check "$1: processes left" "$(for pid in $processes; do ps -o args= -p "$pid"; done)" ''
    check "$1: files and sockets left" "$files" ''
    rm -rf "${TMPDIR:?}"/*
}

for number in $(seq "$count"); do
    one "$number"
done
finish
