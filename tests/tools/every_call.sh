#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# every_call.sh [STEP [OFTEN [WHAT [DATA]]]]: a program on two workers of which one call of MPI fails,
# comes late or ends the process, in the application and in each worker: then the run ends soon, right
# or with a line that says why and a status that is not 0, and leaves nothing behind. Tried are all
# calls of each process up to its first receive of messages, then at most OFTEN (0: all) of each
# function behind each other function; of these each STEP-th. By default the sample that ctest runs.
# WHAT is error, abort or late, DATA rma or two-sided; all of them by default.
#   BUILD_DIR=build tests/tools/every_call.sh 1 2         # some minutes
#   BUILD_DIR=build tests/tools/every_call.sh 1 0 error   # all there is
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
# shellcheck source=tests/shared_memory.sh
. "$(dirname "$0")/../shared_memory.sh"
step=${1:-23} often=${2:-1} whats=${3:-error abort late} modes=${4:-rma two-sided}
bound=20 at_once=4 # seconds for one run; runs
[ -z "${SANITIZE:-}" ] || exit 77 # its output and its time are not the program's
find_llvm || exit 77

export OMPRMA_TIMEOUT=5 OMP_NUM_THREADS=2 LIBOMP_NUM_HIDDEN_HELPER_THREADS=2 OMPRMA_MEMORY=320M
export OMPRMA_CONTROL=mpi # else there are fewer calls
export OMPRMA_BIND=0 # else there is a line when workers share cores
ulimit -c 0
# Open MPI's own, of one that is in MPI_Finalize when another ends: nobody can keep it quiet there.
leaving='ORTE_ERROR_LOG: Unreachable in file .*ompi_mpi_finalize'
# And MPICH's of the program, when that calls MPI_Abort, and when hydra is gone; and UCX's, by which MPICH goes, of a
# copy from or to a worker that is gone.
leaving+='|^Abort\([0-9]+\) on node 0 |^\[cli_0\]: readline failed'
leaving+='|cma_ep\.c:.* process_vm_(read|write)v\(.* returned -1: No such process'
program=$folder/every_call
"$llvm/bin/clang" -O1 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu -L"$llvm/lib" \
    "$(dirname "$0")/every_call.c" -o "$program" || exit 1

# start FOLDER DATA: its output, what was called and its temporary files go there.
start() {
    mkdir -p "$1/log" "$1/tmp"
    TMPDIR=$1/tmp EVERY_CALL_LOG=$1/log LD_PRELOAD=$BUILD_DIR/tests/tools/every_call.so \
        timeout -k 2 $((bound + 5)) "$RUN" -n 2 --data "$2" "$program" >"$1/out" 2>"$1/err"
}

# Processes whose temporary files are below our folder.
processes() {
    grep -lsz "^TMPDIR=$folder/run" /proc/[0-9]*/environ | grep -oE '[0-9]+' |
        xargs -r ps -o pid=,stat=,args= -p | grep -v '^ *[0-9]* Z'
}

# The others wait inside a collective call that one of them has not made, and cannot be told.
says() { # FOLDER WHAT RANK FUNCTION: is there a line that says what has failed?
    case $2 in
    error)
        grep -qE '^omprma.*(MPI_|Other MPI error)' "$1/err" || { [ "$4" = MPI_Win_create_dynamic ] &&
            grep -q '^omprma: .* did not get past connecting the workers' "$1/err"; }
        ;;
    abort) [ "$3" = 0 ] || grep -qE "^omprma: error: (worker $(($3 - 1))|.*: one) .*was killed by signal 6" "$1/err" ;;
    esac
}

# one NUMBER DATA RANK N FUNCTION WHAT: a line for what has come of it.
one() {
    local at=$folder/run$1 began=$SECONDS got took found='' bad='' what=$6
    [ "$what" != late ] || what=300
    EVERY_CALL=$3,$4,$what,$5 start "$at" "$2" 2>/dev/null
    got=$?
    took=$((SECONDS - began))
    [ -e "$at/log/chosen" ] || found=', not reached'
    [ "$took" -le "$bound" ] || bad="$bad, too late"
    grep -q wrong "$at/out" && bad="$bad, wrong values"
    if [ $got = 0 ]; then
        grep -q '^right$' "$at/out" || bad="$bad, status 0"
        [ ! -s "$at/err" ] || bad="$bad, lines though all is right"
    else
        [ "$6" != late ] || bad="$bad, a call that is late"
        says "$at" "$6" "$3" "$5" || bad="$bad, no line of the reason"
        # Who ends before MPI has started fails MPI_Init of the others, which says so in many words.
        [[ $5 = MPI_@(Initialized|Finalized|Init_thread|Get_library_version) ]] ||
            ! grep -qvE "^omprma|^omptarget fatal error|$leaving" "$at/err" ||
            bad="$bad, lines of others"
    fi
    echo "--data $2: rank $3: $5 number $4$found: $6: status $got after $took s" \
        "$(grep -m 1 '^omprma' "$at/err")"
    if [ -n "$bad" ]; then
        printf 'FAILED%s\n' "$bad" | tee -a "$folder/failed"
        cat "$at/out" "$at/err"
    fi
}

# What the runs that have just ended have left.
look() {
    local left=''
    for _ in $(seq 50); do
        left=$(processes)$(find "$folder" -path '*/run*/tmp/*' -print -quit)
        [ -n "$left" ] || break
        sleep 0.1
    done
    cat "$folder"/line*
    [ -z "$left" ] || printf 'FAILED, left by these: %s\n' "$left" | tee -a "$folder/failed"
    rm -rf "$folder"/line* "$folder"/run*
}

# chosen LOG: the calls to try, lines "N FUNCTION".
chosen() {
    awk -v often="$often" '
        { number[$1]++; seen[last " " $1]++; started += $1 == "MPI_Irecv" }
        !started || !often || seen[last " " $1] <= often { print number[$1], $1 }
        { last = $1 }' "$1"
}

# What is tried: lines "DATA RANK N FUNCTION WHAT".
plan() {
    local mode rank what
    for mode in $modes; do
        start "$folder/$mode" "$mode" && grep -q '^right$' "$folder/$mode/out" || return 1
        for rank in 0 1 2; do
            for what in $whats; do
                chosen "$folder/$mode/log/$rank" | sed "s/.*/$mode $rank & $what/"
            done
        done
    done
}

touch "$folder/failed"
shared_memory >"$folder/memory"
plan >"$folder/all" || { cat "$folder"/*/err && exit 1; }
awk -v step="$step" 'NR % step == 0' "$folder/all" >"$folder/plan"
number=0
while read -r mode rank n function what; do
    number=$((number + 1))
    one $number "$mode" "$rank" "$n" "$function" "$what" >"$folder/line$number" &
    [ $((number % at_once)) -gt 0 ] || { wait && look; }
done <"$folder/plan"
wait
[ $((number % at_once)) = 0 ] || look
for _ in $(seq 60); do
    new=$(comm -13 "$folder/memory" <(shared_memory))
    [ -n "$new" ] || break
    sleep 0.1
done
check 'shared memory left' "$new" ''
check 'runs that are not as they should be' "$(wc -l <"$folder/failed")" 0
echo "$number runs of $(wc -l <"$folder/all")"
check 'calls to try' $((number > 0)) 1
finish
