#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# LLVM's libomptarget 16.0.6 with its device on the host, Debian 12, x86-64. a[2:3] of an array is mapped; a target
# region uses a pointer to an element of the array, which clang passes as a section of no length.
# Guess: a pointer to an element that is not mapped keeps its value (OpenMP 5.1), on both sides of the section.
# Seen: one behind the section keeps it; one in front becomes an address of the device, as many bytes in front of
# what is mapped, though omp_target_is_present() says 0 to both. The look-up takes all that lies between the
# variable's base address, from which the section was mapped, and the end of the section. The array as a whole
# need not be mapped, and what stands at that address of the device belongs to somebody else.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
version=1:16.0.6-15~deb12u1
unpack clang-16=$version clang-tools-16=$version llvm-16=$version libclang-cpp16=$version libllvm16=$version \
    libclang-common-16-dev=$version libomp-16-dev=$version libomp5-16=$version

cat >"$folder/try.c" <<'C'
#include <omp.h>
#include <stdio.h>

int main(void)
{
    static int a[8];

#pragma omp target data map(to : a[2:3])
    for (int i = 0; i < 8; i++) {
        int *element = a + i;
        long inside = 0, mapped = (long)omp_get_mapped_ptr(a + 2, 0);

#pragma omp target map(from : inside)
        inside = (long)element;
        printf("a + %d: present %d, ", i, omp_target_is_present(element, 0));
        if (inside == (long)element)
            printf("keeps its value\n");
        else
            printf("what is mapped %+ld bytes\n", inside - mapped);
    }
    return 0;
}
C
libraries=$folder/usr/lib/llvm-16/lib
export LD_LIBRARY_PATH="$libraries:$folder/usr/lib/x86_64-linux-gnu" PATH="$folder/usr/lib/llvm-16/bin:$PATH"
export OMP_TARGET_OFFLOAD=MANDATORY
if ! clang -fopenmp -fopenmp-targets=x86_64-pc-linux-gnu "-L$libraries" "$folder/try.c" -o "$folder/try" \
    >"$folder/log" 2>&1; then
    tail -n 3 "$folder/log"
    exit 77
fi
saw "$folder/try"
expect '^a \+ 0: present 0, what is mapped -8 bytes$'
expect '^a \+ 1: present 0, what is mapped -4 bytes$'
expect '^a \+ 4: present 1, what is mapped \+8 bytes$'
expect '^a \+ 5: present 0, keeps its value$'
exit "$changed"
