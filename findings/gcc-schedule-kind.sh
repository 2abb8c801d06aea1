#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# gcc 12.2.0 with its libgomp, and the same object linked with libomp 16.0.6 and 19.1.7, Debian 12, x86-64. A program
# asks omp_get_schedule() for the schedule that OMP_SCHEDULE or omp_set_schedule() has set, and compares the kind with
# omp_sched_static, 1, and omp_sched_dynamic, 2.
# Guess: the kind that was set comes back, by whichever of the two, and with the bit for "monotonic" (0x80000000) where
# that was asked for.
# Seen: libomp does so, and so does libgomp for dynamic and after omp_set_schedule(). With OMP_SCHEDULE=static or
# static,3 libgomp says 0x80000001, as it does for "monotonic:static", so the kind is none that the program knows; with
# "nonmonotonic:static" it says 1. A switch over the kinds ends where it has those that it does not know, unless the
# bit is taken away first.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
unpack_gcc
unpack libomp5-16=1:16.0.6-15~deb12u1 libomp5-19=1:19.1.7-3~deb12u1

cat >"$folder/try.c" <<'C'
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static void show(const char *what)
{
    omp_sched_t kind;
    int chunk;

    omp_get_schedule(&kind, &chunk);
    printf("%s: 0x%x, %s\n", what, (unsigned)kind,
           kind == omp_sched_static    ? "static"
           : kind == omp_sched_dynamic ? "dynamic"
                                       : "neither");
}

int main(void)
{
    const char *variable = getenv("OMP_SCHEDULE");

    show(variable ? variable : "none");
    omp_set_schedule(omp_sched_static, 3);
    show("omp_set_schedule");
    return 0;
}
C
"$folder/usr/bin/x86_64-linux-gnu-gcc-12" -c -fopenmp "$folder/try.c" -o "$folder/try.o" || exit 77
mkdir "$folder/libgomp" && cp "$folder/usr/lib/x86_64-linux-gnu/libgomp.so.1" "$folder/libgomp" || exit 77
for runtime in libgomp/libgomp.so.1 usr/lib/llvm-16/lib/libomp.so.5 usr/lib/llvm-19/lib/libomp.so.5; do
    gcc "$folder/try.o" "$folder/$runtime" -o "$folder/try" || exit 77
    echo "$runtime"
    for schedule in static static,3 monotonic:static nonmonotonic:static dynamic monotonic:dynamic; do
        saw env LD_LIBRARY_PATH="$folder/$(dirname $runtime)" OMP_SCHEDULE=$schedule timeout 60 "$folder/try"
        expect '^omp_set_schedule: 0x1, static$'
        case $runtime/$schedule in
        *libgomp*/static* | */monotonic:static) expect "^$schedule: 0x80000001, neither\$" ;;
        *static*) expect "^$schedule: 0x1, static\$" ;;
        */monotonic:dynamic) expect "^$schedule: 0x80000002, neither\$" ;;
        *) expect "^$schedule: 0x2, dynamic\$" ;;
        esac
    done
done
exit "$changed"
