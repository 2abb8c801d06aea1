#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# --tag-output: each line that a worker prints is marked, also where lines come in parts, are not
# ended, or the program crashes; over both transports; and the lines of ranks by their launcher.
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
find_llvm || exit 77
export OMPRMA_MEMORY=64M

cat >"$folder/prints.c" <<'C'
#include <omp.h>
#include <stdio.h>
#define ON(d) _Pragma("omp target device(d) firstprivate(d)")
int main(int count, char **words)
{
    int devices = omp_get_num_devices();
    (void)words;
    for (int d = 0; d < devices; d++) {
        ON(d)
        printf("part%c of %d", 1, d);
    }
    for (int d = 0; d < devices; d++) {
        ON(d)
        {
            printf(", rest of %d\nopen %d", d, d);
            fprintf(stderr, "error of %d\nopen error", d);
        }
    }
    printf("program\n");
    if (count > 1) {
        _Pragma("omp target") *(volatile int *)8 = 1;
    }
    return 0;
}
C
"$llvm/bin/clang" -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu "$folder/prints.c" -o "$folder/prints" || exit 1
host=$(hostname)
wanted=$(printf '[worker 0 on %s] open 0\n[worker 0 on %s] part\1 of 0, rest of 0
[worker 1 on %s] open 1\n[worker 1 on %s] part\1 of 1, rest of 1\nprogram' "$host" "$host" "$host" "$host")

for transport in mpi direct; do
    check "$transport" "$(timeout 120 "$RUN" --transport $transport -n 2 --tag-output "$folder/prints" 2>"$folder/err" |
        LC_ALL=C sort)" "$wanted"
    check "$transport, stderr" "$(LC_ALL=C sort "$folder/err")" "[worker 0 on $host] error of 0
[worker 0 on $host] open error
[worker 1 on $host] error of 1
[worker 1 on $host] open error"
    check "$transport, crash" "$(timeout 120 "$RUN" --transport $transport -n 2 --tag-output "$folder/prints" crash 2>/dev/null |
        LC_ALL=C sort)" "$wanted"
done
check 'without' "$(timeout 120 "$RUN" -n 1 "$folder/prints" 2>/dev/null | tr -d '\1')" 'part of 0, rest of 0
open 0program'

# Ranks of a launcher: the launcher marks whose line it is, and the worker's mark says the same.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
timeout 120 "$RUN" --workers-per-host 1 --tag-output mpirun -n 2 "$folder/prints" >"$folder/out" 2>/dev/null
check 'ranks, status' $? 0
for rank in 0 1; do
    check "rank $rank" "$(grep -cE "$rank\]?.*\[worker 0 of rank $rank on $host\] part.* of 0, rest of 0" "$folder/out")" 1
    check "rank $rank itself" "$(grep -cE "$rank\].*program$" "$folder/out")" 1
done
finish
