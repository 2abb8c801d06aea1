#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# gcc 12.2.0's offload compiler for AMD GPUs (amdgcn-amdhsa), Debian 12. A program with two `declare target` variables.
# Guess: the code's symbol of the table of variables, which libgomp's plugin reads when it has loaded the code, has the
# table's size, as the variables have theirs; so whoever serves the runtime to such a program from elsewhere learns from
# the symbol how many bytes are read at its address.
# Seen: the exported symbol .offload_var_table has 0 bytes. A local symbol at the same address has the 32, two words for
# each variable.
# shellcheck source=findings/unpack.bash
. "$(dirname "$0")/unpack.bash"
[ "$(gcc -dumpversion 2>&1)" = 12 ] || exit 77
command -v readelf >/dev/null || exit 77
unpack gcc-12-offload-amdgcn=12.2.0-14+deb12u1 amdgcn-tools=13+b1 llvm-13=1:13.0.1-11+b2 lld-13=1:13.0.1-11+b2 \
    libllvm13=1:13.0.1-11+b2

cd "$folder" || exit 77
cat >table.c <<'C'
#pragma omp declare target
int a[4];
double b;
#pragma omp end declare target

int main(void)
{
#pragma omp target
    {
        a[1] = 2;
        b = 3;
    }
    return 0;
}
C
PATH=$folder/usr/bin:$PATH LD_LIBRARY_PATH=$folder/usr/lib/x86_64-linux-gnu:$folder/usr/lib/llvm-13/lib \
    gcc -w -fopenmp -B"$folder/usr/lib/gcc/x86_64-linux-gnu/12/" -foffload=amdgcn-amdhsa \
    -foffload-options=-march=gfx906 -save-temps table.c -o table >log 2>&1 || { cat log && exit 77; }

# shellcheck disable=SC2317 # saw calls it
symbols() { # prints NAME SIZE BINDING of the data
    readelf -sW table.xamdgcn-amdhsa.mkoffload.hsaco |
        awk '$4 == "OBJECT" && $8 ~ /^(a|b|\.offload_var_table.*)$/ { print $8, $3, $5 }' | sort -u
}
saw symbols
expect '^a 16 GLOBAL$'
expect '^b 8 GLOBAL$'
expect '^\.offload_var_table 0 GLOBAL$'
expect '^\.offload_var_table\.1 32 LOCAL$'
exit "$changed"
