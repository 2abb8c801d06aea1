#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# --check with --placement: a region that writes what it only reads by its word is found, and no other.
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
find_llvm || exit 77
[ -z "$SANITIZE" ] || { echo 'skipped: images of clang and sanitizers do not mix' && exit 77; }
export OMPRMA_MEMORY=256M

cat >"$folder/program.c" <<'C'
#include <stdio.h>
enum { N = 1003 };
static double x[N], y[N], z[N];
int main(int argc, char **argv)
{
    int where = argc > 2 ? 500 : argc > 1 ? 7 : -1;
    double *a = x, *b = y, *c = z;
#pragma omp target enter data map(to : a[0 : N], b[0 : N], c[0 : N])
    for (int round = 0; round < 3; round++) {
#pragma omp target nowait depend(out : a[0]) map(tofrom : a[0 : N])
        for (int i = 0; i < N; i++)
            a[i] = i + round;
#pragma omp target nowait depend(in : a[0], a[10]) depend(out : b[0]) map(to : a[10 : N - 10]) map(tofrom : b[0 : N])
        {
            for (int i = 10; i < N; i++)
                b[i] = a[i] * 2;
            if (where >= 0)
                a[where] = -1; /* which a[7] does beside what the region names */
        }
#pragma omp target nowait depend(in : a[0]) depend(out : c[0]) map(to : a[0 : N]) map(tofrom : c[0 : N])
        for (int i = 0; i < N; i++)
            c[i] = a[i] * 3;
    }
#pragma omp taskwait
#pragma omp target exit data map(from : a[0 : N], b[0 : N], c[0 : N])
    printf("%g %g %g\n", x[10], y[10], z[10]);
    return 0;
}
C
"$llvm/bin/clang" -g -O1 -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu -L"$llvm/lib" \
    -Wl,-rpath,"$llvm/lib" "$folder/program.c" -o "$folder/program" || exit 1

checked() { # ARGUMENT...: status, findings and output
    timeout -k 5 100 "$RUN" -n 2 --placement "$placement" --check "$folder/program" "$@" >"$folder/out" 2>"$folder/err"
    echo "$? $(grep -c 'check: .*program.c:13: writes "a\[10:N - 10\]".* which it only reads' "$folder/err") $(cat "$folder/out")"
}
for placement in auto named; do
    check "$placement: as promised" "$(checked)" '0 0 12 24 36'
    check "$placement: what is checked" "$(grep -c 'with --placement: looks for regions that write' "$folder/err")" 1
    check "$placement: beside what it names" "$(checked beside)" '0 0 12 24 36'
    check "$placement: a promise that is broken" "$(checked in it)" '1 1 12 24 36'
done
finish
