#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# clang 16.0.6 for the host as its own device, Debian 12, x86-64; clang 14, 15, 19 and 22 are the same. An array with
# an initializer stands between `declare target` and its end, and a target region reads it.
# Guess: how many of its elements are zero is of no matter, as in any C program.
# Seen: `int list[8] = {1}` compiles, `int list[9] = {1}` is refused for the device: "the address is invalid", with
# no line of the source. From eight zeros at the end on, clang makes a constant of another type, a pair of the
# values and of zeros. It then puts a new variable in place of the one that it has noted for the device. A union
# that is initialized by another member than its first is refused, too. Nine elements that do not end in zeros
# compile, and so does a static array of a function.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
version=1:16.0.6-15~deb12u1
unpack clang-16=$version clang-tools-16=$version llvm-16=$version libclang-cpp16=$version libllvm16=$version \
    libclang-common-16-dev=$version libomp-16-dev=$version libomp5-16=$version
libraries=$folder/usr/lib/llvm-16/lib
export LD_LIBRARY_PATH="$libraries:$folder/usr/lib/x86_64-linux-gnu" PATH="$folder/usr/lib/llvm-16/bin:$PATH"

# compiles WHAT DECLARATION VALUE: says what the region has read, or why there is none.
compiles() {
    cat >"$folder/try.c" <<C
#include <stdio.h>

#pragma omp declare target
$2;
#pragma omp end declare target

int main(void)
{
    int value = 0;
#pragma omp target map(from : value)
    value = $3;
    printf("reads %d\n", value);
    return 0;
}
C
    echo "$1"
    if clang -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu "-L$libraries" "$folder/try.c" -o "$folder/try" \
        >"$folder/log" 2>&1; then
        saw env OMP_TARGET_OFFLOAD=MANDATORY timeout 60 "$folder/try"
    else
        saw grep -m 1 'error' "$folder/log"
    fi
}
compiles "eight elements" "int list[8] = {1}" "list[0]"
expect '^reads 1$'
compiles "nine elements" "int list[9] = {1}" "list[0]"
expect 'variable list is incorrect: the address is invalid'
compiles "nine elements, the last one is not zero" "int list[9] = {1, [8] = 2}" "list[8]"
expect '^reads 2$'
compiles "a union by its second member" "union { double d; int i; } both = {.i = 3}" "both.i"
expect 'variable both is incorrect: the address is invalid'
compiles "in a function" "int first(void) { static int list[9] = {1}; return list[0]; }" "first()"
expect '^reads 1$'
exit "$changed"
