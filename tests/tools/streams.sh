#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Standard streams in regions: reading is told, C++'s streams are named with what to do instead, and
# what is written past stdio comes although the program ends at once.
# shellcheck source=tests/tools/common.sh
. "$(dirname "$0")/common.sh"
find_llvm || exit 77
export OMPRMA_MEMORY=64M
warning='omprma: warning: a region has read standard input, which is empty there: read it outside of regions, and map what was read'

# made NAME: compiles what is on stdin, C or C++ by NAME's ending, to $folder/program
made() {
    cat >"$folder/$1"
    "$llvm/bin/clang++" -w -x "$([ "${1##*.}" = c ] && echo c || echo c++)" -fopenmp \
        -fopenmp-targets=x86_64-pc-linux-gnu "$folder/$1" -o "$folder/program"
}

# ran: what it says, with an input
ran() {
    echo 42 | timeout 60 "$RUN" -n 1 "$folder/program" 2>&1
}

for call in 'scanf("%d", &got) + 1' 'getchar() + 1' '(int)read(0, &got, 4)' 'fgets((char *)&got, 4, stdin) != 0'; do
    made reads.c <<C || exit 1
#include <stdio.h>
#include <unistd.h>
int main(void)
{
    int got = 7, result = 7, mine = 0;
#pragma omp target map(tofrom : got, result)
    result = $call;
    printf("%d %d\n", result, scanf("%d", &mine));
    return mine != 42;
}
C
    check "$call" "$(ran | sort)" "0 1
$warning"
done

# stream NAME: why it cannot be used
stream() {
    made "$1.cc" <<C || exit 1
#include <fstream>
#include <iostream>
int main()
{
    std::ofstream file("/dev/null");
    int x = 1;
#pragma omp target
    $1;
}
C
    ran | sed -nE 's/.*(of a stream of C\+\+[^;]*);.*/\1/p'
}
for version in 14 22; do # a program of 22 has copies of what is in the library
    llvm=${llvm%-*}-$version
    [ -x "$llvm/bin/clang" ] || continue
    check "$version, std::cin" "$(stream 'std::cin >> x')" \
        'of a stream of C++, which regions cannot use: read it outside of regions, and map what was read'
    check "$version, std::cout" "$(stream 'std::cout << x')" 'of a stream of C++, which regions cannot use: print by printf'
    check "$version, std::ofstream" "$(stream 'file << x')" \
        'of a stream of C++, which regions cannot use: use the file outside of regions, and map its data'
done

made last.c <<'C' || exit 1
#include <unistd.h>
int main(void)
{
#pragma omp target
    write(1, "last words\n", 11);
    return 0;
}
C
for _ in 1 2 3 4 5 6 7 8; do
    check 'what is written last' "$(ran)" 'last words'
done
finish
