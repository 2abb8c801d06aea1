#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# gcc 12.2.0 with its libgomp, and the same object linked with libomp 16.0.6 and 19.1.7, Debian 12, x86-64. libomp has
# libgomp's functions too, so that gcc's objects can share a program with clang's. taskloops over 20 numbers, for two
# threads.
# Guess: the same iterations with either runtime, or, where libomp cannot do what gcc's code asks for, it says so and
# stops, as it does for scans.
# Seen: a loop from 0 to 20 is right. One from -10 to 10, which is as long, runs 39 iterations with libomp, and in 19
# of them the variable is behind the loop's end, so a body that has an array reaches beyond it. Nothing is said. Each
# task but the last makes one iteration too many, so with grainsize(5) it is 23, with one task 20, and with if(0),
# where nothing runs beside anything, 39 again. From -10 to 0 it is right. A parallel loop from -10 to 10 is right,
# too.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
unpack_gcc
unpack libomp5-16=1:16.0.6-15~deb12u1 libomp5-19=1:19.1.7-3~deb12u1

cat >"$folder/try.c" <<'C'
#include <stdio.h>

#define LOOP(DIRECTIVE, BEGIN, END) \
    do { \
        int n = 0, outside = 0; \
        _Pragma("omp parallel num_threads(2)") _Pragma("omp single") _Pragma(DIRECTIVE) \
        for (int i = BEGIN; i < END; i++) { \
            _Pragma("omp atomic") n++; \
            if (i < BEGIN || i >= END) \
                _Pragma("omp atomic") outside++; \
        } \
        printf("%s, %d to %d: %d, %d outside\n", DIRECTIVE, BEGIN, END, n, outside); \
    } while (0)

int main(void)
{
    int n = 0;

    LOOP("omp taskloop", 0, 20);
    LOOP("omp taskloop", -10, 10);
    LOOP("omp taskloop grainsize(5)", -10, 10);
    LOOP("omp taskloop num_tasks(1)", -10, 10);
    LOOP("omp taskloop if(0)", -10, 10);
    LOOP("omp taskloop", -10, 0);
#pragma omp parallel for num_threads(2) schedule(dynamic) reduction(+ : n)
    for (int i = -10; i < 10; i++)
        n++;
    printf("omp parallel for, -10 to 10: %d\n", n);
    return 0;
}
C

# What all of them are to print, with these numbers in four of the lines.
all_expect() { # PLAIN GRAINSIZE IF
    expect '^omp taskloop, 0 to 20: 20, 0 outside$'
    expect "^omp taskloop, -10 to 10: $1 outside\$"
    expect "^omp taskloop grainsize\\(5\\), -10 to 10: $2 outside\$"
    expect '^omp taskloop num_tasks\(1\), -10 to 10: 20, 0 outside$'
    expect "^omp taskloop if\\(0\\), -10 to 10: $3 outside\$"
    expect '^omp taskloop, -10 to 0: 10, 0 outside$'
    expect '^omp parallel for, -10 to 10: 20$'
}

for level in -O0 -O2; do
    saw_gcc $level
    all_expect '20, 0' '20, 0' '20, 0'
    "$folder/usr/bin/x86_64-linux-gnu-gcc-12" -c "$level" -fopenmp "$folder/try.c" -o "$folder/try.o" || exit 77
    for version in 16 19; do
        libraries=$folder/usr/lib/llvm-$version/lib
        gcc "$folder/try.o" "$libraries/libomp.so.5" -o "$folder/try" || exit 77
        echo "gcc $level, libomp $version"
        saw env LD_LIBRARY_PATH="$libraries:$folder/usr/lib/x86_64-linux-gnu" timeout 60 "$folder/try"
        all_expect '39, 19' '23, 3' '39, 19'
    done
done
exit "$changed"
