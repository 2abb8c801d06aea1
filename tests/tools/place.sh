#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Where workers run: what programs are bound to, what is shown and refused, which hosts are taken; whether they can serve
# one device.
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
INFO=$BUILD_DIR/bin/omprma-info
export OMPRMA_MEMORY=64M

# ---- on machines that hwloc makes up

shown() { # MACHINE OPTION...: the cores of each worker, by omprma-info
    HWLOC_SYNTHETIC=$1 timeout -k 5 60 "$INFO" "${@:2}" 2>"$folder/err" |
        awk '/^worker /{on = 1; next} on && /^[0-9]/{printf "%s of %s node %s%s; ", $3, $4, $5, $8} !NF{on = 0}'
}
check 'equal shares' "$(shown 'node:2 core:4 pu:2' -n 2)" '0-7 of 16 node 0; 8-15 of 16 node 1; '
check 'by NUMA nodes' "$(shown 'node:2 core:4 pu:2' -n 3 --map-by numa --cores-per-worker 2)" \
    '0-3 of 16 node 0; 8-11 of 16 node 1; 4-7 of 16 node 0; '
check 'by cores' "$(shown 'node:2 core:4 pu:2' -n 3 --map-by core --cores-per-worker 2)" \
    '0-3 of 16 node 0; 4-7 of 16 node 0; 8-11 of 16 node 1; '
check 'no warning' "$(cat "$folder/err")" ''
check 'too many workers' "$(shown 'core:2 pu:1' -n 3)" \
    '0-1 of 2 node 0shared; 0-1 of 2 node 0shared; 0-1 of 2 node 0shared; '
check 'one warning' "$(cat "$folder/err")" "omprma: warning: 3 workers share the 2 processors of $(hostname); use \
fewer workers, or OMPRMA_BIND=0 if that is what you want"
OMPRMA_BIND=0 shown 'core:2 pu:1' -n 3 >/dev/null
check 'none when asked for' "$(cat "$folder/err")" ''
shown 'core:2 pu:1' -n 3 --cores-per-worker 2 >/dev/null
check 'more cores than there are, once' "$(grep -c 'need 6 cores, and this host has 2' "$folder/err")" 1

# Settings that all must share are the program's, whatever a host's environment says.
printf '#!/bin/sh\nOMPRMA_CORES=1 OMPRMA_MAP_BY=core OMPRMA_ON_LOSS=continue exec "%s"\n' \
    "$BUILD_DIR/bin/omprma-worker" >"$folder/other"
chmod +x "$folder/other"
check 'the settings of the program' "$(OMPRMA_INTERNAL_WORKER=$folder/other shown 'node:2 core:4 pu:2' -n 3 \
    --map-by numa --cores-per-worker 2)" '0-3 of 16 node 0; 8-11 of 16 node 1; 4-7 of 16 node 0; '
check 'where others are set' "$(sed -E 's/^omprma: warning: worker [0-9]+ [^:]*: //; s/ as the program.*//' "$folder/err" | sort)" \
    'OMPRMA_CORES is 1 on this host; 2 holds for all workers,
OMPRMA_MAP_BY is core on this host; numa holds for all workers,
OMPRMA_ON_LOSS is continue on this host; end holds for all workers,'

# ---- options

refused() { # OPTION...
    timeout 20 "$RUN" "$@" true 2>&1
    echo "$?"
}
check 'no number' "$(refused --cores-per-worker 0)" \
    'omprma: error: --cores-per-worker 0: not a number from 1 to 65536
125'
check 'no such way' "$(refused --map-by socket | tail -n 1)" 125
check 'more than there is room for' "$(refused -n 5 --hosts a,b --workers-per-host 2)" \
    'omprma: error: -n 5: --workers-per-host 2 has room for 4 workers
125'
line() { # OPTION...: where the workers go, by the command line
    "$RUN" --dry-run --transport mpi "$@" "$folder/program" 2>&1 | grep -oE -- '--map-by [a-z]+|-n [0-9]+ (-H [a-z:,0-9]+ )?' | tr '\n' ' '
}
printf '#!/bin/sh\n' >"$folder/program"
chmod +x "$folder/program"
# The line is Open MPI 4's; those of others are looked at in tests/unit/launch/test_command.c.
if [[ $(mpirun --version) = *"(Open MPI) 4."* ]]; then
    check 'three on each' "$(line --hosts a:7,b --workers-per-host 3 | tr -s ' ')" \
        '-n 1 -H localhost -n 6 -H a:3,b:3 '
    check 'three on each, five in all' "$(line --hosts a,b --workers-per-host 3 -n 5 | tr -s ' ')" \
        '-n 1 -H localhost -n 5 -H a:3,b:3 '
    check 'here' "$(line --workers-per-host 3 | tr -s ' ')" '-n 1 -n 3 '
    check 'by hosts' "$(line --hosts a:2,b:2 --map-by node | tr -s ' ')" \
        '--map-by node -n 1 -H localhost -n 4 -H a:2,b:2 '
fi

# ---- a drawing

drawn=$(timeout 60 "$INFO" --topology -n 2 2>/dev/null | sed -nE 's/^  worker [01] +([#. ]+)$/\1/p')
check 'workers in the drawing' "$(wc -l <<<"$drawn")" 2
check 'cores in a line of it' "$(head -1 <<<"$drawn" | tr -d ' \n' | wc -c)" "$(nproc)"
[ "$(nproc)" = 1 ] || check 'workers that have the same cores' "$(sort <<<"$drawn" | uniq -d)" ''

# ---- hosts that take turns

if hosts_up 2; then
    remote_shell "$HOSTS_AGENT"
    hosts=$(timeout -k 5 60 "$INFO" --hosts "${HOSTS[0]}:2,${HOSTS[1]}:2" --map-by node 2>/dev/null |
        awk '/^worker /{on = 1; next} on && /^[0-9]/{print $2} !NF{on = 0}' | tr '\n' ' ')
    check 'workers by hosts' "$hosts" "${HOSTS[0]} ${HOSTS[1]} ${HOSTS[0]} ${HOSTS[1]} "
    remote_shell
fi

# ---- real processors: device 0 has those of both workers until device 1 runs a region

mapfile -t two < <(taskset -pc $$ | sed 's/.*: //' | tr ',' '\n' |
    awk -F- '{for (i = $1; i <= ($2 ? $2 : $1); i++) print i}' | head -n 2)
if ! find_llvm || [ ${#two[@]} -lt 2 ]; then
    finish
    exit
fi
cat >"$folder/cpus.c" <<'C'
#define _GNU_SOURCE
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#pragma omp declare target
static void look(char *cpus)
{
    cpu_set_t set;
    sched_getaffinity(0, sizeof(set), &set);
    for (int i = 0; i < 1024; i++)
        cpus[i] |= CPU_ISSET(i, &set);
}
#pragma omp end declare target
int main(int count, char **words)
{
    for (int i = 1; i < count; i++) {
        int device = atoi(words[i]), team = 0, teams = 0, procs = 0, most = 0;
        char cpus[1024] = {0};
#pragma omp target device(device) map(tofrom : cpus, team, procs, most)
        {
            procs = omp_get_num_procs();
            most = omp_get_max_threads();
#pragma omp parallel
            {
#pragma omp critical
                look(cpus);
#pragma omp single
                team = omp_get_num_threads();
            }
        }
#pragma omp target teams device(device) map(tofrom : cpus, teams)
#pragma omp parallel
        {
#pragma omp critical
            look(cpus);
#pragma omp single
            teams = omp_get_num_threads();
        }
#pragma omp target device(device) map(tofrom : cpus)
#pragma omp parallel num_threads(2 + 2 * i) /* more than there are: libomp makes new ones */
#pragma omp critical
        look(cpus);
        printf("%d: %d %d %d %d on", device, team, teams, procs, most);
        for (int cpu = 0; cpu < 1024; cpu++)
            if (cpus[cpu])
                printf(" %d", cpu);
        printf("\n");
    }
}
C
"$llvm/bin/clang" -O1 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu -L"$llvm/lib" \
    "$folder/cpus.c" -o "$folder/cpus" || exit 1
real() { # OPTION... -- DEVICE...
    timeout -k 5 60 taskset -c "${two[0]},${two[1]}" "$RUN" --llvm "$llvm/lib" "${@:1:$#-3}" \
        "$folder/cpus" "${@:$#-2}" 2>"$folder/err"
}
both="${two[0]} ${two[1]}"
check 'lent, then shared' "$(real -n 2 0 1 0)" "0: 2 2 2 2 on $both
1: 1 1 1 1 on ${two[1]}
0: 1 1 1 1 on ${two[0]}"
check 'no word of it' "$(cat "$folder/err")" ''
real -n 2 -v 0 1 0 >/dev/null
check 'told at -v' "$(grep -c 'from the next region on cores .* 2 workers of this host have run regions' "$folder/err")" 2
check 'as many as asked for' "$(real -n 2 --cores-per-worker 1 0 1 0)" "0: 1 1 1 1 on ${two[0]}
1: 1 1 1 1 on ${two[1]}
0: 1 1 1 1 on ${two[0]}"
check 'not bound' "$(OMPRMA_BIND=0 real -n 2 0 1 0)" "0: 2 2 2 2 on $both
1: 1 1 2 1 on $both
0: 1 1 2 1 on $both"
check 'the number is the user'"'s" "$(OMP_NUM_THREADS=3 real -n 2 1 1 1 | sort -u)" "1: 3 2 2 3 on $both"
check 'one that was bound before' \
    "$(taskset -c "${two[1]}" "$RUN" --llvm "$llvm/lib" -n 1 "$folder/cpus" 0 2>&1)" \
    "0: 1 1 1 1 on ${two[1]}"

# ---- one device on all workers

export OMPRMA_MEMORY=256M
out=$(timeout -k 5 60 "$INFO" -n 2 --placement auto 2>"$folder/err")
check 'placed: shown' "$? $(grep -c '^placement auto: .* its regions run on 2 workers' <<<"$out")" '0 1'
check 'placed: as JSON' "$(timeout -k 5 60 "$INFO" -n 2 --placement named --json 2>"$folder/err" |
    jq -r '.placement | "\(.kind) \(.workers) \(.can_be)"')" 'named 2 true'
out=$(timeout -k 5 60 "$INFO" -n 1 --devices-per-worker 2 --placement auto 2>&1)
check 'placed: refused' "$? $(grep -c 'where an address is there once' <<<"$out")" '1 1'
finish
