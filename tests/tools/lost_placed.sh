#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# OMPRMA_ON_LOSS=continue with OMPRMA_PLACEMENT: random graphs whose regions end their workers. Each value is
# right, or the program ends because it needs one that was lost, and a line has named that. SEEDS says which are
# played, for example: SEEDS='100 150' tests/tools/lost_placed.sh
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
[ -z "${SANITIZE:-}" ] || exit 77 # its output is not the program's
[ "$(launcher_name)" != mpiexec.hydra ] || exit 77 # over UCX a worker that dies ends the program
export OMPRMA_TIMEOUT=20 OMP_NUM_THREADS=2 OMPRMA_ON_LOSS=continue OMPRMA_MEMORY=320M OMPRMA_BIND=0
find_llvm || exit 77
program=$folder/lost_placed deaths=$folder/deaths
build() { # NAME
    mkdir -p "$deaths"
    "$llvm/bin/clang" -O1 -g "-DFOLDER=\"$deaths\"" -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu -L"$llvm/lib" \
        "$(dirname "$0")/$1.c" -o "$folder/$1"
}
build lost_placed && build recomputed && build recomputed_own && build lost_unordered || exit 1

# one SEED DEATHS OPTION...: notes how it ends.
right=0 lost=0 died=0 saves=
one() {
    local status
    rm -f "$deaths"/*
    # shellcheck disable=SC2086 # it may be empty
    timeout 100 "$RUN" "${@:3}" "$program" "$1" "$2" $saves >"$folder/out" 2>"$folder/err"
    status=$?
    [ -z "$(ls "$deaths")" ] || died=$((died + 1))
    if [ "$status" = 5 ]; then
        right=$((right + 1))
    elif [ "$status" = 134 ] && [ -z "$saves" ] && grep -q 'were lost with the device' "$folder/err"; then
        lost=$((lost + 1))
    else
        check "seed $1, $2 deaths, ${*:3}: status" "$status" 5
        cat "$folder/out" "$folder/err"
    fi
}

read -r first last <<<"${SEEDS:-1 2}"
for ((seed = first; seed <= last; seed++)); do
    saves=saves
    one "$seed" 1 -n 2 --transport direct --placement named
    one "$seed" 2 -n 3 --data two-sided --placement named
    one "$seed" 2 -n 4 --data rma --placement named
    saves=
    one "$seed" 2 -n 3 --transport direct --placement named
    one "$seed" 1 -n 3 --data two-sided --placement auto
    one "$seed" 2 -n 4 --data rma --placement auto
done
# What only lost workers had is computed again, where all that this takes is known.
again() { # PROGRAM DEATH DEATH OPTION...
    rm -f "$deaths"/*
    timeout 100 "$RUN" "${@:4}" --placement auto --stats "$folder/$1" "$2" "$3" >"$folder/out" 2>"$folder/err"
    check "$1, deaths in $2 and $3, ${*:4}: status" "$?" 5
    check 'what is said of it' "$(sed -nE 's/.*: lost: ([0-9]) of [0-9] devices; [0-9]+ regions? w.* done again$/\1/p' "$folder/err")" \
        "$(find "$deaths" -name 'death-*' | wc -l)"
    grep -q 'again, for' "$folder/err" && computed=$((computed + 1))
}
computed=0
again recomputed 20 47 -n 4 --transport direct
again recomputed 9 33 -n 3 --data two-sided
again recomputed 40 41 -n 4
again recomputed_own 30 50 -n 4 --transport direct
again recomputed_own 40 61 -n 3 --data two-sided
check 'something was computed again' "$((computed > 0))" 1

# The streams of another worker are at other addresses. The last worker is lost when it computes again, and then values
# are lost.
cat >"$folder/last.c" <<'C'
#include "die.h"
int main(int count, char **words)
{
    static double x[1000];
    FILE *stream = stderr;
    int last = count > 1 && words[1][0] == 'l';
#pragma omp target enter data map(to : x)
#pragma omp target map(tofrom : x) map(to : stream[:0]) firstprivate(last)
    {
        fprintf(stream, "computes\n");
        if (last && access(FOLDER "/death-0", F_OK) == 0)
            die(1);
        x[7] = 5;
    }
#pragma omp target map(tofrom : x)
    {
        x[8] = 5;
        die(0);
    }
#pragma omp target exit data map(from : x)
    return x[7];
}
C
build_last() {
    "$llvm/bin/clang" -O1 -w "-DFOLDER=\"$deaths\"" "-I$(dirname "$0")" -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu \
        -L"$llvm/lib" "$folder/last.c" -o "$folder/last"
}
last() { # WORKERS [last]
    rm -f "$deaths"/*
    timeout 60 "$RUN" -n "$1" --transport direct --placement named "$folder/last" "${@:2}" >"$folder/out" 2>"$folder/err"
    last_status=$?
}
build_last && last 2
check 'another stream' "$last_status" 5
check 'what it has got' "$(grep -c '^computes' "$folder/err")" 2
last 2 last
check 'the last worker is lost' "$last_status" 134
check 'what is said of it' "$(grep -c 'were lost with the device' "$folder/err")" 1

# Regions without an order that write one range: each counts once.
for death in '40 0' '127 300' '200 900' '310 500' '403 1200'; do
    rm -f "$deaths"/*
    # shellcheck disable=SC2086 # two words
    timeout 100 "$RUN" -n 3 --transport direct --placement auto "$folder/lost_unordered" $death >"$folder/out" 2>"$folder/err"
    check "unordered, $death: status" "$?" 5
done

# A block that all regions only read, which depend(in:) says, is brought to each worker once.
cat >"$folder/read.c" <<'C'
#include <unistd.h>
enum { N = 1000, REGIONS = 48 };
int main(void)
{
    static double shared[N], own[4][N];
#pragma omp target enter data map(to : shared)
    for (int k = 0; k < 4; k++) {
        double *mine = own[k];
#pragma omp target enter data map(to : mine[:N])
    }
#pragma omp parallel
#pragma omp single
    for (int k = 0; k < REGIONS; k++) {
        double *mine = own[k % 4];
#pragma omp target nowait depend(in : shared) depend(inout : mine[0]) map(to : shared) map(to : mine[:N])
        {
            usleep(2000);
            for (int i = 0; i < N; i++)
                mine[i] += shared[i];
        }
    }
    return 0;
}
C
build_read() {
    "$llvm/bin/clang" -O1 -w -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu -L"$llvm/lib" "$folder/read.c" -o "$folder/read"
}
build_read && timeout 60 "$RUN" -n 3 --placement auto --stats "$folder/read" 2>"$folder/err"
check 'what is only read' "$(awk '/between devices:/ {print $4 < 24 ? "few" : $4}' "$folder/err")" few

echo "$right right, $lost lost, a worker died in $died"
check 'a worker has died' "$((died > 0))" 1
finish
